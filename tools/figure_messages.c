/* SPDX-License-Identifier: MIT
 *
 * figure_messages.c - latencies that a variant saw within its trials: metrics
 * NAME_hist_ns_le_BOUND (kernels/latency.h), a panel a cell and name, summed
 * over the trials, on a common log axis.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../core/say.h"
#include "figure.h"

#define PANELS_MAX 12
#define BINS_MAX 96

struct panel {
	const struct result_cell *cell;
	char name[40];
	size_t n;
	double bound[BINS_MAX], count[BINS_MAX];	/* ns, ascending */
	double all;		/* those beyond the last bound, 10 s, too, which no bar shows */
};

struct messages {
	struct plot *p;
	struct panel *panels;
	size_t n;
	const struct result_cell *left;	/* out, the last of them */
	char left_name[40];
};

static const char histograms[] =
	"SELECT m.cell_id, substr(m.name, 1, instr(m.name, '_hist_ns_le_') - 1) AS name,"
	" CASE WHEN m.name GLOB '*_inf' THEN 9e999 ELSE"
	" CAST(substr(m.name, instr(m.name, '_hist_ns_le_') + 12) AS REAL) END AS bound, sum(m.value)"
	" FROM metric m JOIN cell c ON c.id = m.cell_id JOIN trial t ON t.id = m.trial_id"
	" WHERE c.run_id = CAST(?1 AS INTEGER) AND instr(m.name, '_hist_ns_le_') > 1"
	" AND t.kind = 'timed' AND t.verified = 1"
	" AND c.status IN ('ok', 'imprecise', 'pending')"
	" GROUP BY 1, 2, 3 ORDER BY c.number, 2, 3";

static const struct result_cell *find_cell(const struct plot *p, int64_t id)
{
	for (size_t i = 0; i < p->res.n_cells; i++)
		if (p->res.cells[i].id == id)
			return &p->res.cells[i];
	return NULL;
}

/* One more histogram, however many bins it has. */
static void leave_out(struct messages *m, const struct result_cell *c, const char *name)
{
	if (m->left == c && !strcmp(m->left_name, name))
		return;
	m->left = c;
	snprintf(m->left_name, sizeof(m->left_name), "%s", name);
	if (!m->p->dropped++)
		snprintf(m->p->why, sizeof(m->p->why), "only the first %d histograms fit; "
			 "--only, --n and --workload choose", PANELS_MAX);
}

static int add_bin(void *user, const struct store_row *row)
{
	struct messages *m = user;
	const struct result_cell *c = find_cell(m->p, row->integer[0]);
	struct panel *at = m->n ? &m->panels[m->n - 1] : NULL;

	if (!c || !plot_is_wanted(m->p, c))
		return 0;
	if (!at || at->cell != c || strcmp(at->name, row->text[1])) {
		if (isinf(row->real[2]))
			return 0; /* there is nothing to draw */
		if (m->n == PANELS_MAX) {
			leave_out(m, c, row->text[1]);
			return 0;
		}
		at = &m->panels[m->n++];
		at->cell = c;
		snprintf(at->name, sizeof(at->name), "%s", row->text[1]);
	}
	if (row->real[2] > 0)
		at->all += row->real[3];
	if (at->n < BINS_MAX && row->real[2] > 0 && !isinf(row->real[2])) {
		at->bound[at->n] = row->real[2];
		at->count[at->n++] = row->real[3];
	}
	return 0;
}

/* The bound below which at least this share of the messages stayed; INFINITY: beyond the last. */
static double quantile(const struct panel *at, double share)
{
	double sum = 0;

	for (size_t i = 0; i < at->n; i++)
		if ((sum += at->count[i]) >= share * at->all)
			return at->bound[i];
	return INFINITY;
}

/* "≤ 4.00 µs", "> 10 s" */
static const char *at_most(double ns, char out[48])
{
	char text[40];

	if (isinf(ns))
		snprintf(out, 48, "> 10 s");
	else
		snprintf(out, 48, "≤ %s", gp_ns(ns, text));
	return out;
}

/* A bin reaches down to the next lower of the bounds, a tenth of a decade. */
static void write_data(struct messages *m, double unit)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct panel *at = &m->panels[i];

		fprintf(m->p->gp, "$panel%zu << END_OF_DATA\n", i);
		for (size_t k = 0; k < at->n; k++)
			fprintf(m->p->gp, "%.6g %.6g %.6g %.6g\n", at->bound[k] / pow(10, 0.05) / unit,
				100 * at->count[k] / at->all, at->bound[k] / pow(10, 0.1) / unit, at->bound[k] / unit);
		fputs("END_OF_DATA\n", m->p->gp);
		m->p->drawn++;
	}
}

/* Where the bars leave more room for the quantiles: is more of the messages in the right half of the axis? */
static int is_right(const struct panel *at, double lo, double hi)
{
	double right = 0;

	for (size_t i = 0; i < at->n; i++)
		if (at->bound[i] > sqrt(lo * hi))
			right += at->count[i];
	return right > at->all / 2;
}

/* On a short axis the powers of ten alone would be a number or none. */
static void write_ticks(FILE *gp, double lo, double hi)
{
	static const double steps[] = { 1, 2, 5 };
	const char *before = "set xtics (";

	if (hi > 300 * lo)
		return;
	for (double decade = pow(10, floor(log10(lo))); decade < hi; decade *= 10)
		for (size_t i = 0; i < 3; i++)
			if (decade * steps[i] >= lo && decade * steps[i] <= hi) {
				fprintf(gp, "%s%g", before, decade * steps[i]);
				before = ", ";
			}
	fputs(")\n", gp);
}

static void write_panels(struct messages *m, double lo, double hi, const char *unit, double ns)
{
	size_t columns = m->n < 2 ? 1 : 2, rows = (m->n + columns - 1) / columns;
	static const char *const names[] = { "p50", "p90", "p99", "p99.9" };
	static const double shares[] = { 0.5, 0.9, 0.99, 0.999 };
	const char *device = plot_device(m->p);
	char label[400], title[500], bound[48], on[300] = "";

	if (device)
		snprintf(on, sizeof(on), ", %s", say_text(device, 40, label, sizeof(label)));
	m->p->width = columns == 1 ? 760 : 980;
	m->p->height = 90 + 220 * (int)rows;
	fprintf(m->p->gp, "set multiplot layout %zu,%zu title ", rows, columns);
	snprintf(title, sizeof(title), "Latency of single messages, target %s%s%s",
		 say_text(m->panels[0].cell->target, 20, label, sizeof(label)), on, plot_caution(m->p));
	gp_quote_long(m->p->gp, title);
	fprintf(m->p->gp, "\nset logscale x 10\nset xrange [%g:%g]\nset yrange [0:105]\nset ytics 25\nset lmargin 8\nset ylabel 'messages [%%]'\n"
		"set xlabel 'latency [%s], log scale'\nunset key\nset style fill solid 0.6\n", lo / ns / 1.5,
		hi / ns * 1.3, unit);
	write_ticks(m->p->gp, lo / ns / 1.5, hi / ns * 1.3);
	for (size_t i = 0; i < m->n; i++) {
		const struct panel *at = &m->panels[i];

		gp_label(m->p, at->cell, label, sizeof(label));
		snprintf(title, sizeof(title), "%.48s, %.20s, n=%lld", label, at->name, (long long)at->cell->n);
		fputs("set title ", m->p->gp);
		gp_quote_long(m->p->gp, say_text(title, 0, label, sizeof(label)));
		for (size_t k = 0; k < 4; k++)
			fprintf(m->p->gp, "\nset label %zu '%s %s' at graph %s, graph %.2f %s", k + 1, names[k],
				at_most(quantile(at, shares[k]), bound), is_right(at, lo, hi) ? "0.05" : "0.98",
				0.94 - 0.15 * (double)k, is_right(at, lo, hi) ? "left" : "right");
		fprintf(m->p->gp, "\nplot $panel%zu using 1:2:3:4:(0):2 with boxxyerrorbars lc rgb '%s'\n", i,
			gp_colour(i));
	}
	fputs("unset multiplot\n", m->p->gp);
}

int figure_messages(struct plot *p)
{
	struct messages m = { p, calloc(PANELS_MAX, sizeof(*m.panels)), 0 };
	double lo = INFINITY, hi = 0, ns;
	char run[24];
	const char *param = run, *unit;
	int rc = -1;

	snprintf(run, sizeof(run), "%lld", (long long)p->res.run);
	if (!m.panels || store_query(p->store, histograms, &param, 1, add_bin, &m)) {
		snprintf(p->why, sizeof(p->why), "%s", store_error(p->store));
		goto out;
	}
	for (size_t i = 0; i < m.n; i++) {
		lo = fmin(lo, m.panels[i].bound[0]);
		hi = fmax(hi, m.panels[i].bound[m.panels[i].n - 1]);
	}
	if (m.n) {
		p->workload = m.panels[0].cell->workload;
		p->target = m.panels[0].cell->target;
		unit = gp_unit(lo, hi, &ns);
		write_data(&m, ns);
		write_panels(&m, lo, hi, unit, ns);
	}
	rc = m.n ? 1 : 0;
out:
	free(m.panels);
	return rc;
}
