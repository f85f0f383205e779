/* SPDX-License-Identifier: MIT
 *
 * busy.h - a step of a given length: "and for my kernel?".
 *
 * A block reads and writes so many bytes of its own, then waits until its step
 * has taken so many ns; with imbalance the last block's step is longer than the
 * first one's, the mean stays.  Verified as null is: every word has been
 * incremented once a step.
 */
#ifndef PKRUN_BUSY_H
#define PKRUN_BUSY_H

#include <stdint.h>

#define BUSY_VERSION 1

struct busy_args {
	uint32_t  size;		/* sizeof(struct busy_args) */
	uint32_t  version;	/* BUSY_VERSION */
	int64_t   units;
	uint64_t *counters;	/* one a block; NULL until setup() */
	uint64_t *data;		/* `words` a block, or NULL */
	uint64_t  words;
	double    length_ns;
	double    imbalance;	/* 0..1: lengths run from 1 - imbalance to 1 + imbalance */
};

#if defined(__cplusplus) && \
	(defined(PKRUN_BUILD_HOST) || defined(PKRUN_BUILD_HIP) || defined(PKRUN_BUILD_CUDA))
#include "null.h"

struct busy_work {
	static const bool has_norm = false;

	uint64_t *counters, *data;
	uint64_t words, n;
	double length_ns, imbalance;

	static busy_work make(const struct busy_args *a)
	{
		busy_work w = {a->counters, a->data,	  a->words,
			       (uint64_t)a->units, a->length_ns, a->imbalance};
		return w;
	}
	uint64_t units() const
	{
		return n;
	}
	__device__ __forceinline__ uint64_t length(uint32_t block, uint32_t blocks) const
	{
		double place = blocks > 1 ? 2.0 * block / (blocks - 1) - 1 : 0;

		return (uint64_t)(length_ns * (1 + imbalance * place));
	}
	__device__ __forceinline__ void step(uint32_t block, uint32_t blocks, uint64_t s) const
	{
		uint64_t *mine = data + block * words;
		uint64_t begin = 0, ns = length(block, blocks);

		(void)s;
		if (threadIdx.x == 0 && ns)
			begin = pk_clock_ns();
		for (uint64_t q = threadIdx.x; q < words; q += blockDim.x)
			mine[q] += 1;
		if (threadIdx.x > 0)
			return;
		counters[block] += 1;
		while (ns && pk_clock_ns() - begin < ns)
			pk_pause();
	}
	PK_FN int neighbours(uint32_t block, uint32_t blocks, uint32_t out[PK_NEIGHBOURS_MAX]) const
	{
		return pk_chain(block, blocks, out);
	}
};
#endif
#endif
