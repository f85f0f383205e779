/* SPDX-License-Identifier: MIT
 *
 * pingpong.h - a producer on the device fills one of two buffers while the
 * host consumes the other; driven by the pingpong_* variants.
 *
 * An iteration is one buffer.  Word k of buffer i is pingpong_word(i, k), so
 * every word of every buffer differs from its neighbours and from what was
 * there before; the host checks them all.
 */
#ifndef PKRUN_PINGPONG_H
#define PKRUN_PINGPONG_H

#include "mix.h"

#define PINGPONG_VERSION 1

struct pingpong_args {
	uint32_t  size;		/* sizeof(struct pingpong_args) */
	uint32_t  version;	/* PINGPONG_VERSION */
	uint64_t  words;	/* of a buffer */
	uint64_t *buffers;	/* two, one behind the other; NULL until setup() */
	uint64_t *count;	/* buffers filled so far */
};

/* A sum, so that a consumer goes from word to word with one addition. */
PK_MIX_FN uint64_t pingpong_word(uint64_t i, uint64_t k)
{
	return pk_mix64(i + 1) + k * PK_GOLDEN;
}

#endif
