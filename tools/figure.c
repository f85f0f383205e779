/* SPDX-License-Identifier: MIT
 *
 * figure.c - the list of figures and what they share: choosing cells, units,
 * colours, and texts that gnuplot must not take for commands.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../core/say.h"
#include "figure.h"
#include "params.h"

const struct figure figures[] = {
	{ "ladder", "time of each rung, and its factor over the rung before", figure_ladder, 0 },
	{ "scaling", "time against the size of the problem, with intervals", figure_scaling, 1 },
	{ "overhead", "where the time goes: compute, execution, launch, handshake", figure_overhead, 0 },
	{ "roofline", "every cell under the roofs measured on the same device", figure_roofline, 0 },
	{ "latency", "histograms: of messages where a variant took them, else of trials", figure_latency, 0 },
	{ "compare", "two runs: ratio of each common cell, with intervals", figure_compare, 0 },
	{ "schedule", "what each block did when (cells with `stamps`)", figure_schedule, 0 },
	{ "sync", "cost of an empty step over blocks and threads", figure_sync, 1 },
	{ NULL, NULL, NULL, 0 }
};

const struct figure *figure_find(const char *name)
{
	for (const struct figure *f = figures; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

int figure_script(const struct figure *f, struct store *s, const struct results *loaded,
		  const struct figure_request *want, struct plot *p, char **script)
{
	size_t size;
	int rc = 0;

	memset(p, 0, sizeof(*p));
	p->store = s;
	p->want = want;
	p->width = 900;
	p->height = 540;
	*script = NULL;
	p->borrowed = loaded != NULL;
	if (loaded)
		p->res = *loaded;
	else
		rc = results_load(s, want->run == FIGURE_EVERY_RUN ? 0 : want->run, &p->res);
	if (rc) {
		if (rc > 0)
			snprintf(p->why, sizeof(p->why), want->run ? "there is no such run" :
				 "there is no run in it yet");
		else
			snprintf(p->why, sizeof(p->why), "%s", store_error(s));
		return -1;
	}
	if (want->only)
		results_only(&p->res, want->only);
	if (want->only && !p->res.n_cells) {
		snprintf(p->why, sizeof(p->why), "no cell of run %lld matches --only %.200s",
			 (long long)p->res.run, want->only);
		return -1;
	}
	p->gp = open_memstream(script, &size);
	if (!p->gp)
		return -1;
	fputs("set border 3\nset tics nomirror\nset grid ytics back lc rgb '#dddddd' lw 1\n", p->gp);
	rc = f->make(p);
	if (fclose(p->gp))
		rc = -1;
	if (rc) {
		free(*script);
		*script = NULL;
	}
	return rc;
}

void figure_free(struct plot *p)
{
	if (!p->borrowed)
		results_free(&p->res);
}

/* ---- texts ---- */

void gp_quote_long(FILE *gp, const char *text)
{
	fputc('\'', gp);
	for (; *text; text++)
		if (*text == '\'')	/* gnuplot reads a doubled one at the start as an empty text */
			fputs("’", gp);
		else
			fputc(*text, gp);
	fputc('\'', gp);
}

void gp_quote(FILE *gp, const char *text)
{
	char safe[400];

	gp_quote_long(gp, say_text(text, 40, safe, sizeof(safe)));
}

void gp_bar_label(struct plot *p, const char *text)
{
	char safe[500];

	say_text(text, BAR_LABEL, safe, sizeof(safe));
	if (say_columns(safe) > 40)
		p->width = 1100;
	fputc('"', p->gp);
	for (const char *c = safe; *c; c++)
		fputc(*c == '"' ? '\'' : *c == '\\' ? '/' : *c, p->gp);
	fputc('"', p->gp);
}

const char *gp_ns(double ns, char buf[40])
{
	char *unit;

	say_ns(ns, buf);
	unit = strstr(buf, " us");
	if (unit)
		strcpy(unit, " µs");
	return buf;
}

const char *gp_colour(size_t i)
{
	static const char *const colours[] = {
		"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d1f",
	};

	return colours[i % (sizeof(colours) / sizeof(colours[0]))];
}

const char *gp_unit(double lo, double hi, double *ns)
{
	double middle = sqrt(lo * hi);

	*ns = middle >= 1e9 ? 1e9 : middle >= 1e6 ? 1e6 : middle >= 200 ? 1e3 : 1;
	return *ns == 1e9 ? "s" : *ns == 1e6 ? "ms" : *ns == 1e3 ? "µs" : "ns";
}

void gp_lying_bars(struct plot *p, size_t n)
{
	p->height = 150 + (n < 30 ? 25 : 20) * (int)n;
	fprintf(p->gp, "set yrange [-0.7:%g]\n", (double)n - 0.3);
	fputs("unset grid\nset grid xtics back lc rgb '#dddddd' lw 1\nset ytics scale 0\n"
	      "set style fill solid 0.85 border rgb '#333333'\nset key outside top right horizontal\n", p->gp);
}

void gp_key_at_the_side(struct plot *p, size_t n)
{
	if (p->height < 140 + 20 * (int)n)
		p->height = 140 + 20 * (int)n;
	fputs("set key outside right top vertical Left reverse samplen 2 maxcols 1\n", p->gp);
}

/* Of its parameters those that tell it from the others of its series. */
void gp_label(const struct plot *p, const struct result_cell *c, char *out, size_t size)
{
	char *shared = strdup(c->told), *params = strdup(c->told);
	const char *told;
	int other_variant = 0, other_params = 0;

	for (size_t i = 0; i < p->res.n_cells; i++) {
		const struct result_cell *o = &p->res.cells[i];

		if (!plot_is_chosen(p, o) || strcmp(o->series, c->series))
			continue;
		other_variant |= strcmp(o->variant, c->variant) != 0;
		if (strcmp(o->variant, c->variant))
			continue;
		other_params |= strcmp(o->params, c->params) != 0;
		if (shared)
			params_keep(shared, o->told);
	}
	if (params && shared)
		params_drop(params, shared);
	if (params && p->shared)
		params_drop(params, p->shared);
	told = !other_params ? NULL : params ? params : c->told;
	snprintf(out, size, "%s%s%s",
		 *c->series && !(other_variant && strcmp(c->series, c->variant)) ? c->series : c->variant,
		 told && *told ? " " : "", told ? told : "");
	free(shared);
	free(params);
}

/* ---- choosing ---- */

static int same_text(const char *want, const char *have)
{
	return !want || !strcmp(want, have);
}

int plot_is_chosen(const struct plot *p, const struct result_cell *c)
{
	return same_text(p->workload, c->workload) && same_text(p->target, c->target);
}

int plot_is_wanted(const struct plot *p, const struct result_cell *c)
{
	return same_text(p->want->workload, c->workload) && same_text(p->want->target, c->target) &&
	       (p->want->n == STORE_NULL || p->want->n == c->n);
}

const char *plot_wanted(const struct plot *p, char *out, size_t size)
{
	const char *workload = p->want->workload, *target = p->want->target;
	char n[40] = "";

	if (p->want->n != STORE_NULL)
		snprintf(n, sizeof(n), ", n = %lld", (long long)p->want->n);
	snprintf(out, size, "%s%.60s%s%.60s%s", workload ? ", workload " : "", workload ? workload : "",
		 target ? ", target " : "", target ? target : "", n);
	return out;
}

/* The first of the matrix that has a time; empty work only if there is nothing else. */
int plot_choose(struct plot *p, int (*ok)(const struct result_cell *c))
{
	const struct result_cell *best = NULL;
	char asked[200];
	int rank = 0, r;

	for (size_t i = 0; i < p->res.n_cells; i++) {
		const struct result_cell *c = &p->res.cells[i];

		if (!plot_is_wanted(p, c) || (ok && !ok(c)))
			continue;
		r = 1 + 2 * !isnan(c->median_ns) + (strcmp(c->workload, "null") != 0);
		if (r > rank) {
			best = c;
			rank = r;
		}
	}
	if (!best) {
		snprintf(p->why, sizeof(p->why), "run %lld has no cell for this figure%s", (long long)p->res.run,
			 plot_wanted(p, asked, sizeof(asked)));
		return -1;
	}
	p->workload = best->workload;
	p->target = best->target;
	return 0;
}

int64_t plot_choose_n(struct plot *p, int (*ok)(const struct result_cell *c))
{
	int64_t best = STORE_NULL;
	size_t most = 0;

	if (p->want->n != STORE_NULL)
		return p->want->n;
	for (size_t i = 0; i < p->res.n_cells; i++) {
		const struct result_cell *c = &p->res.cells[i];
		size_t n = 0;

		if (!plot_is_chosen(p, c) || (ok && !ok(c)))
			continue;
		for (size_t k = 0; k < p->res.n_cells; k++) {
			const struct result_cell *o = &p->res.cells[k];

			n += plot_is_chosen(p, o) && o->n == c->n && !isnan(o->median_ns) && (!ok || ok(o));
		}
		if (best == STORE_NULL || n > most || (n == most && c->n > best)) {
			best = c->n;
			most = n;
		}
	}
	return best;
}

int plot_has_time(struct plot *p, const struct result_cell *c)
{
	if (isfinite(c->median_ns) && c->median_ns > 0)
		return 1;
	if (!p->dropped++)
		snprintf(p->why, sizeof(p->why), "%.60s n=%lld: %s%s%.300s", c->series, (long long)c->n,
			 strcmp(c->status, "ok") ? result_words(c->status) : "no valid time",
			 c->reason && *c->reason ? ": " : "", c->reason ? c->reason : "");
	return 0;
}

void plot_spread(const struct result_cell *c, double *lo, double *hi)
{
	int interval = isfinite(c->time.lo) && isfinite(c->time.hi);

	*lo = interval ? c->time.lo : c->min_ns;
	*hi = interval ? c->time.hi : c->max_ns;
}

const char *plot_device(const struct plot *p)
{
	for (size_t i = 0; i < p->res.n_cells; i++)
		if (plot_is_chosen(p, &p->res.cells[i]) && p->res.cells[i].device)
			return p->res.cells[i].device;
	return NULL;
}

const char *plot_caution(const struct plot *p)
{
	static const char *const texts[] = {
		"", " (quick run)", " (instrumented)", " (quick run, instrumented)", " (cold caches)",
		" (quick run, cold caches)", " (instrumented, cold caches)",
		" (quick run, instrumented, cold caches)",
	};

	return texts[(p->res.quick ? 1 : 0) + (p->res.instrumented ? 2 : 0) + (p->res.cold ? 4 : 0)];
}

void plot_title(struct plot *p, const char *what, int64_t n)
{
	const char *device = plot_device(p);
	char text[400], safe[400];
	size_t used;

	used = (size_t)snprintf(text, sizeof(text), "%s: %s", what,
				say_text(p->workload, 40, safe, sizeof(safe)));
	if (n != STORE_NULL)
		used += (size_t)snprintf(text + used, sizeof(text) - used, ", N = %lld", (long long)n);
	if (device)
		used += (size_t)snprintf(text + used, sizeof(text) - used, ", %s",
					 say_text(device, 60, safe, sizeof(safe)));
	if (!strcmp(p->target, "host"))
		snprintf(text + used, sizeof(text) - used, " (target host: no GPU)");
	fputs("set title ", p->gp);
	gp_quote_long(p->gp, text);
	snprintf(text, sizeof(text), "%s%s", say_text(p->shared ? p->shared : "", 60, safe, sizeof(safe)), plot_caution(p));
	if (*text) {
		fputs(".\"\\n\".", p->gp);
		gp_quote_long(p->gp, text + (*text == ' '));
	}
	fputc('\n', p->gp);
}
