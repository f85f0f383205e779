/* SPDX-License-Identifier: MIT
 *
 * query.c - `pkrun query DB SQL`: one statement that reads.
 *
 * The sqlite3 shell does more; this one is always there, cannot change the
 * file, and takes a misspelt "column" for the error that it is.
 */
#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>
#include "../core/command.h"
#include "../core/say.h"
#include "rows.h"

static int query_usage(FILE *out)
{
	fputs("usage: pkrun query DB SQL [--format table|json|csv|markdown]\n"
	      "\n"
	      "One SQL statement that reads.  Begin with the views summary and failures;\n"
	      "`pkrun query DB .schema` prints all tables and views, with comments.\n", out);
	return out == stdout ? EXIT_OK : EXIT_USAGE;
}

/* Tables as they are in the file, and views that somebody added to it. */
static const char file_sql[] =
	"SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"
	" AND (type <> 'view' OR instr(?1, 'CREATE VIEW ' || name || ' AS') = 0)"
	" ORDER BY type = 'view', type = 'index', rowid";

static int print_text(void *user, const struct store_row *row)
{
	(void)user;
	return printf("%s;\n\n", row->text[0]) < 0;
}

/* pkrun's own views as this pkrun has them. */
static int print_schema(struct store *s)
{
	const char *views = store_views_sql;
	int rc = store_query(s, file_sql, &views, 1, print_text, NULL);

	if (!rc)
		fputs(store_views_sql, stdout);
	return rc;
}

static int query_run(const char *db, const char *sql, enum show_format format)
{
	struct store *s;
	char why[1024];
	int failed = 0, rc;

	if (store_open(&s, db, STORE_READ, why, sizeof(why))) {
		say_error("query: %s", why);
		return EXIT_USAGE;
	}
	if (!strcmp(sql, ".schema"))
		rc = print_schema(s);
	else
		rc = rows_query(s, sql, NULL, 0, format, say_terminal(STDOUT_FILENO), stdout, &failed);
	if (fflush(stdout) || ferror(stdout) || failed) {
		say_error("query: cannot write: %s", strerror(errno));
		rc = 1;
	} else if (rc) {
		say_error("%s", store_error(s));
	}
	store_close(s);
	return rc ? EXIT_USAGE : EXIT_OK;
}

int command_query(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "format", required_argument, NULL, 'f' }, { "help", no_argument, NULL, 'h' }, { 0 },
	};
	enum show_format format = SHOW_TABLE;
	int c;

	optind = 0;
	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1)
		if (c == 'h') {
			return query_usage(stdout);
		} else if (c != 'f') {
			return query_usage(stderr);
		} else if (show_format_parse(optarg, &format)) {
			say_error("query: --format %s: table, json, csv or markdown", optarg);
			return EXIT_USAGE;
		}
	if (argc - optind != 2) {
		say_error("query: a database and one statement in quotes, not %d argument%s", argc - optind,
			  argc - optind == 1 ? "" : "s");
		return query_usage(stderr);
	}
	return query_run(argv[optind], argv[optind + 1], format);
}
