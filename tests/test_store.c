/* SPDX-License-Identifier: MIT
 *
 * test_store.c - the database: records, versions, locks, full disks, readers.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <sqlite3.h>
#include "db/store.h"

static char why[1024];

/* ---- a folder a test ---- */

static int in_folder(void **state)
{
	char name[] = "/tmp/test_store.XXXXXX";

	if (!mkdtemp(name) || chdir(name))
		return -1;
	*state = strdup(name);
	return 0;
}

static int out_of_folder(void **state)
{
	DIR *d = opendir(*state);
	struct dirent *e;

	store_busy_limit_ms = 30000;
	while ((e = readdir(d)))
		unlink(e->d_name);
	closedir(d);
	if (chdir("/") || rmdir(*state))
		return -1;
	free(*state);
	return 0;
}

static void shell(const char *path, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	sqlite3_close(db);
}

/* The first value of a query, as text. */
static const char *ask(const char *path, const char *sql)
{
	static char text[4096];
	sqlite3_stmt *st;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	snprintf(text, sizeof(text), "%s", sqlite3_column_type(st, 0) == SQLITE_NULL ?
			 "NULL" : (const char *)sqlite3_column_text(st, 0));
	sqlite3_finalize(st);
	sqlite3_close(db);
	return text;
}

static char *slurp(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	static char buf[1 << 20];

	assert_non_null(f);
	*size = fread(buf, 1, sizeof(buf), f);
	fclose(f);
	return memcpy(malloc(*size + 1), buf, *size);
}

static struct store *opened(const char *path, unsigned mode)
{
	struct store *s = NULL;

	if (store_open(&s, path, mode, why, sizeof(why)))
		fail_msg("%s", why);
	return s;
}

static void refused(const char *path, unsigned mode, const char *because)
{
	struct store *s = (struct store *)&why;

	why[0] = 0;
	assert_int_equal(store_open(&s, path, mode, why, sizeof(why)), -1);
	assert_ptr_equal(s, &why);
	if (!strstr(why, because) || strncmp(why, path, strlen(path)))
		fail_msg("\"%s\" lacks \"%s\"", why, because);
}

static void good(struct store *s, int rc)
{
	if (rc)
		fail_msg("%s", store_error(s));
}

/* ---- a small run ---- */

static int64_t add_run(struct store *s)
{
	struct store_run run = {
		.pkrun_version = "1", .argv = "pkrun x.ini", .matrix_path = "x.ini",
		.matrix_text = "[a]\n", .baseline = "base", .schedule = "blocks",
		.isolation = "cell", .seed = 18446744073709551615u, .cells = 2,
	};
	int64_t id = 0;

	good(s, store_run_add(s, &run, &id));
	return id;
}

static int64_t add_cell(struct store *s, int64_t run, int64_t number, const char *series,
			const char *status)
{
	struct store_cell c = {
		.run = run, .number = number, .plugin = STORE_NULL, .device = STORE_NULL,
		.series = series, .variant = "v", .workload = "null", .target = "host", .key = "k",
		.params = "", .status = status, .n = 11, .iterations = 10,
	};
	int64_t id = 0;

	good(s, store_cell(s, &c, &id));
	return id;
}

static int64_t add_block(struct store *s, int64_t cell, int64_t number)
{
	int64_t id = 0;

	good(s, store_block(s, cell, number, number, 1, 1, &id));
	good(s, store_block_end(s, id, "ok", NULL));
	return id;
}

static int add_trial(struct store *s, int64_t cell, int64_t block, int64_t ns, int verified,
		     const char *flags)
{
	struct store_trial t = {
		.block = block, .cell = cell, .kind = "timed", .hash = "h", .flags = flags,
		.iterations = 10, .wall_ns = ns, .device_ns = STORE_NULL, .kernel_ns = 7,
		.host_cpu_ns = STORE_NULL, .energy_uj = STORE_NULL, .verified = verified,
	};

	return store_trial(s, &t, NULL);
}

/* ---- records ---- */

static void test_records(void **state)
{
	struct store *s = opened("a.db", STORE_WRITE);
	struct store_plugin p = { "p.so", "0", "v", "b", "host", "host queue", "exact", 1, 2 };
	struct pkrun_device_info d = { .name = "D", .memory_bytes = 5 };
	int64_t run = add_run(s), a, b, c;

	good(s, store_environment(s, run, "k", "1", "ok", NULL));
	good(s, store_environment(s, run, "k", NULL, "warn", "repair"));
	good(s, store_plugin(s, &p, &a));
	good(s, store_plugin(s, &p, &b));
	assert_int_equal(a, b);
	p.sha256 = "1";
	good(s, store_plugin(s, &p, &c));
	assert_int_not_equal(a, c);
	good(s, store_device(s, "host", &d, &a));
	good(s, store_device(s, "host", &d, &b));
	assert_int_equal(a, b);
	a = add_cell(s, run, 0, "x", "pending");
	good(s, store_cell_grid(s, a, 9, 64, 100, 81, 0, 12.5));
	good(s, store_cell_iterations(s, a, 1000));
	good(s, store_cell_status(s, a, "hang", "block 3, step 4"));
	good(s, store_metric(s, a, STORE_NULL, STORE_NULL, "m", 18446744073709551615.0, "1"));
	good(s, store_event(s, run, STORE_NULL, "note", "text"));
	good(s, store_run_end(s, run, "complete"));
	store_close(s);
	assert_string_equal(ask("a.db", "SELECT seed FROM run"), "18446744073709551615");
	assert_string_equal(ask("a.db", "SELECT value || state || repair FROM environment"), "NULL");
	assert_string_equal(ask("a.db", "SELECT state || repair FROM environment"), "warnrepair");
	assert_string_equal(ask("a.db", "SELECT status || reason || blocks || iterations FROM cell"),
			    "hangblock 3, step 491000");
	assert_string_equal(ask("a.db", "SELECT flops FROM cell"), "NULL");
	assert_string_equal(ask("a.db", "SELECT value = 18446744073709551616.0 FROM metric"), "1");
	assert_string_equal(ask("a.db", "SELECT length(finished_utc) FROM run"), "24");
	assert_string_equal(ask("a.db", "PRAGMA journal_mode"), "delete");
}

static void test_no_such_record(void **state)
{
	struct store *s = opened("a.db", STORE_WRITE);
	int64_t run = add_run(s), id = -7;
	struct store_cell c = { .run = 99, .plugin = STORE_NULL, .device = STORE_NULL, .series = "",
		.variant = "", .workload = "", .target = "", .key = "", .params = "", .status = "ok" };

	assert_int_equal(store_cell_status(s, 42, "ok", NULL), -1);
	assert_string_equal(store_error(s), "a.db: set the cell's status: no such record");
	assert_int_equal(store_cell(s, &c, &id), -1);
	assert_non_null(strstr(store_error(s), "FOREIGN KEY"));
	assert_int_equal(id, -7);
	c.run = run;
	c.status = "good";
	assert_int_equal(store_cell(s, &c, &id), -1);
	assert_non_null(strstr(store_error(s), "CHECK"));
	c.status = "ok";
	good(s, store_cell(s, &c, &id));
	store_close(s);
}

static void test_reference(void **state)
{
	struct store *s = opened("a.db", STORE_WRITE);
	uint64_t hash = 0;
	int64_t at = 0;

	assert_int_equal(store_reference_get(s, "w", "i", 5, &hash, &at), 0);
	good(s, store_reference_put(s, "w", "i", 5, 0xfedcba9876543210u, STORE_NULL));
	good(s, store_reference_put(s, "w", "i", 6, 1, 4));
	assert_int_equal(store_reference_get(s, "w", "i", 5, &hash, &at), 1);
	assert_true(hash == 0xfedcba9876543210u && at == STORE_NULL);
	good(s, store_reference_put(s, "w", "i", 5, 2, 3));
	assert_int_equal(store_reference_get(s, "w", "i", 5, &hash, &at), 1);
	assert_true(hash == 2 && at == 3);
	store_close(s);
	shell("a.db", "UPDATE reference SET hash = 'zz' WHERE iterations = 6");
	s = opened("a.db", STORE_READ);
	assert_int_equal(store_reference_get(s, "w", "i", 6, &hash, &at), -1);
	store_close(s);
}

static void test_rollback(void **state)
{
	struct store *s = opened("a.db", STORE_WRITE);

	good(s, store_begin(s));
	assert_int_equal(store_begin(s), -1);
	add_run(s);
	good(s, store_rollback(s));
	good(s, store_begin(s));
	add_run(s);
	add_run(s);
	good(s, store_commit(s));
	store_close(s);
	assert_string_equal(ask("a.db", "SELECT count(*) FROM run"), "2");
}

/* ---- the summary ---- */

static void test_summary(void **state)
{
	struct store *s = opened("a.db", STORE_WRITE);
	int64_t run = add_run(s), base = add_cell(s, run, 0, "base", "ok");
	int64_t slower = add_cell(s, run, 1, "base", "ok"), x = add_cell(s, run, 2, "x", "ok");
	int64_t b;

	/* block medians 30, 20, 100 ns: 30; pooled it would be 20 */
	b = add_block(s, base, 0);
	good(s, add_trial(s, base, b, 300, 1, NULL));
	b = add_block(s, base, 1);
	for (int i = 0; i < 4; i++)
		good(s, add_trial(s, base, b, i < 2 ? 190 : 210, 1, ""));
	b = add_block(s, base, 2);
	good(s, add_trial(s, base, b, 1000, 1, "outlier"));
	good(s, add_trial(s, base, b, 0, 1, ""));
	good(s, add_trial(s, base, b, 2, 1, "x,bad_clock"));
	good(s, add_trial(s, base, b, 3, 0, ""));
	good(s, store_block(s, base, 3, 9, 1, 1, &b));	/* cut short: not counted */
	good(s, add_trial(s, base, b, 10, 1, ""));
	b = add_block(s, slower, 0);
	good(s, add_trial(s, slower, b, 900, 1, ""));
	b = add_block(s, x, 0);
	good(s, add_trial(s, x, b, 200, 1, ""));
	store_close(s);
	assert_string_equal(ask("a.db", "SELECT median_ns || ' ' || min_ns || ' ' || max_ns || ' ' ||"
				" trials || ' ' || verified FROM summary WHERE n = 11 AND speedup = 1"),
			    "30.0 19.0 100.0 6 0");
	assert_string_equal(ask("a.db", "SELECT speedup FROM summary WHERE series = 'x'"), "1.5");
	assert_string_equal(ask("a.db", "SELECT group_concat(name, ' ') FROM pragma_table_info('summary')"),
			    "run series variant workload target device n iterations params status trials "
			    "median_ns min_ns max_ns speedup verified work");
}

static void test_summary_without_times(void **state)
{
	static const char *const bad[] = { "wrong", "crash", "hang", "error", "skipped", "refused" };
	struct store *s = opened("a.db", STORE_WRITE);
	int64_t run = add_run(s), c, b;

	for (int i = 0; i < 6; i++) {
		c = add_cell(s, run, i, "base", bad[i]);
		b = add_block(s, c, 0);
		good(s, add_trial(s, c, b, 100, i > 0, ""));
	}
	c = add_cell(s, run, 6, "x", "ok");
	good(s, add_trial(s, c, add_block(s, c, 0), 100, 1, ""));
	store_close(s);
	assert_string_equal(ask("a.db", "SELECT count(*) FROM summary WHERE median_ns IS NOT NULL"), "1");
	assert_string_equal(ask("a.db", "SELECT count(speedup) FROM summary"), "0");
	assert_string_equal(ask("a.db", "SELECT count(*) FROM failures"), "5");
	assert_string_equal(ask("a.db", "SELECT wrong_trials FROM failures WHERE status = 'wrong'"), "1");
}

/* ---- whose file is it (b06) ---- */

static void unchanged(const char *path, unsigned mode, const char *because)
{
	size_t before, after;
	char *a = slurp(path, &before), *b;

	refused(path, mode, because);
	b = slurp(path, &after);
	assert_int_equal(before, after);
	assert_memory_equal(a, b, before);
	free(a);
	free(b);
	assert_int_not_equal(access("a.db-wal", F_OK), 0);
	assert_int_not_equal(access("a.db-journal", F_OK), 0);
}

static void test_newer(void **state)
{
	store_close(opened("a.db", STORE_WRITE));
	shell("a.db", "PRAGMA user_version = 999");
	unchanged("a.db", STORE_WRITE, "version 999, but this pkrun knows only up to 1");
	unchanged("a.db", STORE_READ, "version 999, but this pkrun knows only up to 1");
}

static void test_foreign(void **state)
{
	shell("a.db", "CREATE TABLE results (id INTEGER PRIMARY KEY, n INT)");
	unchanged("a.db", STORE_WRITE, "not one of pkrun's");
	unchanged("a.db", STORE_READ, "not one of pkrun's");
	shell("b.db", "PRAGMA user_version = 999");
	unchanged("b.db", STORE_WRITE, "user_version 999, this pkrun writes 1");
}

static void test_no_database(void **state)
{
	FILE *f = fopen("R.db", "w");

	fputs("These are my results, and they are worth keeping, though no database.\n", f);
	for (int i = 0; i < 2000; i++)
		fputs("x\n", f);
	fclose(f);
	unchanged("R.db", STORE_WRITE, "not a database");
	unchanged("R.db", STORE_READ, "not a database");
	refused("/tmp", STORE_WRITE, "Is a directory");
	refused("/dev/null", STORE_WRITE, "not a regular file");
	refused("none.db", STORE_READ, "No such file");
	refused("none/none.db", STORE_WRITE, "No such file");
	refused("", STORE_WRITE, "needs a path");
	assert_int_not_equal(access("none.db", F_OK), 0);
}

/* By a process that is not root, for root may write everywhere. */
static void test_folder_that_is_shut(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(mkdir("shut", 0555), 0);
	assert_int_equal(chmod(".", 0755), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct store *s;
		char why[500] = "";

		if (geteuid() == 0 && setuid(65534))
			_exit(3);
		if (!store_open(&s, "shut/new.db", STORE_WRITE, why, sizeof(why)))
			_exit(2);
		_exit(strcmp(why, "shut/new.db: cannot be made in shut: Permission denied") != 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(rmdir("shut"), 0);
}

static void test_empty(void **state)
{
	fclose(fopen("a.db", "w"));
	unchanged("a.db", STORE_READ, "empty file");
	store_close(opened("a.db", STORE_WRITE));
	store_close(opened("a.db", STORE_READ));
}

/* A file whose views are of another pkrun: a reader brings its own, a writer puts them in. */
static void test_views_renewed(void **state)
{
	struct store *s = opened("a.db", STORE_WRITE);
	size_t size, after;
	char *before, *b;

	add_run(s);
	add_cell(s, 1, 0, "x", "ok");
	store_close(s);
	shell("a.db", "DROP VIEW summary; CREATE VIEW summary AS SELECT 1 AS one; DROP VIEW failures");
	before = slurp("a.db", &size);
	s = opened("a.db", STORE_READ);
	good(s, store_query(s, "SELECT series FROM summary", NULL, 0, NULL, NULL));
	good(s, store_query(s, "SELECT reason FROM failures", NULL, 0, NULL, NULL));
	store_close(s);
	b = slurp("a.db", &after);
	assert_memory_equal(before, b, size);
	free(before);
	free(b);
	store_close(opened("a.db", STORE_WRITE));
	assert_string_equal(ask("a.db", "SELECT series FROM summary"), "x");
}

static int is_text(void *user, const struct store_row *row)
{
	return strcmp(row->text[0], user) != 0;
}

/* A view that the file has word for word is over the reader's views too, not over those of the file. */
static void test_views_of_views(void **state)
{
	struct store *s = opened("a.db", STORE_WRITE);

	add_run(s);
	add_cell(s, 1, 0, "x", "ok");
	store_close(s);
	shell("a.db", "DROP VIEW result; CREATE VIEW result AS SELECT id AS run, 'old' AS series, 1 AS variant,"
	      " 1 AS workload, 1 AS target, 1 AS device, 1 AS n, 1 AS iterations, 1 AS params, 1 AS status,"
	      " 1 AS trials, 1 AS median_ns, 1 AS min_ns, 1 AS max_ns, 1 AS speedup, 1 AS verified, '' AS work FROM run");
	assert_string_equal(ask("a.db", "SELECT series FROM summary"), "old");
	s = opened("a.db", STORE_READ);
	good(s, store_query(s, "SELECT series FROM summary", NULL, 0, is_text, "x"));
	store_close(s);
}

/* ---- readers ---- */

static int count_rows(void *user, const struct store_row *row)
{
	++*(int *)user;
	return 0;
}

static int stop_at_two(void *user, const struct store_row *row)
{
	return ++*(int *)user == 2 ? 17 : 0;
}

static int check_types(void *user, const struct store_row *row)
{
	assert_int_equal(row->columns, 5);
	assert_string_equal(row->names[1], "two words");
	assert_int_equal(row->types[0], SQLITE_INTEGER);
	assert_true(row->integer[0] == INT64_MAX);
	assert_int_equal(row->types[1], SQLITE_FLOAT);
	assert_true(row->real[1] == 0.5);
	assert_int_equal(row->types[2], SQLITE_NULL);
	assert_null(row->text[2]);
	assert_string_equal(row->text[3], "it's");
	assert_int_equal(row->types[4], SQLITE_BLOB);
	return count_rows(user, row);
}

static void test_query(void **state)
{
	const char *params[] = { "it's" };
	struct store *s;
	int n = 0;

	store_close(opened("a.db", STORE_WRITE));
	s = opened("a.db", STORE_READ);
	good(s, store_query(s, "SELECT 9223372036854775807, 0.5 AS \"two words\", NULL, ?1, x'00ff'",
			    params, 1, check_types, &n));
	assert_int_equal(n, 1);
	assert_int_equal(store_query(s, "VALUES (1), (2), (3)", NULL, 0, stop_at_two, &n), 17);
	good(s, store_query(s, " -- first\n SELECT 1; -- last\n /* end */ ; ", NULL, 0, count_rows, &n));
	assert_int_equal(n, 3);
	store_close(s);
}

static void not_allowed(struct store *s, const char *sql, const char *because)
{
	assert_int_equal(store_query(s, sql, NULL, 0, NULL, NULL), -1);
	if (!strstr(store_error(s), because))
		fail_msg("%s: \"%s\" lacks \"%s\"", sql, store_error(s), because);
}

static void test_query_refused(void **state)
{
	struct store *s = opened("a.db", STORE_WRITE);

	add_run(s);
	store_close(s);
	s = opened("a.db", STORE_READ);
	not_allowed(s, "SELECT \"nosuch\" FROM run", "no such column: ");
	not_allowed(s, "DROP TABLE run", "only a statement that reads");
	not_allowed(s, "DELETE FROM run", "only a statement that reads");
	not_allowed(s, "SELECT 1; DELETE FROM run", "one statement only");
	not_allowed(s, "SELECT 1; SELECT 2", "one statement only");
	not_allowed(s, "SELECT 1; nonsense", "one statement only");
	not_allowed(s, "", "no statement");
	not_allowed(s, " -- nothing\n;", "no statement");
	not_allowed(s, "ATTACH 'b.db' AS b", "only a statement that reads");
	not_allowed(s, "VACUUM INTO 'b.db'", "");
	not_allowed(s, "PRAGMA user_version = 5", "only a statement that reads");
	not_allowed(s, "PRAGMA query_only = 0", "only a statement that reads");
	not_allowed(s, "CREATE TEMP TABLE t (x)", "only a statement that reads");
	not_allowed(s, "BEGIN", "only a statement that reads");
	not_allowed(s, "SELECT load_extension('x.so')", "only a statement that reads");
	not_allowed(s, "SELECT * FROM nosuch", "no such table: nosuch");
	good(s, store_query(s, "PRAGMA user_version", NULL, 0, NULL, NULL));
	good(s, store_query(s, "EXPLAIN QUERY PLAN SELECT * FROM summary", NULL, 0, NULL, NULL));
	good(s, store_query(s, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 9)"
			    " SELECT sum(x) FROM c", NULL, 0, NULL, NULL));
	store_close(s);
	assert_int_not_equal(access("b.db", F_OK), 0);
	assert_string_equal(ask("a.db", "SELECT count(*) FROM run"), "1");
}

/* ---- others at the same file ---- */

static void test_reader_while_writing(void **state)
{
	struct store *w = opened("a.db", STORE_WRITE), *r;
	sqlite3 *other;
	int n = 0;

	add_run(w);
	r = opened("a.db", STORE_READ);
	assert_int_equal(sqlite3_open("a.db", &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN; SELECT * FROM run", NULL, NULL, NULL), SQLITE_OK);
	add_run(w);
	good(r, store_query(r, "SELECT id FROM run", NULL, 0, count_rows, &n));
	assert_int_equal(n, 2);
	store_close(w);
	sqlite3_close(other);
	store_close(r);
}

static void test_busy_gives_up(void **state)
{
	struct store *a = opened("a.db", STORE_WRITE), *b = opened("a.db", STORE_WRITE);
	struct store_run run = { .pkrun_version = "", .argv = "", .matrix_path = "", .matrix_text = "",
				 .schedule = "", .isolation = "" };

	good(a, store_begin(a));
	store_busy_limit_ms = 100;
	assert_int_equal(store_run_add(b, &run, NULL), -1);
	assert_non_null(strstr(store_error(b), "locked by another process"));
	good(a, store_commit(a));
	good(b, store_run_add(b, &run, NULL));
	store_close(a);
	store_close(b);
	assert_string_equal(ask("a.db", "PRAGMA journal_mode"), "delete");
}

/* Four processes make the file and write to it at once: nobody loses a row. */
static void test_four_writers(void **state)
{
	int status;

	for (int i = 0; i < 4; i++)
		if (!fork()) {
			struct store *s = NULL;

			if (store_open(&s, "a.db", STORE_WRITE, why, sizeof(why)))
				_exit(1);
			for (int k = 0; k < 50; k++)
				add_run(s);
			store_close(s);
			_exit(0);
		}
	for (int i = 0; i < 4; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_string_equal(ask("a.db", "SELECT count(*) FROM run"), "200");
	assert_string_equal(ask("a.db", "PRAGMA integrity_check"), "ok");
	assert_string_equal(ask("a.db", "PRAGMA journal_mode"), "delete");
}

/* Writers that leave at the same moment: the last of them turns WAL off. */
static void test_leaving_at_once(void **state)
{
	struct store *s;
	int status, ready[2], go[2];
	char c[4];

	for (int round = 0; round < 20; round++) {
		assert_int_equal(pipe(ready) | pipe(go), 0);
		for (int i = 0; i < 4; i++)
			if (!fork()) {
				close(go[1]);
				if (store_open(&s, "a.db", STORE_WRITE, why, sizeof(why)))
					_exit(1);
				(void)!write(ready[1], c, 1);
				(void)!read(go[0], c, 1);	/* until the parent closes its end */
				store_close(s);
				_exit(0);
			}
		close(ready[1]);
		close(go[0]);
		for (int n = 0; n < 4; n++)
			assert_int_equal(read(ready[0], c, 1), 1);
		close(go[1]);
		close(ready[0]);
		for (int i = 0; i < 4; i++) {
			assert_true(wait(&status) > 0);
			assert_int_equal(status, 0);
		}
		assert_string_equal(ask("a.db", "PRAGMA journal_mode"), "delete");
	}
}

/* Killed in the middle of a transaction: what was committed is there, also for a reader. */
static void test_killed(void **state)
{
	struct store *s;
	int status, n = 0;

	if (!fork()) {
		s = opened("a.db", STORE_WRITE);
		add_run(s);
		store_begin(s);
		add_run(s);
		raise(SIGKILL);
	}
	wait(&status);
	s = opened("a.db", STORE_READ);
	good(s, store_query(s, "SELECT id FROM run", NULL, 0, count_rows, &n));
	assert_int_equal(n, 1);
	store_close(s);
	store_close(opened("a.db", STORE_WRITE));
	assert_string_equal(ask("a.db", "PRAGMA integrity_check"), "ok");
}

/* The same with a rollback journal left behind. */
static void test_killed_hot_journal(void **state)
{
	struct store *s;
	int status, n = 0;

	s = opened("a.db", STORE_WRITE);
	add_run(s);
	store_close(s);
	if (!fork()) {
		sqlite3 *db;

		sqlite3_open("a.db", &db);
		sqlite3_exec(db, "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN;"
			     "CREATE TABLE junk AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT"
			     " x + 1 FROM c WHERE x < 20000) SELECT x, randomblob(100) FROM c;"
			     "DELETE FROM run", NULL, NULL, NULL);
		raise(SIGKILL);
	}
	wait(&status);
	assert_int_equal(access("a.db-journal", F_OK), 0);
	s = opened("a.db", STORE_READ);
	good(s, store_query(s, "SELECT id FROM run", NULL, 0, count_rows, &n));
	assert_int_equal(n, 1);
	store_close(s);
}

/* Over `ulimit -f`: the cause with path and errno, and what was committed stays (b07). */
static void test_file_limit(void **state)
{
	int status;

	if (!fork()) {
		struct rlimit limit = { 262144, 262144 };
		struct store *s = NULL;
		int64_t run, c, b, n = 0;

		setrlimit(RLIMIT_FSIZE, &limit);
		if (store_open(&s, "a.db", STORE_WRITE, why, sizeof(why)))
			_exit(1);
		run = add_run(s);
		c = add_cell(s, run, 0, "x", "ok");
		b = add_block(s, c, 0);
		while (!add_trial(s, c, b, 100, 1, ""))
			n++;
		if (!strstr(store_error(s), "a.db: ") || !strstr(store_error(s), "errno"))
			_exit(2);
		_exit(n > 10 && n < 100000 ? 0 : 3);
	}
	assert_true(wait(&status) > 0);
	assert_int_equal(status, 0);
	assert_string_equal(ask("a.db", "PRAGMA integrity_check"), "ok");
	assert_string_equal(ask("a.db", "SELECT count(*) > 10 FROM trial"), "1");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, in_folder, out_of_folder)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_records), TEST(test_no_such_record), TEST(test_reference), TEST(test_rollback),
		TEST(test_summary), TEST(test_summary_without_times), TEST(test_newer),
		TEST(test_foreign), TEST(test_no_database), TEST(test_folder_that_is_shut),
		TEST(test_empty), TEST(test_views_renewed), TEST(test_views_of_views),
		TEST(test_query), TEST(test_query_refused), TEST(test_reader_while_writing),
		TEST(test_busy_gives_up), TEST(test_four_writers), TEST(test_leaving_at_once), TEST(test_killed),
		TEST(test_killed_hot_journal), TEST(test_file_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
