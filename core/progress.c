/* SPDX-License-Identifier: MIT
 *
 * progress.c - the progress line.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include "progress.h"
#include "say.h"

#define REDRAW_NS INT64_C(100000000)	/* not more often when blocks are short */
#define SHARE_NS  INT64_C(50000000)	/* they come every 0.1 s, unless the worker floods us */

static int64_t drawn;	/* child_now(); 0: never */

const char *progress_duration(double seconds, char buf[32])
{
	long s = lround(seconds);

	if (s < 100)
		snprintf(buf, 32, "%ld s", s);
	else if (s < 6000)
		snprintf(buf, 32, "%ld min %ld s", s / 60, s % 60);
	else
		snprintf(buf, 32, "%ld h %ld min", s / 3600, s / 60 % 60);
	return buf;
}

/* What is left at the least: the blocks up to blocks_min, at each cell's own pace. */
static double left_s(const struct progress *p, const struct runner *r)
{
	const double mean = p->done ? p->done_s / (double)p->done : 0;
	const uint32_t want = r->settings.blocks_min > 0 ? (uint32_t)r->settings.blocks_min : 1;
	double sum = 0;
	uint64_t i;

	for (i = 0; i < r->n_cells; i++) {
		const struct cell_state *c = &r->cells[i];
		uint32_t more = c->n_medians < want ? want - c->n_medians : 1;

		if (c->status == CELL_PENDING)
			sum += more * (c->n_medians ? c->seconds / (float)c->n_medians : mean);
	}
	return sum;
}

/* share: of the trial; NAN: not known */
static void draw(const struct progress *p, const struct runner *r, double share)
{
	const struct cell *cell = p->cell;
	char eta[32], width[32] = "", part[32] = "", of[48];

	drawn = child_now();
	if (!isnan(p->width))
		snprintf(width, sizeof(width), " +-%.2g %%", p->width * 100);
	if (!isnan(share))
		snprintf(part, sizeof(part), "  %.0f %% of this trial", share * 100);
	if (r->settings.blocks_max > r->settings.blocks_min)
		snprintf(of, sizeof(of), "%" PRId64 " to %" PRId64, r->settings.blocks_min,
			 r->settings.blocks_max);
	else
		snprintf(of, sizeof(of), "%" PRId64, r->settings.blocks_min);
	say_progress("%" PRIu64 "/%" PRIu64 " cells  block %" PRIu64 " of %s  %s %s n=%" PRId64 "%s%s  %s%s",
		     p->ended, r->n_cells, p->block + 1, of, cell->series, cell->workload->name, cell->n,
		     width, part, p->done ? "left " : "", p->done ? progress_duration(left_s(p, r), eta) : "");
}

void progress_draw(struct progress *p, const struct runner *r, const struct cell *cell, uint64_t block)
{
	p->cell = cell;
	p->block = block;
	if (!say_shows_progress())
		return;
	if (drawn && child_now() - drawn < REDRAW_NS && p->done_s / (double)(p->done + 1) < 0.2)
		return;
	draw(p, r, NAN);
}

void progress_share(const struct progress *p, const struct runner *r, uint64_t done, uint64_t total)
{
	if (!p || !total || child_now() - drawn < SHARE_NS || !say_shows_progress())
		return;
	draw(p, r, done < total ? (double)done / (double)total : 1);
}
