/* SPDX-License-Identifier: MIT
 *
 * verdict.c - three sentences from the data, nothing else: each names its
 * numbers, and one that the data does not support is left out.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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

/* ---- the second sentence ---- */

/* What each cell's workload was told, of what differs between cells of the run: "length_ns=200". */
struct works {
	const struct results *r;
	char **text;		/* by place in r->cells; NULL: nothing that differs */
	size_t at;
};

static int take_work(void *user, const struct store_row *row)
{
	struct works *w = user;

	while (w->at < w->r->n_cells && w->r->cells[w->at].id != row->integer[0])
		w->at++;
	if (w->at == w->r->n_cells || !row->text[1])
		return 0;
	w->text[w->at] = strdup(row->text[1]);
	return !w->text[w->at];
}

static int works_load(struct works *w, struct store *s, const struct results *r)
{
	static const char sql[] =
		"WITH p AS MATERIALIZED (SELECT c.id, c.number, c.workload, p.name, p.value FROM cell c"
		" JOIN param p ON p.cell_id = c.id AND p.owner = 'workload' AND p.name <> 'n'"
		" WHERE c.run_id = CAST(?1 AS INTEGER)),"
		" differ AS (SELECT workload, name FROM p GROUP BY workload, name HAVING count(DISTINCT value) > 1)"
		" SELECT id, group_concat(name || '=' || value, ' ')"
		" FROM (SELECT p.* FROM p JOIN differ USING (workload, name) ORDER BY number, name)"
		" GROUP BY number ORDER BY number";
	char run[24];
	const char *param = run;

	*w = (struct works){ .r = r, .text = calloc(r->n_cells + 1, sizeof(*w->text)) };
	snprintf(run, sizeof(run), "%lld", (long long)r->run);
	return w->text && !store_query(s, sql, &param, 1, take_work, w) ? 0 : -1;
}

static void works_free(struct works *w)
{
	for (size_t i = 0; w->text && i < w->r->n_cells; i++)
		free(w->text[i]);
	free(w->text);
}

static const char *work_of(const struct works *w, const struct result_cell *c)
{
	const char *text = w->text[c - w->r->cells];

	return text ? text : "";
}

/* Workloads that measure: each of their variants does something else, and none of them faster. */
static int is_measurement(const char *workload)
{
	return !strcmp(workload, "relay") || !strcmp(workload, "syncost") || !strcmp(workload, "launchcost");
}

/* What the run is about: any work before what roofs are made of, and that before none. */
static int importance(const char *workload)
{
	if (!strcmp(workload, "null"))
		return 1;
	return !strcmp(workload, "scale") || !strcmp(workload, "fma") ? 2 : 3;
}

/* The first cell of the matrix with a time, of what the run is about. */
static const struct result_cell *main_cell(const struct results *r)
{
	const struct result_cell *best = NULL;

	for (size_t i = 0; i < r->n_cells; i++) {
		const struct result_cell *c = &r->cells[i];

		if (!isnan(c->median_ns) && !is_measurement(c->workload) &&
		    (!best || importance(c->workload) > importance(best->workload)))
			best = c;
	}
	return best;
}

static int same_workload(const struct result_cell *a, const struct result_cell *b)
{
	return !strcmp(a->workload, b->workload) && !strcmp(a->target, b->target);
}

/* The fastest of all that did the same work as `like`. */
static const struct result_cell *fastest(const struct works *w, const struct result_cell *like)
{
	const struct result_cell *best = like;

	for (size_t i = 0; i < w->r->n_cells; i++) {
		const struct result_cell *c = &w->r->cells[i];

		if (c->n == like->n && same_workload(c, like) && !strcmp(work_of(w, c), work_of(w, like)) &&
		    c->median_ns < best->median_ns)
			best = c;
	}
	return best;
}

/* "at N = 64 (length_ns=200) is X with ..." */
static void append_fastest(const struct works *w, const struct result_cell *like, const char *is, char *out,
			   size_t size)
{
	const struct result_cell *c = fastest(w, like);
	const char *baseline = w->r->baseline;
	char ns[32], name[200];

	append(out, size, "at N = %lld", (long long)c->n);
	if (*work_of(w, c))
		append(out, size, " (%s)", say_text(work_of(w, c), 60, name, sizeof(name)));
	append(out, size, " %s %s with %s an iteration", is, say_text(c->variant, 40, name, sizeof(name)),
	       say_ns(c->median_ns, ns));
	if (isnan(c->speedup) || !baseline)
		return;
	if (!strcmp(c->series, baseline)) {
		append(out, size, ", which is the baseline itself");
		return;
	}
	append(out, size, ", %.2f times as fast as [%s]", c->speedup, say_text(baseline, 40, name, sizeof(name)));
	if (!isnan(c->ratio.lo))
		append(out, size, " (95 %% interval %.2f to %.2f)", c->ratio.lo, c->ratio.hi);
}

static void write_fast(const struct works *w, struct verdict_text *out)
{
	const struct result_cell *c = main_cell(w->r), *least = c, *most = c;
	char name[200];

	if (!c)
		return;
	for (size_t i = 0; i < w->r->n_cells; i++) {
		const struct result_cell *o = &w->r->cells[i];

		if (!same_workload(o, c) || isnan(o->median_ns))
			continue;
		if (o->n < least->n)
			least = o;
		if (o->n > most->n)
			most = o;
	}
	if (most == least && *work_of(w, least)) /* one N: the last of what it was told */
		for (size_t i = 0; i < w->r->n_cells; i++)
			if (same_workload(&w->r->cells[i], c) && !isnan(w->r->cells[i].median_ns) &&
			    strcmp(work_of(w, &w->r->cells[i]), work_of(w, least)))
				most = &w->r->cells[i];
	snprintf(out->fast, sizeof(out->fast), "The fastest for %s ", say_text(c->workload, 40, name, sizeof(name)));
	append_fastest(w, least, "is", out->fast, sizeof(out->fast));
	if (most != least) {
		append(out->fast, sizeof(out->fast), "; ");
		append_fastest(w, most, "it is", out->fast, sizeof(out->fast));
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

/* The variant of one class of control that pays at most of the lengths, and then for the longest. */
struct payer {
	double above_ns, below_ns;	/* 0, INFINITY: from the shortest length on, up to the longest */
	double stretches;		/* of lengths at which it pays; with more than one there is no above and below */
	double at, of;			/* so many lengths; of 0: there is no such variant */
	char variant[200];
};

struct crossover {
	char *target, *work;		/* of the run's first busy cell: of these alone the sentence tells */
	struct payer device, host;
	double shortest_ns, longest_ns, threshold;
	int others, failed;		/* others: the run has other work besides */
	int few;			/* too few blocks side by side to tell a gain from chance */
};

static int is_better(const struct payer *p, const struct payer *than)
{
	return p->at != than->at ? p->at > than->at : p->at > 0 && p->below_ns > than->below_ns;
}

static int take_crossover(void *user, const struct store_row *row)
{
	struct crossover *c = user;
	struct payer *p = !strcmp(row->text[2], "host") ? &c->host : &c->device, found = {
		.above_ns = row->text[3] ? row->real[3] : 0, .below_ns = row->text[4] ? row->real[4] : INFINITY,
		.stretches = row->real[9], .at = row->real[10], .of = row->real[11],
	};

	if (!c->target) {
		c->target = strdup(row->text[0]);
		c->work = strdup(row->text[1] ? row->text[1] : "");
		if (!c->target || !c->work)
			return c->failed = 1;
		c->shortest_ns = row->real[6];
	} else if (strcmp(row->text[0], c->target) || strcmp(row->text[1] ? row->text[1] : "", c->work)) {
		c->others = 1;
		return 0;
	}
	c->shortest_ns = fmin(c->shortest_ns, row->real[6]);
	c->longest_ns = fmax(c->longest_ns, row->real[7]);
	c->threshold = fmax(c->threshold, row->real[8]);
	c->few |= row->integer[12] < 6;
	if (!p->of || is_better(&found, p)) {
		say_text(row->text[5], 40, found.variant, sizeof(found.variant));
		*p = found;
	}
	return 0;
}

/* The steps that were measured: "200 ns to 1.00 ms". */
static void append_lengths(const struct crossover *c, char *out, size_t size)
{
	char from[32], to[32];

	append(out, size, "%s", say_ns(c->shortest_ns, from));
	if (c->longest_ns > c->shortest_ns)
		append(out, size, " to %s", say_ns(c->longest_ns, to));
}

/* "below 27.4 us a step", "at every step length measured", "at 3 of 6 step lengths measured" */
static void append_where(const struct payer *p, char *out, size_t size)
{
	char above[32], below[32];

	say_ns(p->above_ns, above);
	say_ns(p->below_ns, below);
	if (!p->at || p->at == p->of)
		append(out, size, "at %s step length measured", p->at ? "every" : "no");
	else if (p->stretches > 1)
		append(out, size, "at %.0f of %.0f step lengths measured", p->at, p->of);
	else if (p->above_ns > 0 && isfinite(p->below_ns))
		append(out, size, "between %s and %s a step", above, below);
	else
		append(out, size, p->above_ns > 0 ? "above %s a step" : "below %s a step",
		       p->above_ns > 0 ? above : below);
}

/* One class is named for the answer, the other where its answer is another. */
static void write_crossover(const struct crossover *c, char *out, size_t size)
{
	int by_host = c->host.of && (!c->device.of || is_better(&c->host, &c->device));
	const struct payer *best = by_host ? &c->host : &c->device, *other = by_host ? &c->device : &c->host;

	*out = '\0';
	append(out, size, "Persistent pays ");
	append_where(best, out, size);
	append(out, size, " on this device (");
	if (best->at)
		append(out, size, "%s, released by the %s: ", best->variant, by_host ? "host" : "device");
	else
		append(out, size, "no variant is ");
	append(out, size, "over %.2g %% faster than the fastest variant that is launched; measured ",
	       100 * c->threshold);
	append_lengths(c, out, size);
	append(out, size, c->others ? ", %s)" : ")", c->work);
	if (best->at && other->of) {
		append(out, size, "; released by the %s, it pays ", by_host ? "device" : "host");
		append_where(other, out, size);
		if (other->at)
			append(out, size, " (%s)", other->variant);
	}
	append(out, size, best->at && c->few ? ". It may be chance: there were not 6 blocks side by side." : ".");
}

int verdict_crossover(struct store *s, const struct results *r, char *out, size_t size)
{
	static const char sql[] =
		"SELECT target, work, control, pays_above_ns, pays_below_ns, variant, shortest_ns, longest_ns, threshold,"
		" stretches, pays_at, lengths, blocks"
		" FROM crossover WHERE run = CAST(?1 AS INTEGER) ORDER BY cell";
	struct crossover c = { 0 };
	char run[24];
	const char *param = run;
	size_t i;
	int rc = 0;

	for (i = 0; i < r->n_cells && strcmp(r->cells[i].workload, "busy"); i++)
		;
	if (i == r->n_cells)
		return 0;
	snprintf(run, sizeof(run), "%lld", (long long)r->run);
	if (store_query(s, sql, &param, 1, take_crossover, &c) || c.failed) {
		rc = -1;
	} else if (c.target) {
		write_crossover(&c, out, size);
		rc = 1;
	}
	free(c.target);
	free(c.work);
	return rc;
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
	if (r->sequential)
		append(out->caution, sizeof(out->caution), "One cell was measured after the other: drift looks like"
		       " a difference. ");
	if (r->cold)
		append(out->caution, sizeof(out->caution), "Cold: the caches were written over before each trial. ");
	if (r->instrumented)
		append(out->caution, sizeof(out->caution), "Instrumented: these are not the times of a plain run. ");
	if (imprecise)
		append(out->caution, sizeof(out->caution), "%zu cells did not reach the wanted precision. ", imprecise);
	if (strcmp(r->status, "complete"))
		append(out->caution, sizeof(out->caution), "The run is not complete (%s). ", r->status);
}

int verdict_write(struct store *s, const struct results *r, struct verdict_text *out)
{
	struct works w;
	int rc = works_load(&w, s, r);

	memset(out, 0, sizeof(*out));
	if (!rc) {
		write_right(r, out);
		write_fast(&w, out);
		write_caution(r, out);
		rc = write_cost(s, r, out);
	}
	works_free(&w);
	return rc;
}
