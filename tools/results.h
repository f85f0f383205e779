/* SPDX-License-Identifier: MIT
 *
 * results.h - one run with its cells, as the tools that read want it: the rows
 * of view `result`, the block medians, and the intervals, which no view has.
 */
#ifndef PKRUN_RESULTS_H
#define PKRUN_RESULTS_H

#include <stddef.h>
#include <stdint.h>
#include "../core/stats.h"
#include "../db/store.h"

/* What the baseline's cells have not in common with a cell that has a time and no speed-up. */
enum result_lacks { LACKS_PLACE = 1, LACKS_N = 2, LACKS_ITERATIONS = 4, LACKS_WORK = 8, LACKS_ALL = 16, LACKS_TIME = 32 };

struct result_cell {
	int64_t id, number, n, iterations, grid, threads, trials;
	int64_t verified;		/* 1, 0, or STORE_NULL: not judged */
	char *series, *variant, *workload, *target, *params, *status;
	char *control, *device, *reason;	/* NULL: unknown */
	char *told;			/* params, and what is default here but not in every row beside it (told.h) */
	char *work;			/* what the workload was told besides n: "length_ns=200 steps=2", "" */
	double median_ns, min_ns, max_ns, baseline_ns;	/* NAN: none */
	double speedup;			/* of the ratio's interval, or without one that of the medians; NAN: none */
	double updates, flops, bytes;	/* per iteration; NAN: does not apply */
	double host_cpu_ns, host_cpu_share, energy_uj;	/* per iteration, of the time, per iteration; NAN: unknown */
	int lacks;			/* of result_lacks; 0: it has a speed-up, or can have none */
	size_t n_blocks;
	double *block_ns;		/* median of each block, in the order of block_number */
	int64_t *block_number;
	struct stats_interval time;	/* of the median; lo and hi NAN: too few blocks */
	struct stats_interval ratio;	/* speed-up, paired by block; lo and hi NAN: too few */
};

struct results {
	int64_t run, planned;
	int quick, cold;		/* cold: caches were written over before each trial */
	int sequential;			/* a cell after the other: no blocks side by side */
	char *matrix_path, *started_utc, *finished_utc, *status, *baseline, *version, *instrumented;
	size_t n_cells;
	struct result_cell *cells;	/* in the order of the matrix */
};

/* run 0: the latest.  0; -1 with store_error(); 1: there is no such run. */
int results_load(struct store *s, int64_t run, struct results *out);
/* The whole of SERIES/VARIANT/WORKLOAD/N or its first parts, as --only of a run has it. */
int result_matches(const char *glob, const char *series, const char *variant, const char *workload, int64_t size);
/* Keep only the cells whose series, or SERIES/VARIANT/WORKLOAD/N, matches.  What was computed of all stays. */
void results_only(struct results *r, const char *glob);
void results_free(struct results *r);
/* Of one workload on one target? */
int result_same_place(const struct result_cell *a, const struct result_cell *b);
/* Without a speed-up for one reason? */
int result_lacks_alike(const struct result_cell *a, const struct result_cell *b);
/* The device's own doing (device, device queue), as against the host's. */
int result_is_device_controlled(const struct result_cell *c);
/* Why a cell that has a time has no speed-up ("[launch] has no cell with the same n"), from `lacks`. */
void result_lacks_words(const struct results *r, int lacks, char *out, size_t size);
/* What became of the cell, in words for a table. */
const char *result_words(const char *status);

#endif
