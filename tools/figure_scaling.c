/* SPDX-License-Identifier: MIT
 *
 * figure_scaling.c - time against n, a line for each series, variant and
 * parameter set; log axes where the values span more than a decade.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../core/say.h"
#include "figure.h"

#define LINES_MAX 24
#define SIZES_MAX 6

struct span { double lo, hi; };

static void span_add(struct span *s, double v)
{
	s->lo = fmin(s->lo, v);
	s->hi = fmax(s->hi, v);
}

static int same_series(const struct result_cell *a, const struct result_cell *b)
{
	return !strcmp(a->series, b->series) && !strcmp(a->variant, b->variant) &&
	       !strcmp(a->params, b->params);
}

/* Times are per iteration, so sizes may differ in iterations; one size with several is a line for each. */
static int iterations_matter(const struct plot *p)
{
	for (size_t i = 0; i < p->res.n_cells; i++)
		for (size_t k = 0; k < i && plot_is_chosen(p, &p->res.cells[i]); k++)
			if (plot_is_chosen(p, &p->res.cells[k]) && p->res.cells[i].n == p->res.cells[k].n &&
			    p->res.cells[i].iterations != p->res.cells[k].iterations &&
			    same_series(&p->res.cells[i], &p->res.cells[k]))
				return 1;
	return 0;
}

static int same_line(const struct result_cell *a, const struct result_cell *b, int iterations)
{
	return same_series(a, b) && (!iterations || a->iterations == b->iterations);
}

/* The cells of the other runs in the file, the later before the earlier. */
static int join_runs(struct plot *p)
{
	struct results more;
	struct result_cell *cells;
	int rc;

	for (int64_t run = p->res.run - 1; run > 0; run--) {
		rc = results_load(p->store, run, &more);
		if (rc < 0) {
			snprintf(p->why, sizeof(p->why), "%s", store_error(p->store));
			return -1;
		}
		if (rc)
			continue;
		if (p->want->only)
			results_only(&more, p->want->only);
		cells = realloc(p->res.cells, (p->res.n_cells + more.n_cells + 1) * sizeof(*cells));
		if (cells) {
			p->res.cells = cells;
			memcpy(cells + p->res.n_cells, more.cells, more.n_cells * sizeof(*cells));
			p->res.n_cells += more.n_cells;
			more.n_cells = 0;
		}
		results_free(&more);
		if (!cells)
			return -1;
	}
	return 0;
}

static int by_n(const void *a, const void *b)
{
	const struct result_cell *x = *(const struct result_cell *const *)a;
	const struct result_cell *y = *(const struct result_cell *const *)b;

	return x->n < y->n ? -1 : x->n > y->n;
}

/* The points of the line that `first` begins; of the runs that have one, the latest. */
static size_t find_points(struct plot *p, const struct result_cell *first, int iterations,
			  const struct result_cell **points)
{
	size_t n = 0, k;

	for (size_t i = 0; i < p->res.n_cells; i++) {
		const struct result_cell *c = &p->res.cells[i];

		if (!plot_is_chosen(p, c) || !same_line(c, first, iterations))
			continue;
		for (k = 0; k < n && points[k]->n != c->n; k++)
			;
		if (k == n && plot_has_time(p, c))
			points[n++] = c;
	}
	return n;
}

static size_t write_line(struct plot *p, const struct result_cell *first, size_t line, double unit, int iterations)
{
	const struct result_cell **points = calloc(p->res.n_cells + 1, sizeof(*points));
	size_t n = points ? find_points(p, first, iterations, points) : 0;
	double lo, hi;

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

static int is_on_a_line(const struct plot *p, const struct result_cell *c, const struct result_cell **lines,
			size_t n, int iterations)
{
	for (size_t i = 0; i < n; i++)
		if (same_line(c, lines[i], iterations))
			return plot_is_chosen(p, c) && c->median_ns > 0;
	return 0;
}

/* The sizes of what is drawn in ascending order: how many there are, or one more than fit. */
static size_t find_sizes(const struct plot *p, const struct result_cell **lines, size_t n_lines, int iterations,
			 int64_t *sizes)
{
	size_t n = 0, k;

	for (size_t i = 0; i < p->res.n_cells && n <= SIZES_MAX; i++) {
		const struct result_cell *c = &p->res.cells[i];

		if (!is_on_a_line(p, c, lines, n_lines, iterations))
			continue;
		for (k = 0; k < n && sizes[k] != c->n; k++)
			;
		if (k < n)
			continue;
		for (k = n++; k && sizes[k - 1] > c->n; k--)
			sizes[k] = sizes[k - 1];
		sizes[k] = c->n;
	}
	return n;
}

/* Does the number of b run into that of a, on an axis of some 600 points? */
static int is_too_near(int64_t a, int64_t b, struct span size, int is_log)
{
	double from = is_log ? log((double)a) : (double)a, to = is_log ? log((double)b) : (double)b;
	double all = is_log ? log(size.hi / size.lo) : size.hi - size.lo;

	return 600 * (to - from) / all < 4 * snprintf(NULL, 0, "%lld%lld__", (long long)a, (long long)b);
}

/* Few sizes: a tick at each, and its number where there is room.  One is no axis. */
static void write_sizes(struct plot *p, const int64_t *sizes, size_t n, struct span size, int is_log)
{
	size_t said = 0;

	if (n > SIZES_MAX)
		return;
	for (size_t i = 0; i < n; i++) {
		int near = i && is_too_near(sizes[said], sizes[i], size, is_log);

		fprintf(p->gp, near ? ", '' %lld" : i ? ", %lld" : "set xtics (%lld", (long long)sizes[i]);
		said = near ? said : i;
	}
	fputs(")\n", p->gp);
	if (n == 1)
		fprintf(p->gp, "set xrange [%lld:%lld]\n", (long long)sizes[0] - 1, (long long)sizes[0] + 1);
}

static void write_plot(struct plot *p, const struct result_cell **lines, size_t n)
{
	char label[400], safe[500];

	fputs("plot ", p->gp);
	for (size_t i = 0; i < n; i++) {
		gp_label(p, lines[i], label, sizeof(label));
		fprintf(p->gp, "%s$line%zu using 1:2:3:4 with yerrorlines lw 1.6 ps 0.8 dt %zu pt %zu"
			" lc rgb '%s' title ", i ? ", \\\n  " : "", i, i / 8 + 1,
			(size_t[]){ 7, 5, 9, 11, 13, 4, 6, 8 }[i % 8], gp_colour(i));
		gp_quote_long(p->gp, say_text(label, 60, safe, sizeof(safe)));
		if (say_columns(safe) > 40)
			p->width = 1160;
	}
	fputc('\n', p->gp);
}

/* Has the line that `c` begins more than one size? */
static int is_line(const struct plot *p, const struct result_cell *c, int iterations)
{
	for (size_t i = 0; i < p->res.n_cells; i++)
		if (p->res.cells[i].n != c->n && is_on_a_line(p, &p->res.cells[i], &c, 1, iterations))
			return 1;
	return 0;
}

/* The cells that lines begin with, in the order of the matrix: real lines before single points. */
static size_t find_lines(const struct plot *p, int iterations, const struct result_cell **first)
{
	size_t n = 0, k, lines = 0;

	for (size_t i = 0; i < p->res.n_cells; i++) {
		const struct result_cell *c = &p->res.cells[i];

		for (k = 0; k < n && !same_line(first[k], c, iterations); k++)
			;
		if (k < n || !plot_is_chosen(p, c))
			continue;
		k = n++;
		if (is_line(p, c, iterations)) {
			memmove(first + lines + 1, first + lines, (k - lines) * sizeof(*first));
			k = lines++;
		}
		first[k] = c;
	}
	return n;
}

/* Times and sizes of what n lines show. */
static void find_spans(const struct plot *p, const struct result_cell **lines, size_t n, int iterations,
		       struct span *time, struct span *size)
{
	*time = *size = (struct span){ INFINITY, 0 };
	for (size_t i = 0; i < p->res.n_cells; i++)
		if (is_on_a_line(p, &p->res.cells[i], lines, n, iterations)) {
			span_add(time, p->res.cells[i].median_ns);
			span_add(size, (double)p->res.cells[i].n);
		}
}

static void write_axes(struct plot *p, size_t n, struct span time, struct span size, const char *unit)
{
	if (time.hi > 10 * time.lo)
		fputs("set logscale y 10\n", p->gp);
	else
		fputs("set yrange [0:*]\n", p->gp);
	if (size.hi > 9.5 * size.lo)
		fprintf(p->gp, "set logscale x 10\nset grid xtics back lc rgb '#dddddd'\nset xrange [%g:%g]\n",
			size.lo / 1.15, size.hi * 1.15);
	fprintf(p->gp, "set ylabel 'time per iteration [%s]%s'\nset xlabel 'N'\nset format x '%%.0f'\nset offsets graph 0.03, graph 0.03\n",
		unit, time.hi > 10 * time.lo ? ", log scale" : "");
	gp_key_at_the_side(p, n);
}

int figure_scaling(struct plot *p)
{
	const struct result_cell **lines;
	struct span time, size;
	int64_t sizes[SIZES_MAX + 1];
	size_t n, drawn = 0;
	const char *unit;
	double ns;
	int iterations;

	if ((p->want->run == FIGURE_EVERY_RUN && join_runs(p)) || plot_choose(p, NULL))
		return -1;
	lines = calloc(p->res.n_cells + 1, sizeof(*lines));
	if (!lines)
		return -1;
	iterations = iterations_matter(p);
	n = find_lines(p, iterations, lines);
	find_spans(p, lines, n < LINES_MAX ? n : LINES_MAX, iterations, &time, &size);
	unit = gp_unit(time.lo, time.hi, &ns);
	plot_title(p, "Time against size", STORE_NULL);
	for (size_t i = 0; i < n; i++) {
		if (drawn < LINES_MAX && write_line(p, lines[i], drawn, ns, iterations))
			lines[drawn++] = lines[i];
		else if (drawn == LINES_MAX && !p->dropped++)
			snprintf(p->why, sizeof(p->why), "only the first %d lines fit; --only chooses", LINES_MAX);
	}
	if (drawn) {
		find_spans(p, lines, drawn, iterations, &time, &size);
		write_axes(p, drawn, time, size, unit);
		write_sizes(p, sizes, find_sizes(p, lines, drawn, iterations, sizes), size, size.hi > 9.5 * size.lo);
		p->width = 1000;
		write_plot(p, lines, drawn);
	}
	free(lines);
	return drawn ? 0 : -1;
}
