/* SPDX-License-Identifier: MIT
 *
 * figure_compare.c - two runs: for each cell that both have (pair.h), the
 * time in the second over the time in the first, with the Mann-Whitney interval
 * of the shift between their processes' medians.  What differs from session to
 * session is not in it: a verdict over several is `pkrun compare`.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../core/say.h"
#include "figure.h"
#include "pair.h"

#define PAIRS_MAX 120

struct comparison {
	struct plot *p;
	struct results other;
	size_t n, bare;			/* bare: too few processes for an interval */
	struct { const struct result_cell *a, *b; } pair[PAIRS_MAX];
};

static const struct result_cell *cell_of(const struct results *r, const struct pair_cell *c)
{
	for (size_t i = 0; c && i < r->n_cells; i++)
		if (r->cells[i].id == c->id)
			return &r->cells[i];
	return NULL;
}

static void add_pair(struct comparison *x, const struct result_cell *a, const struct result_cell *b)
{
	if (!plot_is_wanted(x->p, b) || !plot_has_time(x->p, a) || !plot_has_time(x->p, b))
		return;
	if (x->n == PAIRS_MAX) {
		if (!x->p->dropped++)
			snprintf(x->p->why, sizeof(x->p->why), "only the first %d cells fit", PAIRS_MAX);
		return;
	}
	x->pair[x->n].a = a;
	x->pair[x->n++].b = b;
}

/* In the order of the second run. */
static void add_pairs(struct comparison *x, const struct pair *pairs, size_t n)
{
	for (size_t i = 0; i < x->p->res.n_cells; i++)
		for (size_t k = 0; k < n; k++) {
			const struct result_cell *a = cell_of(&x->other, pairs[k].a);

			if (a && pairs[k].b && pairs[k].b->id == x->p->res.cells[i].id)
				add_pair(x, a, &x->p->res.cells[i]);
		}
}

static int read_pairs(struct comparison *x)
{
	const int64_t runs[2] = { x->other.run, x->p->res.run };
	struct pair_side sides[2] = { { 0 }, { 0 } };
	struct pair *pairs = NULL;
	size_t n;
	int rc = -1;

	for (int i = 0; i < 2; i++)
		if (pair_read(&sides[i], x->p->store, "", &runs[i], 1, NULL, x->p->why, sizeof(x->p->why)))
			goto out;
	if (pair_forget_options(&sides[0], &sides[1]) || pair_keys(&sides[0], &sides[1], &pairs, &n)) {
		snprintf(x->p->why, sizeof(x->p->why), "out of memory");
		goto out;
	}
	add_pairs(x, pairs, n);
	rc = 0;
out:
	free(pairs);
	pair_free(&sides[0]);
	pair_free(&sides[1]);
	return rc;
}

static double *logs_of(const struct result_cell *c)
{
	double *out = malloc((c->n_blocks + 1) * sizeof(*out));

	for (size_t i = 0; out && i < c->n_blocks; i++)
		out[i] = log(c->block_ns[i]);
	return out;
}

/* b over a, and its interval; just that, twice, where there is none.  0, or -1: no memory. */
static int ratio_of(struct comparison *x, const struct result_cell *a, const struct result_cell *b,
		    struct stats_interval *out)
{
	double *la = logs_of(a), *lb = logs_of(b);
	int rc = la && lb ? stats_shift(la, a->n_blocks, lb, b->n_blocks, 0.95, out) : -1;

	free(la);
	free(lb);
	if (rc < 0)
		return -1;
	if (rc == STATS_FEW) {
		x->bare++;
		out->lo = out->hi = out->estimate;
	}
	out->estimate = exp(out->estimate);
	out->lo = exp(out->lo);
	out->hi = exp(out->hi);
	return 0;
}

/* What all pairs are of stands in the title, what tells them apart at each: NULL and STORE_NULL if it differs. */
static void find_shared(const struct comparison *x, const char **workload, int64_t *n)
{
	*workload = x->pair[0].b->workload;
	*n = x->pair[0].b->n;
	for (size_t i = 1; i < x->n; i++) {
		if (*workload && strcmp(*workload, x->pair[i].b->workload))
			*workload = NULL;
		if (*n != x->pair[i].b->n)
			*n = STORE_NULL;
	}
}

/* The name of the cell is cut rather than what follows it. */
static void write_label(const struct comparison *x, const struct result_cell *b, const char *workload, int64_t n)
{
	char name[400], rest[120] = "", safe[400], label[600], text[100];
	size_t used = 0;

	gp_label(x->p, b, name, sizeof(name));
	if (!workload)
		used = (size_t)snprintf(rest, sizeof(rest), " %s", say_text(b->workload, 12, text, sizeof(text)));
	if (n == STORE_NULL)
		snprintf(rest + used, sizeof(rest) - used, " N=%lld", (long long)b->n);
	snprintf(label, sizeof(label), "%s%s", say_text(name, BAR_LABEL - say_columns(rest), safe, sizeof(safe)), rest);
	gp_bar_label(x->p, label);
}

static int write_pairs(struct comparison *x, const char *workload, int64_t n, double *least, double *most)
{
	struct stats_interval ratio;

	*least = 0.97;
	*most = 1.03;

	fputs("$pairs << END_OF_DATA\n", x->p->gp);
	for (size_t i = 0; i < x->n; i++) {
		const struct result_cell *b = x->pair[i].b;

		if (ratio_of(x, x->pair[i].a, b, &ratio)) {
			snprintf(x->p->why, sizeof(x->p->why), "out of memory");
			return -1;
		}
		fprintf(x->p->gp, "%zu ", x->n - i);
		write_label(x, b, workload, n);
		*least = fmin(*least, 0.98 * ratio.lo);
		*most = fmax(*most, 1.02 * ratio.hi);
		fprintf(x->p->gp, " %.9g %.9g %.9g\n", ratio.estimate, ratio.lo, ratio.hi);
		x->p->drawn++;
	}
	fputs("END_OF_DATA\n", x->p->gp);
	return 0;
}

/* What the dots and bars are. */
static const char *caption(const struct comparison *x)
{
	if (x->bare == x->n)
		return "shift between the processes; too few of them for an interval";
	if (x->bare)
		return "shift between the processes, 95 % interval (dots alone: too few processes)";
	return "shift between the processes, 95 % interval";
}

/* One of them under a tool, or each under another?  Its time is the tool's.  Or with cold caches? */
static int check_alike(struct comparison *x)
{
	const char *a = x->other.instrumented, *b = x->p->res.instrumented;

	if (x->other.cold != x->p->res.cold) {
		snprintf(x->p->why, sizeof(x->p->why), "run %lld has cache = %s, run %lld cache = %s: they are not compared",
			 (long long)x->other.run, x->other.cold ? "cold" : "hot", (long long)x->p->res.run,
			 x->p->res.cold ? "cold" : "hot");
		return -1;
	}
	if (!a == !b && (!a || !strcmp(a, b)))
		return 0;
	snprintf(x->p->why, sizeof(x->p->why), "run %lld was run %s%.60s, run %lld %s%.60s: instrumented runs are"
		 " not compared with others", (long long)x->other.run, a ? "under " : "plainly", a ? a : "",
		 (long long)x->p->res.run, b ? "under " : "plainly", b ? b : "");
	return -1;
}

int figure_compare(struct plot *p)
{
	struct comparison x = { .p = p };
	double least, most;
	const char *workload;
	char of[200] = "", text[100], size[40] = "";
	int64_t n, other = p->want->other_run ? p->want->other_run : p->res.run - 1;
	int rc = -1;

	if (other < 1 || results_load(p->store, other, &x.other)) {
		if (p->want->other_run)
			snprintf(p->why, sizeof(p->why), "it takes two runs; there is no run %lld", (long long)other);
		else
			snprintf(p->why, sizeof(p->why), "it takes two runs, and there is none before run %lld; --against"
				 " says with which, `pkrun merge` joins files", (long long)p->res.run);
		return -1;
	}
	if (check_alike(&x) || read_pairs(&x))
		goto out;
	if (!x.n) {
		if (!*p->why)
			snprintf(p->why, sizeof(p->why), "runs %lld and %lld have no cell in common",
				 (long long)other, (long long)p->res.run);
		goto out;
	}
	p->height = 150 + 24 * (int)x.n;
	find_shared(&x, &workload, &n);
	if (write_pairs(&x, workload, n, &least, &most))
		goto out;
	if (n != STORE_NULL)
		snprintf(size, sizeof(size), ", N = %lld", (long long)n);
	snprintf(of, sizeof(of), "Run %lld against run %lld: time of each cell%s%s%s%s", (long long)p->res.run,
		 (long long)other, workload ? ", " : "", workload ? say_text(workload, 40, text, sizeof(text)) : "", size,
		 plot_caution(p));
	fputs("set title ", p->gp);
	gp_quote_long(p->gp, of);
	fprintf(p->gp, ".\"\\n%s; the band is 1 %%\"\n", caption(&x));
	fprintf(p->gp, "set yrange [0.3:%g]\nset xrange [%g:%g]\n", (double)x.n + 0.7, least, most);
	if (most > 4 * least)	/* a wide ratio has no room for the powers of two */
		fprintf(p->gp, "set logscale x %d\n", most > 32 * least ? 10 : 2);
	fprintf(p->gp, "set xlabel 'time in run %lld over time in run %lld (below 1: faster)'\n",
		(long long)p->res.run, (long long)other);
	fputs("unset key\nunset grid\nset grid xtics back lc rgb '#dddddd'\n"
	      "set arrow 1 from 1, graph 0 to 1, graph 1 nohead lw 1.5 lc rgb '#000000' back\n"
	      "set object 1 rectangle from 0.99, graph 0 to 1.01, graph 1 fs solid 0.5 noborder fc rgb '#cccccc' behind\n"
	      "plot $pairs using 3:1:4:5:yticlabels(stringcolumn(2)) with xerrorbars pt 7 ps 0.9 lw 1.6"
	      " lc rgb '#0072b2' notitle\n", p->gp);
	rc = 0;
out:
	results_free(&x.other);
	return rc;
}
