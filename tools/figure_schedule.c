/* SPDX-License-Identifier: MIT
 *
 * figure_schedule.c - blocks over time, a panel a stamped cell: a bar from the
 * begin to the end of each step, coloured by its parity; what is white is
 * waiting.  Lockstep shows as columns, neighbour-aware release as a ragged edge.
 *
 * Panels share a scale where the shorter takes at least a quarter of the longer's
 * time: one whose steps are ten times as short would be a smear.
 */
#include <math.h>
#include <string.h>
#include "../core/say.h"
#include "figure.h"
#include "stamps.h"

#define PANELS_MAX 8
#define BLOCKS_MAX 64	/* drawn; more would be less than a line each */

static int wanted(const struct plot *p, const struct stamp_cell *c)
{
	return plot_is_wanted(p, c->cell) && c->blocks && c->steps;
}

/* Rows: begin of the step, its block, its length, parity.  What is shorter than `least` is drawn
 * that long: a step can be a thousandth of the time between two.  Returns how many were. */
static size_t write_bars(struct plot *p, const struct stamp_cell *c, size_t panel, double unit, double least)
{
	size_t widened = 0;

	fprintf(p->gp, "$panel%zu << END_OF_DATA\n", panel);
	for (uint32_t b = 0; b < c->blocks && b < BLOCKS_MAX; b++)
		for (uint32_t s = 0; s < c->steps; s++) {
			double from = stamp_at(c, b, s, STAMP_START), to = stamp_at(c, b, s, STAMP_END);

			if (isnan(from) || isnan(to))
				continue;
			if (to - from < least) {
				to = from + least;
				widened++;
			}
			fprintf(p->gp, "%.9g %u %.9g %u\n", from / unit, b, (to - from) / unit, s % 2);
			p->drawn++;
		}
	fputs("END_OF_DATA\n", p->gp);
	return widened;
}

/* least: what steps are drawn as that are shorter; 0: there are none. */
static void write_panel(struct plot *p, const struct stamp_cell *c, size_t panel, const char *unit,
			double range, double least)
{
	uint32_t blocks = c->blocks < BLOCKS_MAX ? c->blocks : BLOCKS_MAX;
	char label[400], title[600], tick[40];

	gp_label(p, c->cell, label, sizeof(label));
	snprintf(title, sizeof(title), "%.40s: %.40s, N = %lld, clock tick %s%s", label, c->cell->workload,
		 (long long)c->cell->n, isnan(c->tick) ? "unknown" : gp_ns(c->tick, tick),
		 c->blocks > BLOCKS_MAX ? ", first 64 blocks" : "");
	fputs("set title ", p->gp);
	gp_quote_long(p->gp, say_text(title, 0, label, sizeof(label)));
	fprintf(p->gp, "\nset xlabel 'time since the first stamp [%s]%s%s%s'\n", unit,
		least > 0 ? "; steps shorter than " : "", least > 0 ? gp_ns(least, tick) : "",
		least > 0 ? " are drawn that long" : "");
	fprintf(p->gp, "set xrange [0:%g]\nset yrange [-0.7:%g]\nset ylabel 'block'\n"
		"plot $panel%zu using 1:($4 == 0 ? $2 : NaN):3:(0) with vectors nohead lw %g lc rgb '#d55e00' title"
		" 'even steps', '' using 1:($4 == 1 ? $2 : NaN):3:(0) with vectors nohead lw %g lc rgb '#0072b2' title"
		" 'odd steps'\n", range, blocks - 0.3, panel, fmin(170.0 / blocks, 12), fmin(170.0 / blocks, 12));
}

/* How long the scale of a panel is that ends at `last`: as the longest of all; or as the longest
 * that ends before a quarter of that, and so on, until it is no less than a quarter. */
static double scale_of(const struct stamp_cell *const *shown, size_t n, double last)
{
	double scale = INFINITY;

	do {
		double longest = 0;

		for (size_t i = 0; i < n; i++)
			if (shown[i]->last < scale / 4)
				longest = fmax(longest, shown[i]->last);
		scale = longest;
	} while (last > 0 && last < scale / 4);
	return scale;
}

int figure_schedule(struct plot *p)
{
	const struct stamp_cell *shown[PANELS_MAX];
	char asked[200];
	struct stamps st;
	double ns;
	size_t n = 0;

	if (stamps_load(p->store, &p->res, &st)) {
		snprintf(p->why, sizeof(p->why), "%s", store_error(p->store));
		return -1;
	}
	for (size_t i = 0; i < st.n; i++) {
		if (wanted(p, &st.cells[i]) && n < PANELS_MAX) {
			shown[n++] = &st.cells[i];
		} else if (wanted(p, &st.cells[i]) && !p->dropped++) {
			snprintf(p->why, sizeof(p->why), "only the first %d timelines fit", PANELS_MAX);
		}
	}
	if (!n || !(scale_of(shown, n, 0) > 0)) {
		if (st.n)
			snprintf(p->why, sizeof(p->why), "no timeline of run %lld can be drawn%s", (long long)p->res.run,
				 plot_wanted(p, asked, sizeof(asked)));
		else
			snprintf(p->why, sizeof(p->why), "no cell of run %lld has stamps: give a variant of"
				 " the ladder `stamps = STEPS`", (long long)p->res.run);
		stamps_free(&st);
		return -1;
	}
	p->width = 1000;
	p->height = 60 + 320 * (int)n;
	fprintf(p->gp, "set multiplot layout %zu,1\nset key outside top right horizontal\nunset grid\n", n);
	for (size_t i = 0; i < n; i++) {
		double longest = scale_of(shown, n, shown[i]->last);
		const char *unit = gp_unit(longest / 4, longest, &ns);

		double least = longest / 400;

		if (!write_bars(p, shown[i], i, ns, least))
			least = 0;
		write_panel(p, shown[i], i, unit, 1.01 * longest / ns, least);
	}
	fputs("unset multiplot\n", p->gp);
	stamps_free(&st);
	return 0;
}
