/* SPDX-License-Identifier: MIT
 *
 * aa.c - see aa.h.
 *
 * A matrix with two sections a pair, alike but for their names, goes through
 * `pkrun run` in a process of its own; the database has the result.  The floor
 * of a size is what the ratio of one more pair would lie within 19 times of 20
 * (stats_next_below; of 19 pairs the largest), up or down by that factor, as
 * `compare` has its threshold.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../tools/judge.h"
#include "../tools/rows.h"
#include "aa.h"
#include "paths.h"
#include "say.h"

extern char **environ;

/* ---- measuring ---- */

static int write_matrix(const struct aa_request *req, uint32_t target, char *path)
{
	int host = target == PKRUN_HOST, fd = mkstemps(path, 4);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	int bad;

	if (!f) {
		say_error("doctor --aa: %s: %s", path, strerror(errno));
		return -1;
	}
	fprintf(f, "; pkrun doctor --aa: every pair is one variant twice\n[global]\n");
	fprintf(f, "workload = poisson2d\nn = %s\n",
	        req->sizes ? req->sizes
	        : host     ? "11"
	                   : "11, 1001");
	fprintf(f, "iterations = %d\n", host ? 100 : 1000);
	fprintf(f, "blocks_min = %" PRId64 "\nblocks_max = %" PRId64 "\nci = 0\nenergy = 0\n", req->blocks,
	        req->blocks);
	for (int64_t i = 0; i < 2 * req->pairs; i++)
		fprintf(f, "[pair%03" PRId64 "%c]\nvariant = %s\n", i / 2, i % 2 ? 'b' : 'a',
		        req->variant);
	bad = ferror(f);
	if (fclose(f) || bad) {
		say_error("doctor --aa: %s: %s", path, strerror(errno));
		return -1;
	}
	return 0;
}

/* The child, and a signal that came for it. */
static volatile sig_atomic_t running, told;

/* What a terminal sends reaches the child by itself, and twice would be too urgent. */
static void pass_on(int signal, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	if (info->si_code > 0)
		return;
	told = signal;
	if (running)
		kill(running, signal);
	errno = saved;
}

/* From hand_on(1) to hand_on(0) signals are for the child.  What nohup ignores stays ignored. */
static void hand_on(int on)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	static struct sigaction old[3];
	const struct sigaction now = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO};

	for (int i = 0; i < 3; i++) {
		sigaction(signals[i], on ? NULL : &old[i], on ? &old[i] : NULL);
		if (on && old[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &now, NULL);
	}
}

/* Exit code of `pkrun run PATH`.  Signals are for it; we wait for what it makes of them. */
static int run_matrix(const struct aa_request *req, uint32_t target, const char *path)
{
	char device[24];
	const char *argv[11 + 2 * AA_SET_MAX + 1] = {
	        paths_self(), "run",  "--db",     req->db, "--target", target_name(target),
	        "--device",   device, "--format", "csv",   path};
	posix_spawn_file_actions_t files;
	int rc, status;
	pid_t pid;

	for (int i = 0; i < req->n_set; i++) {
		argv[11 + 2 * i] = "--set";
		argv[12 + 2 * i] = req->set[i];
	}
	snprintf(device, sizeof(device), "%" PRId64, req->device);
	hand_on(1);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	rc = posix_spawn(&pid, argv[0], &files, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&files);
	if (rc) {
		say_error("doctor --aa: %s: %s", argv[0], strerror(rc));
		status = EXIT_USAGE << 8;
	}
	running = rc ? 0 : pid;
	if (running && told)
		kill(running, told);
	while (!rc && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	running = 0;
	hand_on(0);
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	say_error("doctor --aa: `pkrun run` was killed by signal %d", WTERMSIG(status));
	return EXIT_CELL;
}

/* ---- the result ---- */

struct result {
	int64_t n, pairs, alarms;
	double floor, median; /* of the ratio, or of 1 over it, less 1 */
	double within;        /* the share of further pairs that lie within the floor */
};

static int one_integer(void *user, const struct store_row *row)
{
	*(int64_t *)user = row->text[0] ? row->integer[0] : STORE_NULL;
	return 0;
}

/* The other half of cell's pair: the same in everything but the name, which ends in b.  A pair
 * has several cells of a size where a setting has several values. */
static const struct pair_cell *other_half(const struct pair_side *s, const struct pair_cell *cell)
{
	size_t length = strlen(cell->series) - 1;

	for (size_t i = 0; i < s->n_cells; i++)
		if (!strcmp(s->cells[i].key, cell->key) &&
		    !strncmp(s->cells[i].series, cell->series, length) &&
		    !strcmp(s->cells[i].series + length, "b"))
			return &s->cells[i];
	return NULL;
}

static int judge_size(const struct pair_side *s, int64_t n, struct result *out)
{
	double *away = calloc(s->n_cells + 1, sizeof(*away));
	size_t k = 0;
	int rc = away ? 0 : -1;

	*out = (struct result){.n = n};
	for (size_t i = 0; !rc && i < s->n_cells; i++) {
		struct pair pair = {.a = &s->cells[i], .n_a = 1, .n_b = 1};
		struct judgement j;

		if (pair.a->n != n || pair.a->series[strlen(pair.a->series) - 1] != 'a')
			continue;
		pair.b = other_half(s, pair.a);
		rc = pair.b ? judge_pair(&pair, 1, NULL, &j) : 0;
		if (rc || !pair.b || isnan(j.p))
			continue;
		away[k++] = expm1(fabs(log(j.ratio.estimate)));
		out->alarms += j.p < 0.05;
	}
	out->pairs = (int64_t)k;
	if (!rc && k && (stats_next_below(away, k, JUDGE_LEVEL, &out->floor, &out->within) ||
	                 stats_median(away, k, &out->median)))
		rc = -1;
	free(away);
	return rc;
}

static int keep_floor(struct store *s, const struct aa_request *req, int64_t run,
                      const struct result *r)
{
	char host[256] = "unknown", id[24];
	const char *params[] = {id};
	struct store_floor f = {.host = host,
	                        .variant = req->variant,
	                        .workload = "poisson2d",
	                        .n = r->n,
	                        .pairs = r->pairs,
	                        .false_alarms = r->alarms,
	                        .floor = r->floor,
	                        .device = STORE_NULL};

	snprintf(id, sizeof(id), "%" PRId64, run);
	gethostname(host, sizeof(host) - 1);
	if (store_query(s, "SELECT max(device_id) FROM cell WHERE run_id = ?1", params, 1,
	                one_integer, &f.device))
		return -1;
	return store_floor(s, &f);
}

static void print_result(struct rows *r, const struct result *found)
{
	rows_int(r, found->n);
	rows_int(r, found->pairs);
	rows_int(r, found->alarms);
	rows_real(r, round(1e6 * found->median) / 1e6);
	rows_real(r, round(1e6 * found->floor) / 1e6);
}

static int next_size(const struct pair_side *s, int64_t after, int64_t *n)
{
	int found = 0;

	for (size_t i = 0; i < s->n_cells; i++)
		if (s->cells[i].n > after && (!found || s->cells[i].n < *n)) {
			*n = s->cells[i].n;
			found = 1;
		}
	return found;
}

static int report(struct store *s, const struct aa_request *req, int64_t run,
                  const struct pair_side *side, enum show_format format)
{
	static const char *const names[] = {"n", "pairs", "called_different", "median", "floor"};
	struct rows rows;
	struct result found;
	int64_t n = INT64_MIN;
	double within = 1;
	int rc = 0, few = 0;

	rows_begin(&rows, stdout, format, names, 5);
	while (!rc && next_size(side, n, &n)) {
		if (judge_size(side, n, &found))
			rc = -1;
		else if (found.pairs && !(rc = keep_floor(s, req, run, &found)))
			print_result(&rows, &found);
		if (!rc && found.pairs)
			within = fmin(within, found.within);
		if (rc)
			say_error("doctor --aa: %s", store_error(s));
		few |= !rc && found.pairs < req->pairs;
		if (!rc && found.pairs < req->pairs)
			say_error("doctor --aa: n=%" PRId64 ": %" PRId64 " of %" PRId64
			          " pairs were measured",
			          n, found.pairs, req->pairs);
	}
	if (rows_end(&rows, 0))
		rc = -1;
	if (within < JUDGE_LEVEL)
		say_note("floor: %.0f of 100 comparisons of a thing with itself lie within it; of 19 pairs "
		         "it is 19 of 20", 100 * within);
	else
		say_note("floor: 19 of 20 comparisons of a thing with itself lie within it");
	say_note("called_different: at 0.05, before any threshold, about one in 20 is to be expected");
	if (rc)
		return EXIT_USAGE;
	return few ? EXIT_CELL : EXIT_OK;
}

static int evaluate(const struct aa_request *req, const char *path, enum show_format format)
{
	struct pair_side side;
	struct store *s;
	char why[1024];
	int64_t run = STORE_NULL;
	int code = EXIT_USAGE;

	if (store_open(&s, req->db, STORE_WRITE, why, sizeof(why))) {
		say_error("doctor --aa: %s", why);
		return EXIT_USAGE;
	}
	if (store_query(s, "SELECT max(id) FROM run WHERE matrix_path = ?1", &path, 1, one_integer,
	                &run))
		say_error("doctor --aa: %s", store_error(s));
	else if (run == STORE_NULL)
		say_error("doctor --aa: %s: the run is not there", req->db);
	else if (pair_read(&side, s, req->db, &run, 1, NULL, why, sizeof(why)))
		say_error("doctor --aa: %s", why);
	else {
		code = report(s, req, run, &side, format);
		pair_free(&side);
	}
	store_close(s);
	return code;
}

int aa_run(const struct aa_request *req, const struct catalog *catalog, enum show_format format)
{
	const char *tmp = getenv("TMPDIR");
	char path[4096], why[512];
	uint32_t target;
	int code, evaluated;

	if (catalog_target(catalog, req->target ? req->target : "auto", &target, why,
	                   sizeof(why))) {
		say_error("doctor --aa: %s", why);
		return EXIT_USAGE;
	}
	if (!catalog_find(catalog, target, req->variant)) {
		say_error("doctor --aa: target %s has no variant '%s'", target_name(target),
		          req->variant);
		return EXIT_USAGE;
	}
	snprintf(path, sizeof(path), "%s/pkrun-aa-XXXXXX.ini", tmp ? tmp : "/tmp");
	if (write_matrix(req, target, path))
		return EXIT_USAGE;
	code = run_matrix(req, target, path);
	if (code == EXIT_OK || code == EXIT_CELL || code == EXIT_HANG) {
		evaluated = evaluate(req, path, format);
		code = say_exit_worse(code, evaluated);
	}
	unlink(path);
	return code;
}
