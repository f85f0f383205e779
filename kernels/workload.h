/* SPDX-License-Identifier: MIT
 *
 * workload.h - the host half of a workload: its data, its CPU reference, its
 * counts.  The device half is the functor in kernels/NAME.h.
 *
 * To add one: kernels/NAME.c with a `const struct workload workload_NAME`,
 * kernels/NAME.h with the args struct and the functor, and the lines that
 * HACKING.md names.
 */
#ifndef PKRUN_WORKLOAD_H
#define PKRUN_WORKLOAD_H

#include <stddef.h>
#include <stdint.h>
#include "../core/plugin.h"

#define WORKLOAD_ARRAYS_MAX 8

enum workload_role {
	WORKLOAD_STATE = 1,	/* restored before every trial, verified after it */
	WORKLOAD_INPUT = 2,	/* constant; verified to be unchanged once a cell */
	WORKLOAD_SCRATCH = 3	/* poisoned before every trial, never verified */
};

/* One array of the problem; all elements are 64-bit words. */
struct workload_array {
	const char *name;	/* "u", "rhs" */
	uint32_t role;		/* enum workload_role */
	uint32_t is_real;	/* 1: double; 0: uint64_t */
	uint64_t count;		/* elements */
	uint64_t columns;	/* to print an index as (row, column); 0: linear */
};

/* Per iteration, for rates and rooflines.  0: does not apply. */
struct workload_counts {
	double updates;		/* points updated */
	double flops;
	double bytes;		/* moved by the natural layout without any reuse between half-sweeps */
};

struct workload {
	const char *name;			/* [a-z0-9_]+ */
	const char *brief;
	const struct pkrun_option *options;	/* the problem's INI keys: n, cols, ... */
	uint32_t options_size;
	uint32_t args_size;			/* sizeof struct NAME_args */

	/* Cross-option checks at planning time: 0, or -1 and the reason. */
	int (*check)(const void *opt, char *why, size_t why_size);
	int64_t (*n)(const void *opt);		/* the size that reports put on an axis */
	uint32_t (*steps_per_iteration)(const void *opt);
	/* natural number of blocks for this division of the work */
	int64_t (*units)(const void *opt, uint32_t sweep, const int64_t tile[2]);
	void (*counts)(const void *opt, struct workload_counts *out);

	/* The arrays for a grid of `blocks`; returns how many, at most WORKLOAD_ARRAYS_MAX. */
	int (*arrays)(const void *opt, uint32_t blocks, struct workload_array *out);
	/* Initial contents of array number `which`; `data` comes zeroed. */
	void (*fill)(const void *opt, uint32_t blocks, int which, void *data);
	/* CPU reference: advance the host arrays by `iterations`, with up to `threads` threads.
	 * Returns the number of iterations after which nothing changed any more
	 * (counted within this call), or 0 if it did not become stationary. */
	uint64_t (*advance)(const void *opt, uint32_t blocks, void **arrays,
			    uint64_t iterations, int threads);
	/* Fill `args` (args_size bytes) from the arrays' device addresses (NULL before setup). */
	void (*args)(const void *opt, uint32_t blocks, void **dev, void *args);
	/* 1: the reference depends on the number of blocks (null, busy) */
	uint32_t per_block;
	/* Turn the initial arrays into the fixed point that advance() approaches, to rounding (1e-13 of the
	 * largest value).  0, or -1: too much work.  NULL: there is none, and every result must be exact. */
	int (*solve)(const void *opt, uint32_t blocks, void **arrays);
	/* What `check` has variants report of the arrays as they are: the residual's 2-norm, its terms rounded
	 * as the device rounds them.  NULL: there is no residual. */
	double (*norm)(const void *opt, void *const *arrays);
};

/* ---- workload.c: what many answer alike; their options begin with `int64_t n` ---- */

int64_t workload_n(const void *opt);			/* .n: that one */
uint32_t workload_one_step(const void *opt);		/* .steps_per_iteration: 1 */
int64_t workload_n_units(const void *opt, uint32_t sweep, const int64_t tile[2]);	/* .units: n */
void workload_no_counts(const void *opt, struct workload_counts *out);	/* .counts: none applies */
void workload_zero(const void *opt, uint32_t blocks, int which, void *data);	/* .fill: all zero, as they come */
/* For .advance: `more` to each of the words. */
void workload_add(uint64_t *words, uint64_t count, uint64_t more);

/* All of them, NULL-terminated, in the order of workloads.def. */
extern const struct workload *const workloads[];
const struct workload *workload_find(const char *name);

#endif
