/* SPDX-License-Identifier: MIT
 *
 * report.c - `pkrun report`: one run as one page that needs nothing else: no
 * network, no files beside it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../core/command.h"
#include "../core/say.h"
#include "export.h"
#include "figure.h"
#include "fold.h"
#include "html.h"
#include "verdict.h"

extern const char report_css[], report_js[];

#define NAME_WIDTH 60	/* of a series in a list; the table has it whole */

struct report {
	FILE *out;
	struct store *store;
	struct results res;
	const char *db;
	int no_gnuplot;		/* say it once */
};

/* SQL with this run's number in it. */
static char *for_run(const struct report *r, const char *fmt)
{
	char *sql = NULL;

	return asprintf(&sql, fmt, (long long)r->res.run) < 0 ? NULL : sql;
}

static void report_head(struct report *r)
{
	fputs("<!doctype html>\n<html lang=en><head><meta charset=utf-8>\n"
	      "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
	      "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline';"
	      " script-src 'unsafe-inline'; img-src data:\">\n<link rel=icon href=\"data:,\">\n<title>pkrun: ", r->out);
	html_text(r->out, r->res.matrix_path);
	fprintf(r->out, "</title>\n<style>\n%s</style></head>\n<body><main>\n<h1>", report_css);
	html_text(r->out, r->res.matrix_path);
	fprintf(r->out, "</h1>\n<p class=facts>run %lld of ", (long long)r->res.run);
	html_text(r->out, r->db);
	fprintf(r->out, " &middot; started %.16s UTC &middot; %s &middot; pkrun ", r->res.started_utc, r->res.status);
	html_text(r->out, r->res.version);
	fputs("</p>\n", r->out);
}

/* ---- what it says ---- */

static int report_verdict(struct report *r)
{
	struct verdict_text v;

	if (verdict_write(r->store, &r->res, &v))
		return -1;
	fprintf(r->out, "<div class=\"verdict%s\" id=verdict>\n", v.bad ? " bad" : "");
	for (size_t i = 0; i < 3; i++) {
		const char *sentence = (const char *[]){ v.right, v.fast, v.cost }[i];

		if (!*sentence)
			continue;
		fputs("<p>", r->out);
		html_text(r->out, sentence);
		fputs("</p>\n", r->out);
	}
	if (*v.caution) {
		fputs("<p class=caution>", r->out);
		html_text(r->out, v.caution);
		fputs("</p>\n", r->out);
	}
	fputs("</div>\n<nav><a href=#figures>Figures</a> <a href=#results>Results</a> <a href=#views>Ladder and"
	      " overhead</a> <a href=#failures>What went wrong</a> <a href=#environment>Environment</a>"
	      " <a href=#matrix>Matrix</a></nav>\n", r->out);
	return 0;
}

/* ---- figures ---- */

static void report_figure(struct report *r, const char *name, const char *caption)
{
	struct figure_request want = { .run = r->res.run, .n = STORE_NULL };
	struct plot p;
	char *script = NULL, why[1024] = "", prefix[32], *text = NULL;

	if (r->no_gnuplot || figure_script(figure_find(name), r->store, &r->res, &want, &p, &script))
		return;			/* nothing to draw is no fault here */
	if (p.hollow) {
		free(script);
		figure_free(&p);
		return;
	}
	snprintf(prefix, sizeof(prefix), "%s-", name);
	if (p.dropped && asprintf(&text, "%s %d left out; the first: %s.", caption, p.dropped, p.why) < 0)
		text = NULL;
	if (html_figure(r->out, script, p.width, p.height, prefix, text ? text : caption, why, sizeof(why))) {
		say_note("report: no figures: %s", why);
		fputs("<p class=caution>No figures: ", r->out);
		html_text(r->out, why);
		fputs("</p>\n", r->out);
		r->no_gnuplot = 1;
	}
	free(text);
	free(script);
	figure_free(&p);
}

static void report_figures(struct report *r)
{
	int64_t n = STORE_NULL, grid = STORE_NULL;
	int sizes = 0, grids = 0;

	for (size_t i = 0; i < r->res.n_cells; i++) {
		const struct result_cell *c = &r->res.cells[i];

		if (isnan(c->median_ns))
			continue;
		if (!strcmp(c->workload, "null") || !strcmp(c->workload, "syncost")) {
			grids |= grid != STORE_NULL && grid != c->grid;
			grid = c->grid;
			continue;
		}
		sizes |= n != STORE_NULL && n != c->n;
		n = c->n;
	}
	fputs("<h2 id=figures>Figures</h2>\n", r->out);
	report_figure(r, "ladder", "Time per iteration of each rung, in the order of the matrix; x is its factor over the"
		      " rung before. Lines on the bars: 95 % interval, or the range of the trials where there are too few processes.");
	if (sizes)
		report_figure(r, "scaling", "Time against size; bars: 95 % interval, or the range of the trials.");
	report_figure(r, "overhead", "Where an iteration's time goes: what empty work costs with the same variant and"
		      " grid is protocol, the rest is compute. Grey: no such cell to tell by.");
	report_figure(r, "roofline", "Rates over arithmetic intensity of the natural layout. Above a roof is caching,"
		      " blocking, or an error.");
	if (grids)
		report_figure(r, "sync", "What an iteration without work costs over blocks and threads.");
	report_figure(r, "schedule", "What each block did when, in the last timed trial of each stamped cell; white is"
		      " waiting. Cells share a scale where the shorter takes at least a quarter of the longer's time.");
	report_figure(r, "latency", "Latencies of single messages where the variant took them; else how the times of single"
		      " trials scatter about their cell's median.");
}

/* ---- tables ---- */

static const struct html_column result_columns[] = {
	{ "series", 0 }, { "variant", 0 }, { "workload", 0 }, { "n", 1 }, { "parameters", 0 }, { "status", 0 },
	{ "time/iteration", 1 }, { "from", 1 }, { "to", 1 }, { "speed-up", 1 }, { "from", 1 }, { "to", 1 },
	{ "trials", 1 }, { "control", 0 }, { "target", 0 },
};

static void cell_ns(FILE *out, double ns)
{
	char text[32];

	html_cell_number(out, isfinite(ns) ? say_ns(ns, text) : NULL, ns);
}

static void cell_ratio(FILE *out, double ratio)
{
	char text[32];

	snprintf(text, sizeof(text), ratio < 0.00095 ? "%.1g" : ratio < 0.1 ? "%.3f" : "%.2f", ratio);
	html_cell_number(out, isfinite(ratio) ? text : NULL, ratio);
}

static void report_result_row(FILE *out, const struct result_cell *c)
{
	const char *texts[] = { c->series, c->variant, c->workload };
	int bad = !strcmp(c->status, "wrong") || !strcmp(c->status, "crash") || !strcmp(c->status, "hang") ||
		  !strcmp(c->status, "error");
	char number[32];

	html_row_begin(out, bad ? "bad" : NULL);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		html_cell_text(out, texts[i], NULL);
	snprintf(number, sizeof(number), "%lld", (long long)c->n);
	html_cell_number(out, number, (double)c->n);
	html_cell_text(out, c->told, NULL);
	html_cell_text(out, result_words(c->status), NULL);
	cell_ns(out, c->median_ns);
	cell_ns(out, c->time.lo);
	cell_ns(out, c->time.hi);
	cell_ratio(out, c->speedup);
	cell_ratio(out, c->ratio.lo);
	cell_ratio(out, c->ratio.hi);
	snprintf(number, sizeof(number), "%lld", (long long)c->trials);
	html_cell_number(out, number, (double)c->trials);
	html_cell_text(out, c->control, NULL);
	html_cell_text(out, c->target, NULL);
	html_row_end(out);
}

static int has_no_speedup(const struct result_cell *c, const void *user)
{
	(void)user;
	return c->lacks != 0;
}

static const char *reason_of(const struct report *r, const struct result_cell *c, char *text, size_t size)
{
	(void)r;
	(void)text;
	(void)size;
	return c->reason ? c->reason : "no reason was stored";
}

static const char *lacks_of(const struct report *r, const struct result_cell *c, char *text, size_t size)
{
	result_lacks_words(&r->res, c->lacks, text, size);
	return text;
}

/* A list under `head`, if there is any: one line for the cells of a series that have the same reason. */
static int report_folded(struct report *r, struct fold *f, const char *head,
			 const char *(*reason)(const struct report *, const struct result_cell *, char *, size_t))
{
	const struct result_cell *c;
	char *cells, text[400];
	int any = 0, rc;

	f->name_width = NAME_WIDTH;
	while ((rc = fold_next(f, &c, &cells)) > 0) {
		fputs(any++ ? "" : head, r->out);
		fputs("<li>", r->out);
		html_text(r->out, cells);
		fputs(": ", r->out);
		html_text(r->out, reason(r, c, text, sizeof(text)));
		fputs("</li>\n", r->out);
		free(cells);
	}
	if (any)
		fputs("</ul>\n", r->out);
	fold_end(f);
	return rc;
}

static int report_no_speedup(struct report *r)
{
	struct fold f;

	if (fold_begin(&f, &r->res, has_no_speedup, NULL))
		return -1;
	f.alike = result_lacks_alike;
	return report_folded(r, &f, "<h3>No speed-up</h3>\n<ul class=small id=no-speedup>", lacks_of);
}

static int report_results(struct report *r)
{
	char *sql = for_run(r, "SELECT series, variant, workload, n, params, status, median_ns, speedup, trials,"
			    " control, target\nFROM result\nWHERE run = %lld\nORDER BY number;");

	fputs("<h2 id=results>Results</h2>\n<p class=small>A time is the median over processes of the medians of"
	      " their trials, per iteration; from and to bound its 95 % interval. Speed-up is against ", r->out);
	if (r->res.baseline) {
		fputs("[", r->out);
		html_text(r->out, r->res.baseline);
		fputs("]", r->out);
	} else {
		fputs("no baseline: the matrix names none", r->out);
	}
	fputs(", paired process by process. Click a head to sort.</p>\n", r->out);
	html_table_begin(r->out, "table-results", result_columns,
			 sizeof(result_columns) / sizeof(result_columns[0]), 1);
	for (size_t i = 0; i < r->res.n_cells; i++)
		report_result_row(r->out, &r->res.cells[i]);
	html_table_end(r->out);
	if (sql)
		html_sql(r->out, sql, "Intervals, and speed-ups that have one, are computed by pkrun from the view block_time,"
			" not by SQL; a default that tells rows apart is put to the parameters from the table param.");
	free(sql);
	return report_no_speedup(r);
}

/* A view's rows with a heading, or nothing at all. */
static int report_view(struct report *r, const char *title, const char *id, const char *fmt, int *shown)
{
	char *sql = for_run(r, fmt), *text = NULL;
	size_t size;
	FILE *whole = r->out, *f = open_memstream(&text, &size);
	int rows = -1;

	if (sql && f)
		rows = html_query(f, r->store, id, sql, 0);
	if (f)
		fclose(f);
	if (rows > 0)
		fprintf(whole, "<h3>%s</h3>\n%s", title, text);
	*shown += rows > 0;
	free(text);
	free(sql);
	return rows < 0 ? -1 : 0;
}

static int report_views(struct report *r)
{
	int shown = 0;

	fputs("<h2 id=views>Ladder and overhead</h2>\n", r->out);
	if (report_view(r, "Rungs, each against the one before", "table-ladder",
			"SELECT workload, n, rung, series, variant, params, status, median_ns,\n       over_previous, over_first\n"
			"FROM ladder\nWHERE run = %lld\nORDER BY workload = 'null', workload, n, iterations, work, rung;", &shown) ||
	    report_view(r, "Where an iteration's time goes", "table-overhead",
			"SELECT workload, n, series, variant, params, total_ns, compute_ns, execution_ns, launch_ns,"
			" handshake_ns\nFROM overhead\nWHERE run = %lld\n"
			"  AND coalesce(compute_ns, execution_ns, launch_ns, handshake_ns) IS NOT NULL\n"
			"ORDER BY workload = 'null', workload, n, total_ns;", &shown) ||
	    report_view(r, "Step length below which a persistent kernel pays", "table-crossover",
			"SELECT series, variant, control, n, pays, pays_above_ns, pays_below_ns, meets_ns, shortest_ns, longest_ns,\n"
			"       100 * threshold AS threshold_percent\n"
			"FROM crossover\nWHERE run = %lld\n"
			"ORDER BY pays = 'at every length' DESC, pays_below_ns DESC, variant;", &shown) ||
	    report_view(r, "Latencies of single messages", "table-latency",
			"SELECT series, variant, params, n, message, CAST(samples AS INTEGER) AS samples, min_ns, p50_ns, p90_ns,\n"
			"       p99_ns, p999_ns, max_ns\nFROM latency\nWHERE run = %lld\nORDER BY cell, message;", &shown) ||
	    report_view(r, "What else was measured", "table-measured",
			"SELECT series, variant, workload, n, params, metric, mean, least, most, unit\nFROM measured\n"
			"WHERE run = %lld AND per_trial\n"
			"  AND NOT (metric GLOB '*_samples' OR unit = 'ns' AND (metric GLOB '*_p[59]*' OR metric GLOB '*_min'\n"
			"           OR metric GLOB '*_max' OR metric GLOB '*_mean'))\nORDER BY cell, metric;", &shown) ||
	    report_view(r, "Rates and roofs", "table-roofline",
			"SELECT workload, n, series, variant, round(updates_per_s / 1e9, 3) AS gigaupdates_per_s,\n"
			"       round(bytes_per_s / 1e9, 1) AS gigabytes_per_s,\n"
			"       round(memory_bytes_per_s / 1e9, 1) AS memory_roof_gigabytes_per_s,\n"
			"       CASE suspect WHEN 1 THEN 'above a roof' END AS suspect\n"
			"FROM roofline\nWHERE run = %lld\nORDER BY workload, n, bytes_per_s DESC;", &shown))
		return -1;
	if (!shown)
		fputs("<p>Nothing in this run to tell of.</p>\n", r->out);
	return 0;
}

static int is_skipped(const struct result_cell *c, const void *user)
{
	(void)user;
	return !strcmp(c->status, "skipped");
}

static int report_skipped(struct report *r)
{
	struct fold f;

	if (fold_begin(&f, &r->res, is_skipped, NULL))
		return -1;
	return report_folded(r, &f, "<h3>Skipped</h3>\n<ul class=small>", reason_of);
}

static int report_failures(struct report *r)
{
	char *sql = for_run(r, "SELECT number AS cell, series, variant, workload, n, params, status, reason, processes,"
			    " wrong_trials\nFROM failures\nWHERE run = %lld\nORDER BY number;");
	int rows;

	fputs("<h2 id=failures>What went wrong</h2>\n", r->out);
	rows = sql ? html_query(r->out, r->store, "table-failures", sql, 0) : -1;
	free(sql);
	if (rows == 0)
		fputs("<p>No cell was wrong, crashed, hung or failed.</p>\n", r->out);
	return report_skipped(r) || rows < 0 ? -1 : 0;
}

static int environment_row(void *user, const struct store_row *row)
{
	FILE *out = ((struct report *)user)->out;
	int ok = !strcmp(row->text[2], "ok") || !strcmp(row->text[2], "info");

	html_row_begin(out, NULL);
	html_cell_text(out, row->text[0], NULL);
	html_cell_text(out, row->text[1], NULL);
	html_cell_text(out, row->text[2], ok ? NULL : "warn");
	html_cell_text(out, row->text[3], NULL);
	html_row_end(out);
	return 0;
}

static int report_environment(struct report *r)
{
	static const struct html_column columns[] = {
		{ "fact", 0 }, { "value", 0 }, { "state", 0 }, { "what would put it right", 0 },
	};
	char *sql = for_run(r, "SELECT key, value, state, repair\nFROM environment\nWHERE run_id = %lld\n"
			    "ORDER BY instr('warn unknown ok info', state), key;");
	int rc = -1;

	if (!sql)
		return -1;
	fputs("<h2 id=environment>Environment</h2>\n", r->out);
	html_table_begin(r->out, "table-environment", columns, sizeof(columns) / sizeof(columns[0]), 0);
	rc = store_query(r->store, sql, NULL, 0, environment_row, r);
	html_table_end(r->out);
	html_sql(r->out, sql, NULL);
	free(sql);
	return rc;
}

static int matrix_row(void *user, const struct store_row *row)
{
	FILE *out = ((struct report *)user)->out;

	fputs("<p class=small>command: <code>", out);
	html_text(out, row->text[0]);
	fprintf(out, "</code> &middot; seed %s &middot; schedule %s</p>\n", row->text[2], row->text[3]);
	html_pre(out, row->text[1]);
	return 0;
}

static int report_matrix(struct report *r)
{
	char *sql = for_run(r, "SELECT argv, matrix_text, seed, schedule FROM run WHERE id = %lld");
	int rc = -1;

	fputs("<h2 id=matrix>Matrix</h2>\n", r->out);
	if (sql)
		rc = store_query(r->store, sql, NULL, 0, matrix_row, r);
	free(sql);
	return rc;
}

static int report_page(struct report *r)
{
	report_head(r);
	if (report_verdict(r))
		return -1;
	report_figures(r);
	if (report_results(r) || report_views(r) || report_failures(r) || report_environment(r) || report_matrix(r))
		return -1;
	fprintf(r->out, "</main>\n<script>\n%s</script>\n</body></html>\n", report_js);
	return 0;
}

/* ---- the command ---- */

/* The page is there when it is complete. */
static int report_write(struct report *r, const char *path)
{
	struct export_file f;
	int failed;

	if (export_open(&f, path)) {
		say_error("report: %s: %s", path, strerror(errno));
		return -1;
	}
	r->out = f.out;
	failed = report_page(r);
	if (failed)
		say_error("report: %s", store_error(r->store));
	if (!export_close(&f, failed))
		return 0;
	if (!failed)
		say_error("report: %s: %s", path, strerror(errno));
	return -1;
}

static int report_make(const char *db, int64_t run, const char *path)
{
	struct report r = { .db = db };
	char why[1024];
	int rc;

	if (store_open(&r.store, db, STORE_READ | STORE_CACHE, why, sizeof(why))) {
		say_error("report: %s", why);
		return EXIT_USAGE;
	}
	rc = results_load(r.store, run, &r.res);
	if (rc < 0)
		say_error("report: %s", store_error(r.store));
	else if (rc)
		say_error(run ? "report: %s: there is no such run" : "report: %s: there is no run in it yet", db);
	else
		rc = report_write(&r, path);
	if (!rc)
		say_note("report: %s", path);
	results_free(&r.res);
	store_close(r.store);
	return rc ? EXIT_USAGE : EXIT_OK;
}

int command_report(int argc, char **argv)
{
	static const struct export report = {
		.name = "report",
		.usage = "usage: pkrun report [DB] [-o FILE.html] [--run N]\n"
		"\n"
		"One run, the latest unless --run says which, as one page that needs nothing\n"
		"else: the verdict, figures, sortable tables and their SQL, failures, environment.\n"
		"DB defaults to pkrun.db, FILE to report.html.\n",
		.file = "report.html",
		.make = report_make,
	};

	return export_command(&report, argc, argv);
}
