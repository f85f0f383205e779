/* SPDX-License-Identifier: MIT
 *
 * figure_ladder.c - a bar a rung on a log axis, from the top down; at its end
 * its time and its factor over the rung before.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../core/say.h"
#include "figure.h"
#include "params.h"

struct rung {
	const struct result_cell *cell;
	double over_previous;
};

struct rungs {
	struct plot *p;
	const struct result_cell *like;	/* iterations and work of this ladder; of others there may be more */
	struct rung rung[64];
	size_t n;
};

static int add_rung(void *user, const struct store_row *row)
{
	struct rungs *r = user;
	const struct result_cell *c = NULL;

	for (size_t i = 0; i < r->p->res.n_cells && !c; i++)
		if (r->p->res.cells[i].id == row->integer[0])
			c = &r->p->res.cells[i];
	if (!c)
		return 0;
	if (c->iterations == r->like->iterations && !strcmp(c->work, r->like->work) && r->n < 64)
		r->rung[r->n++].cell = c;
	else if (!r->p->dropped++)
		snprintf(r->p->why, sizeof(r->p->why), "another ladder: %s iterations%s%.200s",
			 row->text[1] ? row->text[1] : "unknown", *c->work ? ", " : "", c->work);
	return 0;
}

/* The first cell with a time says which ladder it is, the first at all if there is none. */
static const struct result_cell *find_like(const struct plot *p, int64_t n)
{
	const struct result_cell *first = NULL;

	for (size_t i = 0; i < p->res.n_cells; i++) {
		const struct result_cell *c = &p->res.cells[i];

		if (!plot_is_chosen(p, c) || c->n != n)
			continue;
		if (!isnan(c->median_ns))
			return c;
		first = first ? first : c;
	}
	return first;
}

/* Over the rung before that is shown and has a time. */
static void find_factors(struct rungs *r)
{
	double before = NAN;

	for (size_t i = 0; i < r->n; i++) {
		double ns = r->rung[i].cell->median_ns;

		r->rung[i].over_previous = before / ns;
		before = isnan(ns) ? before : ns;
	}
}

static int read_rungs(struct rungs *r, int64_t n)
{
	static const char sql[] =
		"SELECT cell, iterations FROM ladder WHERE run = CAST(?1 AS INTEGER) AND workload = ?2"
		" AND target = ?3 AND n = CAST(?4 AS INTEGER) ORDER BY iterations, work, rung";
	char run[24], size[24];
	const char *params[] = { run, r->p->workload, r->p->target, size };

	r->like = find_like(r->p, n);
	if (!r->like)
		return -1;
	snprintf(run, sizeof(run), "%lld", (long long)r->p->res.run);
	snprintf(size, sizeof(size), "%lld", (long long)n);
	if (store_query(r->p->store, sql, params, 4, add_rung, r)) {
		snprintf(r->p->why, sizeof(r->p->why), "%s", store_error(r->p->store));
		return -1;
	}
	find_factors(r);
	return 0;
}

/* " ×1.31", in two or three digits. */
static void write_factor(FILE *gp, double factor)
{
	fprintf(gp, factor < 0.0995 ? "  ×%.1g" : factor < 9.95 ? "  ×%.2f" : factor < 99.5 ? "  ×%.1f" : "  ×%.0f",
		factor);
}

/* A row a rung: height, label, device, time, lo, hi, text at the end; a rung without a time keeps its place. */
static void write_rungs(struct rungs *r, double unit, double floor)
{
	char ns[40], label[400];

	fputs("$rungs << END_OF_DATA\n", r->p->gp);
	for (size_t i = 0; i < r->n; i++) {
		const struct result_cell *c = r->rung[i].cell;
		double lo, hi;

		gp_label(r->p, c, label, sizeof(label));
		fprintf(r->p->gp, "%zu ", r->n - 1 - i);
		gp_bar_label(r->p, label);
		if (!plot_has_time(r->p, c)) {
			fprintf(r->p->gp, " %d NaN NaN %g \"%s\"\n", result_is_device_controlled(c),
				1.01 * floor, result_words(c->status)); /* gnuplot leaves out what is at the very edge */
			continue;
		}
		plot_spread(c, &lo, &hi);
		fprintf(r->p->gp, " %d %.9g %.9g %.9g \"%s", result_is_device_controlled(c),
			c->median_ns / unit, lo / unit, hi / unit, gp_ns(c->median_ns, ns));
		if (isfinite(r->rung[i].over_previous))
			write_factor(r->p->gp, r->rung[i].over_previous);
		fputs("\"\n", r->p->gp);
		r->p->drawn++;
	}
	fputs("END_OF_DATA\n", r->p->gp);
}

/* What all rungs were told stands in the title: NULL when there is no memory. */
static char *shared_params(const struct rungs *r)
{
	char *shared = strdup(r->rung[0].cell->told);

	for (size_t i = 1; shared && i < r->n; i++)
		params_keep(shared, r->rung[i].cell->told);
	return shared;
}

/* Has any rung that has a time this control? */
static int has_control(const struct rungs *r, int device)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->rung[i].cell->median_ns > 0 && result_is_device_controlled(r->rung[i].cell) == device)
			return 1;
	return 0;
}

static void write_script(const struct rungs *r, double low, double high, const char *unit)
{
	struct plot *p = r->p;

	gp_lying_bars(p, r->n);
	fprintf(p->gp, "low = %g\nset logscale x 10\nset xrange [%g:%g]\n", low, low, high);
	fprintf(p->gp, "set xlabel \"time per iteration [%s], log scale\\n×: times as fast as the rung above\"\n", unit);
	fprintf(p->gp, "plot $rungs using ($3 == 1 ? NaN : $4):1:(low):4:($1 - 0.36):($1 + 0.36):yticlabels(2)"
		" with boxxyerror lc rgb '#0072b2' %s, \\\n"
		"  '' using ($3 == 1 ? $4 : NaN):1:(low):4:($1 - 0.36):($1 + 0.36)"
		" with boxxyerror lc rgb '#e69f00' %s, \\\n", has_control(r, 0) ? "title 'released by the host'" : "notitle",
		has_control(r, 1) ? "title 'released by the device'" : "notitle");
	fputs("  '' using 5:1:($6 - $5):(0) with vectors nohead lc rgb '#000000' lw 2 notitle, \\\n"
	      "  '' using 6:1:7 with labels left offset 0.7,0 notitle\n", p->gp);
}

int figure_ladder(struct plot *p)
{
	struct rungs r = { .p = p };
	double low = INFINITY, high = 0, end = 0, lo, hi, unit;
	const char *name;
	char *shared;
	int64_t n;

	if (plot_choose(p, NULL))
		return -1;
	n = plot_choose_n(p, NULL);
	if (read_rungs(&r, n))
		return -1;
	for (size_t i = 0; i < r.n; i++) {
		low = fmin(low, r.rung[i].cell->median_ns);
		high = fmax(high, r.rung[i].cell->median_ns);
		plot_spread(r.rung[i].cell, &lo, &hi);
		end = fmax(end, hi);
	}
	if (!(low > 0 && isfinite(low))) {
		for (size_t i = 0; i < r.n; i++)
			plot_has_time(p, r.rung[i].cell);
		return -1;
	}
	name = gp_unit(low, high, &unit);
	low = pow(10, floor(log10(low / unit / 1.5)));
	p->shared = shared = shared_params(&r);
	plot_title(p, "Ladder", n);
	write_rungs(&r, unit, low);
	end /= unit;
	write_script(&r, low, end * pow(end / low, 0.3), name);
	p->shared = NULL;
	free(shared);
	return 0;
}
