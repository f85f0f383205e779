/* SPDX-License-Identifier: MIT
 *
 * null.h - an empty step: what is left is the cost of the protocol.
 *
 * At each step thread 0 of a block adds 1 to the block's own counter, so that
 * "every block did every step" can be verified.  Blocks are a chain, as rows
 * of a grid are.
 */
#ifndef PKRUN_NULL_H
#define PKRUN_NULL_H

#include <stdint.h>

#define NULL_VERSION 1

struct null_args {
	uint32_t  size;		/* sizeof(struct null_args) */
	uint32_t  version;	/* NULL_VERSION */
	int64_t   units;
	uint64_t *counters;	/* one a block; NULL until setup() */
};

#if defined(__cplusplus) && \
	(defined(PKRUN_BUILD_HOST) || defined(PKRUN_BUILD_HIP) || defined(PKRUN_BUILD_CUDA))
#include "shape.h"

/* The blocks before and after this one. */
static PK_FN int pk_chain(uint32_t block, uint32_t blocks, uint32_t out[PK_NEIGHBOURS_MAX])
{
	int n = 0;

	if (block > 0)
		out[n++] = block - 1;
	if (block + 1 < blocks)
		out[n++] = block + 1;
	return n;
}

struct null_work {
	static const bool has_norm = false;

	uint64_t *counters;
	uint64_t n;

	static null_work make(const struct null_args *a)
	{
		null_work w = {a->counters, (uint64_t)a->units};
		return w;
	}
	uint64_t units() const
	{
		return n;
	}
	__device__ __forceinline__ void step(uint32_t block, uint32_t blocks, uint64_t s) const
	{
		(void)blocks;
		(void)s;
		if (threadIdx.x == 0)
			counters[block] += 1;
	}
	PK_FN int neighbours(uint32_t block, uint32_t blocks, uint32_t out[PK_NEIGHBOURS_MAX]) const
	{
		return pk_chain(block, blocks, out);
	}
};
#endif
#endif
