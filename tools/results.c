/* SPDX-License-Identifier: MIT
 *
 * results.c - load a run and compute its intervals.
 */
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sqlite3.h>
#include "../core/say.h"
#include "results.h"
#include "told.h"

struct loading {
	struct results *r;
	size_t at;		/* cell of the block at hand */
	int failed;
};

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

static double real_or_nan(const struct store_row *row, int i)
{
	return row->types[i] == SQLITE_NULL ? NAN : row->real[i];
}

static int64_t integer_or_null(const struct store_row *row, int i)
{
	return row->types[i] == SQLITE_NULL ? STORE_NULL : row->integer[i];
}

static int load_run(void *user, const struct store_row *row)
{
	struct results *r = ((struct loading *)user)->r;

	r->run = row->integer[0];
	r->planned = row->integer[1];
	r->quick = row->integer[2] != 0;
	r->matrix_path = copy(row->text[3]);
	r->started_utc = copy(row->text[4]);
	r->finished_utc = copy(row->text[5]);
	r->status = copy(row->text[6]);
	r->baseline = copy(row->text[7]);
	r->version = copy(row->text[8]);
	r->instrumented = copy(row->text[9]);
	r->cold = row->integer[10] != 0;
	r->sequential = row->integer[11] != 0;
	return 0;
}

static int load_cell(void *user, const struct store_row *row)
{
	struct loading *l = user;
	struct results *r = l->r;
	struct result_cell *c, *more;

	if (!(r->n_cells & (r->n_cells - 1))) {
		more = realloc(r->cells, (r->n_cells ? 2 * r->n_cells : 1) * sizeof(*more));
		if (!more)
			return l->failed = 1;
		r->cells = more;
	}
	c = &r->cells[r->n_cells++];
	*c = (struct result_cell){
		.id = row->integer[0], .number = row->integer[1], .n = row->integer[2],
		.iterations = integer_or_null(row, 3), .grid = integer_or_null(row, 4),
		.threads = integer_or_null(row, 5), .trials = row->integer[6],
		.verified = integer_or_null(row, 7), .series = copy(row->text[8]),
		.variant = copy(row->text[9]), .workload = copy(row->text[10]),
		.target = copy(row->text[11]), .params = copy(row->text[12]),
		.status = copy(row->text[13]), .control = copy(row->text[14]),
		.device = copy(row->text[15]), .reason = copy(row->text[16]),
		.work = copy(row->text[25]), .median_ns = real_or_nan(row, 17), .min_ns = real_or_nan(row, 18),
		.max_ns = real_or_nan(row, 19), .baseline_ns = real_or_nan(row, 20),
		.speedup = real_or_nan(row, 21), .updates = real_or_nan(row, 22),
		.flops = real_or_nan(row, 23), .bytes = real_or_nan(row, 24),
		.host_cpu_ns = NAN, .host_cpu_share = NAN, .energy_uj = NAN,
		.time = { .lo = NAN, .hi = NAN }, .ratio = { .lo = NAN, .hi = NAN },
	};
	return 0;
}

/* Rows come in the order of the cells' numbers, as the cells do. */
static int load_block(void *user, const struct store_row *row)
{
	struct loading *l = user;
	struct result_cell *c;
	double *ns;
	int64_t *number;

	while (l->at < l->r->n_cells && l->r->cells[l->at].id != row->integer[0])
		l->at++;
	if (l->at == l->r->n_cells)
		return 0;
	c = &l->r->cells[l->at];
	if (!(c->n_blocks & (c->n_blocks - 1))) {
		size_t room = c->n_blocks ? 2 * c->n_blocks : 1;

		ns = realloc(c->block_ns, room * sizeof(*ns));
		if (ns)
			c->block_ns = ns;
		number = realloc(c->block_number, room * sizeof(*number));
		if (number)
			c->block_number = number;
		if (!ns || !number)
			return l->failed = 1;
	}
	c->block_ns[c->n_blocks] = row->real[2];
	c->block_number[c->n_blocks++] = row->integer[1];
	return 0;
}

static int load_cost(void *user, const struct store_row *row)
{
	struct loading *l = user;
	struct result_cell *c;

	while (l->at < l->r->n_cells && l->r->cells[l->at].id != row->integer[0])
		l->at++;
	if (l->at == l->r->n_cells)
		return 0;
	c = &l->r->cells[l->at];
	if (isnan(c->median_ns))
		return 0;
	c->host_cpu_ns = real_or_nan(row, 1);
	c->host_cpu_share = real_or_nan(row, 2);
	c->energy_uj = real_or_nan(row, 3);
	return 0;
}

/* ---- intervals ---- */

static int same_problem(const struct result_cell *a, const struct result_cell *b)
{
	return a->n == b->n && a->iterations == b->iterations &&
	       !strcmp(a->workload, b->workload) && !strcmp(a->target, b->target) && !strcmp(a->work, b->work);
}

/* The cell that the speed-up refers to: the fastest of the baseline section. */
static const struct result_cell *find_baseline(const struct results *r, const struct result_cell *c)
{
	const struct result_cell *best = NULL;

	for (size_t i = 0; r->baseline && i < r->n_cells; i++) {
		const struct result_cell *b = &r->cells[i];

		if (!strcmp(b->series, r->baseline) && !isnan(b->median_ns) && same_problem(b, c) &&
		    (!best || b->median_ns < best->median_ns))
			best = b;
	}
	return best;
}

/* Pair blocks of equal number, measured side by side, and take the ratios' centre and interval.
 * The ratio of the medians need not lie in it, least of all where one of the two was measured for
 * longer, so it gives way. */
static void paired_ratio(struct result_cell *c, const struct result_cell *base)
{
	double *logs = calloc(c->n_blocks + 1, sizeof(*logs)), p;
	struct stats_interval ci;
	size_t n = 0, k = 0;

	for (size_t i = 0; logs && i < c->n_blocks; i++) {
		while (k < base->n_blocks && base->block_number[k] < c->block_number[i])
			k++;
		if (k < base->n_blocks && base->block_number[k] == c->block_number[i])
			logs[n++] = log(base->block_ns[k] / c->block_ns[i]);
	}
	if (logs && stats_paired_ratio(logs, n, 0.95, &ci, &p) == 0) {
		c->ratio = ci;
		c->speedup = ci.estimate;
	}
	free(logs);
}

static void intervals(struct results *r)
{
	const struct result_cell *base = NULL;
	struct stats_interval ci;

	for (size_t i = 0; i < r->n_cells; i++) {
		struct result_cell *c = &r->cells[i];

		if (isnan(c->median_ns))
			continue;
		if (stats_median_ci(c->block_ns, c->n_blocks, 0.95, &ci) == 0)
			c->time = ci;
		base = c->n_blocks >= 6 && !r->sequential ? find_baseline(r, c) : NULL;
		if (base && base != c)
			paired_ratio(c, base);
	}
}

/* ---- without a speed-up ---- */

/* LACKS_ALL: each of them is equal in some cell of the baseline, but never all at once. */
static int find_lacks(const struct results *r, const struct result_cell *c)
{
	int lacks = LACKS_PLACE, n = LACKS_N, iterations = LACKS_ITERATIONS, work = LACKS_WORK, all = LACKS_ALL;

	for (size_t i = 0; i < r->n_cells; i++) {
		const struct result_cell *b = &r->cells[i];

		if (strcmp(b->series, r->baseline) || strcmp(b->workload, c->workload) || strcmp(b->target, c->target))
			continue;
		lacks = 0;
		n = b->n == c->n ? 0 : n;
		iterations = b->iterations == c->iterations ? 0 : iterations;
		work = strcmp(b->work, c->work) ? work : 0;
		all = same_problem(b, c) ? 0 : all;
	}
	if (lacks)
		return lacks;
	lacks = n | iterations | work;
	return lacks ? lacks : all ? all : LACKS_TIME;
}

void result_lacks_words(const struct results *r, int lacks, char *out, size_t size)
{
	static const char *const names[] = { "n", "iterations", "work" };
	char name[240];
	int left = 0;
	size_t used;

	used = (size_t)snprintf(out, size, "[%s] has no ", say_text(r->baseline, 40, name, sizeof(name)));
	if (lacks & (LACKS_PLACE | LACKS_TIME)) {
		snprintf(out + used, size - used, "%s", lacks & LACKS_TIME ? "time for the same" :
			 "cell of this workload on this target");
		return;
	}
	used += (size_t)snprintf(out + used, size - used, "cell with the same");
	if (lacks & LACKS_ALL)
		lacks = LACKS_N | LACKS_ITERATIONS | LACKS_WORK;
	for (int i = 0; i < 3; i++)
		left += (lacks & LACKS_N << i) != 0;
	for (int i = 0; i < 3; i++)
		if (lacks & LACKS_N << i)
			used += (size_t)snprintf(out + used, size - used, " %s%s", names[i],
						 --left > 1 ? "," : left ? " and" : "");
}

static void find_all_lacks(struct results *r)
{
	for (size_t i = 0; r->baseline && i < r->n_cells; i++)
		if (!isnan(r->cells[i].median_ns) && isnan(r->cells[i].speedup))
			r->cells[i].lacks = find_lacks(r, &r->cells[i]);
}

/* ---- */

int results_load(struct store *s, int64_t run, struct results *out)
{
	static const char run_sql[] =
		"SELECT id, cells, quick, matrix_path, started_utc, finished_utc, status, baseline,"
		" pkrun_version, instrumented, (SELECT max(instr(value, 'cache=cold')) FROM environment"
		" WHERE run_id = run.id AND key = 'settings'), schedule = 'sequential' FROM run"
		" WHERE id = CASE ?1 WHEN '0' THEN (SELECT max(id) FROM run) ELSE CAST(?1 AS INTEGER) END";
	static const char cell_sql[] =
		"SELECT cell, number, n, iterations, grid, threads, trials, verified, series, variant,"
		" workload, target, params, status, control, device, reason, median_ns, min_ns, max_ns,"
		" baseline_ns, speedup, updates, flops, bytes, work"
		" FROM result WHERE run = CAST(?1 AS INTEGER) ORDER BY number";
	static const char block_sql[] =
		"SELECT c.id, b.number, t.median_ns FROM block_time t JOIN cell c ON c.id = t.cell_id"
		" JOIN block b ON b.id = t.block_id WHERE c.run_id = CAST(?1 AS INTEGER)"
		" ORDER BY c.number, b.number";
	static const char cost_sql[] =
		"SELECT c.id, k.host_cpu_ns, k.host_cpu_share, k.energy_uj"
		" FROM cell_cost k JOIN cell c ON c.id = k.cell_id"
		" WHERE c.run_id = CAST(?1 AS INTEGER) ORDER BY c.number";
	char id[24];
	const char *param = id;
	struct loading l = { .r = out }, costs = { .r = out };

	memset(out, 0, sizeof(*out));
	snprintf(id, sizeof(id), "%lld", (long long)run);
	if (store_query(s, run_sql, &param, 1, load_run, &l))
		return -1;
	if (!out->run)
		return 1;
	snprintf(id, sizeof(id), "%lld", (long long)out->run);
	if (store_query(s, cell_sql, &param, 1, load_cell, &l) ||
	    store_query(s, block_sql, &param, 1, load_block, &l) ||
	    store_query(s, cost_sql, &param, 1, load_cost, &costs) || told_load(s, out)) {
		results_free(out);
		return -1;
	}
	intervals(out);
	find_all_lacks(out);
	return 0;
}

static void cell_free(struct result_cell *c)
{
	char *texts[] = { c->series, c->variant, c->workload, c->target, c->params,
			  c->status, c->control, c->device, c->reason, c->work, c->told };

	for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
		free(texts[k]);
	free(c->block_ns);
	free(c->block_number);
}

int result_matches(const char *glob, const char *series, const char *variant, const char *workload, int64_t size)
{
	char text[600];

	for (int parts = 4; parts; parts--) {
		int n = snprintf(text, sizeof(text), "%.160s", series);

		if (parts > 1)
			n += snprintf(text + n, sizeof(text) - (size_t)n, "/%.160s", variant);
		if (parts > 2)
			n += snprintf(text + n, sizeof(text) - (size_t)n, "/%.60s", workload);
		if (parts > 3)
			snprintf(text + n, sizeof(text) - (size_t)n, "/%lld", (long long)size);
		if (!fnmatch(glob, text, 0))
			return 1;
	}
	return 0;
}

void results_only(struct results *r, const char *glob)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_cells; i++)
		if (result_matches(glob, r->cells[i].series, r->cells[i].variant, r->cells[i].workload,
				   r->cells[i].n))
			r->cells[n++] = r->cells[i];
		else
			cell_free(&r->cells[i]);
	r->n_cells = n;
}

void results_free(struct results *r)
{
	for (size_t i = 0; i < r->n_cells; i++)
		cell_free(&r->cells[i]);
	free(r->cells);
	free(r->matrix_path);
	free(r->started_utc);
	free(r->finished_utc);
	free(r->status);
	free(r->baseline);
	free(r->version);
	free(r->instrumented);
	memset(r, 0, sizeof(*r));
}

int result_same_place(const struct result_cell *a, const struct result_cell *b)
{
	return !strcmp(a->workload, b->workload) && !strcmp(a->target, b->target);
}

int result_lacks_alike(const struct result_cell *a, const struct result_cell *b)
{
	return a->lacks == b->lacks;
}

int result_is_device_controlled(const struct result_cell *c)
{
	return c->control && !strncmp(c->control, "device", 6);
}

const char *result_words(const char *status)
{
	static const char *const words[][2] = {
		{ "ok", "ok" }, { "imprecise", "imprecise" }, { "skipped", "skipped" },
		{ "refused", "refused" }, { "wrong", "WRONG RESULT" }, { "crash", "CRASHED" },
		{ "hang", "HUNG (timeout)" }, { "error", "FAILED" }, { "pending", "not finished" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(status, words[i][0]))
			return words[i][1];
	return status;
}
