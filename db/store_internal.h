/* SPDX-License-Identifier: MIT
 *
 * store_internal.h - what the files store*.c share, and nobody else.
 *
 *	store.c		what is written: statements, transactions, records
 *	store_file.c	the file: open, migrate, locks, journal modes, views
 *	store_read.c	questions of the tools
 */
#ifndef PKRUN_STORE_INTERNAL_H
#define PKRUN_STORE_INTERNAL_H

#include <sqlite3.h>
#include <time.h>
#include "store.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Every statement that writes, prepared once a connection; store.c has their SQL. */
enum statement {
	BEGIN, COMMIT, ROLLBACK,
	RUN_ADD, RUN_END, RUN_REOPEN, ENVIRONMENT, DEVICE, PLUGIN, CELL, PARAM, CELL_STATUS, CELL_GRID, CELL_ITERATIONS,
	BLOCK, BLOCK_END, BLOCK_STATE, TRIAL, TRIAL_FLAG, METRIC, EVENT, FLOOR, REFERENCE_GET, REFERENCE_PUT,
	STATEMENTS
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

/* store.c */
__attribute__((format(printf, 2, 3)))
int store_fail(struct store *s, const char *fmt, ...);	/* store_error() from now on; returns -1 */
/* The cause of a failed SQLite call, with errno where SQLite kept one. */
int store_fail_sql(struct store *s, const char *doing);
int store_exec(struct store *s, const char *sql, const char *doing);
int store_undo(struct store *s);	/* roll back after a failure, keep its cause, return -1 */
void store_statements_free(struct store *s);

/* store_read.c: from now on this connection only reads */
void store_read_only(struct store *s);

#endif
