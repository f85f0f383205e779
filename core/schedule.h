/* SPDX-License-Identifier: MIT
 *
 * schedule.h - in which order cells run, and when a cell has been measured
 * enough.  Pure: no clock, no I/O.
 */
#ifndef PKRUN_SCHEDULE_H
#define PKRUN_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>
#include "matrix.h"

/* A random order of list[0..n), the same for the same seed and block. */
void schedule_shuffle(uint32_t *list, size_t n, uint64_t seed, uint64_t block);

enum schedule_verdict {
	SCHEDULE_MORE,		/* another block */
	SCHEDULE_ENOUGH,	/* as precise as asked for, or precision was not asked for */
	SCHEDULE_IMPRECISE	/* no block or no time left, and not precise */
};
/* medians: ns per iteration, one a block; seconds: spent on the cell so far.
 * *width: relative half-width of the 95 % interval, NAN while there is none. */
enum schedule_verdict schedule_judge(const struct matrix_settings *set, const double *medians,
				     size_t n, double seconds, double *width);

/* No block or no time left. */
int schedule_is_over(const struct matrix_settings *set, size_t n, double seconds);
/* Relative half-width of the 95 % interval of the ratio of two cells, paired block by block from the
 * first on; INFINITY while fewer than 6 are common.  NAN: no memory or no times. */
double schedule_ratio_width(const double *a, size_t na, const double *b, size_t nb);

#endif
