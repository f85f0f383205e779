/* SPDX-License-Identifier: MIT
 *
 * store.c - what is written: the statements, transactions, one function a record.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "store_db.h"
#include "store_internal.h"

#define UTC_NOW "strftime('%Y-%m-%dT%H:%M:%fZ','now')"

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
		" updates = nullif(?5, 0), flops = nullif(?6, 0), bytes = nullif(?7, 0)"
		" WHERE id = ?1 RETURNING id",
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

/* ---- errors ---- */

int store_fail(struct store *s, const char *fmt, ...)
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

int store_fail_sql(struct store *s, const char *doing)
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

const char *store_path(const struct store *s)
{
	return s->path;
}

const char *store_error(const struct store *s)
{
	return s->error;
}

/* ---- one statement ---- */

int store_exec(struct store *s, const char *sql, const char *doing)
{
	errno = 0;
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : store_fail_sql(s, doing);
}

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

void store_statements_free(struct store *s)
{
	for (int i = 0; i < STATEMENTS; i++) {
		sqlite3_finalize(s->statements[i]);
		s->statements[i] = NULL;
	}
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

int store_undo(struct store *s)
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
		    int64_t resident_max, double updates, double flops, double bytes)
{
	const struct value v[] = {
		I(cell), I(blocks), I(threads), I(resident_max), R(updates), R(flops), R(bytes),
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
