/* SPDX-License-Identifier: MIT
 *
 * figure_scaling.c - time against n, a line for each series, variant and
 * parameter set; log axes where the values span more than a decade.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "figure.h"

#define LINES_MAX 24

static int same_line(const struct result_cell *a, const struct result_cell *b)
{
	return !strcmp(a->series, b->series) && !strcmp(a->variant, b->variant) &&
	       !strcmp(a->params, b->params) && a->iterations == b->iterations;
}

static int by_n(const void *a, const void *b)
{
	const struct result_cell *x = *(const struct result_cell *const *)a;
	const struct result_cell *y = *(const struct result_cell *const *)b;

	return x->n < y->n ? -1 : x->n > y->n;
}

/* The points of the line that `first` begins. */
static size_t write_line(struct plot *p, const struct result_cell *first, size_t line, double unit)
{
	const struct result_cell **points = calloc(p->res.n_cells + 1, sizeof(*points));
	size_t n = 0;
	double lo, hi;

	for (size_t i = 0; points && i < p->res.n_cells; i++) {
		const struct result_cell *c = &p->res.cells[i];

		if (plot_is_chosen(p, c) && same_line(c, first) && plot_has_time(p, c))
			points[n++] = c;
	}
	if (n) {
		qsort(points, n, sizeof(*points), by_n);
		fprintf(p->gp, "$line%zu << END_OF_DATA\n", line);
		for (size_t i = 0; i < n; i++) {
			plot_spread(points[i], &lo, &hi);
			fprintf(p->gp, "%lld %.9g %.9g %.9g\n", (long long)points[i]->n,
				points[i]->median_ns / unit, lo / unit, hi / unit);
		}
		fputs("END_OF_DATA\n", p->gp);
	}
	p->drawn += (int)n;
	free(points);
	return n;
}

static void write_plot(struct plot *p, const struct result_cell **lines, size_t n)
{
	char label[400];

	fputs("plot ", p->gp);
	for (size_t i = 0; i < n; i++) {
		gp_label(p, lines[i], label, sizeof(label));
		fprintf(p->gp, "%s$line%zu using 1:2:3:4 with yerrorlines lw 1.6 ps 0.8 dt %zu pt %zu"
			" lc rgb '%s' title ", i ? ", \\\n  " : "", i, i / 8 + 1,
			(size_t[]){ 7, 5, 9, 11, 13, 4, 6, 8 }[i % 8], gp_colour(i));
		gp_quote(p->gp, label);
	}
	fputc('\n', p->gp);
}

struct span { double lo, hi; };

static void span_add(struct span *s, double v)
{
	s->lo = fmin(s->lo, v);
	s->hi = fmax(s->hi, v);
}

int figure_scaling(struct plot *p)
{
	const struct result_cell *lines[LINES_MAX];
	struct span time = { INFINITY, 0 }, size = { INFINITY, 0 };
	size_t n = 0, k;
	const char *unit;
	double ns;

	if (plot_choose(p, NULL))
		return -1;
	for (size_t i = 0; i < p->res.n_cells; i++)
		if (plot_is_chosen(p, &p->res.cells[i]) && p->res.cells[i].median_ns > 0) {
			span_add(&time, p->res.cells[i].median_ns);
			span_add(&size, (double)p->res.cells[i].n);
		}
	unit = gp_unit(time.lo, time.hi, &ns);
	plot_title(p, "Time against size", STORE_NULL);
	for (size_t i = 0; i < p->res.n_cells && n < LINES_MAX; i++) {
		const struct result_cell *c = &p->res.cells[i];

		for (k = 0; k < i && !(plot_is_chosen(p, &p->res.cells[k]) && same_line(&p->res.cells[k], c)); k++)
			;
		if (k == i && plot_is_chosen(p, c) && write_line(p, c, n, ns))
			lines[n++] = c;
	}
	if (!n)
		return -1;
	if (time.hi > 10 * time.lo)
		fputs("set logscale y 10\n", p->gp);
	else
		fputs("set yrange [0:*]\n", p->gp);
	if (size.hi > 10 * size.lo)
		fputs("set logscale x 10\nset grid xtics back lc rgb '#dddddd'\n", p->gp);
	fprintf(p->gp, "set ylabel 'time per iteration [%s]%s'\nset xlabel 'N'\nset offsets graph 0.03, graph 0.03\n",
		unit, time.hi > 10 * time.lo ? ", log scale" : "");
	fputs("set key outside right top vertical Left reverse samplen 2\n", p->gp);
	p->width = 1000;
	write_plot(p, lines, n);
	return 0;
}
