/* SPDX-License-Identifier: MIT
 *
 * locality.h - two stages, of which the second consumes what the first
 * produced; driven by the locality_* variants, which differ in where the
 * intermediate result lives.
 *
 * An iteration is both stages over n words.  Stage 1 makes an intermediate word
 * of three words of the input, stage 2 adds to a word of the sum from three
 * intermediate words; at the ends the nearest word stands in.
 */
#ifndef PKRUN_LOCALITY_H
#define PKRUN_LOCALITY_H

#include "mix.h"

#define LOCALITY_VERSION 1
#define LOCALITY_CHUNK 1024	/* words that a block does at a time */

struct locality_args {
	uint32_t  size;		/* sizeof(struct locality_args) */
	uint32_t  version;	/* LOCALITY_VERSION */
	uint64_t  n;
	uint64_t *sum;		/* NULL until setup() */
	const uint64_t *input;
	uint64_t *between;	/* two times n intermediate words, for those that need them */
};

PK_MIX_FN uint64_t locality_first(uint64_t before, uint64_t here, uint64_t after)
{
	return pk_mix64(before + 3 * here + 5 * after);
}

PK_MIX_FN uint64_t locality_second(uint64_t before, uint64_t here, uint64_t after)
{
	return (before ^ 7 * here) + after;
}

#endif
