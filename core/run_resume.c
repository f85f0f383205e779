/* SPDX-License-Identifier: MIT
 *
 * run_resume.c - `--resume`: go on with a run that was cut short, with the same
 * cells, the same order and the same pkrun, plugins, device and driver, so that
 * old and new blocks of a cell are alike.  Blocks that were cut short are done
 * again; cells that have ended, however, are not.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../db/resume.h"
#include "run_resume.h"
#include "run_rows.h"
#include "say.h"
#include "version.h"

/* Field 22 of /proc/PID/stat: when the process started, in ticks; 0: there is none, or it has ended. */
static unsigned long long start_of(long pid)
{
	unsigned long long start = 0;
	char path[64], text[1024], *s;
	FILE *f;
	int i;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fgets(text, sizeof(text), f) && (s = strrchr(text, ')')) && !strchr("ZX", s[2])) {
		for (i = 0; i < 20 && s; i++)
			s = strchr(s + 1, ' ');
		if (s)
			start = strtoull(s, NULL, 10);
	}
	fclose(f);
	return start;
}

void run_process(char *out, size_t size)
{
	char host[64] = "?";

	gethostname(host, sizeof(host) - 1);
	snprintf(out, size, "%ld %llu %s", (long)getpid(), start_of((long)getpid()), host);
}

/* Does the process that measured this run still live?  Its number, or 0. */
static long alive(const char *process)
{
	unsigned long long start;
	char host[64] = "?", its[64];
	long pid;

	gethostname(host, sizeof(host) - 1);
	if (sscanf(process, "%ld %llu %63s", &pid, &start, its) != 3 || strcmp(host, its))
		return 0;
	return start_of(pid) == start ? pid : 0;
}

static int differs(const char *what, const char *was, const char *is)
{
	if (strcmp(was, is) == 0)
		return 0;
	say_error("--resume: %s differ: the run has '%s', now it is '%s'", what, was, is);
	return -1;
}

/* Of the run as a whole. */
static int check_run(const struct runner *r, const struct run_options *o, const struct resume_run *was)
{
	const char *git = version_git();
	char settings[512], quick[2] = { was->quick ? '1' : '0', 0 }, seed[2][24];
	long pid = strcmp(was->status, "running") ? 0 : alive(was->process);

	if (pid) {
		say_error("--resume: run %" PRId64 " is still being measured by process %ld", was->id, pid);
		return -1;
	}
	run_rows_settings(r, settings, sizeof(settings));
	snprintf(seed[0], sizeof(seed[0]), "%" PRIu64, was->seed);
	snprintf(seed[1], sizeof(seed[1]), "%" PRIu64, o->has_seed ? o->seed : was->seed);
	if (differs("versions of pkrun", was->pkrun_version, version_text()) ||
	    differs("commits of pkrun", was->git_state, git ? git : "") ||
	    differs("values of --quick", quick, o->quick ? "1" : "0") ||
	    differs("values of --wrap or --profile", was->instrumented, r->instrumented ? r->instrumented : "") ||
	    differs("settings", was->settings, settings) || differs("seeds", seed[0], seed[1]))
		return -1;
	if ((uint64_t)was->cells == r->n_cells)
		return 0;
	say_error("--resume: the run has %" PRId64 " cells, now there are %" PRIu64
		  " (--only or --set differ?)", was->cells, r->n_cells);
	return -1;
}

static int take_status(struct cell_state *state, const char *status)
{
	int s;

	for (s = CELL_PENDING; s <= CELL_ERROR; s++)
		if (strcmp(status, cell_status_name((enum cell_status)s)) == 0) {
			state->status = (uint8_t)s;
			return 0;
		}
	return -1;
}

static int check_cell(struct runner *r, const struct cell *cell, const struct resume_cell *was)
{
	int64_t plugin = STORE_NULL;
	char key[16384];

	if (cell_key(cell, key, sizeof(key)))
		snprintf(key, sizeof(key), "cell %llu", (unsigned long long)cell->number);
	if (strcmp(was->key, key) || strcmp(was->series, cell->series)) {
		say_error("--resume: cell %" PRId64 " differs: it was %s (%s), now it is %s (%s)", was->number,
			  was->key, was->series, key, cell->series);
		return -1;
	}
	if (cell->variant && !cell->variant->refused && run_rows_plugin(r, cell->variant, &plugin))
		return -1;
	if (was->plugin != plugin) {
		say_error("--resume: the plugin of %s is not the file that the run used", cell->variant_name);
		return -1;
	}
	if (was->device != r->device_id[cell->target]) {
		say_error("--resume: the %s device or its driver is not the one that the run used",
			  target_name(cell->target));
		return -1;
	}
	return 0;
}

static int take_cell(void *user, const struct resume_cell *was)
{
	static struct cell cell;
	struct runner *r = user;
	struct cell_state *state;

	if (was->number < 0 || (uint64_t)was->number >= r->n_cells ||
	    matrix_cell(r->matrix, (uint64_t)was->number, &cell) || check_cell(r, &cell, was))
		return -2;
	state = &r->cells[was->number];
	state->id = was->id;
	if (!cell.iterations && was->iterations != STORE_NULL)
		state->iterations = (uint64_t)was->iterations;
	return take_status(state, was->status) ? -2 : 0;
}

/* Rows come by cell, number and attempt: the done ones of a cell number from 0 on. */
static int take_block(void *user, const struct resume_block *b)
{
	struct runner *r = user;
	struct cell_state *state = &r->cells[b->cell];

	state->seconds += (float)b->seconds;
	if (b->done) {
		state->attempts = 0;
		return runner_keep_median(state, b->median);
	}
	state->attempts = (uint16_t)b->attempt;	/* the next one has the same number */
	return 0;
}

static int reopen(struct runner *r)
{
	char process[128];

	run_process(process, sizeof(process));
	if (store_run_reopen(r->store, r->run_id) ||
	    store_environment(r->store, r->run_id, "process", process, "info", NULL) ||
	    store_event(r->store, r->run_id, STORE_NULL, "resumed", process))
		return -1;
	return 0;
}

static int take_all(struct runner *r, const struct resume_run *was)
{
	int rc;

	if (run_rows_devices(r))
		return -1;
	rc = resume_cells(r->store, was->id, take_cell, r);
	if (rc)
		return rc;
	rc = resume_blocks(r->store, was->id, take_block, r);
	return rc || resume_position(r->store, was->id, &r->position) ? -1 : 0;
}

static int resume(struct runner *r, const struct run_options *o, struct resume_run *was)
{
	int rc;

	if (run_rows_open(r))
		return -1;
	rc = resume_find(r->store, matrix_conf(r->matrix)->text, was);
	if (rc < 0)
		goto failed;
	if (rc == 0) {
		say_error("--resume: %s holds no run of %s as it is now", o->db, o->matrix);
		return -1;
	}
	r->run_id = was->id;
	if (check_run(r, o, was))
		return -1;
	r->settings.seed = was->seed;
	if (store_begin(r->store))
		goto failed;
	rc = take_all(r, was);
	if (rc == 0 && strcmp(was->status, "complete") == 0) {
		store_rollback(r->store);
		say_note("run %" PRId64 " is complete", was->id);
		return 1;
	}
	if (rc == 0 && reopen(r) == 0 && store_commit(r->store) == 0)
		return 0;
	store_rollback(r->store);
	if (rc == -2)
		return -1;	/* said */
failed:
	say_error("%s", store_error(r->store));
	return -1;
}

int run_resume(struct runner *r, const struct run_options *o)
{
	struct resume_run was = { .instrumented = NULL };
	int rc = resume(r, o, &was);

	free(was.instrumented);
	return rc;
}
