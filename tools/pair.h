/* SPDX-License-Identifier: MIT
 *
 * pair.h - two sides of a comparison, read from one or two databases, and the
 * cells of one side that may be set against a cell of the other.
 *
 * A side is a set of runs (sessions).  Its cells are grouped by their key, the
 * canonical text of workload, variant, target, iterations and every parameter,
 * so that nothing unlike is ever paired; only an option that came later, at its
 * default, makes no difference to a cell from before it.  Two series of one run are paired
 * instead by what they have to share: workload, target, n, iterations, every
 * option of the workload, and, where that leaves a choice, every other option
 * that both know.
 */
#ifndef PKRUN_PAIR_H
#define PKRUN_PAIR_H

#include <stddef.h>
#include <stdint.h>
#include "../db/store.h"

struct pair_run {
	int64_t id, cells;
	char *status, *schedule, *instrumented, *started; /* instrumented: NULL if it was not */
	int quick, cold;
};

/* One cell in one run. */
struct pair_cell {
	int64_t id, run, iterations; /* iterations: STORE_NULL if unknown */
	int64_t n;
	char *key, *series, *variant, *workload, *target, *params, *status, *reason;
	char *device;    /* "NVIDIA H200, sm_90, driver 580", or NULL */
	char *group;     /* what two series must share, or NULL (pair_options) */
	char *options;   /* their other options, "name=value\n", sorted */
	size_t n_blocks; /* blocks that ended well, with a verified time */
	int64_t *block;  /* their numbers, ascending */
	double *ns;      /* median of the block, per iteration */
};

struct pair_side {
	const char *name; /* for messages: the path */
	struct store *store;
	size_t n_runs, n_cells;
	struct pair_run *runs;
	struct pair_cell *cells; /* by key, series, run */
};

/* One cell of each side, in every run that has it.  n 0: the other side has no such cell. */
struct pair {
	const struct pair_cell *a, *b; /* n_a and n_b cells, adjacent in their side's array */
	size_t n_a, n_b;
};

/* Read the given runs (n_ids 0: all of the file) and, if series is not NULL,
 * only the cells of that section.  0, or -1 with the reason. */
int pair_read(struct pair_side *out, struct store *store, const char *path, const int64_t *ids,
              size_t n_ids, const char *series, char *why, size_t why_size);
/* Keep only the cells whose series, or SERIES/VARIANT/WORKLOAD/N, matches. */
void pair_only(struct pair_side *side, const char *glob);
/* Fill group and options of every cell, for pair_series. */
int pair_options(struct pair_side *side, char *why, size_t why_size);
/* Take out of the keys what a variant of one side did not know yet, where the other side has it at
 * its default: for pair_keys.  -1: no memory. */
int pair_forget_options(struct pair_side *a, struct pair_side *b);
/* Every cell of both sides is in exactly one pair, in the order of the keys
 * (pair_keys) or of a's cells, then b's (pair_series).  *out: free() it. -1: no memory. */
int pair_keys(const struct pair_side *a, const struct pair_side *b, struct pair **out, size_t *n);
int pair_series(const struct pair_side *a, const struct pair_side *b, struct pair **out, size_t *n);
void pair_free(struct pair_side *side);

#endif
