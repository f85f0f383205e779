/* SPDX-License-Identifier: MIT
 *
 * show.c - the closing table of a run.
 *
 * For people: a table for each workload on each device, in it the variants
 * that the host controls apart from those that the device controls, for they
 * answer different questions.  For programs: one flat list, times in ns.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../core/say.h"
#include "fold.h"
#include "params.h"
#include "results.h"
#include "show.h"
#include "verdict.h"

/* ---- for programs ---- */

static void show_interval(struct rows *r, const struct stats_interval *ci)
{
	rows_real(r, ci->lo);
	rows_real(r, ci->hi);
}

static int show_flat(const struct results *res, enum show_format format, FILE *out)
{
	static const char *const names[] = {
		"run", "number", "series", "variant", "control", "workload", "target", "device", "n",
		"iterations", "params", "status", "reason", "blocks", "trials", "median_ns",
		"median_lo_ns", "median_hi_ns", "min_ns", "max_ns", "speedup", "speedup_lo",
		"speedup_hi", "verified", "host_cpu_ns", "energy_uj",
	};
	struct rows r;

	rows_begin(&r, out, format, names, sizeof(names) / sizeof(names[0]));
	for (size_t i = 0; i < res->n_cells; i++) {
		const struct result_cell *c = &res->cells[i];
		const char *texts[] = { c->series, c->variant, c->control, c->workload, c->target, c->device };

		rows_int(&r, res->run);
		rows_int(&r, c->number);
		for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
			rows_text(&r, texts[k]);
		rows_int(&r, c->n);
		rows_int(&r, c->iterations);
		rows_text(&r, c->params);
		rows_text(&r, c->status);
		rows_text(&r, c->reason);
		rows_int(&r, (int64_t)c->n_blocks);
		rows_int(&r, c->trials);
		rows_real(&r, c->median_ns);
		show_interval(&r, &c->time);
		rows_real(&r, c->min_ns);
		rows_real(&r, c->max_ns);
		rows_real(&r, c->speedup);
		show_interval(&r, &c->ratio);
		rows_int(&r, c->verified);
		rows_real(&r, c->host_cpu_ns);
		rows_real(&r, c->energy_uj);
	}
	return rows_end(&r, 0);
}

/* ---- for people ---- */

static int same_group(const struct result_cell *a, const struct result_cell *b)
{
	return !strcmp(a->workload, b->workload) && !strcmp(a->target, b->target) &&
	       (a->device && b->device ? !strcmp(a->device, b->device) : 1);
}

/* Which table a cell belongs to: 0 host-controlled, 1 device-controlled, 2 nobody knows. */
static int control_class(const struct result_cell *c)
{
	return !c->control ? 2 : result_is_device_controlled(c);
}

/* A variant that the series tells goes early, one that tells rows apart goes late. */
static void show_columns(struct table *t, int variants_differ)
{
	table_init(t);
	table_column(t, "series", 0, 0);
	table_column(t, "variant", 0, variants_differ ? 1 : 6);
	table_column(t, "n", 1, 0);
	table_column(t, "iterations", 1, 5);
	table_column(t, "parameters", 0, 1);
	table_column(t, "time/iteration", 1, 0);
	table_column(t, "95 % interval", 1, 7);
	table_column(t, "speed-up", 1, 2);
	table_column(t, "95 % of it", 1, 8);
	table_column(t, "host CPU", 1, 10);
	table_column(t, "energy", 1, 10);
	table_column(t, "trials", 1, 9);
	table_column(t, "status", 0, 3);
	t->columns[0].wrap = t->columns[1].wrap = t->columns[4].wrap = t->columns[12].wrap = 1;
}

/* "12.1..12.3 us", "999 ns..1.01 us" */
static const char *show_range(const struct stats_interval *ci, char out[72])
{
	char lo[32], hi[32], *unit;

	say_ns(ci->lo, lo);
	say_ns(ci->hi, hi);
	unit = strchr(lo, ' ');
	if (unit && strchr(hi, ' ') && !strcmp(unit, strchr(hi, ' ')))
		*unit = 0;
	snprintf(out, 72, "%s..%s", lo, hi);
	return out;
}

/* "950 uJ", "4.77 mJ" */
static void show_energy(struct table *t, double uj)
{
	static const char *const units[] = { "uJ", "mJ", "J" };
	int unit = 0;

	for (; unit < 2 && uj >= 999.5; unit++)
		uj /= 1000;
	table_addf(t, "%.*f %s", uj < 9.995 ? 2 : uj < 99.95 ? 1 : 0, uj, units[unit]);
}

/* Decimals of a factor: two digits at least, however small it is. */
static int factor_decimals(double f)
{
	if (f >= 99.95)
		return 0;
	return f >= 0.095 || !(f > 0) ? 2 : (int)fmin(2 + floor(-log10(f)), 9);
}

static void show_row(struct table *t, const struct result_cell *c, int iterations_differ,
		     const char *shared)
{
	char ns[32], range[72], *params = strdup(c->told);
	int decimals = factor_decimals(c->speedup);

	table_add(t, c->series);
	table_add(t, strcmp(c->variant, c->series) ? c->variant : "");
	table_addf(t, "%lld", (long long)c->n);
	if (iterations_differ && c->iterations != STORE_NULL)
		table_addf(t, "%lld", (long long)c->iterations);
	else
		table_add(t, NULL);
	if (params)
		params_drop(params, shared);
	table_add(t, params ? params : c->told);
	free(params);
	table_add(t, isnan(c->median_ns) ? "-" : say_ns(c->median_ns, ns));
	table_add(t, isnan(c->time.lo) ? NULL : show_range(&c->time, range));
	if (isnan(c->speedup))
		table_add(t, NULL);
	else
		table_addf(t, "%.*fx", decimals, c->speedup);
	if (isnan(c->ratio.lo))
		table_add(t, NULL);
	else
		table_addf(t, "%.*f..%.*f", decimals, c->ratio.lo, decimals, c->ratio.hi);
	/* where the CPU is the device, its time is no cost of the driving */
	if (isnan(c->host_cpu_share) || !strcmp(c->target, "host"))
		table_add(t, NULL);
	else
		table_addf(t, "%.0f %%", 100 * c->host_cpu_share);
	if (isnan(c->energy_uj))
		table_add(t, NULL);
	else
		show_energy(t, c->energy_uj);
	if (c->trials)
		table_addf(t, "%lld", (long long)c->trials);
	else
		table_add(t, NULL);
	table_add(t, result_words(c->status));
}

static int row_order(const void *a, const void *b)
{
	const struct result_cell *x = *(const struct result_cell *const *)a;
	const struct result_cell *y = *(const struct result_cell *const *)b;

	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

struct group {
	const struct result_cell **cells;
	size_t n, ends[3];		/* of each control class */
	int iterations_differ, variants_differ;
	char *shared;			/* parameters that all rows have */
};

/* Cells without a plugin are lines, not rows: what they share counts only if there is nothing else. */
static int group_share(struct group *g)
{
	size_t rows = g->ends[1] ? g->ends[1] : g->n;

	free(g->shared);
	g->shared = strdup(g->cells[0]->told);
	for (size_t i = 1; g->shared && *g->shared && i < rows; i++)
		params_keep(g->shared, g->cells[i]->told);
	return g->shared ? 0 : -1;
}

static int series_order(const void *a, const void *b)
{
	const struct result_cell *x = *(const struct result_cell *const *)a;
	const struct result_cell *y = *(const struct result_cell *const *)b;
	int order = strcmp(x->series, y->series);

	return order ? order : strcmp(x->variant, y->variant);
}

/* Has one series several variants? */
static int variants_differ(const struct result_cell **cells, size_t n)
{
	qsort(cells, n, sizeof(*cells), series_order);
	for (size_t i = 1; i < n; i++)
		if (!strcmp(cells[i - 1]->series, cells[i]->series) &&
		    strcmp(cells[i - 1]->variant, cells[i]->variant))
			return 1;
	return 0;
}

/* The cells of `first`'s table, by control class, then size, then place in the matrix. */
static int group_collect(struct group *g, const struct results *res, size_t first)
{
	g->n = 0;
	g->iterations_differ = g->variants_differ = 0;
	for (int class = 0; class < 3; class++) {
		size_t start = g->n;

		for (size_t i = first; i < res->n_cells; i++) {
			const struct result_cell *c = &res->cells[i];

			if (!same_group(&res->cells[first], c) || control_class(c) != class)
				continue;
			g->iterations_differ |= c->iterations != res->cells[first].iterations;
			g->cells[g->n++] = c;
		}
		g->variants_differ |= variants_differ(g->cells + start, g->n - start);
		qsort(g->cells + start, g->n - start, sizeof(*g->cells), row_order);
		g->ends[class] = g->n;
	}
	return group_share(g);
}

static void group_title(const struct group *g, int markdown, FILE *out)
{
	const struct result_cell *c = g->cells[0];
	char text[2048];

	for (size_t i = 0; i < g->n && !c->device; i++)
		c = g->cells[i];
	fprintf(out, "%s%s on %s", markdown ? "\n### " : "\n", say_text(c->workload, 60, text, sizeof(text)),
		c->target);
	if (c->device)
		fprintf(out, ", %s", say_text(c->device, 60, text, sizeof(text)));
	if (!g->iterations_differ && c->iterations != STORE_NULL)
		fprintf(out, ", %lld iteration%s", (long long)c->iterations,
			c->iterations == 1 ? "" : "s");
	if (*g->shared && markdown) {
		fputs(", ", out);
		table_markdown_text(g->shared, out);
	} else if (*g->shared) {
		fprintf(out, ", %s", say_text(g->shared, 0, text, sizeof(text)));
	}
	fputs("\n", out);
}

/* A line that goes on at its words where it is longer than the terminal, then `hang` columns in. */
static void show_line(const char *text, int indent, int hang, int width, FILE *out)
{
	int at = indent, any = 0;

	fprintf(out, "%*s", indent, "");
	for (size_t n; *text; text += n + (text[n] == ' ')) {
		char word[1024];
		int columns;

		n = strcspn(text, " ");
		snprintf(word, sizeof(word), "%.*s", (int)n, text);
		columns = say_columns(word);
		if (width && any && at + 1 + columns > width) {
			fprintf(out, "\n%*s", hang, "");
			at = hang;
			any = 0;
		}
		fprintf(out, "%s%.*s", any ? " " : "", (int)n, text);
		at += any + columns;
		any = 1;
	}
	fputc('\n', out);
}

/* "others persistent_halo, 11 cells, n=64: skipped: ..." */
static void show_fold(const char *cells, const char *what, const char *reason, int markdown, int width,
		      FILE *out)
{
	int has_reason = reason && *reason;
	char text[4096], line[10000];

	if (markdown) {
		fputs("- ", out);
		table_markdown_text(cells, out);
		fputs(": ", out);
		table_markdown_text(what, out);
		fputs(has_reason ? ": " : "", out);
		table_markdown_text(has_reason ? reason : "", out);
		fputc('\n', out);
		return;
	}
	snprintf(line, sizeof(line), "%s: %s%s", say_text(cells, 0, text, sizeof(text)), what, has_reason ? ": " : "");
	if (has_reason)
		strncat(line, say_text(reason, !width ? 0 : width < 60 ? 60 : 3 * width, text, sizeof(text)),
			sizeof(line) - strlen(line) - 1);
	show_line(line, 2, 4, width, out);
}

/* Lines below a table: of which cells, and whether they tell of their state or of what they lack. */
struct remarks {
	const char *head;
	int (*wanted)(const struct result_cell *c, const void *group);
	int (*alike)(const struct result_cell *a, const struct result_cell *b);	/* NULL: by their state */
};

/* All lines of the cells that are wanted, of one group or (NULL) of all: 0, or -1 out of memory. */
static int show_remarks(const struct results *res, const struct remarks *k, const struct group *g,
			int markdown, int width, FILE *out)
{
	const struct result_cell *c;
	struct fold f;
	char *cells, lacks[400];
	int any = 0, rc = fold_begin(&f, res, k->wanted, g);

	f.name_width = markdown || !width ? 0 : 40;
	f.group_known = g != NULL;
	f.alike = k->alike;
	while (!rc && (rc = fold_next(&f, &c, &cells)) > 0) {
		if (!any++)
			fprintf(out, markdown ? "\n%s\n\n" : "\n%s:\n", k->head);
		if (k->alike) {
			result_lacks_words(res, c->lacks, lacks, sizeof(lacks));
			show_fold(cells, lacks, NULL, markdown, width, out);
		} else {
			show_fold(cells, result_words(c->status), c->reason, markdown, width, out);
		}
		free(cells);
		rc = 0;
	}
	fold_end(&f);
	return rc;
}

/* Has it no row in a table?  No plugin was loaded for it. */
static int is_not_loaded(const struct result_cell *c)
{
	return control_class(c) == 2;
}

static int is_not_loaded_here(const struct result_cell *c, const void *group)
{
	const struct group *g = group;

	return is_not_loaded(c) && same_group(g->cells[0], c);
}

static int has_no_speedup(const struct result_cell *c, const void *group)
{
	return c->lacks && same_group(((const struct group *)group)->cells[0], c);
}

/* Returns how many columns went for lack of room, -1 when there is no memory. */
static int group_print(const struct group *g, const struct results *res, int markdown, int width, FILE *out)
{
	static const char *const heads[] = {
		"released by the host, step by step or from its queue",
		"released by the device; the host starts and stops",
	};
	static const struct remarks no_speedup = { "no speed-up", has_no_speedup, result_lacks_alike };
	static const struct remarks not_loaded = { "not loaded", is_not_loaded_here, NULL };
	struct table t;
	int dropped = 0;

	show_columns(&t, g->variants_differ);
	for (size_t i = 0; i < g->ends[1]; i++)
		show_row(&t, g->cells[i], g->iterations_differ, g->shared);
	table_hide_empty(&t);
	group_title(g, markdown, out);
	for (int class = 0; class < 2; class++) {
		size_t start = class ? g->ends[class - 1] : 0, end = g->ends[class];

		if (start == end)
			continue;
		fprintf(out, markdown ? "\n%s\n\n" : "\n%s:\n", heads[class]);
		if (markdown)
			table_print_markdown(&t, start, end, out);
		else
			dropped = table_print(&t, start, end, width, out);
	}
	if (show_remarks(res, &no_speedup, g, markdown, width, out) ||
	    show_remarks(res, &not_loaded, g, markdown, width, out) || t.failed)
		dropped = -1;
	table_free(&t);
	return dropped;
}

/* Cells of a table without a time or with a remark, each with its reason: never silently left out. */
static int has_reason(const struct result_cell *c, const void *user)
{
	(void)user;
	return c->reason && *c->reason && !is_not_loaded(c);
}

static void show_head(const struct results *res, FILE *out)
{
	size_t done = 0;
	char path[400];

	for (size_t i = 0; i < res->n_cells; i++)
		done += strcmp(res->cells[i].status, "pending") != 0;
	fprintf(out, "run %lld: %s, %.16s, %s", (long long)res->run,
		say_text(res->matrix_path, 80, path, sizeof(path)), res->started_utc, res->status);
	if (done != (size_t)res->planned)
		fprintf(out, ", %zu of %lld cells", done, (long long)res->planned);
	fputc('\n', out);
	if (res->quick)
		fputs("quick: few blocks and trials, no interval; not for comparing\n", out);
	if (res->instrumented)
		fputs("instrumented: times are not those of a plain run\n", out);
	if (res->sequential)
		fputs("sequential: a cell after the other, so that drift looks like a difference; no interval of a"
		      " speed-up\n", out);
	if (res->cold)
		fputs("cold: the caches were written over before each trial\n", out);
	if (res->baseline)
		fprintf(out, "speed-up against [%s]\n", say_text(res->baseline, 60, path, sizeof(path)));
}

static int show_people(const struct results *res, int markdown, int width, FILE *out)
{
	static const struct remarks why = { "why", has_reason, NULL };
	char *seen = calloc(res->n_cells + 1, 1);
	struct group g = { .cells = calloc(res->n_cells + 1, sizeof(*g.cells)) };
	int dropped = 0, lost, rc = -1;

	if (!seen || !g.cells)
		goto out;
	show_head(res, out);
	for (size_t i = 0; i < res->n_cells; i++) {
		if (seen[i])
			continue;
		if (group_collect(&g, res, i))
			goto out;
		for (size_t k = i; k < res->n_cells; k++)
			seen[k] |= same_group(&res->cells[i], &res->cells[k]);
		lost = group_print(&g, res, markdown, width, out);
		if (lost < 0)
			goto out;
		dropped |= lost;
	}
	if (show_remarks(res, &why, NULL, markdown, width, out))
		goto out;
	if (dropped)
		say_note("some columns do not fit %d columns; --format csv has them all", width);
	rc = fflush(out) || ferror(out) ? -1 : 0;
out:
	free(seen);
	free(g.cells);
	free(g.shared);
	return rc;
}

static int add_floor(void *user, const struct store_row *row)
{
	static const char head[] =
		"Two measurements of one thing lie within this in 19 cases of 20 (A/A floor):";
	FILE *line = user;
	char variant[100];

	fprintf(line, "%s %s n=%s %.2g %%", ftell(line) ? "," : head,
		say_text(row->text[0], 48, variant, sizeof(variant)), row->text[1], 100 * row->real[2]);
	if (row->integer[3] < 19) /* stats_next_below() */
		fprintf(line, " (of %s pairs, %s cases of %" PRId64 ")", row->text[3], row->text[3],
			row->integer[3] + 1);
	return 0;
}

/* The floors that doctor --aa stored of the devices of the run, the latest of each. */
static void show_floor(struct store *s, int64_t run, int width, FILE *out)
{
	static const char sql[] =
		"SELECT DISTINCT variant, n, floor, pairs FROM device_floor"
		" WHERE device_id IN (SELECT device_id FROM cell WHERE run_id = CAST(?1 AS INTEGER))"
		" ORDER BY variant, n";
	char id[24], *text = NULL;
	const char *param = id;
	size_t size;
	FILE *line = open_memstream(&text, &size);

	snprintf(id, sizeof(id), "%lld", (long long)run);
	if (line) {
		(void)store_query(s, sql, &param, 1, add_floor, line);
		fclose(line);
	}
	if (text && *text) {
		fputc('\n', out);
		show_line(text, 0, 0, width, out);
	}
	free(text);
}

static int print_metrics_hint(void *user, const struct store_row *row)
{
	FILE *out = user;
	char path[400];

	fprintf(out, "\nMore than times was measured: pkrun show --metrics %s",
		say_text(row->text[1], 200, path, sizeof(path)));
	if (row->integer[0] != row->integer[2])
		fprintf(out, " --run %s", row->text[0]);
	fputc('\n', out);
	return 1;
}

/* Times say little of a variant that takes them apart itself. */
static void show_metrics_hint(struct store *s, int64_t run, FILE *out)
{
	static const char sql[] =
		"SELECT c.run_id, ?2, (SELECT max(id) FROM run) FROM metric m JOIN cell c ON c.id = m.cell_id"
		" WHERE c.run_id = CAST(?1 AS INTEGER) AND m.trial_id IS NOT NULL"
		" AND m.name NOT IN ('residual_norm', 'error') AND m.name NOT GLOB 'stamp_*' LIMIT 1";
	char id[24];
	const char *params[] = { id, store_path(s) };

	snprintf(id, sizeof(id), "%lld", (long long)run);
	(void)store_query(s, sql, params, 2, print_metrics_hint, out);
}

/* What is said below the tables. */
static void show_foot(struct store *s, const struct results *res, int width, FILE *out)
{
	char crossover[600];

	if (verdict_crossover(s, res, crossover, sizeof(crossover)) > 0) {
		fputc('\n', out);
		show_line(crossover, 0, 0, width, out);
	}
	show_floor(s, res->run, width, out);
	show_metrics_hint(s, res->run, out);
}

int show_run(struct store *s, int64_t run, enum show_format format, FILE *out)
{
	struct results res;
	int rc = results_load(s, run, &res), width = say_terminal(fileno(out));

	if (rc)
		return rc;
	if (format == SHOW_JSON || format == SHOW_CSV) {
		rc = show_flat(&res, format, out);
	} else {
		rc = show_people(&res, format == SHOW_MARKDOWN, width, out);
		if (!rc)
			show_foot(s, &res, format == SHOW_TABLE ? width : 0, out);
	}
	results_free(&res);
	return rc ? -2 : 0;
}
