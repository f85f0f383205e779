/* SPDX-License-Identifier: MIT
 *
 * store.c - the database: open, check, migrate, and one function a record.
 *
 * Never open() the database file here or elsewhere in this process: closing
 * any descriptor of it would drop the locks that SQLite holds (POSIX).  What
 * has to be known of the file beforehand comes from stat() and statfs().
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>
#include <sqlite3.h>
#include "store.h"
#include "store_db.h"

extern const char store_schema_sql[], store_views_sql[];

#define APPLICATION_ID 0x504b524e	/* "PKRN" */
#define UTC_NOW "strftime('%Y-%m-%dT%H:%M:%fZ','now')"

int store_busy_limit_ms = 30000;

/* Migrations: entry i takes a file from version i to i + 1.  Append only. */
static const char *const migrations[] = { store_schema_sql };
#define STORE_VERSION ((int)(sizeof(migrations) / sizeof(migrations[0])))

/* Every statement that writes, prepared once a connection. */
enum statement {
	BEGIN, COMMIT, ROLLBACK,
	RUN_ADD, RUN_END, RUN_REOPEN, ENVIRONMENT, DEVICE, PLUGIN, CELL, PARAM, CELL_STATUS, CELL_GRID, CELL_ITERATIONS,
	BLOCK, BLOCK_END, BLOCK_STATE, TRIAL, TRIAL_FLAG, METRIC, EVENT, FLOOR, REFERENCE_GET, REFERENCE_PUT,
	STATEMENTS
};

static const char *const statement_sql[STATEMENTS] = {
	[BEGIN] = "BEGIN IMMEDIATE",
	[COMMIT] = "COMMIT",
	[ROLLBACK] = "ROLLBACK",
	[RUN_ADD] = "INSERT INTO run (started_utc, pkrun_version, git_state, argv, matrix_path,"
		" matrix_text, baseline, seed, schedule, isolation, quick, instrumented, cells)"
		" VALUES (" UTC_NOW ",?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12) RETURNING id",
	[RUN_END] = "UPDATE run SET finished_utc = " UTC_NOW ", status = ?2 WHERE id = ?1"
		" RETURNING id",
	[RUN_REOPEN] = "UPDATE run SET finished_utc = NULL, status = 'running' WHERE id = ?1"
		" RETURNING id",
	[ENVIRONMENT] = "INSERT INTO environment (run_id, key, value, state, repair)"
		" VALUES (?1,?2,?3,?4,?5) ON CONFLICT (run_id, key) DO UPDATE"
		" SET value = excluded.value, state = excluded.state, repair = excluded.repair"
		" RETURNING run_id",
	[DEVICE] = "INSERT INTO device (target, name, arch, uuid, pci, driver, runtime,"
		" compute_units, memory_bytes, l2_bytes, shared_bytes, clock_khz)"
		" VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)"
		" ON CONFLICT (target, name, arch, uuid, pci, driver, runtime) DO UPDATE"
		" SET compute_units = excluded.compute_units RETURNING id",
	[PLUGIN] = "INSERT INTO plugin (path, sha256, name, brief, target, abi_major, abi_minor,"
		" control, result) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9)"
		" ON CONFLICT (path, sha256) DO UPDATE SET name = excluded.name RETURNING id",
	[CELL] = "INSERT INTO cell (run_id, number, series, variant, workload, target, plugin_id,"
		" device_id, n, iterations, key, params, status, reason)"
		" VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14) RETURNING id",
	[PARAM] = "INSERT INTO param (cell_id, owner, name, value, is_default)"
		" VALUES (?1,?2,?3,?4,?5) RETURNING cell_id",
	[CELL_STATUS] = "UPDATE cell SET status = ?2, reason = ?3 WHERE id = ?1 RETURNING id",
	[CELL_GRID] = "UPDATE cell SET blocks = ?2, threads = ?3, resident_max = ?4,"
		" iterations = ?5, updates = nullif(?6, 0), flops = nullif(?7, 0),"
		" bytes = nullif(?8, 0) WHERE id = ?1 RETURNING id",
	[CELL_ITERATIONS] = "UPDATE cell SET iterations = ?2 WHERE id = ?1 RETURNING id",
	[BLOCK] = "INSERT INTO block (cell_id, number, position, started_utc, pid, attempt)"
		" VALUES (?1,?2,?3," UTC_NOW ",?4,?5) RETURNING id",
	[BLOCK_END] = "UPDATE block SET status = ?2, reason = ?3 WHERE id = ?1 RETURNING id",
	[BLOCK_STATE] = "UPDATE block SET clock_mhz = ?2, memory_clock_mhz = ?3,"
		" temperature_c = ?4, power_w = ?5, throttle = ?6 WHERE id = ?1 RETURNING id",
	[TRIAL] = "INSERT INTO trial (block_id, cell_id, kind, position, iterations, wall_ns,"
		" device_ns, kernel_ns, host_cpu_ns, energy_uj, verified, hash, flags)"
		" VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,coalesce(?13,'')) RETURNING id",
	[TRIAL_FLAG] = "UPDATE trial SET flags = flags || iif(flags = '', '', ',') || ?2"
		" WHERE id = ?1 RETURNING id",
	[METRIC] = "INSERT INTO metric (cell_id, block_id, trial_id, name, value, unit)"
		" VALUES (?1,?2,?3,?4,?5,?6) RETURNING id",
	[EVENT] = "INSERT INTO event (run_id, cell_id, at_utc, kind, text)"
		" VALUES (?1,?2," UTC_NOW ",?3,?4) RETURNING id",
	[FLOOR] = "INSERT INTO floor (at_utc, device_id, host, variant, workload, n, pairs,"
		" false_alarms, floor) VALUES (" UTC_NOW ",?1,?2,?3,?4,?5,?6,?7,?8) RETURNING id",
	[REFERENCE_GET] = "SELECT hash, stationary_at FROM reference"
		" WHERE workload = ?1 AND input = ?2 AND iterations = ?3",
	[REFERENCE_PUT] = "INSERT OR REPLACE INTO reference (workload, input, iterations, hash,"
		" stationary_at) VALUES (?1,?2,?3,?4,?5) RETURNING 1",
};

struct store {
	sqlite3 *db;
	char *path;
	unsigned mode;
	int in_transaction;
	int no_locks;			/* the file system refused a lock with ENOLCK */
	int denied, asked;		/* what the authorizer saw: a forbidden action, a pragma that asks */
	int code;			/* SQLite's, of the last failure */
	struct timespec busy_since;
	sqlite3_stmt *statements[STATEMENTS];
	char error[1024];
};

/* ---- errors ---- */

static int store_fail(struct store *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int store_fail(struct store *s, const char *fmt, ...)
{
	size_t used = (size_t)snprintf(s->error, sizeof(s->error), "%s: ", s->path);
	va_list ap;

	if (used >= sizeof(s->error))
		used = sizeof(s->error) - 1;
	va_start(ap, fmt);
	vsnprintf(s->error + used, sizeof(s->error) - used, fmt, ap);
	va_end(ap);
	return -1;
}

/* The cause of a failed SQLite call, with errno where SQLite kept one. */
static int store_fail_sql(struct store *s, const char *doing)
{
	int seen = errno, rc = sqlite3_extended_errcode(s->db), os = sqlite3_system_errno(s->db);
	char text[512];

	/* SQLite loses errno on some paths, among them a commit to a full WAL */
	if (!os && ((rc & 0xff) == SQLITE_IOERR || (rc & 0xff) == SQLITE_FULL))
		os = seen;

	s->code = rc;
	snprintf(text, sizeof(text), "%s", sqlite3_errmsg(s->db));
	if (s->no_locks)
		return store_fail(s, "%s: the file system refuses file locks (%s); "
				  "move the database to a local disk", doing, strerror(ENOLCK));
	if ((rc & 0xff) == SQLITE_BUSY)
		return store_fail(s, "%s: locked by another process for %d s", doing,
				  store_busy_limit_ms / 1000);
	if ((rc & 0xff) == SQLITE_FULL && !os)
		os = ENOSPC;
	if (os)
		return store_fail(s, "%s: %s: %s (errno %d)", doing, text, strerror(os), os);
	return store_fail(s, "%s: %s", doing, text);
}

sqlite3 *store_db(struct store *s)
{
	return s->db;
}

const char *store_error(const struct store *s)
{
	return s->error;
}

/* ---- waiting for locks ---- */

static long store_ms_since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - then->tv_sec) * 1000 + (now.tv_nsec - then->tv_nsec) / 1000000;
}

/* SQLite maps ENOLCK to "busy", as if waiting could help.  errno still has it here. */
static int store_busy(void *user, int calls)
{
	struct store *s = user;
	static const long us[] = { 200, 500, 1000, 2000, 5000, 10000, 20000 };
	size_t last = sizeof(us) / sizeof(us[0]) - 1, i = calls < 0 ? 0 : (size_t)calls;

	if (errno == ENOLCK) {
		s->no_locks = 1;
		return 0;
	}
	if (calls == 0)
		clock_gettime(CLOCK_MONOTONIC, &s->busy_since);
	else if (store_ms_since(&s->busy_since) > store_busy_limit_ms)
		return 0;
	usleep((useconds_t)us[i < last ? i : last]);
	errno = 0;
	return 1;
}

/* ---- one statement ---- */

struct value {
	char kind;			/* i: int64, r: double, t: text, u: uint64 as decimal text */
	int64_t i;
	uint64_t u;
	double r;
	const char *t;
};
#define I(v) { .kind = 'i', .i = (v) }
#define R(v) { .kind = 'r', .r = (v) }
#define T(v) { .kind = 't', .t = (v) }
#define U(v) { .kind = 'u', .u = (v) }
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int store_bind_one(sqlite3_stmt *st, int at, const struct value *v)
{
	char digits[24];

	if (v->kind == 'i' && v->i != STORE_NULL)
		return sqlite3_bind_int64(st, at, v->i);
	if (v->kind == 'r' && !isnan(v->r))
		return sqlite3_bind_double(st, at, v->r);
	if (v->kind == 't' && v->t)
		return sqlite3_bind_text(st, at, v->t, -1, SQLITE_STATIC);
	if (v->kind == 'u') {
		snprintf(digits, sizeof(digits), "%llu", (unsigned long long)v->u);
		return sqlite3_bind_text(st, at, digits, -1, SQLITE_TRANSIENT);
	}
	return sqlite3_bind_null(st, at);
}

static int store_prepare(struct store *s, enum statement which, const struct value *v, size_t n)
{
	sqlite3_stmt **st = &s->statements[which];

	if (!*st && sqlite3_prepare_v3(s->db, statement_sql[which], -1, SQLITE_PREPARE_PERSISTENT,
				       st, NULL) != SQLITE_OK)
		return store_fail_sql(s, "prepare");
	for (size_t i = 0; i < n; i++)
		if (store_bind_one(*st, (int)i + 1, &v[i]) != SQLITE_OK)
			return store_fail_sql(s, "bind");
	return 0;
}

static int store_simple(struct store *s, enum statement which, const char *doing)
{
	int rc;

	if (store_prepare(s, which, NULL, 0))
		return -1;
	errno = 0;
	rc = sqlite3_step(s->statements[which]);
	if (rc != SQLITE_DONE)
		store_fail_sql(s, doing);
	sqlite3_reset(s->statements[which]);
	return rc == SQLITE_DONE ? 0 : -1;
}

int store_begin(struct store *s)
{
	if (s->in_transaction)
		return store_fail(s, "begin: a transaction is open already");
	if (store_simple(s, BEGIN, "begin"))
		return -1;
	s->in_transaction = 1;
	return 0;
}

int store_rollback(struct store *s)
{
	s->in_transaction = 0;
	if (sqlite3_get_autocommit(s->db))
		return 0;		/* SQLite has rolled back by itself */
	return store_simple(s, ROLLBACK, "roll back");
}

/* Roll back after a failure, and keep its cause. */
static int store_undo(struct store *s)
{
	char cause[sizeof(s->error)];

	memcpy(cause, s->error, sizeof(cause));
	store_rollback(s);
	memcpy(s->error, cause, sizeof(cause));
	return -1;
}

int store_commit(struct store *s)
{
	if (store_simple(s, COMMIT, "commit"))
		return store_undo(s);
	s->in_transaction = 0;
	return 0;
}

/* Step a writing statement that ends in RETURNING; no row means that it met no record. */
static int store_step(struct store *s, enum statement which, const char *doing, int64_t *id)
{
	sqlite3_stmt *st = s->statements[which];
	int64_t first = 0;
	int rc, rows = 0;

	errno = 0;
	while ((rc = sqlite3_step(st)) == SQLITE_ROW)
		if (!rows++)
			first = sqlite3_column_int64(st, 0);
	if (rc != SQLITE_DONE)
		store_fail_sql(s, doing);
	else if (!rows)
		rc = store_fail(s, "%s: no such record", doing);
	sqlite3_reset(st);
	sqlite3_clear_bindings(st);
	if (rc != SQLITE_DONE)
		return -1;
	if (id)
		*id = first;
	return 0;
}

/* Bind and run one writing statement in a transaction of its own, unless one is open. */
static int store_write(struct store *s, enum statement which, const char *doing,
		       const struct value *v, size_t n, int64_t *id)
{
	int alone = !s->in_transaction;
	int64_t got;

	if (alone && store_begin(s))
		return -1;
	if (store_prepare(s, which, v, n) || store_step(s, which, doing, &got))
		return alone ? store_undo(s) : -1;
	if (alone && store_commit(s))
		return -1;
	if (id)
		*id = got;
	return 0;
}

/* ---- the file ---- */

static int store_exec(struct store *s, const char *sql, const char *doing)
{
	errno = 0;
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : store_fail_sql(s, doing);
}

static int store_number(struct store *s, const char *sql, const char *doing, int64_t *out)
{
	sqlite3_stmt *st = NULL;
	int rc = -1;

	errno = 0;
	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW) {
		*out = sqlite3_column_int64(st, 0);
		rc = 0;
	} else {
		store_fail_sql(s, doing);
	}
	sqlite3_finalize(st);
	return rc;
}

static int store_connect(struct store *s, const char *name, int flags)
{
	int rc = sqlite3_open_v2(name, &s->db, flags, NULL);

	if (!s->db)
		return store_fail(s, "open: out of memory");
	if (rc != SQLITE_OK)
		return store_fail_sql(s, "open");
	sqlite3_extended_result_codes(s->db, 1);
	sqlite3_busy_handler(s->db, store_busy, s);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	return 0;
}

static void store_disconnect(struct store *s)
{
	for (int i = 0; i < STATEMENTS; i++) {
		sqlite3_finalize(s->statements[i]);
		s->statements[i] = NULL;
	}
	sqlite3_close(s->db);
	s->db = NULL;
}

/* Whose file is it, and of which version?  Writes nothing.  *version = 0: nothing in it yet. */
static int store_identify(struct store *s, int64_t *version)
{
	int64_t application, tables;

	if (store_number(s, "PRAGMA application_id", "read", &application) ||
	    store_number(s, "PRAGMA user_version", "read", version) ||
	    store_number(s, "SELECT count(*) FROM sqlite_schema", "read", &tables))
		return -1;
	if (application != APPLICATION_ID && (tables || application || *version))
		return store_fail(s, "an SQLite database, but not one of pkrun's (application_id "
				  "%lld, pkrun's is %d; user_version %lld, this pkrun writes %d); "
				  "left as it is", (long long)application, APPLICATION_ID,
				  (long long)*version, STORE_VERSION);
	if (*version > STORE_VERSION)
		return store_fail(s, "schema version %lld, but this pkrun knows only up to %d: "
				  "written by a newer pkrun; left as it is",
				  (long long)*version, STORE_VERSION);
	if (*version < 0)
		return store_fail(s, "schema version %lld makes no sense; left as it is",
				  (long long)*version);
	return 0;
}

/* What stat() tells.  *size = -1: does not exist. */
static int store_stat(struct store *s, int64_t *size)
{
	struct stat st;

	if (!s->path[0])
		return store_fail(s, "the database needs a path");
	*size = -1;
	if (stat(s->path, &st)) {
		if (errno == ENOENT && (s->mode & STORE_WRITE))
			return 0;
		return store_fail(s, "%s", strerror(errno));
	}
	if (S_ISDIR(st.st_mode))
		return store_fail(s, "%s", strerror(EISDIR));
	if (!S_ISREG(st.st_mode))
		return store_fail(s, "not a regular file");
	*size = st.st_size;
	return 0;
}

/* A path as an SQLite URI that is read as it stands, without looking for a -wal or a lock. */
static char *store_immutable_uri(const char *path)
{
	char *uri = malloc(3 * strlen(path) + sizeof("file:?immutable=1")), *at = uri;

	if (!uri)
		return NULL;
	at += sprintf(at, "file:");
	for (; *path; path++)
		if (strchr("%?#", *path))
			at += sprintf(at, "%%%02X", (unsigned char)*path);
		else
			*at++ = *path;
	strcpy(at, "?immutable=1");
	return uri;
}

/*
 * Read-only.  Two files need more: one that a killed writer left with a
 * rollback journal (SQLite has to roll it back first), and one in WAL mode
 * without a -wal in a folder where none can be made.
 */
static int store_connect_read(struct store *s)
{
	char wal[4096], *uri;
	struct stat st;
	int64_t unused;
	int rc;

	snprintf(wal, sizeof(wal), "%s-wal", s->path);
	if (store_connect(s, s->path, SQLITE_OPEN_READONLY))
		return -1;
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	if (!store_number(s, "SELECT count(*) FROM sqlite_schema", "read", &unused))
		return 0;
	if (s->code == SQLITE_READONLY_ROLLBACK || s->code == SQLITE_READONLY_RECOVERY) {
		store_disconnect(s);
		return store_connect(s, s->path, SQLITE_OPEN_READWRITE);
	}
	if (((s->code & 0xff) != SQLITE_CANTOPEN && (s->code & 0xff) != SQLITE_READONLY) ||
	    !stat(wal, &st))
		return -1;
	store_disconnect(s);
	uri = store_immutable_uri(s->path);
	rc = uri ? store_connect(s, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI) :
		   store_fail(s, "out of memory");
	free(uri);
	return rc;
}

/* Shared-memory locking of WAL does not work across machines, whatever the mount says. */
static int store_on_network(const char *path)
{
	static const unsigned long remote[] = {
		0x6969,		/* NFS */
		0xff534d42, 0xfe534d42, 0x517b,	/* CIFS, SMB2, SMB */
		0x65735546,	/* FUSE: sshfs and others */
		0x01021997,	/* 9p */
		0x0bd00bd0,	/* Lustre */
		0x47504653,	/* GPFS */
		0x19830326,	/* BeeGFS */
		0x00c36400,	/* Ceph */
		0x5346414f,	/* AFS */
	};
	struct statfs fs;

	if (statfs(path, &fs))
		return 0;
	for (size_t i = 0; i < COUNT(remote); i++)
		if (((unsigned long)fs.f_type & 0xffffffff) == remote[i])
			return 1;
	return 0;
}

/* Ask for a journal mode until nobody is in the way; *is says whether it holds. */
static int store_journal(struct store *s, const char *mode, int *is)
{
	struct timespec start;
	sqlite3_stmt *st;
	char sql[64];
	int rc;

	snprintf(sql, sizeof(sql), "PRAGMA journal_mode = %s", mode);
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		st = NULL;
		errno = 0;
		rc = sqlite3_prepare_v2(s->db, sql, -1, &st, NULL);
		if (rc == SQLITE_OK)
			rc = sqlite3_step(st);
		if (rc == SQLITE_ROW)
			*is = !sqlite3_stricmp((const char *)sqlite3_column_text(st, 0), mode);
		sqlite3_finalize(st);
		if ((rc & 0xff) == SQLITE_BUSY && !s->no_locks)
			usleep(5000);
	} while ((rc & 0xff) == SQLITE_BUSY && !s->no_locks &&
		 store_ms_since(&start) < store_busy_limit_ms);
	return rc == SQLITE_ROW ? 0 : store_fail_sql(s, "journal mode");
}

/* The file says WAL, but its shared memory cannot be locked here.  With exclusive
 * locking SQLite needs none, so that the mode can be taken back. */
static int store_leave_wal(struct store *s)
{
	int64_t unused;
	int is = 0;

	store_disconnect(s);
	if (store_connect(s, s->path, SQLITE_OPEN_READWRITE) ||
	    store_exec(s, "PRAGMA locking_mode = EXCLUSIVE", "lock") ||
	    store_journal(s, "delete", &is) ||
	    store_exec(s, "PRAGMA locking_mode = NORMAL; PRAGMA foreign_keys = ON", "unlock") ||
	    store_number(s, "SELECT count(*) FROM sqlite_schema", "read", &unused))
		return -1;
	return is ? 0 : store_fail(s, "neither WAL nor a rollback journal works on this file system; "
				   "move the database to a local disk");
}

/* WAL where it holds; else, or on a network file system, a rollback journal. */
static int store_journal_choose(struct store *s)
{
	int64_t unused;
	int is = 0;

	if (!store_on_network(s->path) && store_journal(s, "wal", &is))
		return -1;
	if (is && !store_number(s, "SELECT count(*) FROM sqlite_schema", "read", &unused))
		return store_exec(s, "PRAGMA synchronous = NORMAL", "synchronous");
	if (is && (s->code & 0xff) != SQLITE_PROTOCOL && (s->code & 0xff) != SQLITE_IOERR)
		return -1;
	if (is ? store_leave_wal(s) : store_journal(s, "delete", &is))
		return -1;
	return store_exec(s, "PRAGMA synchronous = FULL", "synchronous");
}

/* 1: the file has this view, word for word. */
static int store_view_is(struct store *s, const char *name, const char *sql)
{
	sqlite3_stmt *st = NULL;
	const char *have;
	int same = 0;

	if (sqlite3_prepare_v2(s->db, "SELECT sql FROM main.sqlite_schema WHERE type = 'view'"
			       " AND name = ?1", -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_bind_text(st, 1, name, -1, SQLITE_STATIC) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW) {
		have = (const char *)sqlite3_column_text(st, 0);
		same = have && !strcmp(have, sql);
	}
	sqlite3_finalize(st);
	return same;
}

/* Views that others are made of and that take long: tables with STORE_CACHE. */
static int store_is_cached(struct store *s, const char *name)
{
	return (s->mode & STORE_CACHE) && (!strcmp(name, "block_time") || !strcmp(name, "result"));
}

/* sql: "CREATE VIEW name AS ...".  A writer replaces the view in the file; a
 * reader puts its own over it for this connection, so that a file of another
 * pkrun answers alike. */
static int store_view(struct store *s, const char *sql)
{
	static const size_t head = sizeof("CREATE VIEW ") - 1;
	size_t length = strcspn(sql + head, " \n");
	int write = (s->mode & STORE_WRITE) != 0, rc = 0;
	char *name = sqlite3_mprintf("%.*s", (int)length, sql + head), *change = NULL;

	if (!name)
		return store_fail(s, "out of memory");
	if ((s->mode & STORE_CACHE) || !store_view_is(s, name, sql)) {
		change = write ? sqlite3_mprintf("DROP VIEW IF EXISTS main.\"%w\"; %s", name, sql) :
				 sqlite3_mprintf("CREATE TEMP %s %s",
						 store_is_cached(s, name) ? "TABLE" : "VIEW", sql + head);
		rc = change ? store_exec(s, change, name) : store_fail(s, "out of memory");
	}
	sqlite3_free(change);
	sqlite3_free(name);
	return rc;
}

/* views.sql: every view begins with CREATE VIEW and ends at the first ";\n". */
static int store_views(struct store *s)
{
	const char *at = store_views_sql, *end;
	char *sql;
	int rc = 0;

	while (!rc && (at = strstr(at, "\nCREATE VIEW ")) && (end = strstr(++at, ";\n"))) {
		sql = sqlite3_mprintf("%.*s", (int)(end - at), at);
		rc = sql ? store_view(s, sql) : store_fail(s, "out of memory");
		sqlite3_free(sql);
		at = end;
	}
	return rc;
}

/* Bring the file to this version, in one transaction; others may be doing the same. */
static int store_migrate(struct store *s)
{
	int64_t version;
	char sql[128];

	if (store_begin(s))
		return -1;
	if (store_identify(s, &version))
		goto undo;
	for (; version < STORE_VERSION; version++)
		if (store_exec(s, migrations[version], "make the tables"))
			goto undo;
	snprintf(sql, sizeof(sql), "PRAGMA application_id = %d; PRAGMA user_version = %d",
		 APPLICATION_ID, STORE_VERSION);
	if (store_exec(s, sql, "mark the version") || store_views(s))
		goto undo;
	return store_commit(s);
undo:
	return store_undo(s);
}

static int store_open_write(struct store *s, int64_t size)
{
	int64_t version;

	signal(SIGXFSZ, SIG_IGN);	/* over `ulimit -f` a write is to fail, not to kill */
	if (size > 0) {			/* look without being able to write */
		if (store_connect_read(s) || store_identify(s, &version))
			return -1;
		store_disconnect(s);
	}
	if (store_connect(s, s->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) ||
	    store_exec(s, "PRAGMA foreign_keys = ON", "foreign keys") ||
	    store_journal_choose(s))
		return -1;
	return store_migrate(s);
}

/* What a reader's SQL may do: read.  Pragmas only to ask, never to set. */
static int store_authorize(void *user, int action, const char *a, const char *b, const char *c,
			   const char *d)
{
	static const char *const ask[] = {
		"table_info", "table_xinfo", "table_list", "index_list", "index_info",
		"index_xinfo", "foreign_key_list", "foreign_key_check", "integrity_check",
		"quick_check", "database_list", "function_list", "compile_options",
	};
	static const char *const get[] = {
		"user_version", "application_id", "journal_mode", "synchronous", "page_size",
		"page_count", "encoding", "schema_version", "freelist_count",
	};
	struct store *s = user;

	(void)c, (void)d;
	if (action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE)
		return SQLITE_OK;
	if (action == SQLITE_FUNCTION && sqlite3_stricmp(b, "load_extension"))
		return SQLITE_OK;
	for (size_t i = 0; action == SQLITE_PRAGMA && i < COUNT(ask); i++)
		if (!sqlite3_stricmp(a, ask[i]))
			return SQLITE_OK;
	for (size_t i = 0; action == SQLITE_PRAGMA && !b && i < COUNT(get); i++)
		if (!sqlite3_stricmp(a, get[i])) {
			s->asked = 1;	/* SQLite counts journal_mode among the writers */
			return SQLITE_OK;
		}
	s->denied = 1;
	return SQLITE_DENY;
}

static int store_open_read(struct store *s, int64_t size)
{
	int64_t version;

	if (size == 0)
		return store_fail(s, "empty file, not a pkrun database");
	if (store_connect_read(s) || store_identify(s, &version))
		return -1;
	if (version < STORE_VERSION)
		return store_fail(s, "schema version %lld, this pkrun reads %d; the next run into "
				  "it brings it up to date", (long long)version, STORE_VERSION);
	/* first, for it drops what is temporary */
	if ((s->mode & STORE_CACHE) && store_exec(s, "PRAGMA temp_store = MEMORY", "temp_store"))
		return -1;
	if (store_views(s))
		return -1;
	sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_set_authorizer(s->db, store_authorize, s);
	return 0;
}

int store_open(struct store **out, const char *path, unsigned mode, char *why, size_t why_size)
{
	struct store *s = calloc(1, sizeof(*s));
	int64_t size = -1;

	if (!s || !(s->path = strdup(path))) {
		snprintf(why, why_size, "%s: out of memory", path);
		free(s);
		return -1;
	}
	s->mode = mode;
	if (store_stat(s, &size) ||
	    (mode & STORE_WRITE ? store_open_write(s, size) : store_open_read(s, size))) {
		snprintf(why, why_size, "%s", s->error);
		store_disconnect(s);
		free(s->path);
		free(s);
		return -1;
	}
	*out = s;
	return 0;
}

/* A file left in WAL mode cannot be read in a folder that may not be written,
 * so the last to leave turns it off; while others are connected it fails, fine. */
void store_close(struct store *s)
{
	if (!s)
		return;
	if (s->mode & STORE_WRITE) {
		if (s->in_transaction)
			store_rollback(s);
		sqlite3_busy_timeout(s->db, 0);
		for (int i = 0; i < STATEMENTS; i++)
			sqlite3_reset(s->statements[i]);
		sqlite3_exec(s->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
	}
	store_disconnect(s);
	free(s->path);
	free(s);
}

/* ---- records ---- */

int store_run_add(struct store *s, const struct store_run *run, int64_t *id)
{
	const struct value v[] = {
		T(run->pkrun_version), T(run->git_state), T(run->argv), T(run->matrix_path),
		T(run->matrix_text), T(run->baseline), U(run->seed), T(run->schedule),
		T(run->isolation), I(run->quick), T(run->instrumented), I(run->cells),
	};

	return store_write(s, RUN_ADD, "add the run", v, COUNT(v), id);
}

int store_run_end(struct store *s, int64_t run, const char *status)
{
	const struct value v[] = { I(run), T(status) };

	return store_write(s, RUN_END, "end the run", v, COUNT(v), NULL);
}

int store_run_reopen(struct store *s, int64_t run)
{
	const struct value v[] = { I(run) };
	char sql[256];

	snprintf(sql, sizeof(sql), "UPDATE block SET status = 'interrupted', reason = 'pkrun was ended'"
		 " WHERE status = 'running' AND cell_id IN (SELECT id FROM cell WHERE run_id = %lld)",
		 (long long)run);
	if (store_exec(s, sql, "mark unfinished blocks"))
		return -1;
	return store_write(s, RUN_REOPEN, "reopen the run", v, COUNT(v), NULL);
}

int store_environment(struct store *s, int64_t run, const char *key, const char *value,
		      const char *state, const char *repair)
{
	const struct value v[] = { I(run), T(key), T(value), T(state), T(repair) };

	return store_write(s, ENVIRONMENT, "add to the environment", v, COUNT(v), NULL);
}

int store_device(struct store *s, const char *target, const struct pkrun_device_info *d, int64_t *id)
{
	const struct value v[] = {
		T(target), T(d->name), T(d->arch), T(d->uuid), T(d->pci), T(d->driver),
		T(d->runtime), I(d->compute_units), I((int64_t)d->memory_bytes),
		I((int64_t)d->l2_bytes), I((int64_t)d->shared_bytes), I(d->clock_khz),
	};

	return store_write(s, DEVICE, "add the device", v, COUNT(v), id);
}

int store_plugin(struct store *s, const struct store_plugin *p, int64_t *id)
{
	const struct value v[] = {
		T(p->path), T(p->sha256), T(p->name), T(p->brief), T(p->target),
		I(p->abi_major), I(p->abi_minor), T(p->control), T(p->result),
	};

	return store_write(s, PLUGIN, "add the plugin", v, COUNT(v), id);
}

int store_cell(struct store *s, const struct store_cell *c, int64_t *id)
{
	const struct value v[] = {
		I(c->run), I(c->number), T(c->series), T(c->variant), T(c->workload), T(c->target),
		I(c->plugin), I(c->device), I(c->n), I(c->iterations), T(c->key), T(c->params),
		T(c->status), T(c->reason),
	};

	return store_write(s, CELL, "add the cell", v, COUNT(v), id);
}

int store_param(struct store *s, int64_t cell, const char *owner, const char *name,
		const char *value, int is_default)
{
	const struct value v[] = { I(cell), T(owner), T(name), T(value), I(is_default) };

	return store_write(s, PARAM, "add the parameter", v, COUNT(v), NULL);
}

int store_cell_status(struct store *s, int64_t cell, const char *status, const char *reason)
{
	const struct value v[] = { I(cell), T(status), T(reason) };

	return store_write(s, CELL_STATUS, "set the cell's status", v, COUNT(v), NULL);
}

int store_cell_iterations(struct store *s, int64_t cell, int64_t iterations)
{
	const struct value v[] = { I(cell), I(iterations) };

	return store_write(s, CELL_ITERATIONS, "set the cell's iterations", v, COUNT(v), NULL);
}

int store_cell_grid(struct store *s, int64_t cell, int64_t blocks, int64_t threads,
		    int64_t resident_max, int64_t iterations, double updates, double flops,
		    double bytes)
{
	const struct value v[] = {
		I(cell), I(blocks), I(threads), I(resident_max), I(iterations),
		R(updates), R(flops), R(bytes),
	};

	return store_write(s, CELL_GRID, "set the cell's grid", v, COUNT(v), NULL);
}

int store_block(struct store *s, int64_t cell, int64_t number, int64_t position, int64_t attempt,
		int64_t pid, int64_t *id)
{
	const struct value v[] = { I(cell), I(number), I(position), I(pid), I(attempt) };

	return store_write(s, BLOCK, "add the block", v, COUNT(v), id);
}

int store_block_end(struct store *s, int64_t block, const char *status, const char *reason)
{
	const struct value v[] = { I(block), T(status), T(reason) };

	return store_write(s, BLOCK_END, "end the block", v, COUNT(v), NULL);
}

int store_block_state(struct store *s, int64_t block, const struct store_state *state)
{
	const struct value v[] = {
		I(block), I(state->clock_mhz), I(state->memory_clock_mhz), I(state->temperature_c),
		R(state->power_w), T(state->throttle),
	};

	return store_write(s, BLOCK_STATE, "set the block's state", v, COUNT(v), NULL);
}

int store_trial(struct store *s, const struct store_trial *t, int64_t *id)
{
	const struct value v[] = {
		I(t->block), I(t->cell), T(t->kind), I(t->position), I(t->iterations), I(t->wall_ns),
		I(t->device_ns), I(t->kernel_ns), I(t->host_cpu_ns), I(t->energy_uj),
		I(t->verified), T(t->hash), T(t->flags),
	};

	return store_write(s, TRIAL, "add the trial", v, COUNT(v), id);
}

int store_trial_flag(struct store *s, int64_t trial, const char *flag)
{
	const struct value v[] = { I(trial), T(flag) };

	return store_write(s, TRIAL_FLAG, "flag the trial", v, COUNT(v), NULL);
}

int store_metric(struct store *s, int64_t cell, int64_t block, int64_t trial, const char *name,
		 double value, const char *unit)
{
	const struct value v[] = { I(cell), I(block), I(trial), T(name), R(value), T(unit) };

	return store_write(s, METRIC, "add the metric", v, COUNT(v), NULL);
}

int store_event(struct store *s, int64_t run, int64_t cell, const char *kind, const char *text)
{
	const struct value v[] = { I(run), I(cell), T(kind), T(text) };

	return store_write(s, EVENT, "add the event", v, COUNT(v), NULL);
}

int store_floor(struct store *s, const struct store_floor *f)
{
	const struct value v[] = {
		I(f->device), T(f->host), T(f->variant), T(f->workload), I(f->n), I(f->pairs),
		I(f->false_alarms), R(f->floor),
	};

	return store_write(s, FLOOR, "add the A/A floor", v, COUNT(v), NULL);
}

int store_reference_get(struct store *s, const char *workload, const char *input,
			uint64_t iterations, uint64_t *hash, int64_t *stationary_at)
{
	const struct value v[] = { T(workload), T(input), I((int64_t)iterations) };
	const char *text;
	sqlite3_stmt *st;
	char *end;
	int rc;

	if (store_prepare(s, REFERENCE_GET, v, COUNT(v)))
		return -1;
	st = s->statements[REFERENCE_GET];
	errno = 0;
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW && (text = (const char *)sqlite3_column_text(st, 0))) {
		*hash = strtoull(text, &end, 16);
		*stationary_at = sqlite3_column_type(st, 1) == SQLITE_NULL ?
					 STORE_NULL : sqlite3_column_int64(st, 1);
		rc = *end || !*text ? store_fail(s, "reference: \"%s\" is no hash", text) : 1;
	} else {
		rc = rc == SQLITE_DONE ? 0 : store_fail_sql(s, "read the reference");
	}
	sqlite3_reset(st);
	sqlite3_clear_bindings(st);
	return rc;
}

int store_reference_put(struct store *s, const char *workload, const char *input,
			uint64_t iterations, uint64_t hash, int64_t stationary_at)
{
	char text[17];
	const struct value v[] = {
		T(workload), T(input), I((int64_t)iterations), T(text), I(stationary_at),
	};

	snprintf(text, sizeof(text), "%016llx", (unsigned long long)hash);
	return store_write(s, REFERENCE_PUT, "add the reference", v, COUNT(v), NULL);
}

/* ---- reading ---- */

/* Columns of the statement at hand; one allocation each, of `columns` entries. */
struct store_columns {
	struct store_row row;
	const char **names, **text;
	char **hex;			/* of blobs */
	int *types;
	double *real;
	int64_t *integer;
};

/* Bytes as X'hex', in place of the text before. */
static const char *store_hex(char **hex, const unsigned char *bytes, int n)
{
	char *text = realloc(*hex, 2 * (size_t)n + 4);

	if (!text)
		return NULL;
	*hex = text;
	text += sprintf(text, "X'");
	for (int i = 0; i < n; i++)
		text += sprintf(text, "%02x", bytes[i]);
	strcpy(text, "'");
	return *hex;
}

static int store_columns_make(struct store_columns *c, sqlite3_stmt *st)
{
	size_t n = (size_t)sqlite3_column_count(st);

	c->names = calloc(n, sizeof(*c->names));
	c->text = calloc(n, sizeof(*c->text));
	c->hex = calloc(n, sizeof(*c->hex));
	c->types = calloc(n, sizeof(*c->types));
	c->real = calloc(n, sizeof(*c->real));
	c->integer = calloc(n, sizeof(*c->integer));
	if (n && (!c->names || !c->text || !c->hex || !c->types || !c->real || !c->integer))
		return -1;
	for (size_t i = 0; i < n; i++)
		c->names[i] = sqlite3_column_name(st, (int)i);
	c->row = (struct store_row){ (int)n, c->names, c->types, c->text, c->real, c->integer };
	return 0;
}

static void store_columns_read(struct store_columns *c, sqlite3_stmt *st)
{
	for (int i = 0; i < c->row.columns; i++) {
		c->types[i] = sqlite3_column_type(st, i);
		c->integer[i] = sqlite3_column_int64(st, i);
		c->real[i] = sqlite3_column_double(st, i);
		c->text[i] = c->types[i] == SQLITE_BLOB ?
			store_hex(&c->hex[i], sqlite3_column_blob(st, i), sqlite3_column_bytes(st, i)) :
			(const char *)sqlite3_column_text(st, i);
	}
}

static void store_columns_free(struct store_columns *c)
{
	for (int i = 0; c->hex && i < c->row.columns; i++)
		free(c->hex[i]);
	free(c->hex);
	free(c->names);
	free(c->text);
	free(c->types);
	free(c->real);
	free(c->integer);
}

/* Prepare exactly one statement: nothing but comments and white space may follow it. */
static int store_prepare_one(struct store *s, const char *sql, sqlite3_stmt **out)
{
	sqlite3_stmt *more = NULL;
	const char *tail = sql;

	s->denied = s->asked = 0;
	*out = NULL;
	while (*tail && !*out)
		if (sqlite3_prepare_v2(s->db, tail, -1, out, &tail) != SQLITE_OK)
			goto bad;
	if (!*out)
		return store_fail(s, "query: no statement in \"%s\"", sql);
	while (*tail) {
		const char *text = tail;

		if (sqlite3_prepare_v2(s->db, tail, -1, &more, &tail) != SQLITE_OK || more) {
			sqlite3_finalize(more);
			return store_fail(s, "query: one statement only; this follows it:%s%s",
					  *text == ' ' || *text == '\n' ? "" : " ", text);
		}
	}
	if ((s->mode & STORE_READ) && !s->asked && !sqlite3_stmt_readonly(*out))
		return store_fail(s, "query: this statement would write; pkrun only reads here");
	return 0;
bad:
	if (s->denied)
		return store_fail(s, "query: only a statement that reads is allowed");
	return store_fail_sql(s, "query");
}

/* A reader writes nothing but SQLite's temporary files (sorting), so a full disk is theirs. */
static int store_fail_query(struct store *s)
{
	if ((s->mode & STORE_READ) && sqlite3_errcode(s->db) == SQLITE_FULL)
		return store_fail(s, "query: no room for temporary files: %s (errno %d); "
				  "SQLITE_TMPDIR names another folder", strerror(ENOSPC), ENOSPC);
	return store_fail_sql(s, "query");
}

int store_query(struct store *s, const char *sql, const char *const *params, int n_params,
		store_row_fn fn, void *user)
{
	return store_select(s, sql, params, n_params, NULL, fn, user);
}

int store_select(struct store *s, const char *sql, const char *const *params, int n_params,
		 store_row_fn head, store_row_fn fn, void *user)
{
	struct store_columns columns = { 0 };
	sqlite3_stmt *st = NULL;
	int rc = -1, step;

	if (store_prepare_one(s, sql, &st))
		goto out;
	for (int i = 0; i < n_params; i++)
		if (sqlite3_bind_text(st, i + 1, params[i], -1, SQLITE_STATIC) != SQLITE_OK) {
			store_fail_sql(s, "query");
			goto out;
		}
	if (store_columns_make(&columns, st)) {
		store_fail(s, "query: out of memory");
		goto out;
	}
	errno = 0;
	rc = head ? head(user, &(struct store_row){ .columns = columns.row.columns,
						    .names = columns.row.names }) : 0;
	step = SQLITE_DONE;
	while (!rc && (step = sqlite3_step(st)) == SQLITE_ROW) {
		store_columns_read(&columns, st);
		rc = fn ? fn(user, &columns.row) : 0;
	}
	if (!rc && step != SQLITE_DONE)
		rc = store_fail_query(s);
out:
	store_columns_free(&columns);
	sqlite3_finalize(st);
	return rc;
}
