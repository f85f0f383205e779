/* SPDX-License-Identifier: MIT
 *
 * baseline.h - what the stopping rule has to know of speed-ups: a cell is
 * measured enough only when its ratio to the baseline is known well enough too,
 * and a baseline's cell goes on as long as a cell of its problem needs it.
 *
 * A cell's baseline is the fastest cell of the section that the matrix names,
 * with equal workload and options of it, target and iterations.
 */
#ifndef PKRUN_BASELINE_H
#define PKRUN_BASELINE_H

#include "runner.h"

struct baseline;
/* *out is NULL where ratios do not count: no baseline named, no width asked for,
 * or cells that run one after the other.  0, or -1 without memory. */
int baseline_open(struct baseline **out, const struct runner *r);
/* Relative half-width of the 95 % interval of the cell's ratio to its baseline;
 * INFINITY while there are fewer than 6 common blocks; NAN: nothing to compare with.
 * *is_final: more blocks of this cell would find no block of the baseline beside them. */
double baseline_width(const struct baseline *b, const struct runner *r, uint64_t number, int *is_final);
/* Is this a baseline's cell that a cell still pending is compared with? */
int baseline_is_wanted(const struct baseline *b, const struct runner *r, uint64_t number);
int baseline_is(const struct baseline *b, uint64_t number);
void baseline_free(struct baseline *b);

#endif
