/* SPDX-License-Identifier: MIT
 *
 * show_command.c - `pkrun show`: a run again (show.c), its failures, its
 * environment, what it measured besides the time.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../core/command.h"
#include "../core/say.h"
#include "results.h"
#include "show.h"

struct show_options {
	const char *db;
	int64_t run;
	enum show_format format;
	int failures, environment, metrics;
};

static int show_usage(FILE *out)
{
	fputs("usage: pkrun show [DB] [--run N] [--format table|json|csv|markdown]\n"
	      "                  [--failures | --environment | --metrics]\n"
	      "\n"
	      "The closing table of a run again, the latest unless --run says which.\n"
	      "--failures: the cells that were wrong, refused, crashed, hung or failed, and why.\n"
	      "--environment: what the run recorded of the machine.\n"
	      "--metrics: what variants measured besides the time, such as the parts of a launch; the mean\n"
	      "over trials (`pkrun list metrics` says what each is).\n"
	      "DB defaults to pkrun.db.  json and csv give times in ns.\n", out);
	return out == stdout ? EXIT_OK : EXIT_USAGE;
}

static int show_number(const char *text, int64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	return errno || *end || end == text || *out < 1 ? -1 : 0;
}

/* EXIT_OK: go on; anything else: done, except -1: help was printed. */
static int show_parse(int argc, char **argv, struct show_options *o)
{
	static const struct option longs[] = {
		{ "run", required_argument, NULL, 'r' }, { "format", required_argument, NULL, 'f' },
		{ "failures", no_argument, NULL, 'F' }, { "environment", no_argument, NULL, 'E' },
		{ "metrics", no_argument, NULL, 'M' },
		{ "db", required_argument, NULL, 'd' }, { "help", no_argument, NULL, 'h' }, { 0 },
	};
	int c;

	optind = 0;
	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (c == 'h') {
			show_usage(stdout);
			return -1;
		} else if (c == 'r' && show_number(optarg, &o->run)) {
			say_error("show: --run %s: no run has this number; they count from 1", optarg);
			return EXIT_USAGE;
		} else if (c == 'f' && show_format_parse(optarg, &o->format)) {
			say_error("show: --format %s: table, json, csv or markdown", optarg);
			return EXIT_USAGE;
		} else if (c == '?') {
			return show_usage(stderr);
		}
		o->failures |= c == 'F';
		o->environment |= c == 'E';
		o->metrics |= c == 'M';
		if (c == 'd')
			o->db = optarg;
	}
	if (argc - optind > 1 || o->failures + o->environment + o->metrics > 1)
		return show_usage(stderr);
	if (optind < argc)
		o->db = argv[optind];
	return EXIT_OK;
}

static int show_is_query(const struct show_options *o)
{
	return o->failures || o->environment || o->metrics;
}

static int failure_print(void *user, const struct store_row *row)
{
	char text[4096];

	(void)user;
	printf("cell %s: %s", row->text[0], say_text(row->text[1], 60, text, sizeof(text)));
	printf(" (%s), %s on %s, n=%s", row->text[2], row->text[3], row->text[4], row->text[5]);
	if (*row->text[6])
		printf(", %s", say_text(row->text[6], 0, text, sizeof(text)));
	printf("\n  %s: %s\n", result_words(row->text[7]),
	       row->text[8] ? say_text(row->text[8], 0, text, sizeof(text)) : "no reason was stored");
	if (row->integer[9])
		printf("  %s process%s, %s trial%s with a wrong result\n", row->text[9], row->integer[9] == 1 ? "" : "es",
		       row->text[10], row->integer[10] == 1 ? "" : "s");
	return ferror(stdout);
}

static int no_failure_print(void *user, const struct store_row *row)
{
	(void)user;
	printf("run %s, %s: no cell was wrong, refused, crashed, hung or failed", row->text[0], row->text[1]);
	if (row->integer[2])
		printf("; %s skipped", row->text[2]);
	if (row->integer[3])
		printf("; %s not finished", row->text[3]);
	putchar('\n');
	return ferror(stdout);
}

static int take_integer(void *user, const struct store_row *row)
{
	*(int64_t *)user = row->integer[0];
	return 0;
}

/* For people, who would take silence for a fault: 1 said so, 0 there are failures, -1 store_error(),
 * -2 cannot write. */
static int show_no_failure(struct store *s, const char *run)
{
	static const char how_many[] = "SELECT count(*) FROM failures WHERE run = CAST(?1 AS INTEGER)";
	static const char rest[] =
		"SELECT r.id, r.status, count(*) FILTER (WHERE c.status = 'skipped'),"
		" r.cells - count(*) FILTER (WHERE c.status <> 'pending')"
		" FROM run r LEFT JOIN cell c ON c.run_id = r.id WHERE r.id = CAST(?1 AS INTEGER) GROUP BY r.id";
	int64_t n = 0;
	int rc;

	if (store_query(s, how_many, &run, 1, take_integer, &n))
		return -1;
	if (n)
		return 0;
	rc = store_query(s, rest, &run, 1, no_failure_print, NULL);
	return rc > 0 || fflush(stdout) ? -2 : rc < 0 ? -1 : 1;
}

/* For people.  What is unknown or infinite stays so: as text it would be cast to 0. */
#define FOUR_DIGITS(x) "CASE WHEN abs(" x ") < 9e999 THEN CAST(printf('%.4g', " x ") AS REAL) ELSE " x " END AS " x

/* Failures, environment or metrics of a run. */
static int show_query(struct store *s, const struct show_options *o)
{
	static const char failures[] =
		"SELECT number, series, variant, workload, target, n, params, status, reason, processes,"
		" wrong_trials FROM failures WHERE run = CAST(?1 AS INTEGER) ORDER BY number";
	static const char environment[] =
		"SELECT key, value, state, repair FROM environment WHERE run_id = CAST(?1 AS INTEGER)"
		" ORDER BY instr('warn unknown ok info', state), key";
	static const char metrics[] =
		"SELECT series, variant, workload, n, params, metric, unit, " FOUR_DIGITS("mean") ", "
		FOUR_DIGITS("least") ", " FOUR_DIGITS("most") ", samples"
		" FROM measured WHERE run = CAST(?1 AS INTEGER) ORDER BY cell, metric";
	static const char all_digits[] =
		"SELECT * FROM measured WHERE run = CAST(?1 AS INTEGER) ORDER BY cell, metric";
	int people = o->format == SHOW_TABLE || o->format == SHOW_MARKDOWN;
	const char *sql = o->failures ? failures : o->environment ? environment : people ? metrics : all_digits;
	char id[24];
	const char *param = id;
	int failed = 0, rc;

	snprintf(id, sizeof(id), "%lld", (long long)o->run);
	if (o->failures && people && (rc = show_no_failure(s, id)) != 0)
		return rc > 0 ? 0 : rc;
	if (o->failures && o->format == SHOW_TABLE) {
		rc = store_query(s, failures, &param, 1, failure_print, NULL);
		return rc > 0 || fflush(stdout) ? -2 : rc;
	}
	if (rows_query(s, sql, &param, 1, o->format, say_terminal(STDOUT_FILENO), stdout, &failed))
		return failed ? -2 : -1;
	return 0;
}

static int show_store(struct store *s, struct show_options *o)
{
	int64_t latest = 0;
	int rc;

	if (store_query(s, "SELECT max(id) FROM run", NULL, 0, take_integer, &latest))
		rc = -1;
	else if (!latest || o->run > latest)
		rc = 1;
	else {
		o->run = o->run ? o->run : latest;
		rc = show_is_query(o) ? show_query(s, o) : show_run(s, o->run, o->format, stdout);
	}
	if (!rc)
		return EXIT_OK;
	if (rc == 1 && !latest)
		say_error("show: %s: there is no run in it yet", o->db);
	else if (rc == 1)
		say_error("show: %s: no run %lld; the latest is %lld", o->db, (long long)o->run,
			  (long long)latest);
	else if (rc == -1)
		say_error("show: %s", store_error(s));
	else
		say_error("show: cannot write: %s", strerror(errno));
	return EXIT_USAGE;
}

int command_show(int argc, char **argv)
{
	struct show_options o = { .db = "pkrun.db" };
	struct store *s;
	char why[1024];
	int rc = show_parse(argc, argv, &o);

	if (rc)
		return rc < 0 ? EXIT_OK : rc;
	if (store_open(&s, o.db, STORE_READ | (show_is_query(&o) ? 0 : STORE_CACHE), why, sizeof(why))) {
		say_error("show: %s", why);
		return EXIT_USAGE;
	}
	rc = show_store(s, &o);
	store_close(s);
	return rc;
}
