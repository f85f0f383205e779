/* SPDX-License-Identifier: MIT
 *
 * figure_overhead.c - a stacked bar a cell, from the top down: compute,
 * execution, launch, handshake (view overhead).  A bar that would hide the others is cut off and
 * carries its time.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../core/say.h"
#include "figure.h"

#define BARS_MAX 96

struct bar {
	const struct result_cell *cell;
	double total, part[4];	/* compute, execution, launch, handshake; ns */
};

struct bars {
	struct plot *p;
	struct bar bar[BARS_MAX];
	size_t n;
};

static int add_bar(void *user, const struct store_row *row)
{
	struct bars *b = user;
	struct bar *bar = &b->bar[b->n];

	if (b->n == BARS_MAX) {
		if (!b->p->dropped++)
			snprintf(b->p->why, sizeof(b->p->why), "only the first %d bars fit; --only chooses", BARS_MAX);
		return 0;
	}
	bar->cell = NULL;
	for (size_t i = 0; i < b->p->res.n_cells; i++)
		if (b->p->res.cells[i].id == row->integer[0])
			bar->cell = &b->p->res.cells[i];
	bar->total = row->real[1];
	for (int i = 0; i < 4; i++)	/* noise can make a difference negative */
		bar->part[i] = row->text[2 + i] ? fmax(row->real[2 + i], 0) : 0;
	b->n += bar->cell != NULL;
	return 0;
}

static int read_bars(struct bars *b, int64_t n)
{
	static const char sql[] =
		"SELECT o.cell, total_ns, compute_ns, execution_ns, launch_ns, handshake_ns FROM overhead o"
		" JOIN cell c ON c.id = o.cell WHERE o.run = CAST(?1 AS INTEGER) AND o.workload = ?2"
		" AND o.target = ?3 AND o.n = CAST(?4 AS INTEGER) ORDER BY c.number";
	char run[24], size[24];
	const char *params[] = { run, b->p->workload, b->p->target, size };

	snprintf(run, sizeof(run), "%lld", (long long)b->p->res.run);
	snprintf(size, sizeof(size), "%lld", (long long)n);
	if (store_query(b->p->store, sql, params, 4, add_bar, b)) {
		snprintf(b->p->why, sizeof(b->p->why), "%s", store_error(b->p->store));
		return -1;
	}
	return 0;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Where the axis ends: at the longest bar, or at four times the median one. */
static double axis_end(const struct bars *b)
{
	double totals[BARS_MAX];

	for (size_t i = 0; i < b->n; i++)
		totals[i] = b->bar[i].total;
	qsort(totals, b->n, sizeof(*totals), ascending);
	return fmin(totals[b->n - 1], 4 * totals[b->n / 2]);
}

static int any_split(const struct bars *b)
{
	for (size_t i = 0; i < b->n; i++)
		for (int k = 0; k < 4; k++)
			if (b->bar[i].part[k] > 0)
				return 1;
	return 0;
}

/* Rows: height, label, where each part ends (the last: what is not split), end of the bar, text. */
static void write_bars(struct bars *b, double unit, double end)
{
	char label[400], ns[40];

	fputs("$bars << END_OF_DATA\n", b->p->gp);
	for (size_t i = 0; i < b->n; i++) {
		const struct bar *bar = &b->bar[i];
		double at = 0;

		gp_label(b->p, bar->cell, label, sizeof(label));
		fprintf(b->p->gp, "%zu ", b->n - 1 - i);
		gp_bar_label(b->p, label);
		for (int k = 0; k < 4; k++)	/* an empty iteration may have taken longer than the whole one */
			fprintf(b->p->gp, " %.9g", fmin(at = fmin(at + bar->part[k], bar->total), end) / unit);
		fprintf(b->p->gp, " %.9g \"%s%s\"\n", fmin(bar->total, end) / unit,
			bar->total > end ? "▶ " : "", gp_ns(bar->total, ns));
		b->p->drawn++;
	}
	fputs("END_OF_DATA\n", b->p->gp);
}

/* A part is a box from where the one before it ends; one that no bar has is no key either. */
static void write_plot(const struct bars *b)
{
	static const char *const names[] = { "compute", "execution", "launch", "handshake", "not split" };
	static const char *const colours[] = { "#009e73", "#56b4e9", "#d55e00", "#e69f00", "#bbbbbb" };
	char from[8] = "(0)";

	for (int k = 0; k < 5; k++) {
		int any = 0;

		for (size_t i = 0; i < b->n; i++) {
			const double *part = b->bar[i].part;

			any |= k < 4 ? part[k] > 0 : b->bar[i].total > 1.0001 * (part[0] + part[1] + part[2] + part[3]);
		}
		fprintf(b->p->gp, "%s using %d:1:%s:%d:($1 - 0.36):($1 + 0.36)%s with boxxyerror lc rgb '%s' %s%s%s, \\\n",
			k ? "  ''" : "plot $bars", k + 3, from, k + 3, k ? "" : ":yticlabels(2)", colours[k],
			any ? "title '" : "notitle", any ? names[k] : "", any ? "'" : "");
		snprintf(from, sizeof(from), "%d", k + 3);
	}
	fputs("  '' using 7:1:8 with labels left offset 0.7,0 notitle\n", b->p->gp);
}

int figure_overhead(struct plot *p)
{
	struct bars b = { .p = p };
	double end, unit;
	const char *name;
	int64_t n;

	if (plot_choose(p, NULL))
		return -1;
	n = plot_choose_n(p, NULL);
	for (size_t i = 0; i < p->res.n_cells; i++)
		if (plot_is_chosen(p, &p->res.cells[i]) && p->res.cells[i].n == n)
			plot_has_time(p, &p->res.cells[i]);
	if (read_bars(&b, n) || !b.n)
		return -1;
	end = axis_end(&b);
	name = gp_unit(end, end, &unit);
	plot_title(p, "Where the time goes", n);
	if (!any_split(&b))
		p->hollow = "nothing is split: no cell has one with workload null and the same variant, parameters"
			    " and grid beside it";
	write_bars(&b, unit, end);
	gp_lying_bars(p, b.n);
	fprintf(p->gp, "set xlabel 'time per iteration [%s]'\nset xrange [0:%g]\n", name, 1.18 * end / unit);
	write_plot(&b);
	return 0;
}
