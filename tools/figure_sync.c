/* SPDX-License-Identifier: MIT
 *
 * figure_sync.c - what a step without work costs over blocks, a panel a
 * variant, a line for each number of threads.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../core/say.h"
#include "figure.h"

#define PANELS_MAX 24
#define LINES_MAX 12

static int is_empty_work(const struct result_cell *c)
{
	return (!strcmp(c->workload, "null") || !strcmp(c->workload, "syncost")) && c->grid != STORE_NULL && c->threads != STORE_NULL;
}

static int is_drawn(const struct plot *p, const struct result_cell *c)
{
	return is_empty_work(c) && plot_is_chosen(p, c) && isfinite(c->median_ns) && c->median_ns > 0;
}

/* No other cell with as many blocks and threads has a shorter time: of what differs besides, the best is drawn. */
static int is_best(const struct plot *p, const struct result_cell *c)
{
	for (size_t i = 0; i < p->res.n_cells; i++) {
		const struct result_cell *o = &p->res.cells[i];

		if (is_drawn(p, o) && o->grid == c->grid && o->threads == c->threads &&
		    !strcmp(o->variant, c->variant) && o->median_ns < c->median_ns)
			return 0;
	}
	return 1;
}

static int by_grid(const void *a, const void *b)
{
	const struct result_cell *x = *(const struct result_cell *const *)a;
	const struct result_cell *y = *(const struct result_cell *const *)b;

	return x->grid != y->grid ? (x->grid < y->grid ? -1 : 1) : (x->median_ns > y->median_ns) - (x->median_ns < y->median_ns);
}

/* The fastest cell of each grid, with these threads, under this variant. */
static size_t write_line(struct plot *p, const char *variant, int64_t threads, size_t panel, size_t line, double unit)
{
	const struct result_cell **cells = calloc(p->res.n_cells + 1, sizeof(*cells));
	size_t n = 0;
	double lo, hi;

	for (size_t i = 0; cells && i < p->res.n_cells; i++) {
		const struct result_cell *c = &p->res.cells[i];

		if (is_drawn(p, c) && !strcmp(c->variant, variant) && c->threads == threads)
			cells[n++] = c;
	}
	if (cells)
		qsort(cells, n, sizeof(*cells), by_grid);
	fprintf(p->gp, "$p%zul%zu << END_OF_DATA\n", panel, line);
	for (size_t i = 0; i < n; i++) {
		if (i && cells[i]->grid == cells[i - 1]->grid)
			continue;
		plot_spread(cells[i], &lo, &hi);
		fprintf(p->gp, "%lld %.9g %.9g %.9g\n", (long long)cells[i]->grid, cells[i]->median_ns / unit,
			lo / unit, hi / unit);
		p->drawn++;
	}
	fputs("END_OF_DATA\n", p->gp);
	free(cells);
	return n;
}

static size_t add_number(int64_t *list, size_t n, size_t max, int64_t value)
{
	size_t at;

	for (size_t i = 0; i < n; i++)
		if (list[i] == value)
			return n;
	if (n == max)
		return n;
	for (at = n; at && list[at - 1] > value; at--)
		list[at] = list[at - 1];
	list[at] = value;
	return n + 1;
}

static size_t point_type(size_t line)
{
	return (size_t[]){ 7, 5, 9, 11, 13, 4, 6, 8 }[line % 8];
}

/* Numbers of threads look alike in all panels: one key above them, of labels, for a key of gnuplot's
 * is no wider than a panel. */
static void write_key(struct plot *p, const int64_t *threads, size_t n)
{
	double step = 115.0 / p->width, from = 0.5 - step * (double)n / 2;

	for (size_t i = 0; i < n; i++)
		fprintf(p->gp, "set label %zu '%lld threads' at screen %g, screen %g left offset 1,0 point pt %zu ps 0.9"
			" lc rgb '%s'\n", i + 1, (long long)threads[i], from + step * (double)i,
			1 - 42.0 / p->height, point_type(i), gp_colour(i));
}

static void write_panel(struct plot *p, const char *variant, size_t panel, double unit,
			const int64_t *threads, size_t n)
{
	int drawn[LINES_MAX], any = 0;

	for (size_t i = 0; i < n; i++)
		drawn[i] = write_line(p, variant, threads[i], panel, i, unit) > 0;
	fputs("set title ", p->gp);
	gp_quote(p->gp, variant);
	fputs("\nplot ", p->gp);
	for (size_t i = 0; i < n; i++)
		if (drawn[i])
			fprintf(p->gp, "%s$p%zul%zu using 1:2:3:4 with yerrorlines lw 1.4 ps 0.6 pt %zu lc rgb '%s'",
				any++ ? ", \\\n  " : "", panel, i, point_type(i), gp_colour(i));
	fputs("\nunset label\n", p->gp);
}

static size_t find_variants(const struct plot *p, const char **variants)
{
	size_t n = 0, k;

	for (size_t i = 0; i < p->res.n_cells; i++) {
		const struct result_cell *c = &p->res.cells[i];

		for (k = 0; k < n && strcmp(variants[k], c->variant); k++)
			;
		if (k == n && n < PANELS_MAX && is_drawn(p, c))
			variants[n++] = c->variant;
	}
	return n;
}

int figure_sync(struct plot *p)
{
	const char *variants[PANELS_MAX], *unit;
	double lo = INFINITY, hi = 0, from, to, ns, few = INFINITY, many = 0;
	int64_t threads[LINES_MAX];
	size_t n, columns, rows, lines = 0;
	const char *device;
	char title[400], name[200];
	int several = 0;

	if (plot_choose(p, is_empty_work))
		return -1;
	n = find_variants(p, variants);
	for (size_t i = 0; i < p->res.n_cells; i++) {
		const struct result_cell *c = &p->res.cells[i];

		several |= is_drawn(p, c) && !is_best(p, c);
		if (is_drawn(p, c) && is_best(p, c)) {
			plot_spread(c, &from, &to);
			lo = fmin(lo, from > 0 ? from : c->median_ns);
			hi = fmax(hi, to > 0 ? to : c->median_ns);
			few = fmin(few, (double)c->grid);
			many = fmax(many, (double)c->grid);
			lines = add_number(threads, lines, LINES_MAX, c->threads);
		} else if (!is_drawn(p, c) && is_empty_work(c) && plot_is_chosen(p, c)) {
			plot_has_time(p, c);
		}
	}
	if (!n)
		return -1;
	columns = n < 3 ? n : 3;
	unit = gp_unit(lo, hi, &ns);
	p->width = columns == 1 ? 900 : 120 + 350 * (int)columns;
	rows = (n + columns - 1) / columns;
	p->height = 100 + 290 * (int)rows;
	fprintf(p->gp, "set multiplot layout %zu,%zu margins screen %g,0.98,%g,%g spacing screen %g,%g title ",
		rows, columns, 100.0 / p->width, 60.0 / p->height, 1 - 90.0 / p->height, 105.0 / p->width,
		110.0 / p->height);
	device = !strcmp(p->target, "host") ? "target host (no GPU)" : plot_device(p) ? plot_device(p) : p->target;
	snprintf(title, sizeof(title), "Empty iterations over blocks and threads, %s%s%s",
		 say_text(device, 30, name, sizeof(name)), several ? "; the fastest of several cells" : "", plot_caution(p));
	gp_quote_long(p->gp, title);
	fputc('\n', p->gp);
	fprintf(p->gp, "set logscale x 2\nset xlabel 'blocks'\nset ylabel 'time per iteration [%s]'\n"
		"unset key\nset xrange [%g:%g]\n", unit, few / 1.3, many * 1.3);
	if (many > 64 * few)
		fputs("set xtics 4\n", p->gp);
	if (hi > 10 * lo)
		fprintf(p->gp, "set logscale y 10\nset yrange [%g:%g]\n", lo / ns / 1.5, hi / ns * 1.5);
	write_key(p, threads, lines);
	for (size_t i = 0; i < n; i++)
		write_panel(p, variants[i], i, ns, threads, lines);
	fputs("unset multiplot\n", p->gp);
	return 0;
}
