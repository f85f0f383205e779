/* SPDX-License-Identifier: MIT
 *
 * figure_overhead.c - a stacked bar a cell: compute, execution, launch,
 * handshake (view overhead).  A bar that would hide the others is cut off and
 * carries its time.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../core/say.h"
#include "figure.h"

#define BARS_MAX 48

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

	if (b->n == BARS_MAX)
		return 0;
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

/* Rows: place, label, the four parts, what is not split, height of the text, text. */
static void write_bars(struct bars *b, double unit, double end)
{
	char label[400], ns[40];

	fputs("$bars << END_OF_DATA\n", b->p->gp);
	for (size_t i = 0; i < b->n; i++) {
		const struct bar *bar = &b->bar[i];
		double known = bar->part[0] + bar->part[1] + bar->part[2] + bar->part[3];

		gp_label(b->p, bar->cell, label, sizeof(label));
		fprintf(b->p->gp, "%zu ", i);
		gp_data_text(b->p->gp, label);
		for (int k = 0; k < 4; k++)
			fprintf(b->p->gp, " %.9g", bar->part[k] / unit);
		fprintf(b->p->gp, " %.9g %.9g \"%s%s\"\n", fmax(bar->total - known, 0) / unit,
			fmin(bar->total, end) / unit, gp_ns(bar->total, ns), bar->total > end ? " ▲" : "");
		b->p->drawn++;
	}
	fputs("END_OF_DATA\n", b->p->gp);
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
	p->width = b.n < 8 ? 900 : 340 + 70 * (int)b.n;
	plot_title(p, "Where the time goes", n);
	write_bars(&b, unit, end);
	fprintf(p->gp, "set ylabel 'time per iteration [%s]'\nset yrange [0:%g]\nset xrange [-0.7:%g]\n", name,
		1.15 * end / unit, (double)b.n - 0.3);
	fputs("set style data histograms\nset style histogram rowstacked\nset boxwidth 0.66\n"
	      "set style fill solid 0.85 border rgb '#333333'\nset xtics rotate by -35 left scale 0\n"
	      "set key outside right top Left reverse invert\nset bmargin 8\n"
	      "plot $bars using 3:xticlabels(stringcolumn(2)) title 'compute' lc rgb '#009e73', \\\n"
	      "  '' using 4 title 'execution' lc rgb '#56b4e9', \\\n"
	      "  '' using 5 title 'launch' lc rgb '#d55e00', \\\n"
	      "  '' using 6 title 'handshake' lc rgb '#e69f00', \\\n"
	      "  '' using 7 title 'not split' lc rgb '#bbbbbb', \\\n"
	      "  '' using 1:8:9 with labels offset 0,0.7 notitle\n", p->gp);
	return 0;
}
