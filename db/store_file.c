/* SPDX-License-Identifier: MIT
 *
 * store_file.c - the file: open, check and migrate it, in the journal mode that
 * works where it lies.
 *
 * Never open() the database file here or elsewhere in this process: closing
 * any descriptor of it would drop the locks that SQLite holds (POSIX).  What
 * has to be known of the file beforehand comes from stat() and statfs().
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>
#include "store_internal.h"

extern const char store_schema_sql[];

#define APPLICATION_ID 0x504b524e	/* "PKRN" */

int store_busy_limit_ms = 30000;

/* Migrations: entry i takes a file from version i to i + 1.  Append only.  A new file, of
 * version 0, is made by schema.sql, which is always that of the newest version. */
static const char *const migrations[] = { NULL };
#define STORE_VERSION ((int)(sizeof(migrations) / sizeof(migrations[0])))

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

/* ---- the file ---- */

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
	store_statements_free(s);
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

/* SQLite says of a folder that may not be written that there is no such file. */
static int store_may_make(struct store *s)
{
	char *path = strdup(s->path), *folder = path ? dirname(path) : ".";
	int rc = access(folder, W_OK | X_OK);

	if (rc)
		store_fail(s, "cannot be made in %s: %s", folder, strerror(errno));
	free(path);
	return rc;
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
			return store_may_make(s);
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

/* ---- the journal ---- */

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

/* ---- views ---- */

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
 * pkrun answers alike.  *own: it has done so; then with every later view too, for
 * one in the file sees only those in the file. */
static int store_view(struct store *s, const char *sql, int *own)
{
	static const size_t head = sizeof("CREATE VIEW ") - 1;
	size_t length = strcspn(sql + head, " \n");
	int write = (s->mode & STORE_WRITE) != 0, rc = 0;
	char *name = sqlite3_mprintf("%.*s", (int)length, sql + head), *change = NULL;

	if (!name)
		return store_fail(s, "out of memory");
	if (*own || (s->mode & STORE_CACHE) || !store_view_is(s, name, sql)) {
		*own = !write;
		change = write ? sqlite3_mprintf("DROP VIEW IF EXISTS main.\"%w\"; %s", name, sql) :
				 sqlite3_mprintf("CREATE TEMP %s %s",
						 store_is_cached(s, name) ? "TABLE" : "VIEW", sql + head);
		rc = change ? store_exec(s, change, name) : store_fail(s, "out of memory");
	}
	sqlite3_free(change);
	sqlite3_free(name);
	return rc;
}

/* views.sql: every view begins with CREATE VIEW, ends at the first ";\n" and uses earlier ones only. */
static int store_views(struct store *s)
{
	const char *at = store_views_sql, *end;
	char *sql;
	int rc = 0, own = 0;

	while (!rc && (at = strstr(at, "\nCREATE VIEW ")) && (end = strstr(++at, ";\n"))) {
		sql = sqlite3_mprintf("%.*s", (int)(end - at), at);
		rc = sql ? store_view(s, sql, &own) : store_fail(s, "out of memory");
		sqlite3_free(sql);
		at = end;
	}
	return rc;
}

/* ---- open, close ---- */

/* Bring the file to this version, in one transaction; others may be doing the same. */
static int store_migrate(struct store *s)
{
	int64_t version;
	char sql[128];

	if (store_begin(s))
		return -1;
	if (store_identify(s, &version))
		goto undo;
	for (; version < STORE_VERSION; version = version ? version + 1 : STORE_VERSION)
		if (store_exec(s, version ? migrations[version] : store_schema_sql, "make the tables"))
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
	store_read_only(s);
	return 0;
}

/* SQLite takes `:memory:`, and in Debian's build `file:...`, for something else than the file of
 * that name: what was measured would be gone at the end. */
static char *store_own_path(const char *path)
{
	const int is_other = *path == ':' || !strncmp(path, "file:", 5);
	char *own = malloc(strlen(path) + sizeof("./"));

	if (own)
		sprintf(own, "%s%s", is_other ? "./" : "", path);
	return own;
}

int store_open(struct store **out, const char *path, unsigned mode, char *why, size_t why_size)
{
	struct store *s = calloc(1, sizeof(*s));
	int64_t size = -1;

	if (!s || !(s->path = store_own_path(path))) {
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

int store_rescue(struct store *s, char *copy, size_t size)
{
	int moved = 0, rc;
	char *sql;

	if (sqlite3_file_control(s->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) != SQLITE_OK || !moved)
		return 0;
	snprintf(copy, size, "%s.rescued-%ld", s->path, (long)getpid());
	sql = sqlite3_mprintf("VACUUM INTO %Q", copy);
	rc = sql ? store_exec(s, sql, copy) : store_fail(s, "out of memory");
	sqlite3_free(sql);
	return rc ? -1 : 1;
}

/* Writers leave one at a time, in a lock of the folder: of two that leave at
 * once each would see the other connected, and the file would stay in WAL mode.
 * -1: no such lock here, or not within two seconds; then one leaves without it. */
static int store_leave_lock(const struct store *s)
{
	char *path = realpath(s->path, NULL);
	int fd = path ? open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	free(path);
	for (int ms = 0; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB); ms++) {
		if (errno == EWOULDBLOCK && ms < 2000) {
			usleep(1000);
			continue;
		}
		close(fd);
		fd = -1;
	}
	return fd;
}

/* A file left in WAL mode cannot be read in a folder that may not be written,
 * so the last to leave turns it off; while others are connected it fails, fine. */
void store_close(struct store *s)
{
	int lock = -1;

	if (!s)
		return;
	if (s->mode & STORE_WRITE) {
		lock = store_leave_lock(s);
		if (s->in_transaction)
			store_rollback(s);
		sqlite3_busy_timeout(s->db, 0);
		store_statements_free(s);
		sqlite3_exec(s->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
	}
	store_disconnect(s);
	if (lock >= 0)
		close(lock);
	free(s->path);
	free(s);
}
