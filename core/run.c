/* SPDX-License-Identifier: MIT
 *
 * run.c - `pkrun run MATRIX.ini`: plan, store what is known, measure, print.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "command.h"
#include "environment.h"
#include "lock.h"
#include "paths.h"
#include "plan.h"
#include "progress.h"
#include "run_options.h"
#include "run_resume.h"
#include "run_rows.h"
#include "runner.h"
#include "say.h"

struct session {
	struct run_options o;
	struct plan plan;
	struct runner r;
	int locks[4];
};

/* ---- the plan ---- */

static int sets_global(const struct conf *conf, const char *key)
{
	const struct conf_section *global = conf_section(conf, "global");
	size_t i;

	for (i = 0; global && i < global->n_entries; i++)
		if (strcmp(global->entries[i].key, key) == 0)
			return 1;
	return 0;
}

/* One process a cell, one timed trial in it. */
static void profile_settings(struct session *s)
{
	struct matrix_settings *set = &s->r.settings;

	s->r.profile = 1;
	set->trials = set->blocks_min = set->blocks_max = 1;
	set->warmup_runs = 0;
	set->warmup_s = 0;
	set->ci = 0;
}

static void take_settings(struct session *s)
{
	struct timespec now;

	s->r.settings = *matrix_settings(s->r.matrix);
	s->r.warmup_is_default = !sets_global(matrix_conf(s->r.matrix), "warmup");
	if (s->o.device >= 0)
		s->r.settings.device = s->o.device;
	if (s->o.wrap || s->o.profile) {
		s->r.instrumented = s->o.wrap ? s->o.wrap : "profile";
		s->r.settings.isolation_block = 0;
	}
	if (s->o.profile)
		profile_settings(s);
	if (s->o.has_seed)
		s->r.settings.seed = s->o.seed;
	if (!s->r.settings.seed && !s->o.has_seed) {
		clock_gettime(CLOCK_REALTIME, &now);
		s->r.settings.seed = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	}
}

static int plan(struct session *s)
{
	struct plan_request req = {
		.path = s->o.matrix, .target = s->o.target, .only = s->o.only, .sets = s->o.sets,
		.n_sets = s->o.n_sets, .plugins = s->o.plugins, .n_plugins = s->o.n_plugins,
		.device = s->o.device >= 0 ? &s->o.device : NULL, .quick = s->o.quick,
	};
	int code = plan_open(&s->plan, &req);
	char why[256];

	if (code)
		return code;
	if (s->o.wrap && wrap_parse(&s->r.wrap, s->o.wrap, why, sizeof(why))) {
		say_error("--wrap %s: %s", s->o.wrap, why);
		return EXIT_USAGE;
	}
	s->r.plugin_dir = paths_plugin_dir();
	s->r.catalog = &s->plan.catalog;
	s->r.matrix = s->plan.matrix;
	if (s->plan.target == PKRUN_HOST && !s->o.target)
		say_note("target host: no GPU answers, so the kernels run on this CPU; times say nothing about a GPU");
	else
		say_note("target %s: %s", target_name(s->plan.target),
			 s->plan.catalog.targets[s->plan.target].device.name);
	take_settings(s);
	return 0;
}

/* ---- what is printed ---- */

/* Whoever read it may have gone: the database has it all.  But a file that lacks a part would
 * pass for a whole one. */
static int print_run(const struct session *s)
{
	int rc = show_run(s->r.store, s->r.run_id, s->o.format, stdout), error = errno;

	if (!rc && fflush(stdout)) {
		rc = -2;
		error = errno;
	}
	clearerr(stdout);
	if (!rc || (rc == -2 && error == EPIPE))
		return EXIT_OK;
	if (rc == -2)
		say_error("cannot write to stdout: %s; `pkrun show %s --run %" PRId64 "` prints the run again",
			  strerror(error), s->o.db, s->r.run_id);
	else
		say_error("%s", store_error(s->r.store));
	return EXIT_USAGE;
}

/* ---- --dry-run ---- */

/* What a block takes besides its cell's own time: process, context, warm-up. */
static double least_seconds(const struct runner *r, const struct cell *c)
{
	const double process = c->target == PKRUN_HOST ? 0.03 : 0.5;
	const int tenth = c->target == PKRUN_HOST && r->warmup_is_default;
	double block = (r->settings.isolation_block ? 0 : process) +
		       r->settings.warmup_s / (tenth ? 10 : 1);

	return block * (double)r->settings.blocks_min;
}

static int dry_run(struct session *s)
{
	uint64_t i, n = matrix_cells(s->r.matrix), run = 0;
	const struct matrix_settings *set = &s->r.settings;
	char least[32], most[32], fewest[32] = "";
	static struct cell c;
	double seconds = 0;

	if (plan_print(&s->plan, s->o.format, stdout)) {
		if (errno != EPIPE)
			say_error("cannot write: %s", strerror(errno));
		return EXIT_USAGE;
	}
	for (i = 0; i < n; i++) {
		if (matrix_cell(s->r.matrix, i, &c) || *c.why)
			continue;
		run++;
		seconds += least_seconds(&s->r, &c);
	}
	if (set->blocks_min < set->blocks_max)
		snprintf(fewest, sizeof(fewest), "%" PRId64 " to ", set->blocks_min);
	say_note("%" PRIu64 " cell%s, %" PRIu64 " to run, %s%" PRId64 " block%s of %" PRId64 " trial%s:"
		 " at least %s, at most %s", n, n == 1 ? "" : "s", run, fewest, set->blocks_max,
		 set->blocks_max == 1 ? "" : "s", set->trials, set->trials == 1 ? "" : "s",
		 progress_duration(seconds, least),
		 progress_duration(set->cell_limit_s * (double)run, most));
	return EXIT_OK;
}

/* ---- the run ---- */

static int lock_devices(struct session *s)
{
	char why[768];
	uint32_t t;
	uint64_t i;
	int rc, used[4] = { 0 };
	static struct cell c;

	for (i = 0; i < s->r.n_cells; i++)
		if (s->r.cells[i].status == CELL_PENDING && matrix_cell(s->r.matrix, i, &c) == 0)
			used[c.target] = 1;
	for (t = PKRUN_HIP; t <= PKRUN_CUDA; t++) {
		if (!used[t])
			continue;
		rc = lock_device(target_name(t), (int)s->r.settings.device,
				 &s->plan.catalog.targets[t].device, s->r.wake_fd, &s->locks[t], why, sizeof(why));
		if (rc < 0)
			say_note("not locked against other pkruns: %s", why);
		if (rc > 0)
			return 1;
	}
	return 0;
}

/* What the drivers' libraries say of the GPUs that answered. */
static void open_telemetry(struct runner *r)
{
	struct telemetry_state state;
	uint32_t t;

	for (t = PKRUN_HOST; t <= PKRUN_CUDA; t++) {
		const struct target_info *info = &r->catalog->targets[t];

		r->max_clock_mhz[t] = TELEMETRY_UNKNOWN;
		if (info->devices <= 0 || telemetry_open(&r->telemetry[t], t, &info->device,
							 r->no_telemetry[t], sizeof(r->no_telemetry[t])))
			continue;
		telemetry_read(r->telemetry[t], &state);
		r->max_clock_mhz[t] = state.max_clock_mhz;
	}
}

static void close_telemetry(struct runner *r)
{
	uint32_t t;

	for (t = 0; t < 4; t++)
		telemetry_close(r->telemetry[t]);
}

static int exit_code(const struct session *s, int failed)
{
	int code = failed ? EXIT_CELL : EXIT_OK;
	uint64_t i;
	uint32_t t;

	if (interrupt_signal())
		return interrupt_signal() == SIGINT ? EXIT_SIGINT : EXIT_SIGTERM;
	for (i = 0; i < s->r.n_cells; i++) {
		uint8_t st = s->r.cells[i].status;
		static struct cell c;

		if (st == CELL_REFUSED && matrix_cell(s->r.matrix, i, &c) == 0 &&
		    cell_refused(&c, &s->plan.catalog))
			code = say_exit_worse(code, EXIT_USAGE);

		if (st == CELL_HANG)
			code = say_exit_worse(code, EXIT_HANG);
		else if (st == CELL_WRONG || st == CELL_CRASH || st == CELL_ERROR)
			code = say_exit_worse(code, EXIT_CELL);
	}
	for (t = 0; t < 4; t++)
		if (s->r.lost[t][0])
			code = say_exit_worse(code, EXIT_HANG);
	return code;
}

/* What was measured into a file that has no name any more would be gone with this process. */
static int rescue(const struct session *s)
{
	char copy[PATH_MAX];
	int rc = store_rescue(s->r.store, copy, sizeof(copy));

	if (rc == 0)
		return EXIT_OK;
	if (rc > 0)
		say_error("%s was moved, removed or replaced while it was written; all of it is in %s", s->o.db, copy);
	else
		say_error("%s was moved, removed or replaced while it was written, and %s", s->o.db,
			  store_error(s->r.store));
	return EXIT_USAGE;
}

static int measure_all(struct session *s)
{
	int failed = 0, rc = 0;

	if (interrupt_open(&s->r.wake_fd)) {
		say_error("cannot make a pipe");
		return EXIT_USAGE;
	}
	rc = lock_devices(s);
	if (rc == 0)
		failed = runner_loop(&s->r);
	if (failed) {
		say_error("%s", store_error(s->r.store));
		store_rollback(s->r.store);	/* what failed within a transaction leaves it open */
	}
	if (store_run_end(s->r.store, s->r.run_id,
			  failed ? "failed" : interrupt_signal() ? "interrupted" : "complete")) {
		say_error("%s", store_error(s->r.store));
		failed = 1;
	}
	return say_exit_worse(exit_code(s, failed), say_exit_worse(rescue(s), print_run(s)));
}

struct fitness {
	int strict;
	size_t warn, unknown;
};

static int look(void *user, const struct environment_row *row)
{
	struct fitness *f = user;
	int bad = row->state == ENVIRONMENT_WARN || row->state == ENVIRONMENT_UNKNOWN;

	f->warn += row->state == ENVIRONMENT_WARN;
	f->unknown += row->state == ENVIRONMENT_UNKNOWN;
	if (bad && f->strict)
		say_error("%s: %s%s%s", row->key, *row->value ? row->value : "unknown",
			  *row->repair ? "; " : "", row->repair);
	return 0;
}

/* 0, or EXIT_ENVIRONMENT under --strict when something is to put right or unknown. */
static int check_environment(const struct session *s)
{
	struct fitness f = { .strict = s->o.strict };
	uint32_t t;

	environment_each(look, &f);
	for (t = PKRUN_HIP; t <= PKRUN_CUDA; t++)
		if (s->plan.catalog.targets[t].devices > 0)
			environment_gpu(t, &s->plan.catalog.targets[t].device, s->r.telemetry[t],
					s->r.no_telemetry[t], look, &f);
	if (!f.warn && !(f.strict && f.unknown))
		return 0;
	if (!f.strict)
		say_note("environment: %zu to put right, %zu unknown: see pkrun doctor", f.warn, f.unknown);
	return f.strict ? EXIT_ENVIRONMENT : 0;
}

static int run(struct session *s, int argc, char **argv)
{
	char why[1024];
	int code, rc;

	open_telemetry(&s->r);
	code = check_environment(s);
	if (!code && store_open(&s->r.store, s->o.db, STORE_WRITE, why, sizeof(why))) {
		say_error("%s", why);
		code = EXIT_USAGE;
	}
	if (code) {
		close_telemetry(&s->r);
		return code;
	}
	rc = s->o.resume ? run_resume(&s->r, &s->o) : run_rows(&s->r, &s->o, argc, argv);
	if (rc > 0)
		code = say_exit_worse(exit_code(s, 0), print_run(s));
	else
		code = rc < 0 ? EXIT_USAGE : measure_all(s);
	close_telemetry(&s->r);
	store_close(s->r.store);
	return code;
}

static void session_free(struct session *s)
{
	uint64_t i;

	for (i = 0; s->r.cells && i < s->r.n_cells; i++)
		free(s->r.cells[i].medians);
	free(s->r.cells);
	free(s->r.plugin_id);
	wrap_free(&s->r.wrap);
	plan_close(&s->plan);
	run_options_free(&s->o);
}

int command_run(int argc, char **argv)
{
	static struct session s;
	int code;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);	/* a file size limit is an error of the write, as a full disk is */
	code = run_options_parse(&s.o, argc, argv);
	if (code == 0)
		code = plan(&s);
	else if (code < 0) {
		run_options_free(&s.o);
		return EXIT_OK;
	}
	if (code == 0)
		code = s.o.dry_run ? dry_run(&s) : run(&s, argc, argv);
	session_free(&s);
	return code;
}
