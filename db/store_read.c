/* SPDX-License-Identifier: MIT
 *
 * store_read.c - questions: one statement of the tools, or of a user, that may
 * only read, and its rows.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "store_internal.h"

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

void store_read_only(struct store *s)
{
	sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_set_authorizer(s->db, store_authorize, s);
}

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
