/* SPDX-License-Identifier: MIT
 *
 * compare_print.c - the result of `pkrun compare`, for people and for programs.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../core/say.h"
#include "compare.h"
#include "params.h"

static const char *time_text(double ns, const struct pair_cell *cell, char buf[32])
{
	if (isfinite(ns))
		return say_ns(ns, buf);
	return cell && !judge_good(cell->status) ? cell->status : "n/a";
}

static void add_number(struct table *t, const char *format, double value)
{
	if (isfinite(value))
		table_addf(t, format, value);
	else
		table_add(t, NULL);
}

static const struct pair_cell *either(const struct judgement *j)
{
	return j->pair->a ? j->pair->a : j->pair->b;
}

static void add_row(struct table *t, const struct judgement *j, int paired, const char *shared)
{
	const struct pair_cell *a = j->pair->a, *b = j->pair->b, *cell = either(j);
	char buf[32], *params = strdup(cell->params);

	table_add(t, cell->series);
	table_add(t, cell->variant);
	table_add(t, cell->workload);
	table_addf(t, "%" PRId64, cell->n);
	if (params)
		params_drop(params, shared);
	table_add(t, params ? params : cell->params);
	free(params);
	table_add(t, time_text(j->a_ns, a, buf));
	table_add(t, time_text(j->b_ns, b, buf));
	add_number(t, "%.3f", j->ratio.estimate);
	if (isfinite(j->ratio.lo) && isfinite(j->ratio.hi))
		table_addf(t, "%.3f .. %.3f", j->ratio.lo, j->ratio.hi);
	else
		table_add(t, NULL);
	add_number(t, "%.1f %%", 100 * j->detectable);
	if (paired)
		table_addf(t, "%zu", j->units_a);
	else
		table_addf(t, "%zu+%zu", j->units_a, j->units_b);
	table_add(t, verdict_names[j->verdict]);
	table_add(t, j->verdict == DNF ? NULL : j->reason); /* those are listed below */
}

static int one_workload(const struct compare *c)
{
	const char *first = NULL;

	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct pair *p = c->judged[i].pair;
		const char *workload = p->a ? p->a->workload : p->b->workload;

		if (first && strcmp(first, workload))
			return 0;
		first = workload;
	}
	return 1;
}

/* Does the name of the series tell the variant? */
static int one_variant(const struct compare *c)
{
	for (size_t i = 0; i < c->n_pairs; i++)
		for (size_t k = 0; k < i; k++) {
			const struct pair_cell *x = either(&c->judged[i]), *y = either(&c->judged[k]);

			if (!strcmp(x->series, y->series) && strcmp(x->variant, y->variant))
				return 0;
		}
	return 1;
}

/* The parameters that all rows have, to be freed; NULL: out of memory. */
static char *shared_params(const struct compare *c)
{
	char *shared = NULL;

	for (size_t i = 0; i < c->n_pairs; i++) {
		const char *params = either(&c->judged[i])->params;

		if (c->judged[i].verdict == MISSING)
			continue;
		if (shared)
			params_keep(shared, params);
		else if (!(shared = strdup(params)))
			return NULL;
	}
	return shared ? shared : strdup("");
}

static void cell_columns(struct table *t, int paired)
{
	static const struct {
		const char *name;
		int right, drop, wrap;
	} columns[] = {
	        {"series", 0, 0, 1},     {"variant", 0, 1, 1},
	        {"workload", 0, 0, 0},   {"n", 1, 0, 0},
	        {"params", 0, 1, 1},     {"A", 1, 0, 0},
	        {"B", 1, 0, 0},          {"B/A", 1, 0, 0},
	        {"95 % interval", 0, 0, 0},
	        {"detectable", 1, 6, 0}, {NULL, 1, 5, 0},
	        {"verdict", 0, 0, 1},    {"why", 0, 7, 0},
	};

	table_init(t);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		table_column(t,
		             columns[i].name ? columns[i].name
		             : paired        ? "blocks"
		                             : "sessions",
		             columns[i].right, columns[i].drop);
		t->columns[i].wrap = columns[i].wrap;
	}
}

static void put_text(const struct compare *c, const char *text)
{
	char safe[4096];

	if (c->format == SHOW_MARKDOWN)
		table_markdown_text(text, stdout);
	else
		fputs(say_text(text, 0, safe, sizeof(safe)), stdout);
}

static int print_cells(const struct compare *c, int width)
{
	int paired = c->series[0] != NULL, failed;
	char *shared = shared_params(c);
	struct table t;

	if (!shared)
		return -1;
	if (*shared) {
		printf("every cell: ");
		put_text(c, shared);
		printf("\n\n");
	}
	cell_columns(&t, paired);
	for (size_t i = 0; i < c->n_pairs; i++)
		if (c->judged[i].verdict != MISSING)
			add_row(&t, &c->judged[i], paired, shared);
	t.columns[1].hidden = one_variant(c);
	t.columns[2].hidden = one_workload(c);
	table_hide_empty(&t);
	if (c->format == SHOW_MARKDOWN)
		table_print_markdown(&t, 0, table_rows(&t), stdout);
	else
		table_print(&t, 0, table_rows(&t), width, stdout);
	failed = t.failed;
	table_free(&t);
	free(shared);
	return failed ? -1 : 0;
}

static void machine_row(struct rows *r, const struct judgement *j)
{
	const struct pair_cell *a = j->pair->a, *b = j->pair->b, *cell = a ? a : b;

	rows_text(r, cell->series);
	rows_text(r, cell->variant);
	rows_text(r, cell->workload);
	rows_text(r, cell->target);
	rows_int(r, cell->n);
	rows_int(r, cell->iterations);
	rows_text(r, cell->params);
	rows_text(r, cell->key);
	rows_text(r, a ? a->status : NULL);
	rows_text(r, b ? b->status : NULL);
	rows_real(r, j->a_ns);
	rows_real(r, j->b_ns);
	rows_real(r, j->ratio.estimate);
	rows_real(r, j->ratio.lo);
	rows_real(r, j->ratio.hi);
	rows_real(r, j->p);
	rows_real(r, j->p_holm);
	rows_real(r, j->detectable);
	rows_int(r, (int64_t)j->units_a);
	rows_int(r, (int64_t)j->units_b);
	rows_int(r, (int64_t)j->blocks_a);
	rows_int(r, (int64_t)j->blocks_b);
	rows_text(r, verdict_names[j->verdict]);
	rows_text(r, j->reason);
}

static int print_rows(const struct compare *c)
{
	static const char *const names[] = {
	        "series",  "variant",  "workload", "target",   "n",       "iterations",
	        "params",  "key",      "a_status", "b_status", "a_ns",    "b_ns",
	        "ratio",   "ratio_lo", "ratio_hi", "p",        "p_holm",  "detectable",
	        "a_units", "b_units",  "a_blocks", "b_blocks", "verdict", "reason",
	};
	struct rows r;

	rows_begin(&r, stdout, c->format, names, (int)(sizeof(names) / sizeof(names[0])));
	for (size_t i = 0; i < c->n_pairs; i++)
		machine_row(&r, &c->judged[i]);
	return rows_end(&r, 0);
}

static int print_differences(const struct compare *c, int width)
{
	static const char *const names[] = {"environment", "A", "B"};
	struct rows r;

	rows_begin(&r, stdout, c->format, names, 3);
	for (size_t i = 0; i < c->n_differences; i++) {
		rows_text(&r, c->differences[i].key);
		rows_text(&r, c->differences[i].value[0]);
		rows_text(&r, c->differences[i].value[1]);
	}
	return rows_end(&r, width);
}

static void name_side(const struct compare *c, int i, char *out, size_t size)
{
	const struct pair_side *s = &c->side[i];
	size_t used;

	if (c->series[0]) {
		snprintf(out, size, "[%s] of run %" PRId64 ", %s", c->series[i], c->run,
		         c->paths[0]);
		return;
	}
	used = (size_t)snprintf(out, size, "%s, run%s", c->paths[i], s->n_runs > 1 ? "s" : "");
	for (size_t r = 0; r < s->n_runs && used < size; r++)
		used += (size_t)snprintf(out + used, size - used, "%s %" PRId64, r ? "," : "",
		                         s->runs[r].id);
}

static int same_note(const struct judgement *a, const struct judgement *b)
{
	return a->verdict == b->verdict && !strcmp(a->reason, b->reason) &&
	       !strcmp(either(a)->series, either(b)->series);
}

/* Cells of its series that say what cell `i` does, from it on; 0: one before it has spoken for it. */
static size_t same_notes(const struct compare *c, size_t i)
{
	size_t n = 0;

	for (size_t k = 0; k < i; k++)
		if (same_note(&c->judged[k], &c->judged[i]))
			return 0;
	for (size_t k = i; k < c->n_pairs; k++)
		n += (size_t)same_note(&c->judged[k], &c->judged[i]);
	return n;
}

/* "launch n=11 threads=64; launch n=21", from cell `i` on: what same_notes() counts. */
static void name_cells(const struct compare *c, size_t i, char *out, size_t size)
{
	size_t used = 0, named = 0, left = 0;

	for (size_t k = i; k < c->n_pairs; k++) {
		const struct pair_cell *cell = either(&c->judged[k]);
		char name[300];

		if (!same_note(&c->judged[k], &c->judged[i]))
			continue;
		snprintf(name, sizeof(name), "%s%s n=%" PRId64 "%s%s", named ? "; " : "",
		         cell->variant, cell->n, *cell->params ? " " : "", cell->params);
		if (left || used + strlen(name) + 40 > size) {
			left++;
			continue;
		}
		used += (size_t)snprintf(out + used, size - used, "%s", name);
		named++;
	}
	if (left)
		snprintf(out + used, size - used, "; and %zu more", left);
}

/* Cells with a verdict that is no ratio, by name; for people those of a series with one reason once. */
static void list_cells(struct compare *c, enum verdict v, const char *what)
{
	int people = c->format == SHOW_TABLE || c->format == SHOW_MARKDOWN;

	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct judgement *j = &c->judged[i];
		char names[2000];
		size_t n;

		if (j->verdict != v)
			continue;
		n = people ? same_notes(c, i) : 1;
		if (n == 1)
			compare_note(c, "%s: [%s] %s (%s)", what, either(j)->series, either(j)->key,
			             j->reason);
		else if (n) {
			name_cells(c, i, names, sizeof(names));
			compare_note(c, "%s: [%s] %zu cells (%s): %s", what, either(j)->series, n,
			             j->reason, names);
		}
	}
}

static void summarise(struct compare *c)
{
	char text[512], floor[64] = "no A/A floor recorded: pkrun doctor --aa";
	size_t used = 0;

	for (int v = 0; v < VERDICTS; v++)
		if (compare_count(c, (enum verdict)v))
			used += (size_t)snprintf(
			        text + used, sizeof(text) - used, "%s%zu %s", used ? ", " : "",
			        compare_count(c, (enum verdict)v), verdict_names[v]);
	if (isfinite(c->floor))
		snprintf(floor, sizeof(floor), "A/A floor %.2g %%", 100 * c->floor);
	compare_note(c, "%zu cell%s: %s", c->n_pairs, c->n_pairs == 1 ? "" : "s", text);
	compare_note(c, "95 %% intervals, p by Holm over %zu cell%s, threshold %.3g %% (%s)",
	             c->tests, c->tests == 1 ? "" : "s", 100 * c->threshold, floor);
}

static int print_json(struct compare *c)
{
	char name[4096], number[32];
	int rc = 0;

	for (int i = 0; i < 2; i++) {
		name_side(c, i, name, sizeof(name));
		printf(i ? ",\n\"b\": " : "{\"a\": ");
		rows_json_text(stdout, name);
	}
	printf(",\n\"units\": \"%s\",\n\"level\": %g,\n\"threshold\": %s,\n",
	       c->series[0] ? "blocks" : "sessions", JUDGE_LEVEL,
	       rows_real_text(c->threshold, number));
	printf("\"floor\": %s,\n\"tests\": %zu,\n\"cells\": ",
	       isfinite(c->floor) ? rows_real_text(c->floor, number) : "null", c->tests);
	rc |= print_rows(c);
	printf(",\"environment\": ");
	rc |= print_differences(c, 0);
	printf(",\"notes\": [");
	for (size_t i = 0; i < c->n_notes; i++) {
		fputs(i ? ",\n " : "\n ", stdout);
		rows_json_text(stdout, c->notes[i]);
	}
	printf("\n]}\n");
	return rc;
}

static int print_text(struct compare *c)
{
	char name[4096];
	int width = say_terminal(STDOUT_FILENO);
	int rc = 0;

	for (int i = 0; i < 2; i++) {
		name_side(c, i, name, sizeof(name));
		printf("%s: %s\n", i ? "B" : "A", name);
	}
	printf("\n");
	rc |= print_cells(c, width);
	printf("\n");
	if (c->n_differences) {
		rc |= print_differences(c, width);
		printf("\n");
	}
	for (size_t i = 0; i < c->n_notes; i++)
		printf("%s%s\n", c->notes[i], c->format == SHOW_MARKDOWN ? "  " : "");
	return rc;
}

int compare_print(struct compare *c)
{
	int rc;

	list_cells(c, DNF, "did not finish");
	list_cells(c, MISSING, "missing");
	summarise(c);
	rc = c->format == SHOW_JSON  ? print_json(c)
	     : c->format == SHOW_CSV ? print_rows(c)
	                             : print_text(c);
	for (size_t i = 0; c->format == SHOW_CSV && i < c->n_notes; i++)
		say_note("%s", c->notes[i]);
	if (rc || fflush(stdout) || ferror(stdout))
		return compare_error("cannot print the result: %s", strerror(errno));
	return 0;
}
