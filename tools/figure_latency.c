/* SPDX-License-Identifier: MIT
 *
 * figure_latency.c - the times of single trials, each cell's over its median,
 * as histograms on a common axis: how wide, how many humps, how long a tail.
 * Where variants took histograms of single messages, those instead.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../core/say.h"
#include "figure.h"

#define CELLS_MAX 12
#define BINS 40
#define LONGEST 2.5	/* medians */

struct cell_times {
	const struct result_cell *cell;
	double bins[BINS], count;
};

struct latency {
	struct plot *p;
	struct cell_times cells[CELLS_MAX];
	size_t n;
	double lo, hi;		/* ends of the axis, time over median */
};

static struct cell_times *find_cell(struct latency *l, int64_t id)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->cells[i].cell->id == id)
			return &l->cells[i];
	return NULL;
}

static int add_trial(void *user, const struct store_row *row)
{
	struct latency *l = user;
	struct cell_times *c = find_cell(l, row->integer[0]);
	double at;

	if (!c || !(row->real[1] > 0))
		return 0;
	at = (row->real[1] / c->cell->median_ns - l->lo) / (l->hi - l->lo) * BINS;
	c->bins[at >= BINS ? BINS - 1 : (int)fmax(at, 0)]++;
	c->count++;
	return 0;
}

static int read_trials(struct latency *l)
{
	static const char sql[] =
		"SELECT cell_id, 1.0 * wall_ns / iterations FROM trial WHERE kind = 'timed' AND verified = 1"
		" AND cell_id = CAST(?1 AS INTEGER) AND wall_ns > 0 AND instr(flags, 'bad_clock') = 0";
	char id[24];
	const char *param = id;

	for (size_t i = 0; i < l->n; i++) {
		snprintf(id, sizeof(id), "%lld", (long long)l->cells[i].cell->id);
		if (store_query(l->p->store, sql, &param, 1, add_trial, l)) {
			snprintf(l->p->why, sizeof(l->p->why), "%s", store_error(l->p->store));
			return -1;
		}
	}
	return 0;
}

static void write_histograms(struct latency *l)
{
	double step = (l->hi - l->lo) / BINS;

	for (size_t i = 0; i < l->n; i++) {
		fprintf(l->p->gp, "$cell%zu << END_OF_DATA\n", i);
		for (int b = -1; b <= BINS; b++)
			fprintf(l->p->gp, "%.9g %.9g\n", l->lo + step * b,
				b < 0 || b == BINS ? 0 : 100 * l->cells[i].bins[b] / l->cells[i].count);
		fputs("END_OF_DATA\n", l->p->gp);
		l->p->drawn++;
	}
}

/* A panel a cell, all with the same axis. */
static void write_panels(struct latency *l, const char *title)
{
	size_t columns = l->n < 2 ? 1 : 2, rows = (l->n + columns - 1) / columns;
	char label[400];

	l->p->width = columns == 1 ? 760 : 980;
	l->p->height = 90 + 200 * (int)rows;
	fprintf(l->p->gp, "set multiplot layout %zu,%zu title ", rows, columns);
	gp_quote_long(l->p->gp, title);
	fputc('\n', l->p->gp);
	fprintf(l->p->gp, "set xrange [%g:%g]\nset yrange [0:*]\nset ylabel 'trials [%%]'\nset xlabel"
		" 'time of a trial over its cell''s median%s'\nunset key\n", l->lo, l->hi,
		l->hi == LONGEST ? " (last bin: longer)" : "");
	for (size_t i = 0; i < l->n; i++) {
		gp_label(l->p, l->cells[i].cell, label, sizeof(label));
		fputs("set title ", l->p->gp);
		gp_quote(l->p->gp, label);
		fprintf(l->p->gp, "\nplot $cell%zu using 1:2 with fillsteps fs solid 0.45 lc rgb '%s',"
			" '' using 1:2 with steps lw 1.4 lc rgb '%s'\n", i, gp_colour(i), gp_colour(i));
	}
	fputs("unset multiplot\n", l->p->gp);
}

int figure_latency(struct plot *p)
{
	struct latency l = { .p = p, .lo = INFINITY };
	char title[400], workload[80], device[200];
	int64_t n;
	int rc = figure_messages(p);

	if (rc)
		return rc > 0 ? 0 : -1;
	if (plot_choose(p, NULL))
		return -1;
	n = plot_choose_n(p, NULL);
	for (size_t i = 0; i < p->res.n_cells; i++) {
		const struct result_cell *c = &p->res.cells[i];

		if (!plot_is_chosen(p, c) || c->n != n || !plot_has_time(p, c))
			continue;
		if (l.n == CELLS_MAX) {
			if (!p->dropped++)
				snprintf(p->why, sizeof(p->why), "only the first %d cells fit; --only, --n and --workload choose", CELLS_MAX);
			continue;
		}
		l.cells[l.n++].cell = c;
		l.lo = fmin(l.lo, c->min_ns / c->median_ns);
		l.hi = fmax(l.hi, c->max_ns / c->median_ns);
	}
	if (!l.n)
		return -1;
	l.hi = fmin(fmax(l.hi, l.lo + 0.01), LONGEST);	/* the last bin holds what is beyond */
	if (read_trials(&l))
		return -1;
	snprintf(title, sizeof(title), "Times of single trials: %s, N = %lld, target %s%s%s%s",
		 say_text(p->workload, 20, workload, sizeof(workload)), (long long)n, p->target, plot_device(p) ? ", " : "",
		 plot_device(p) ? say_text(plot_device(p), 30, device, sizeof(device)) : "", plot_caution(p));
	write_histograms(&l);
	write_panels(&l, title);
	return 0;
}
