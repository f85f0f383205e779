/* SPDX-License-Identifier: MIT
 *
 * progress.h - a tiled matrix product that tells how far it is; driven by the
 * progress_* variants.
 *
 * An iteration is C += A B.  Each sum runs over k from 0 on, so that every
 * tiling gives the same bits.  Tile t is PROGRESS_TILE x PROGRESS_TILE
 * elements of C, row-major; those at the edges are smaller.
 */
#ifndef PKRUN_PROGRESS_H
#define PKRUN_PROGRESS_H

#include <stdint.h>

#define PROGRESS_VERSION 1
#define PROGRESS_TILE 16

struct progress_args {
	uint32_t size;		/* sizeof(struct progress_args) */
	uint32_t version;	/* PROGRESS_VERSION */
	uint64_t n;		/* all three are n x n, row-major */
	double  *c;		/* NULL until setup() */
	const double *a, *b;
};

#endif
