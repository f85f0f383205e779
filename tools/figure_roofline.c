/* SPDX-License-Identifier: MIT
 *
 * figure_roofline.c - arithmetic rate over intensity, with the roofs that
 * workloads scale and fma gave on the same device (view roofline).  What lies
 * above a roof is ringed: caching, blocking, or an error.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "figure.h"

#define POINTS_MAX 4000
#define LINES_MAX 24

struct point {
	const struct result_cell *cell;
	double intensity, rate;
	int suspect;
};

struct roofs {
	struct plot *p;
	double memory, cache, peak;	/* bytes/s, bytes/s, flop/s; NAN: not measured */
	struct point *points;
	size_t n;
};

static double real_or_nan(const struct store_row *row, int i)
{
	return row->text[i] ? row->real[i] : NAN;
}

static int add_point(void *user, const struct store_row *row)
{
	struct roofs *r = user;
	struct point *at = &r->points[r->n];

	r->memory = real_or_nan(row, 3);
	r->cache = real_or_nan(row, 4);
	r->peak = real_or_nan(row, 5);
	if (r->n == POINTS_MAX)
		return 0;
	*at = (struct point){ NULL, real_or_nan(row, 1), real_or_nan(row, 2), row->integer[6] != 0 };
	for (size_t i = 0; i < r->p->res.n_cells; i++)
		if (r->p->res.cells[i].id == row->integer[0])
			at->cell = &r->p->res.cells[i];
	r->n += at->cell && plot_is_wanted(r->p, at->cell) && at->intensity > 0 && at->rate > 0;
	return 0;
}

static int read_points(struct roofs *r)
{
	static const char sql[] =
		"SELECT cell, flops_per_byte, flops_per_s, memory_bytes_per_s, cache_bytes_per_s,"
		" peak_flops_per_s, suspect FROM roofline WHERE run = CAST(?1 AS INTEGER)"
		" AND workload = ?2 AND target = ?3 ORDER BY cell";
	char run[24];
	const char *params[] = { run, r->p->workload, r->p->target };

	snprintf(run, sizeof(run), "%lld", (long long)r->p->res.run);
	if (store_query(r->p->store, sql, params, 3, add_point, r)) {
		snprintf(r->p->why, sizeof(r->p->why), "%s", store_error(r->p->store));
		return -1;
	}
	return 0;
}

/* A line a variant, in a block of its own; n is in the row for whoever keeps the data. */
static size_t write_points(struct roofs *r, const char **names)
{
	size_t lines = 0, k;

	for (size_t i = 0; i < r->n && lines < LINES_MAX; i++) {
		const char *variant = r->points[i].cell->variant;

		for (k = 0; k < lines && strcmp(names[k], variant); k++)
			;
		if (k < lines)
			continue;
		names[lines] = variant;
		fprintf(r->p->gp, "$variant%zu << END_OF_DATA\n", lines++);
		for (k = i; k < r->n; k++)
			if (!strcmp(r->points[k].cell->variant, variant)) {
				fprintf(r->p->gp, "%.9g %.9g %d %lld\n", r->points[k].intensity,
					r->points[k].rate / 1e9, r->points[k].suspect,
					(long long)r->points[k].cell->n);
				r->p->drawn++;
			}
		fputs("END_OF_DATA\n", r->p->gp);
	}
	return lines;
}

static int by_rate(const void *a, const void *b)
{
	double x = ((const struct point *)a)->rate, y = ((const struct point *)b)->rate;

	return (x < y) - (x > y);
}

/* "N = 101" beside the highest point of each size; sizes whose points lie side by side share one. */
static void write_sizes(const struct roofs *r)
{
	struct point *at = r->points;
	double top = 0, where = 0;
	size_t k;

	qsort(at, r->n, sizeof(*at), by_rate);
	fputs("$sizes << END_OF_DATA\n", r->p->gp);
	for (size_t i = 0; i < r->n; i++) {
		for (k = 0; k < i && at[k].cell->n != at[i].cell->n; k++)
			;
		if (k < i)
			continue;
		if (!top || at[i].rate < top / 1.3 || at[i].intensity != where) {
			fprintf(r->p->gp, "%s%.9g %.9g \"N = %lld", top ? "\"\n" : "", at[i].intensity,
				at[i].rate / 1e9, (long long)at[i].cell->n);
			top = at[i].rate;
			where = at[i].intensity;
		} else {
			fprintf(r->p->gp, ", %lld", (long long)at[i].cell->n);
		}
	}
	fputs("\"\nEND_OF_DATA\n", r->p->gp);
}

static void write_roofs(const struct roofs *r, size_t lines, double lowest)
{
	FILE *gp = r->p->gp;

	fprintf(gp, "memory = %.9g\ncache = %.9g\npeak = %.9g\n", isnan(r->memory) ? 0 : r->memory / 1e9,
		isnan(r->cache) ? 0 : r->cache / 1e9, isnan(r->peak) ? 0 : r->peak / 1e9);
	fputs("roof(x, bandwidth) = peak > 0 && bandwidth * x > peak ? peak : bandwidth * x\n", gp);
	fprintf(gp, "set logscale xy 10\nset xrange [0.02:100]\nset yrange [%g:*]\n",
		pow(10, floor(log10(lowest / 1e9))));
	fputs("set xlabel 'flop per byte of the natural layout, log scale'\n"
	      "set ylabel 'Gflop/s, log scale'\nset samples 500\n"
	      "set style textbox opaque noborder fillcolor rgb '#ffffff' margins 0.5, 0.5\n"
	      "set grid xtics back lc rgb '#dddddd'\n", gp);
	gp_key_at_the_side(r->p, lines + 4);
	if (isnan(r->memory) && isnan(r->peak))
		fputs("set label 1 'no roof was measured on this device (workloads scale, fma)'"
		      " at graph 0.03, graph 0.96\n", gp);
}

/* Of a rate in billions, for three digits. */
static int decimals(double rate)
{
	return rate < 9.995e9 ? 2 : rate < 99.95e9 ? 1 : 0;
}

static void write_plot(const struct roofs *r, const char **names, size_t lines)
{
	FILE *gp = r->p->gp;
	int suspect = 0;

	for (size_t i = 0; i < r->n; i++)
		suspect |= r->points[i].suspect;

	fputs("plot ", gp);
	if (!isnan(r->memory))
		fprintf(gp, "roof(x, memory) lw 2 lc rgb '#000000' title 'memory, %.*f GB/s', \\\n  ",
			decimals(r->memory), r->memory / 1e9);
	if (!isnan(r->cache) && r->cache > 1.05 * r->memory)
		fprintf(gp, "roof(x, cache) lw 2 dt 2 lc rgb '#666666' title 'cache, %.*f GB/s', \\\n  ",
			decimals(r->cache), r->cache / 1e9);
	if (!isnan(r->peak))
		fprintf(gp, "peak lw 2 dt 3 lc rgb '#000000' title 'arithmetic, %.*f Gflop/s', \\\n  ",
			decimals(r->peak), r->peak / 1e9);
	for (size_t i = 0; i < lines; i++) {
		fprintf(gp, "$variant%zu using 1:2 with points pt %zu ps 1.2 lc rgb '%s' title ", i,
			(size_t[]){ 7, 5, 9, 11, 13, 4, 6, 8 }[(i + i / 8) % 8], gp_colour(i)); /* no pair twice */
		gp_quote(gp, names[i]);
		fputs(", \\\n  ", gp);
	}
	for (size_t i = 0; suspect && i < lines; i++)
		fprintf(gp, "$variant%zu using ($3 == 1 ? $1 : NaN):2 with points pt 6 ps 2.6 lw 2"
			" lc rgb '#cc0000' %s, \\\n  ", i, i ? "notitle" : "title 'above a roof: suspect'");
	fputs("$sizes using 1:2:3 with labels left offset 2,0 boxed notitle\n", gp);
}

/* Not what the roofs are made of. */
static int has_counts(const struct result_cell *c)
{
	return c->flops > 0 && c->bytes > 0 && strcmp(c->workload, "scale") && strcmp(c->workload, "fma");
}

int figure_roofline(struct plot *p)
{
	struct roofs r = { p, NAN, NAN, NAN, calloc(POINTS_MAX + 1, sizeof(*r.points)), 0 };
	const char *names[LINES_MAX];
	double lowest = INFINITY;
	size_t lines;
	int rc = -1;

	if (!r.points)
		goto out;
	if (plot_choose(p, has_counts)) {
		if (!p->want->workload && !p->want->target && p->want->n == STORE_NULL)
			snprintf(p->why, sizeof(p->why), "no cell of run %lld that ran counts both flops and bytes",
				 (long long)p->res.run);
		goto out;
	}
	for (size_t i = 0; i < p->res.n_cells; i++)
		if (plot_is_chosen(p, &p->res.cells[i]) && plot_is_wanted(p, &p->res.cells[i]))
			plot_has_time(p, &p->res.cells[i]);
	if (read_points(&r))
		goto out;
	if (!r.n) {
		if (!*p->why)
			snprintf(p->why, sizeof(p->why), "no cell of workload %.60s has a rate", p->workload);
		goto out;
	}
	for (size_t i = 0; i < r.n; i++)
		lowest = fmin(lowest, r.points[i].rate);
	p->width = 1000;
	plot_title(p, "Roofline", STORE_NULL);
	lines = write_points(&r, names);
	write_sizes(&r);
	write_roofs(&r, lines, lowest);
	write_plot(&r, names, lines);
	rc = 0;
out:
	free(r.points);
	return rc;
}
