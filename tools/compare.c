/* SPDX-License-Identifier: MIT
 *
 * compare.c - `pkrun compare`: is B faster or slower than A, cell by cell?
 * Two files, two sets of runs of a file, or two series of one run.  What is
 * paired is in pair.h, how it is decided in judge.h; here: options, what makes
 * the sides unlike, and printing.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../core/command.h"
#include "../core/say.h"
#include "judge.h"
#include "rows.h"

#define RUNS_MAX 256
#define FAIL_SLOWER 1u
#define FAIL_WRONG 2u
#define FAIL_MISSING 4u
#define FAIL_UNTESTABLE 8u

static const char usage[] =
        "usage: pkrun compare [options] A.db B.db\n"
        "       pkrun compare [options] --runs 1,2 FILE.db\n"
        "       pkrun compare [options] --series A,B FILE.db\n"
        "\n"
        "Is B faster or slower than A?  Cells are paired when workload, variant, target,\n"
        "iterations and every parameter are equal.  Each run is one session; a verdict\n"
        "needs 4 sessions a side.  Two series of one run are compared block by block; a\n"
        "verdict needs 6 blocks.  Ratios are time of B over time of A.\n"
        "\n"
        "  --runs A:B          run numbers of each side, e.g. 1,2,3,4:5,6,7,8; \"1,2\" is 1:2;\n"
        "                      with two files the default is all runs of each\n"
        "  --series A,B        two sections of one run\n"
        "  --run N             the run of --series (default: the last)\n"
        "  --threshold PERCENT changes below are no change (default: 1, raised to the floor\n"
        "                      that `pkrun doctor --aa` recorded in a file for the device)\n"
        "  --fail-on LIST      exit with 1 on any of: slower; wrong (a cell of B is wrong,\n"
        "                      crashed, hung or failed); missing (a cell of A has no time in\n"
        "                      B); untestable (a cell of both had too few blocks or sessions)\n"
        "  --format FORMAT     table, json, csv or markdown\n"
        "  --help              this text\n";

struct difference {
	char *key, *value[2]; /* NULL: unknown, or not there */
};

struct compare {
	const char *paths[2];
	struct store *stores[2]; /* [1] may be [0] */
	int64_t ids[2][RUNS_MAX];
	size_t n_ids[2];
	char *series[2];
	int64_t run;             /* of --series; 0: the last */
	double threshold, floor; /* floor NAN: none recorded */
	unsigned fail_on;
	enum show_format format;
	struct pair_side side[2];
	struct pair *pairs;
	struct judgement *judged;
	size_t n_pairs, tests;
	struct difference *differences; /* of the environments */
	size_t n_differences;
	char **notes;
	size_t n_notes;
};

static int usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static int usage_error(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say_error("compare: %s", text);
	return -1;
}

/* A line that belongs to the result: below the table, in the json, on stderr for csv. */
static void note(struct compare *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note(struct compare *c, const char *fmt, ...)
{
	char **more = realloc(c->notes, (c->n_notes + 1) * sizeof(*more)), *text = NULL;
	va_list ap;

	if (!more)
		return;
	c->notes = more;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) >= 0)
		c->notes[c->n_notes++] = text;
	va_end(ap);
}

/* ---- options ---- */

static int parse_ids(const char *text, const char *end, int64_t *ids, size_t *n)
{
	*n = 0;
	while (text < end) {
		char *stop;

		errno = 0;
		if (*text < '0' || *text > '9' || *n == RUNS_MAX)
			return -1;
		ids[*n] = strtoll(text, &stop, 10);
		if (errno || stop > end || (stop < end && *stop != ','))
			return -1;
		++*n;
		text = stop + (stop < end);
		if (stop < end && text == end)
			return -1; /* a comma at the end */
	}
	return *n ? 0 : -1;
}

static int parse_runs(struct compare *c, const char *text)
{
	const char *colon = strchr(text, ':'), *end = text + strlen(text);

	if (colon) {
		if (!parse_ids(text, colon, c->ids[0], &c->n_ids[0]) &&
		    !parse_ids(colon + 1, end, c->ids[1], &c->n_ids[1]))
			return 0;
	} else if (!parse_ids(text, end, c->ids[0], &c->n_ids[0]) && c->n_ids[0] == 2) {
		c->ids[1][0] = c->ids[0][1];
		c->n_ids[0] = c->n_ids[1] = 1;
		return 0;
	}
	return usage_error("--runs %s: two run numbers \"1,2\" or two lists \"1,2:3,4\" are wanted",
	                   text);
}

static int parse_series(struct compare *c, const char *text)
{
	const char *comma = strchr(text, ',');

	if (!comma || comma == text || !comma[1] || strchr(comma + 1, ','))
		return usage_error("--series %s: two section names with a comma between are wanted",
		                   text);
	free(c->series[0]);
	free(c->series[1]);
	c->series[0] = strndup(text, (size_t)(comma - text));
	c->series[1] = strdup(comma + 1);
	return c->series[0] && c->series[1] ? 0 : usage_error("out of memory");
}

static int parse_fail_on(struct compare *c, const char *text)
{
	static const char *const names[] = {"slower", "wrong", "missing", "untestable"};

	for (const char *word = text;; word++) {
		size_t length = strcspn(word, ","), i = 0;

		while (i < 4 && (strlen(names[i]) != length || strncmp(names[i], word, length)))
			i++;
		if (i == 4)
			return usage_error(
			        "--fail-on %s: no such condition: %.*s (slower, wrong, missing, "
			        "untestable)",
			        text, (int)length, word);
		c->fail_on |= 1u << i;
		word += length;
		if (!*word)
			return 0;
	}
}

static int parse_number(const char *option, const char *text, double max, double *out)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0 && value <= max))
		return usage_error("%s %s: a number from 0 to %g is wanted", option, text, max);
	*out = value;
	return 0;
}

static int parse_option(struct compare *c, int option, const char *value)
{
	double number = 0;

	switch (option) {
	case 'r':
		return parse_runs(c, value);
	case 's':
		return parse_series(c, value);
	case 'n':
		if (parse_ids(value, value + strlen(value), c->ids[0], &c->n_ids[0]) ||
		    c->n_ids[0] != 1)
			return usage_error("--run %s: one run number is wanted", value);
		c->run = c->ids[0][0];
		return 0;
	case 't':
		if (parse_number("--threshold", value, 1000, &number))
			return -1;
		c->threshold = number / 100;
		return 0;
	case 'f':
		return parse_fail_on(c, value);
	case 'F':
		if (show_format_parse(value, &c->format))
			return usage_error("--format %s: table, json, csv or markdown is wanted",
			                   value);
		return 0;
	}
	return -1;
}

/* 0, 1: help was printed, or -1 */
static int parse(struct compare *c, int argc, char **argv)
{
	static const struct option options[] = {
	        {"runs", required_argument, NULL, 'r'},
	        {"series", required_argument, NULL, 's'},
	        {"run", required_argument, NULL, 'n'},
	        {"threshold", required_argument, NULL, 't'},
	        {"fail-on", required_argument, NULL, 'f'},
	        {"format", required_argument, NULL, 'F'},
	        {"help", no_argument, NULL, 'h'},
	        {NULL, 0, NULL, 0},
	};
	int option, files, had_runs = 0;

	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (option == 'h') {
			fputs(usage, stdout);
			return 1;
		}
		if (option == ':')
			return usage_error("%s wants a value", argv[optind - 1]);
		if (option == '?')
			return usage_error("unknown option %s (see pkrun compare --help)",
			                   argv[optind - 1]);
		had_runs |= option == 'r';
		if (parse_option(c, option, optarg))
			return -1;
	}
	files = argc - optind;
	if (had_runs && c->series[0])
		return usage_error(
		        "--runs compares runs, --series two sections of one run: not both");
	if (c->run && !c->series[0])
		return usage_error("--run goes with --series");
	if (files < 1 || files > 2 || (files == 2 && c->series[0]))
		return usage_error("%s (see pkrun compare --help)",
		                   c->series[0] ? "--series wants one file"
		                                : "one or two files are wanted");
	if (files == 1 && !had_runs && !c->series[0])
		return usage_error("one file: --runs A:B or --series A,B says what to compare");
	c->paths[0] = argv[optind];
	c->paths[1] = argv[optind + files - 1];
	return 0;
}

/* ---- reading ---- */

static int last_run(void *user, const struct store_row *row)
{
	*(int64_t *)user = row->text[0] ? row->integer[0] : 0;
	return 0;
}

/* Is it one file, under whatever names? */
static int same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int open_stores(struct compare *c)
{
	char why[1024];

	for (int i = 0; i < 2; i++) {
		if (i && same_file(c->paths[0], c->paths[1])) {
			c->stores[1] = c->stores[0];
			continue;
		}
		if (store_open(&c->stores[i], c->paths[i], STORE_READ | STORE_CACHE, why,
		               sizeof(why)))
			return usage_error("%s", why);
	}
	if (!c->series[0])
		return 0;
	if (!c->run &&
	    store_query(c->stores[0], "SELECT max(id) FROM run", NULL, 0, last_run, &c->run))
		return usage_error("%s", store_error(c->stores[0]));
	if (!c->run)
		return usage_error("%s: holds no run", c->paths[0]);
	for (int i = 0; i < 2; i++) {
		c->ids[i][0] = c->run;
		c->n_ids[i] = 1;
	}
	return 0;
}

static int read_sides(struct compare *c)
{
	char why[1024];

	for (int i = 0; i < 2; i++) {
		if (pair_read(&c->side[i], c->stores[i], c->paths[i], c->ids[i], c->n_ids[i],
		              c->series[i], why, sizeof(why)))
			return usage_error("%s", why);
		if (!c->series[0])
			continue;
		if (!c->side[i].n_cells)
			return usage_error("%s: run %" PRId64 " has no section [%s]", c->paths[0],
			                   c->run, c->series[i]);
		if (pair_options(&c->side[i], why, sizeof(why)))
			return usage_error("%s", why);
	}
	return 0;
}

/* ---- what makes the sides unlike ---- */

/* An instrumented run is slower for a reason of its own. */
static int check_instruments(struct compare *c)
{
	const char *first = c->side[0].runs[0].instrumented;

	for (int i = 0; i < 2; i++)
		for (size_t r = 0; r < c->side[i].n_runs; r++) {
			const char *other = c->side[i].runs[r].instrumented;

			if (!first == !other && (!first || !strcmp(first, other)))
				continue;
			return usage_error(
			        "%s: run %" PRId64 " was run %s%s, run %" PRId64 " of %s %s%s: "
			        "instrumented runs are not compared with others",
			        c->paths[i], c->side[i].runs[r].id, other ? "under " : "plainly",
			        other ? other : "", c->side[0].runs[0].id, c->paths[0],
			        first ? "under " : "plainly", first ? first : "");
		}
	if (first)
		note(c, "warning: every run was under `%s`: these times include it", first);
	return 0;
}

static void check_runs(struct compare *c)
{
	for (int i = 0; i < (c->series[0] ? 1 : 2); i++)
		for (size_t r = 0; r < c->side[i].n_runs; r++) {
			const struct pair_run *run = &c->side[i].runs[r];

			if (strcmp(run->status, "complete"))
				note(c, "warning: run %" PRId64 " of %s is incomplete (%s)",
				     run->id, c->paths[i], run->status);
			for (size_t k = 0; i && k < c->side[0].n_runs; k++)
				if (c->stores[0] == c->stores[1] &&
				    c->side[0].runs[k].id == run->id)
					note(c, "warning: run %" PRId64 " is on both sides",
					     run->id);
		}
}

/* Why no pair may be tested, or NULL. */
static const char *untestable(const struct compare *c)
{
	for (int i = 0; i < 2; i++)
		for (size_t r = 0; r < c->side[i].n_runs; r++) {
			if (c->side[i].runs[r].quick)
				return "a --quick run";
			if (c->series[0] && !strcmp(c->side[i].runs[r].schedule, "sequential"))
				return "schedule = sequential: drift looks like a difference";
		}
	return NULL;
}

/* One warning for each device of B's that A does not have. */
static void check_devices(struct compare *c)
{
	const char *warned = NULL;

	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct pair *p = c->judged[i].pair;
		const char *a, *b;

		if (!p->a || !p->b)
			continue;
		a = p->a->device ? p->a->device : "unknown";
		b = p->b->device ? p->b->device : "unknown";
		if (!strcmp(a, b) || (warned && !strcmp(warned, b)))
			continue;
		warned = b;
		note(c, "warning: other device: A on %s; B on %s", a, b);
	}
}

struct floor_search {
	const struct pair_side *side;
	double floor;
};

static int read_floor(void *user, const struct store_row *row)
{
	struct floor_search *f = user;

	for (size_t i = 0; row->text[0] && i < f->side->n_cells; i++)
		if (f->side->cells[i].device && !strcmp(f->side->cells[i].device, row->text[0])) {
			f->floor = fmax(f->floor, row->real[1]); /* fmax drops a NAN */
			break;
		}
	return 0;
}

/* The last floor of each variant, workload and size. */
static const char floors_sql[] =
        "SELECT d.name || ', ' || d.arch || ', driver ' || d.driver, f.floor"
        " FROM floor f JOIN device d ON d.id = f.device_id"
        " WHERE f.id = (SELECT max(g.id) FROM floor g WHERE g.device_id = f.device_id AND g.n = f.n"
        " AND g.variant = f.variant AND g.workload = f.workload)";

/* The practical threshold: 1 %, or the larger floor of the devices of both sides. */
static int find_threshold(struct compare *c)
{
	c->floor = NAN;
	for (int i = 0; i < 2; i++) {
		struct floor_search f = {&c->side[i], NAN};

		if (store_query(c->stores[i], floors_sql, NULL, 0, read_floor, &f))
			return usage_error("%s", store_error(c->stores[i]));
		c->floor = fmax(c->floor, f.floor);
	}
	if (c->threshold < 0)
		c->threshold = fmax(JUDGE_THRESHOLD, c->floor);
	return 0;
}

/* ---- environment ---- */

struct variables {
	char **key, **value;
	size_t n;
	int failed;
};

static int read_variable(void *user, const struct store_row *row)
{
	struct variables *v = user;
	char **key = realloc(v->key, (v->n + 1) * sizeof(*key));
	char **value;

	v->key = key ? key : v->key;
	value = realloc(v->value, (v->n + 1) * sizeof(*value));
	v->value = value ? value : v->value;
	v->failed |= !key || !value;
	if (v->failed)
		return 1;
	v->key[v->n] = strdup(row->text[0]);
	v->value[v->n] = row->text[1] ? strdup(row->text[1]) : NULL;
	v->failed |= !v->key[v->n] || (row->text[1] && !v->value[v->n]);
	v->n++;
	return v->failed;
}

static void variables_free(struct variables *v)
{
	for (size_t i = 0; i < v->n; i++) {
		free(v->key[i]);
		free(v->value[i]);
	}
	free(v->key);
	free(v->value);
}

/* Takes the texts over where they differ; -1: no memory. */
static int add_difference(struct compare *c, const char *key, char **a, char **b)
{
	struct difference *more;
	const char *x = a ? *a : NULL, *y = b ? *b : NULL;

	if (x == y || (x && y && !strcmp(x, y)))
		return 0;
	more = realloc(c->differences, (c->n_differences + 1) * sizeof(*more));
	if (!more)
		return -1;
	c->differences = more;
	more += c->n_differences;
	*more = (struct difference){.key = strdup(key), .value = {a ? *a : NULL, b ? *b : NULL}};
	if (!more->key)
		return -1;
	if (a)
		*a = NULL;
	if (b)
		*b = NULL;
	c->n_differences++;
	return 0;
}

static int compare_environments(struct compare *c)
{
	struct variables v[2] = {{0}, {0}};
	int rc = -1;

	for (int i = 0; i < 2; i++) {
		char id[24];
		const char *params[] = {id};

		snprintf(id, sizeof(id), "%" PRId64, c->side[i].runs[c->side[i].n_runs - 1].id);
		if (store_query(c->stores[i],
		                "SELECT key, value FROM environment_steady"
		                " WHERE run = ?1 ORDER BY key",
		                params, 1, read_variable, &v[i])) {
			usage_error("%s",
			            v[i].failed ? "out of memory" : store_error(c->stores[i]));
			goto out;
		}
	}
	for (size_t i = 0, k = 0; i < v[0].n || k < v[1].n;) {
		int order = i == v[0].n ? 1 : k == v[1].n ? -1 : strcmp(v[0].key[i], v[1].key[k]);

		if (add_difference(c, order <= 0 ? v[0].key[i] : v[1].key[k],
		                   order <= 0 ? &v[0].value[i] : NULL,
		                   order >= 0 ? &v[1].value[k] : NULL)) {
			usage_error("out of memory");
			goto out;
		}
		i += order <= 0;
		k += order >= 0;
	}
	rc = 0;
out:
	variables_free(&v[0]);
	variables_free(&v[1]);
	return rc;
}

/* ---- judging ---- */

static int in_matrix_order(const void *x, const void *y)
{
	const struct pair *a = ((const struct judgement *)x)->pair,
	                  *b = ((const struct judgement *)y)->pair;
	int64_t i, k;

	if (!a->a != !b->a)
		return a->a ? -1 : 1;
	i = a->a ? a->a->id : a->b->id;
	k = a->a ? b->a->id : b->b->id;
	return (i > k) - (i < k);
}

static int judge(struct compare *c)
{
	const char *why_not = untestable(c);
	int paired = c->series[0] != NULL;

	if (paired ? pair_series(&c->side[0], &c->side[1], &c->pairs, &c->n_pairs)
	           : pair_keys(&c->side[0], &c->side[1], &c->pairs, &c->n_pairs))
		return usage_error("out of memory");
	c->judged = calloc(c->n_pairs + 1, sizeof(*c->judged));
	if (!c->judged)
		return usage_error("out of memory");
	for (size_t i = 0; i < c->n_pairs; i++)
		if (judge_pair(&c->pairs[i], paired, why_not, &c->judged[i]))
			return usage_error("out of memory");
	qsort(c->judged, c->n_pairs, sizeof(*c->judged), in_matrix_order);
	if (judge_all(c->judged, c->n_pairs, c->threshold, &c->tests))
		return usage_error("out of memory");
	return 0;
}

static size_t count(const struct compare *c, enum verdict v)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_pairs; i++)
		n += c->judged[i].verdict == v;
	return n;
}

/* Nothing in common is an error; say what there is, and whether only the target differs. */
static int check_common(const struct compare *c)
{
	if (count(c, MISSING) < c->n_pairs)
		return 0;
	for (int i = 0; i < 2; i++) {
		const struct pair_side *s = &c->side[i];

		for (size_t k = 0; k < s->n_cells && k < 10; k++)
			say_error("  only in %s: [%s] %s", i ? "B" : "A", s->cells[k].series,
			          s->cells[k].key);
		if (s->n_cells > 10)
			say_error("  and %zu more only in %s", s->n_cells - 10, i ? "B" : "A");
	}
	usage_error("0 common cells: %zu in A (%s%s%s), %zu in B (%s%s%s)%s", c->side[0].n_cells,
	            c->paths[0], c->series[0] ? " " : "", c->series[0] ? c->series[0] : "",
	            c->side[1].n_cells, c->paths[1], c->series[0] ? " " : "",
	            c->series[0] ? c->series[1] : "",
	            c->side[0].n_cells && c->side[1].n_cells &&
	                            strcmp(c->side[0].cells[0].target, c->side[1].cells[0].target)
	                    ? "; times of different targets are never compared"
	                    : "");
	return -1;
}

/* With few blocks or sessions and many cells, no cell can pass Holm whatever it shows. */
static void check_power(struct compare *c)
{
	size_t most = 0, needed = judge_units_needed(c->tests, c->series[0] != NULL);

	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct judgement *j = &c->judged[i];
		size_t units = j->units_a < j->units_b ? j->units_a : j->units_b;

		if (!isnan(j->p_holm) && units > most)
			most = units;
	}
	if (c->tests && most < needed)
		note(c,
		     "warning: with %zu cells, none of %zu %s can be called different (Holm); it "
		     "takes %zu",
		     c->tests, most, c->series[0] ? "blocks" : "sessions a side", needed);
}

/* ---- printing ---- */

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

static void add_row(struct table *t, const struct judgement *j, int paired)
{
	const struct pair_cell *a = j->pair->a, *b = j->pair->b, *cell = a ? a : b;
	char buf[32];

	table_add(t, cell->series);
	table_add(t, cell->workload);
	table_addf(t, "%" PRId64, cell->n);
	table_add(t, cell->params);
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

static int print_cells(const struct compare *c, int width)
{
	static const struct {
		const char *name;
		int right, drop;
	} columns[] = {
	        {"series", 0, 0},     {"workload", 0, 0},
	        {"n", 1, 0},          {"params", 0, 3},
	        {"A", 1, 0},          {"B", 1, 0},
	        {"B/A", 1, 0},        {"95 % interval", 0, 0},
	        {"detectable", 1, 2}, {NULL, 1, 1},
	        {"verdict", 0, 0},    {"why", 0, 4},
	};
	struct table t;
	int failed;

	table_init(&t);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		table_column(&t,
		             columns[i].name ? columns[i].name
		             : c->series[0]  ? "blocks"
		                             : "sessions",
		             columns[i].right, columns[i].drop);
	for (size_t i = 0; i < c->n_pairs; i++)
		if (c->judged[i].verdict != MISSING)
			add_row(&t, &c->judged[i], c->series[0] != NULL);
	t.columns[1].hidden = one_workload(c);
	table_hide_empty(&t);
	if (c->format == SHOW_MARKDOWN)
		table_print_markdown(&t, 0, table_rows(&t), stdout);
	else
		table_print(&t, 0, table_rows(&t), width, stdout);
	failed = t.failed;
	table_free(&t);
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

/* Cells with a verdict that is no ratio, by name. */
static void list_cells(struct compare *c, enum verdict v, const char *what)
{
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct judgement *j = &c->judged[i];
		const struct pair_cell *cell = j->pair->a ? j->pair->a : j->pair->b;

		if (j->verdict == v)
			note(c, "%s: [%s] %s (%s)", what, cell->series, cell->key, j->reason);
	}
}

static void summarise(struct compare *c)
{
	char text[512], floor[64] = "no A/A floor recorded";
	size_t used = 0;

	for (int v = 0; v < VERDICTS; v++)
		if (count(c, (enum verdict)v))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%zu %s",
			                         used ? ", " : "", count(c, (enum verdict)v),
			                         verdict_names[v]);
	if (isfinite(c->floor))
		snprintf(floor, sizeof(floor), "A/A floor %.2g %%", 100 * c->floor);
	note(c, "%zu cells: %s", c->n_pairs, text);
	note(c, "95 %% intervals, p by Holm over %zu cells, threshold %.3g %% (%s)", c->tests,
	     100 * c->threshold, floor);
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
	int width = isatty(STDOUT_FILENO) ? say_terminal(STDOUT_FILENO) : 0;
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

static int print(struct compare *c)
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
		return usage_error("cannot print the result: %s", strerror(errno));
	return 0;
}

/* ---- --fail-on ---- */

static int is_failed(const struct pair_cell *cells, size_t n)
{
	static const char *const bad[] = {"wrong", "crash", "hang", "error"};

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
			if (!strcmp(cells[i].status, bad[k]))
				return 1;
	return 0;
}

static int has_time(const struct pair_cell *cells, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (judge_good(cells[i].status) && cells[i].n_blocks)
			return 1;
	return 0;
}

static int verdict_exit(const struct compare *c)
{
	size_t found[4] = {0};
	static const char *const what[] = {"slower", "wrong or failed in B", "missing in B",
	                                   "not testable"};
	int rc = EXIT_OK;

	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct judgement *j = &c->judged[i];
		const struct pair *p = j->pair;

		found[0] += j->verdict == SLOWER;
		found[1] += is_failed(p->b, p->n_b);
		found[2] += has_time(p->a, p->n_a) && !has_time(p->b, p->n_b);
		found[3] += j->verdict == UNTESTABLE;
	}
	for (int k = 0; k < 4; k++)
		if (found[k] && (c->fail_on & 1u << k)) {
			say_error("compare: %zu of %zu cells %s", found[k], c->n_pairs, what[k]);
			rc = EXIT_REGRESSION;
		}
	if (found[3] && (c->fail_on & FAIL_SLOWER) && !(c->fail_on & FAIL_UNTESTABLE))
		say_error("compare: --fail-on slower: %zu of %zu cells could not be tested",
		          found[3], c->n_pairs);
	return rc;
}

static int compare_run(struct compare *c)
{
	if (open_stores(c) || read_sides(c) || check_instruments(c) || find_threshold(c) ||
	    judge(c) || check_common(c) || compare_environments(c))
		return EXIT_USAGE;
	check_runs(c);
	check_devices(c);
	check_power(c);
	if (print(c))
		return EXIT_USAGE;
	return verdict_exit(c);
}

int command_compare(int argc, char **argv)
{
	struct compare c = {.threshold = -1};
	int rc = parse(&c, argc, argv);

	rc = rc ? (rc > 0 ? EXIT_OK : EXIT_USAGE) : compare_run(&c);
	for (size_t i = 0; i < c.n_differences; i++) {
		free(c.differences[i].key);
		free(c.differences[i].value[0]);
		free(c.differences[i].value[1]);
	}
	free(c.differences);
	for (size_t i = 0; i < c.n_notes; i++)
		free(c.notes[i]);
	free(c.notes);
	free(c.judged);
	free(c.pairs);
	for (int i = 0; i < 2; i++) {
		pair_free(&c.side[i]);
		free(c.series[i]);
	}
	if (c.stores[1] && c.stores[1] != c.stores[0])
		store_close(c.stores[1]);
	if (c.stores[0])
		store_close(c.stores[0]);
	return rc;
}
