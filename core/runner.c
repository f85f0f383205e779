/* SPDX-License-Identifier: MIT
 *
 * runner.c - the loop: blocks of cells, each block in a new random order, until
 * every cell has been measured enough or has ended otherwise.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "baseline.h"
#include "progress.h"
#include "runner.h"
#include "say.h"
#include "schedule.h"
#include "stats.h"

int runner_end_cell(struct runner *r, uint64_t number, enum cell_status s, const char *reason)
{
	struct cell_state *c = &r->cells[number];

	c->status = (uint8_t)s;
	if (!baseline_is(r->baseline, number)) {	/* other cells are still set against it */
		free(c->medians);
		c->medians = NULL;
	}
	return store_cell_status(r->store, c->id, cell_status_name(s), reason && *reason ? reason : NULL);
}

static int end_cell(struct runner *r, struct progress *p, uint64_t number, enum cell_status s,
		    const char *reason)
{
	p->ended++;
	return runner_end_cell(r, number, s, reason);
}

int runner_keep_median(struct cell_state *c, double median)
{
	uint32_t cap = c->cap_medians ? c->cap_medians * 2 : 4;
	double *m;

	if (c->n_medians == c->cap_medians) {
		m = realloc(c->medians, cap * sizeof(*m));
		if (!m)
			return -1;
		c->medians = m;
		c->cap_medians = cap;
	}
	c->medians[c->n_medians++] = median;
	return 0;
}

/* Drift in the time that the cell's blocks took: said beside the result, which stands. */
static void describe_drift(const struct cell_state *c, char *out, size_t size)
{
	const double *m = c->medians;
	char first[32], last[32];
	double a, b;

	*out = '\0';
	if (stats_not_steady(m, c->n_medians) != 1 || stats_median(m, c->n_medians / 3, &a) ||
	    stats_median(m + c->n_medians - c->n_medians / 3, c->n_medians / 3, &b))
		return;
	snprintf(out, size, "not_steady: %s in the first third of the blocks, %s in the last",
		 say_ns(a, first), say_ns(b, last));
}

/* Is the cell known well enough, its speed-up too, and is it not wanted as a baseline? */
static enum schedule_verdict judge(const struct runner *r, uint64_t number, double *width, double *ratio)
{
	const struct cell_state *c = &r->cells[number];
	const struct matrix_settings *set = &r->settings;
	enum schedule_verdict v = schedule_judge(set, c->medians, c->n_medians, c->seconds, width);
	int is_final, is_wide;

	*ratio = NAN;
	if (v != SCHEDULE_ENOUGH)
		return v;
	if (c->is_cut)
		return SCHEDULE_IMPRECISE;
	*ratio = baseline_width(r->baseline, r, number, &is_final);
	is_wide = *ratio > set->ci;
	if (((is_wide && !is_final) || baseline_is_wanted(r->baseline, r, number)) &&
	    !schedule_is_over(set, c->n_medians, c->seconds))
		return SCHEDULE_MORE;
	return is_wide ? SCHEDULE_IMPRECISE : v;
}

static void describe_width(const struct runner *r, const struct cell_state *c, double width, double ratio,
			   char *out, size_t size)
{
	const double ci = r->settings.ci * 100;
	char took[40] = "under 1 s"; /* no finer: cells with the same reason are one line */

	if (c->seconds >= 1)
		snprintf(took, sizeof(took), "%.0f s", (double)c->seconds);
	if (c->is_cut)
		snprintf(out, size, "cell_limit cut the last of %u blocks short, after %s", c->n_medians, took);
	else if (isinf(ratio))
		snprintf(out, size, "too few blocks beside the baseline for an interval of the speed-up");
	else if (ratio > r->settings.ci)
		snprintf(out, size, "speed-up +-%.2g %% after %u blocks and %s, wanted +-%.2g %%",
			 ratio * 100, c->n_medians, took, ci);
	else if (isnan(width))
		snprintf(out, size, "%u %s in %s: too few for an interval", c->n_medians,
			 c->n_medians == 1 ? "block" : "blocks", took);
	else
		snprintf(out, size, "+-%.2g %% after %u blocks and %s, wanted +-%.2g %%", width * 100,
			 c->n_medians, took, ci);
}

static int judge_cell(struct runner *r, struct progress *p, uint64_t number)
{
	struct cell_state *c = &r->cells[number];
	char why[320], drift[160];
	double ratio;
	enum schedule_verdict v = judge(r, number, &p->width, &ratio);

	if (v == SCHEDULE_MORE)
		return 0;
	describe_drift(c, drift, sizeof(drift));
	if (v == SCHEDULE_ENOUGH)
		return end_cell(r, p, number, CELL_OK, drift);
	describe_width(r, c, p->width, ratio, why, sizeof(why));
	if (*drift)
		snprintf(why + strlen(why), sizeof(why) - strlen(why), "; %s", drift);
	return end_cell(r, p, number, CELL_IMPRECISE, why);
}

static void say_failure(const struct cell *cell, const struct block_result *result)
{
	char text[512];

	say_note("%s: %s %s n=%lld: %s", cell_status_name(result->status), cell->series,
		 cell->workload->name, (long long)cell->n,
		 say_text(result->reason, 400, text, sizeof(text)));
}

/* The database failed under it: what was measured is at least said. */
static void say_lost(const struct cell *cell, const struct block_result *result)
{
	char time[32] = "no time";

	if (!isnan(result->median))
		say_ns(result->median, time);
	say_error("not stored: %s %s n=%lld: %s an iteration, the median of %u trials", cell->series,
		  cell->workload->name, (long long)cell->n, time, result->timed - result->bad_clock);
}

int runner_retry(struct runner *r, struct cell_state *c, const struct block_result *result)
{
	if (result->status != CELL_CRASH && result->status != CELL_HANG && result->status != CELL_ERROR)
		return 0;
	if (c->retried >= r->settings.retries)
		return 0;
	c->retried++;
	return store_event(r->store, r->run_id, c->id, "retry", result->reason) ? -1 : 1;
}

/* 0 go on, 1 interrupted, -1 the database failed. */
static int one_block(struct runner *r, struct progress *p, uint64_t number, uint64_t block)
{
	struct cell_state *c = &r->cells[number];
	static struct cell cell;
	static struct block_result result;
	int64_t begin = child_now();
	int rc;

	if (interrupt_signal())
		return 1;
	if (matrix_cell(r->matrix, number, &cell))
		return -1;
	if (!cell.iterations)
		cell.iterations = c->iterations;
	if (r->lost[cell.target][0])
		return end_cell(r, p, number, CELL_SKIPPED, r->lost[cell.target]);
	progress_draw(p, r, &cell, block);
	if (block_run(r, &cell, c, (int64_t)block, &result)) {
		say_lost(&cell, &result);
		return -1;
	}
	c->seconds += (float)((double)(child_now() - begin) / 1e9 - result.reference_s);
	p->done_s += (double)(child_now() - begin) / 1e9;
	p->done++;
	if (result.status == CELL_INTERRUPTED)
		return 1;
	rc = runner_retry(r, c, &result);
	if (rc < 0)
		return -1;
	if (rc) {
		c->attempts++;
		return one_block(r, p, number, block);
	}
	c->attempts = c->retried = 0;
	if (result.status == CELL_OK) {
		if (runner_keep_median(c, result.median))
			return -1;
		c->is_cut = result.timed < r->settings.trials;
		return judge_cell(r, p, number);
	}
	if (result.status >= CELL_WRONG)
		say_failure(&cell, &result);
	return end_cell(r, p, number, result.status, result.reason);
}

/* Cells that want a block after this one. */
static int any_pending(const struct runner *r)
{
	uint64_t i;

	for (i = 0; i < r->n_cells; i++)
		if (r->cells[i].status == CELL_PENDING)
			return 1;
	return 0;
}

static void in_order(const struct runner *r, uint32_t *list)
{
	uint64_t i;

	for (i = 0; i < r->n_cells; i++)
		list[i] = (uint32_t)i;
}

/* The order is one of all cells, whoever is still in it, so that --resume finds it again. */
static int in_blocks(struct runner *r, struct progress *p, uint32_t *list)
{
	const struct cell_state *c;
	uint64_t block, i;
	int rc = 0;

	for (block = 0; rc == 0 && any_pending(r); block++) {
		in_order(r, list);
		schedule_shuffle(list, r->n_cells, r->settings.seed, block);
		for (i = 0; i < r->n_cells && rc == 0; i++) {
			c = &r->cells[list[i]];
			if (c->status == CELL_PENDING && c->n_medians <= block)
				rc = one_block(r, p, list[i], block);
		}
		/* some ran before their baseline did */
		for (i = 0; i < r->n_cells && rc == 0 && r->baseline; i++) {
			c = &r->cells[list[i]];
			if (c->status == CELL_PENDING && c->n_medians)
				rc = judge_cell(r, p, list[i]);
		}
		block_end_worker(r);
	}
	return rc;
}

static int one_after_the_other(struct runner *r, struct progress *p)
{
	uint64_t i;
	int rc = 0;

	for (i = 0; i < r->n_cells && rc == 0; i++)
		while (rc == 0 && r->cells[i].status == CELL_PENDING)
			rc = one_block(r, p, i, r->cells[i].n_medians);
	block_end_worker(r);
	return rc;
}

/* A run that is resumed may have been cut off between a cell's last block and its verdict. */
static int judge_resumed(struct runner *r, struct progress *p)
{
	uint64_t i;
	int rc = 0;

	for (i = 0; i < r->n_cells && rc == 0; i++)
		if (r->cells[i].status == CELL_PENDING && r->cells[i].n_medians)
			rc = judge_cell(r, p, i);
	return rc;
}

int runner_loop(struct runner *r)
{
	uint32_t *list = malloc(r->n_cells * sizeof(*list) + 1);
	struct progress p = { .width = NAN };
	uint64_t i;
	int rc;

	if (!list) {
		say_error("out of memory");
		return -1;
	}
	rc = calibrate_cells(r);
	if (!rc && baseline_open(&r->baseline, r)) {
		say_error("out of memory");
		rc = -1;
	}
	for (i = 0; i < r->n_cells; i++)
		p.ended += r->cells[i].status != CELL_PENDING;
	r->progress = &p;
	if (!rc)
		rc = judge_resumed(r, &p);
	if (!rc)
		rc = r->settings.schedule_sequential ? one_after_the_other(r, &p)
						     : in_blocks(r, &p, list);
	r->progress = NULL;
	say_progress_end();
	block_end_worker(r);
	baseline_free(r->baseline);
	r->baseline = NULL;
	free(list);
	return rc < 0 ? -1 : 0;
}
