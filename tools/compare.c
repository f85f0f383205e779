/* SPDX-License-Identifier: MIT
 *
 * compare.c - `pkrun compare`: is B faster or slower than A, cell by cell?
 * Two files, two sets of runs of a file, or two series of one run.  What is
 * paired is in pair.h, how it is decided in judge.h.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "../core/command.h"
#include "../core/say.h"
#include "compare.h"

int compare_error(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say_error("compare: %s", text);
	return -1;
}

void compare_note(struct compare *c, const char *fmt, ...)
{
	char **more = realloc(c->notes, (c->n_notes + 1) * sizeof(*more)), *text = NULL;
	va_list ap;

	if (!more)
		return;
	c->notes = more;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) >= 0)
		c->notes[c->n_notes++] = text;
	va_end(ap);
}

/* ---- reading ---- */

static int last_run(void *user, const struct store_row *row)
{
	*(int64_t *)user = row->text[0] ? row->integer[0] : 0;
	return 0;
}

/* Is it one file, under whatever names? */
static int same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int open_stores(struct compare *c)
{
	char why[1024];

	for (int i = 0; i < 2; i++) {
		if (i && same_file(c->paths[0], c->paths[1])) {
			c->stores[1] = c->stores[0];
			continue;
		}
		if (store_open(&c->stores[i], c->paths[i], STORE_READ | STORE_CACHE, why,
		               sizeof(why)))
			return compare_error("%s", why);
	}
	if (!c->series[0])
		return 0;
	if (!c->run &&
	    store_query(c->stores[0], "SELECT max(id) FROM run", NULL, 0, last_run, &c->run))
		return compare_error("%s", store_error(c->stores[0]));
	if (!c->run)
		return compare_error("%s: holds no run", c->paths[0]);
	for (int i = 0; i < 2; i++) {
		c->ids[i][0] = c->run;
		c->n_ids[i] = 1;
	}
	return 0;
}

static int read_sides(struct compare *c)
{
	char why[1024];

	for (int i = 0; i < 2; i++) {
		if (pair_read(&c->side[i], c->stores[i], c->paths[i], c->ids[i], c->n_ids[i],
		              c->series[i], why, sizeof(why)))
			return compare_error("%s", why);
		if (c->series[0] && !c->side[i].n_cells)
			return compare_error("%s: run %" PRId64 " has no section [%s]", c->paths[0],
			                     c->run, c->series[i]);
		if (c->only)
			pair_only(&c->side[i], c->only);
		if (c->only && !c->side[i].n_cells)
			return compare_error("%s: no cell matches --only %s", c->paths[i], c->only);
		if (!c->series[0])
			continue;
		if (pair_options(&c->side[i], why, sizeof(why)))
			return compare_error("%s", why);
	}
	return 0;
}

/* ---- what makes the sides unlike ---- */

/* An instrumented run is slower for a reason of its own. */
static int check_instruments(struct compare *c)
{
	const char *first = c->side[0].runs[0].instrumented;

	for (int i = 0; i < 2; i++)
		for (size_t r = 0; r < c->side[i].n_runs; r++) {
			const char *other = c->side[i].runs[r].instrumented;

			if (!first == !other && (!first || !strcmp(first, other)))
				continue;
			return compare_error(
			        "%s: run %" PRId64 " was run %s%s, run %" PRId64 " of %s %s%s: "
			        "instrumented runs are not compared with others",
			        c->paths[i], c->side[i].runs[r].id, other ? "under " : "plainly",
			        other ? other : "", c->side[0].runs[0].id, c->paths[0],
			        first ? "under " : "plainly", first ? first : "");
		}
	if (first)
		compare_note(c, "warning: every run was under `%s`: these times include it", first);
	return 0;
}

/* What a cold cache costs is no difference between two variants. */
static int check_caches(const struct compare *c)
{
	int first = c->side[0].runs[0].cold;

	for (int i = 0; i < 2; i++)
		for (size_t r = 0; r < c->side[i].n_runs; r++)
			if (c->side[i].runs[r].cold != first)
				return compare_error(
				        "%s: run %" PRId64 " has cache = %s, run %" PRId64
				        " of %s cache = %s: they are not compared",
				        c->paths[i], c->side[i].runs[r].id, first ? "hot" : "cold",
				        c->side[0].runs[0].id, c->paths[0], first ? "cold" : "hot");
	return 0;
}

static void check_runs(struct compare *c)
{
	for (int i = 0; i < (c->series[0] ? 1 : 2); i++)
		for (size_t r = 0; r < c->side[i].n_runs; r++) {
			const struct pair_run *run = &c->side[i].runs[r];

			if (strcmp(run->status, "complete"))
				compare_note(c, "warning: run %" PRId64 " of %s is incomplete (%s)",
				             run->id, c->paths[i], run->status);
			for (size_t k = 0; i && k < c->side[0].n_runs; k++)
				if (c->stores[0] == c->stores[1] &&
				    c->side[0].runs[k].id == run->id)
					compare_note(c, "warning: run %" PRId64 " is on both sides",
					             run->id);
		}
}

/* Why no pair may be tested, or NULL. */
static const char *untestable(const struct compare *c)
{
	for (int i = 0; i < 2; i++)
		for (size_t r = 0; r < c->side[i].n_runs; r++) {
			if (c->side[i].runs[r].quick)
				return "a --quick run";
			if (c->series[0] && !strcmp(c->side[i].runs[r].schedule, "sequential"))
				return "schedule = sequential: drift looks like a difference";
		}
	return NULL;
}

/* One warning for each device of B's that A does not have. */
static void check_devices(struct compare *c)
{
	const char *warned = NULL;

	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct pair *p = c->judged[i].pair;
		const char *a, *b;

		if (!p->a || !p->b)
			continue;
		a = p->a->device ? p->a->device : "unknown";
		b = p->b->device ? p->b->device : "unknown";
		if (!strcmp(a, b) || (warned && !strcmp(warned, b)))
			continue;
		warned = b;
		compare_note(c, "warning: other device: A on %s; B on %s", a, b);
	}
}

/* `iterations = auto` is one parameter, but may have come out as other numbers. */
static void check_iterations(struct compare *c)
{
	const struct pair *first = NULL;
	int64_t other = 0;
	size_t n = 0;

	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct pair *p = c->judged[i].pair;
		int64_t found = p->a ? p->a->iterations : 0;

		for (size_t k = 0; k < p->n_a && found == p->a->iterations; k++)
			found = p->a[k].iterations;
		for (size_t k = 0; p->a && k < p->n_b && found == p->a->iterations; k++)
			found = p->b[k].iterations;
		if (!p->a || !p->b || found == p->a->iterations)
			continue;
		other = n++ ? other : found;
		first = first ? first : p;
	}
	if (first)
		compare_note(c,
		             "warning: not the same number of iterations in %zu cell%s, the first [%s] "
		             "%s: %" PRId64 " and %" PRId64,
		             n, n == 1 ? "" : "s", first->a->series, first->a->key,
		             first->a->iterations, other);
}

struct floor_search {
	const struct pair_side *side;
	double floor;
};

static int read_floor(void *user, const struct store_row *row)
{
	struct floor_search *f = user;

	for (size_t i = 0; row->text[0] && i < f->side->n_cells; i++)
		if (f->side->cells[i].device && !strcmp(f->side->cells[i].device, row->text[0])) {
			f->floor = fmax(f->floor, row->real[1]); /* fmax drops a NAN */
			break;
		}
	return 0;
}

/* The last floor of each variant, workload and size. */
static const char floors_sql[] =
        "SELECT d.name || ', ' || d.arch || ', driver ' || d.driver, f.floor"
        " FROM floor f JOIN device d ON d.id = f.device_id"
        " WHERE f.id = (SELECT max(g.id) FROM floor g WHERE g.device_id = f.device_id AND g.n = f.n"
        " AND g.variant = f.variant AND g.workload = f.workload)";

/* The practical threshold: 1 %, or the larger floor of the devices of both sides. */
static int find_threshold(struct compare *c)
{
	c->floor = NAN;
	for (int i = 0; i < 2; i++) {
		struct floor_search f = {&c->side[i], NAN};

		if (store_query(c->stores[i], floors_sql, NULL, 0, read_floor, &f))
			return compare_error("%s", store_error(c->stores[i]));
		c->floor = fmax(c->floor, f.floor);
	}
	if (c->threshold < 0)
		c->threshold = fmax(JUDGE_THRESHOLD, c->floor);
	return 0;
}

/* ---- environment ---- */

struct variables {
	char **key, **value;
	size_t n;
	int failed;
};

static int read_variable(void *user, const struct store_row *row)
{
	struct variables *v = user;
	char **key = realloc(v->key, (v->n + 1) * sizeof(*key));
	char **value;

	v->key = key ? key : v->key;
	value = realloc(v->value, (v->n + 1) * sizeof(*value));
	v->value = value ? value : v->value;
	v->failed |= !key || !value;
	if (v->failed)
		return 1;
	v->key[v->n] = strdup(row->text[0]);
	v->value[v->n] = row->text[1] ? strdup(row->text[1]) : NULL;
	v->failed |= !v->key[v->n] || (row->text[1] && !v->value[v->n]);
	v->n++;
	return v->failed;
}

static void variables_free(struct variables *v)
{
	for (size_t i = 0; i < v->n; i++) {
		free(v->key[i]);
		free(v->value[i]);
	}
	free(v->key);
	free(v->value);
}

/* Takes the texts over where they differ; -1: no memory. */
static int add_difference(struct compare *c, const char *key, char **a, char **b)
{
	struct difference *more;
	const char *x = a ? *a : NULL, *y = b ? *b : NULL;

	if (x == y || (x && y && !strcmp(x, y)))
		return 0;
	if ((!x || !y) && !strncmp(key, "plugin ", 7))
		return 0; /* one side did not use it */
	more = realloc(c->differences, (c->n_differences + 1) * sizeof(*more));
	if (!more)
		return -1;
	c->differences = more;
	more += c->n_differences;
	*more = (struct difference){.key = strdup(key), .value = {a ? *a : NULL, b ? *b : NULL}};
	if (!more->key)
		return -1;
	if (a)
		*a = NULL;
	if (b)
		*b = NULL;
	c->n_differences++;
	return 0;
}

static int compare_environments(struct compare *c)
{
	struct variables v[2] = {{0}, {0}};
	int rc = -1;

	for (int i = 0; i < 2; i++) {
		char id[24];
		const char *params[] = {id};

		snprintf(id, sizeof(id), "%" PRId64, c->side[i].runs[c->side[i].n_runs - 1].id);
		if (store_query(c->stores[i],
		                "SELECT key, value FROM environment_steady"
		                " WHERE run = ?1 ORDER BY key",
		                params, 1, read_variable, &v[i])) {
			compare_error("%s",
			              v[i].failed ? "out of memory" : store_error(c->stores[i]));
			goto out;
		}
	}
	for (size_t i = 0, k = 0; i < v[0].n || k < v[1].n;) {
		int order = i == v[0].n ? 1 : k == v[1].n ? -1 : strcmp(v[0].key[i], v[1].key[k]);

		if (add_difference(c, order <= 0 ? v[0].key[i] : v[1].key[k],
		                   order <= 0 ? &v[0].value[i] : NULL,
		                   order >= 0 ? &v[1].value[k] : NULL)) {
			compare_error("out of memory");
			goto out;
		}
		i += order <= 0;
		k += order >= 0;
	}
	rc = 0;
out:
	variables_free(&v[0]);
	variables_free(&v[1]);
	return rc;
}

/* ---- judging ---- */

static int in_matrix_order(const void *x, const void *y)
{
	const struct pair *a = ((const struct judgement *)x)->pair,
	                  *b = ((const struct judgement *)y)->pair;
	int64_t i, k;

	if (!a->a != !b->a)
		return a->a ? -1 : 1;
	i = a->a ? a->a->id : a->b->id;
	k = a->a ? b->a->id : b->b->id;
	return (i > k) - (i < k);
}

static int judge(struct compare *c)
{
	const char *why_not = untestable(c);
	int paired = c->series[0] != NULL;

	if (paired ? pair_series(&c->side[0], &c->side[1], &c->pairs, &c->n_pairs)
	           : pair_forget_options(&c->side[0], &c->side[1]) ||
	                     pair_keys(&c->side[0], &c->side[1], &c->pairs, &c->n_pairs))
		return compare_error("out of memory");
	c->judged = calloc(c->n_pairs + 1, sizeof(*c->judged));
	if (!c->judged)
		return compare_error("out of memory");
	for (size_t i = 0; i < c->n_pairs; i++)
		if (judge_pair(&c->pairs[i], paired, why_not, &c->judged[i]))
			return compare_error("out of memory");
	qsort(c->judged, c->n_pairs, sizeof(*c->judged), in_matrix_order);
	if (judge_all(c->judged, c->n_pairs, c->threshold, &c->tests))
		return compare_error("out of memory");
	return 0;
}

size_t compare_count(const struct compare *c, enum verdict v)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_pairs; i++)
		n += c->judged[i].verdict == v;
	return n;
}

/* Nothing in common is an error; say what there is, and whether only the target differs. */
static int check_common(const struct compare *c)
{
	if (compare_count(c, MISSING) < c->n_pairs)
		return 0;
	for (int i = 0; i < 2; i++) {
		const struct pair_side *s = &c->side[i];

		for (size_t k = 0; k < s->n_cells && k < 10; k++)
			say_error("  only in %s: [%s] %s", i ? "B" : "A", s->cells[k].series,
			          s->cells[k].key);
		if (s->n_cells > 10)
			say_error("  and %zu more only in %s", s->n_cells - 10, i ? "B" : "A");
	}
	compare_error("0 common cells: %zu in A (%s%s%s), %zu in B (%s%s%s)%s", c->side[0].n_cells,
	              c->paths[0], c->series[0] ? " " : "", c->series[0] ? c->series[0] : "",
	              c->side[1].n_cells, c->paths[1], c->series[0] ? " " : "",
	              c->series[0] ? c->series[1] : "",
	              c->side[0].n_cells && c->side[1].n_cells &&
	                              strcmp(c->side[0].cells[0].target, c->side[1].cells[0].target)
	                      ? "; times of different targets are never compared"
	                      : "");
	return -1;
}

/* Tested, but with too few blocks or sessions for so many cells to be called different. */
static int is_powerless(const struct judgement *j)
{
	return !isnan(j->p_holm) && !judge_can_differ(j);
}

/* With few blocks or sessions and many cells, no cell can pass Holm whatever it shows: then
 * those without a verdict were not tested either. */
static void check_power(struct compare *c)
{
	size_t most = 0, powerless = 0;

	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct judgement *j = &c->judged[i];
		size_t units = j->units_a < j->units_b ? j->units_a : j->units_b;

		if (!isnan(j->p_holm) && units > most)
			most = units;
		powerless += (size_t)is_powerless(j);
	}
	if (c->tests && powerless == c->tests)
		compare_note(c,
		             "warning: with %zu cells, none of %zu %s can be called different "
		             "(Holm); it takes %zu",
		             c->tests, most, c->series[0] ? "blocks" : "sessions a side",
		             judge_units_needed(c->tests, c->series[0] != NULL));
}

/* ---- --fail-on ---- */

static int is_failed(const struct pair_cell *cells, size_t n)
{
	static const char *const bad[] = {"wrong", "crash", "hang", "error"};

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
			if (!strcmp(cells[i].status, bad[k]))
				return 1;
	return 0;
}

static int has_time(const struct pair_cell *cells, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (judge_good(cells[i].status) && cells[i].n_blocks)
			return 1;
	return 0;
}

static int verdict_exit(const struct compare *c)
{
	size_t found[4] = {0};
	static const char *const what[] = {"slower", "wrong or failed in B", "missing in B",
	                                   "not testable"};
	int rc = EXIT_OK;

	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct judgement *j = &c->judged[i];
		const struct pair *p = j->pair;

		found[0] += j->verdict == SLOWER;
		found[1] += is_failed(p->b, p->n_b);
		found[2] += has_time(p->a, p->n_a) && !has_time(p->b, p->n_b);
		found[3] += j->verdict == UNTESTABLE || (j->verdict == UNCLEAR && is_powerless(j));
	}
	for (int k = 0; k < 4; k++)
		if (found[k] && (c->fail_on & 1u << k)) {
			say_error("compare: %zu of %zu cells %s", found[k], c->n_pairs, what[k]);
			rc = EXIT_REGRESSION;
		}
	if (found[3] && (c->fail_on & COMPARE_SLOWER) && !(c->fail_on & COMPARE_UNTESTABLE))
		say_error("compare: --fail-on slower: %zu of %zu cells could not be tested",
		          found[3], c->n_pairs);
	return rc;
}

static int compare_run(struct compare *c)
{
	if (open_stores(c) || read_sides(c) || check_instruments(c) || check_caches(c) || find_threshold(c) ||
	    judge(c) || check_common(c) || compare_environments(c))
		return EXIT_USAGE;
	check_runs(c);
	check_devices(c);
	check_iterations(c);
	check_power(c);
	if (compare_print(c))
		return EXIT_USAGE;
	return verdict_exit(c);
}

int command_compare(int argc, char **argv)
{
	struct compare c = {.threshold = -1};
	int rc = compare_parse(&c, argc, argv);

	rc = rc ? (rc > 0 ? EXIT_OK : EXIT_USAGE) : compare_run(&c);
	for (size_t i = 0; i < c.n_differences; i++) {
		free(c.differences[i].key);
		free(c.differences[i].value[0]);
		free(c.differences[i].value[1]);
	}
	free(c.differences);
	for (size_t i = 0; i < c.n_notes; i++)
		free(c.notes[i]);
	free(c.notes);
	free(c.judged);
	free(c.pairs);
	for (int i = 0; i < 2; i++) {
		pair_free(&c.side[i]);
		free(c.series[i]);
	}
	if (c.stores[1] && c.stores[1] != c.stores[0])
		store_close(c.stores[1]);
	if (c.stores[0])
		store_close(c.stores[0]);
	return rc;
}
