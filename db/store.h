/* SPDX-License-Identifier: MIT
 *
 * store.h - the only code that knows SQL.
 *
 * All functions return 0 or -1; after -1 store_error() has the cause, with the
 * path.  Strings may be NULL where the column may.  Each call below commits by
 * itself (BEGIN IMMEDIATE), except between store_begin and store_commit.
 */
#ifndef PKRUN_STORE_H
#define PKRUN_STORE_H

#include <stddef.h>
#include <stdint.h>
#include "../core/device.h"

struct store;
#define STORE_NULL INT64_MIN		/* an int64 that is unknown: stored as NULL */

extern int store_busy_limit_ms;	/* how long to wait for other writers: 30000 */

#define STORE_WRITE  1u			/* open read-write, create, migrate */
#define STORE_READ   2u			/* read-only; a newer schema is refused */
#define STORE_CACHE  4u			/* with STORE_READ: medians are computed once, for tools with many questions */
int store_open(struct store **out, const char *path, unsigned mode, char *why, size_t why_size);
const char *store_path(const struct store *s);	/* as it was given */
void store_close(struct store *s);	/* checkpoints; journal_mode = DELETE on the last close */
/* 0: the file is where it was.  1: it was moved, removed or replaced while it was open, and all of it is
 * now in the new file `copy`; -1: it was, and cannot be copied there, see store_error(). */
int store_rescue(struct store *s, char *copy, size_t size);
const char *store_error(const struct store *s);
int store_begin(struct store *s);
int store_commit(struct store *s);
int store_rollback(struct store *s);

struct store_run {
	const char *pkrun_version, *git_state, *argv, *matrix_path, *matrix_text;
	const char *baseline, *schedule, *isolation, *instrumented;
	uint64_t seed;
	int quick;
	int64_t cells;
};
int store_run_add(struct store *s, const struct store_run *run, int64_t *id);
int store_run_end(struct store *s, int64_t run, const char *status);
/* To go on with it: its status is running again, blocks that were cut short are marked interrupted. */
int store_run_reopen(struct store *s, int64_t run);
int store_environment(struct store *s, int64_t run, const char *key, const char *value,
		      const char *state, const char *repair);
int store_device(struct store *s, const char *target, const struct pkrun_device_info *info, int64_t *id);

struct store_plugin {
	const char *path, *sha256, *name, *brief, *target, *control, *result;
	int abi_major, abi_minor;
};
int store_plugin(struct store *s, const struct store_plugin *plugin, int64_t *id); /* finds or adds */

struct store_cell {
	int64_t run, number, plugin, device;	/* plugin, device: STORE_NULL if none */
	const char *series, *variant, *workload, *target, *key, *params, *status, *reason;
	int64_t n, iterations;
};
int store_cell(struct store *s, const struct store_cell *cell, int64_t *id);
int store_param(struct store *s, int64_t cell, const char *owner, const char *name,
		const char *value, int is_default);
int store_cell_status(struct store *s, int64_t cell, const char *status, const char *reason);
int store_cell_iterations(struct store *s, int64_t cell, int64_t iterations);
int store_cell_grid(struct store *s, int64_t cell, int64_t blocks, int64_t threads, int64_t resident_max,
		    double updates, double flops, double bytes);

int store_block(struct store *s, int64_t cell, int64_t number, int64_t position, int64_t attempt,
		int64_t pid, int64_t *id);
int store_block_end(struct store *s, int64_t block, const char *status, const char *reason);
struct store_state {			/* of the device after a block; STORE_NULL or NAN: unknown */
	int64_t clock_mhz, memory_clock_mhz, temperature_c;
	double power_w;
	const char *throttle;
};
int store_block_state(struct store *s, int64_t block, const struct store_state *state);

struct store_trial {
	int64_t block, cell;
	const char *kind, *hash, *flags;
	int64_t position, iterations, wall_ns, device_ns, kernel_ns, host_cpu_ns, energy_uj;
	int verified;
};
int store_trial(struct store *s, const struct store_trial *trial, int64_t *id);
int store_trial_flag(struct store *s, int64_t trial, const char *flag);	/* one more */
/* block, trial: STORE_NULL for a metric of the cell */
int store_metric(struct store *s, int64_t cell, int64_t block, int64_t trial,
		 const char *name, double value, const char *unit);
int store_event(struct store *s, int64_t run, int64_t cell, const char *kind, const char *text);

struct store_floor {			/* what `pkrun doctor --aa` found */
	int64_t device, n, pairs, false_alarms;
	const char *host, *variant, *workload;
	double floor;			/* relative: ratios of a thing to itself lie within it 19 times of 20 */
};
int store_floor(struct store *s, const struct store_floor *f);

/* 1 found, 0 not, -1 error */
int store_reference_get(struct store *s, const char *workload, const char *input, uint64_t iterations,
			uint64_t *hash, int64_t *stationary_at);
int store_reference_put(struct store *s, const char *workload, const char *input, uint64_t iterations,
			uint64_t hash, int64_t stationary_at);

/* For the tools: run one statement; fn gets each row, names once in row 0's call.
 * types[i] is SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT, SQLITE_BLOB or SQLITE_NULL.
 * params bind ?1, ?2, ... as text; returns -1 with the error, 0 after the last row,
 * or fn's non-zero value, which stops the query. */
struct store_row {
	int columns;
	const char *const *names;
	const int *types;
	const char *const *text;	/* NULL where the value is NULL */
	const double *real;
	const int64_t *integer;
};
typedef int (*store_row_fn)(void *user, const struct store_row *row);
int store_query(struct store *s, const char *sql, const char *const *params, int n_params,
		store_row_fn fn, void *user);
/* The same, and head is called once before the first row, also when there is none: names and
 * columns are set, types, text, real and integer are NULL.  A BLOB's text is X'hex'. */
int store_select(struct store *s, const char *sql, const char *const *params, int n_params,
		 store_row_fn head, store_row_fn fn, void *user);

/* db/views.sql: the views that answer here, whatever those of the file. */
extern const char store_views_sql[];
#endif
