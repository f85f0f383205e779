/* SPDX-License-Identifier: MIT
 *
 * verdict.c - three sentences from the data, nothing else: each names its
 * numbers, and one that the data does not support is left out.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "../core/say.h"
#include "verdict.h"

static void append(char *out, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void append(char *out, size_t size, const char *fmt, ...)
{
	size_t used = strlen(out);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out + used, size - used, fmt, ap);
	va_end(ap);
}

static size_t count_status(const struct results *r, const char *status)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_cells; i++)
		n += !strcmp(r->cells[i].status, status);
	return n;
}

/* ", 2 hung" for each kind that there is. */
static size_t append_counts(const struct results *r, char *out, size_t size)
{
	static const char *const kinds[][2] = {
		{ "wrong", "gave a wrong result" }, { "crash", "crashed" }, { "hang", "hung" },
		{ "error", "failed" }, { "refused", "refused" }, { "skipped", "skipped" },
		{ "pending", "not finished" },
	};
	size_t all = 0, n;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		n = count_status(r, kinds[i][0]);
		if (n)
			append(out, size, "%s%zu %s", all ? ", " : "", n, kinds[i][1]);
		all += n;
	}
	return all;
}

static void write_right(const struct results *r, struct verdict_text *out)
{
	size_t good = count_status(r, "ok") + count_status(r, "imprecise"), n = 0;
	long long trials = 0;
	char others[400] = "";

	for (size_t i = 0; i < r->n_cells; i++)
		if (!isnan(r->cells[i].median_ns))
			trials += r->cells[i].trials;
	n = append_counts(r, others, sizeof(others));
	snprintf(out->right, sizeof(out->right), "%zu of %zu cells have a result; the whole array of each of"
		 " their %lld timed trials was verified.", good, r->n_cells, trials);
	if (n)
		append(out->right, sizeof(out->right), " The others have no time here: %s.", others);
	out->bad = count_status(r, "wrong") + count_status(r, "crash") + count_status(r, "hang") +
		   count_status(r, "error") > 0;
}

/* The first cell of the matrix with a time and a workload that does something, else any. */
static const struct result_cell *main_cell(const struct results *r)
{
	const struct result_cell *best = NULL;

	for (size_t i = 0; i < r->n_cells; i++) {
		const struct result_cell *c = &r->cells[i];

		if (isnan(c->median_ns))
			continue;
		if (!best || (!strcmp(best->workload, "null") && strcmp(c->workload, "null")))
			best = c;
	}
	return best;
}

static const struct result_cell *fastest(const struct results *r, const struct result_cell *like, int64_t n)
{
	const struct result_cell *best = NULL;

	for (size_t i = 0; i < r->n_cells; i++) {
		const struct result_cell *c = &r->cells[i];

		if (c->n == n && !strcmp(c->workload, like->workload) && !strcmp(c->target, like->target) &&
		    !isnan(c->median_ns) && (!best || c->median_ns < best->median_ns))
			best = c;
	}
	return best;
}

static void append_fastest(const struct results *r, const struct result_cell *c, char *out, size_t size)
{
	char ns[32], name[200];

	append(out, size, "%s with %s an iteration", say_text(c->variant, 40, name, sizeof(name)),
	       say_ns(c->median_ns, ns));
	if (isnan(c->speedup) || !r->baseline)
		return;
	if (!strcmp(c->series, r->baseline)) {
		append(out, size, ", which is the baseline itself");
		return;
	}
	append(out, size, ", %.2f times as fast as [%s]", c->speedup, say_text(r->baseline, 40, name, sizeof(name)));
	if (!isnan(c->ratio.lo))
		append(out, size, " (95 %% interval %.2f to %.2f)", c->ratio.lo, c->ratio.hi);
}

static void write_fast(const struct results *r, struct verdict_text *out)
{
	const struct result_cell *c = main_cell(r);
	int64_t least, most;
	char name[200];

	if (!c)
		return;
	least = most = c->n;
	for (size_t i = 0; i < r->n_cells; i++)
		if (!strcmp(r->cells[i].workload, c->workload) && !strcmp(r->cells[i].target, c->target) &&
		    !isnan(r->cells[i].median_ns)) {
			least = r->cells[i].n < least ? r->cells[i].n : least;
			most = r->cells[i].n > most ? r->cells[i].n : most;
		}
	snprintf(out->fast, sizeof(out->fast), "The fastest for %s at N = %lld is ",
		 say_text(c->workload, 40, name, sizeof(name)), (long long)least);
	append_fastest(r, fastest(r, c, least), out->fast, sizeof(out->fast));
	if (most != least) {
		append(out->fast, sizeof(out->fast), "; at N = %lld it is ", (long long)most);
		append_fastest(r, fastest(r, c, most), out->fast, sizeof(out->fast));
	}
	append(out->fast, sizeof(out->fast), ".");
}

/* ---- the third sentence ---- */

struct launch_cost { double ns, n; int found; };

static int take_launch(void *user, const struct store_row *row)
{
	struct launch_cost *l = user;

	l->found = row->text[0] != NULL;
	l->ns = row->real[0];
	l->n = row->real[1];
	return 0;
}

struct crossover { double ns; char variant[200]; };

static int take_crossover(void *user, const struct store_row *row)
{
	struct crossover *c = user;

	c->ns = row->real[1];
	say_text(row->text[0], 40, c->variant, sizeof(c->variant));
	return 0;
}

int verdict_crossover(struct store *s, const struct results *r, char *out, size_t size)
{
	struct crossover c = { .ns = NAN };
	char run[24], ns[32];
	const char *param = run;
	size_t i;

	for (i = 0; i < r->n_cells && strcmp(r->cells[i].workload, "busy"); i++)
		;
	if (i == r->n_cells)
		return 0;
	snprintf(run, sizeof(run), "%lld", (long long)r->run);
	if (store_query(s, "SELECT variant, max(pays_below_ns) FROM crossover WHERE run = CAST(?1 AS INTEGER)"
			" AND pays_below_ns IS NOT NULL GROUP BY run", &param, 1, take_crossover, &c))
		return -1;
	if (isnan(c.ns))
		return 0;
	snprintf(out, size, "Persistent pays below %s a step on this device (%s, against the fastest variant"
		 " that is launched).", say_ns(c.ns, ns), c.variant);
	return 1;
}

static int write_cost(struct store *s, const struct results *r, struct verdict_text *out)
{
	struct launch_cost l = { 0 };
	char run[24], ns[32];
	const char *param = run;
	int rc = verdict_crossover(s, r, out->cost, sizeof(out->cost));

	if (rc)
		return rc < 0 ? -1 : 0;
	snprintf(run, sizeof(run), "%lld", (long long)r->run);
	if (store_query(s, "SELECT launch_ns, n FROM overhead WHERE run = CAST(?1 AS INTEGER)"
			" AND launch_ns > 0 ORDER BY workload = 'null', n LIMIT 1", &param, 1, take_launch, &l))
		return -1;
	if (l.found)
		snprintf(out->cost, sizeof(out->cost), "To wait for the device after every iteration costs %s more"
			 " than to queue the launches (N = %.0f).", say_ns(l.ns, ns), l.n);
	return 0;
}

static void write_caution(const struct results *r, struct verdict_text *out)
{
	size_t imprecise = count_status(r, "imprecise");
	int host = 0;

	for (size_t i = 0; i < r->n_cells; i++)
		host |= !strcmp(r->cells[i].target, "host");
	if (host)
		append(out->caution, sizeof(out->caution), "Target host runs the kernels on the CPU: its times say"
		       " nothing about a GPU. ");
	if (r->quick)
		append(out->caution, sizeof(out->caution), "A quick run: few processes, no intervals, not for"
		       " comparing. ");
	if (r->instrumented)
		append(out->caution, sizeof(out->caution), "Instrumented: these are not the times of a plain run. ");
	if (imprecise)
		append(out->caution, sizeof(out->caution), "%zu cells did not reach the wanted precision. ", imprecise);
	if (strcmp(r->status, "complete"))
		append(out->caution, sizeof(out->caution), "The run is not complete (%s). ", r->status);
}

int verdict_write(struct store *s, const struct results *r, struct verdict_text *out)
{
	memset(out, 0, sizeof(*out));
	write_right(r, out);
	write_fast(r, out);
	write_caution(r, out);
	return write_cost(s, r, out);
}
