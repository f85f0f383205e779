/* SPDX-License-Identifier: MIT
 *
 * scale.h - B = 0.25 A: one read and one write a point, nothing else.
 *
 * The plainest memory-bound step: what a schedule leaves of the bandwidth.
 * Blocks own chunks, dealt out in turn, and touch nobody else's, so they wait for nobody.
 */
#ifndef PKRUN_SCALE_H
#define PKRUN_SCALE_H

#include <stdint.h>

#define SCALE_VERSION 2

struct scale_args {
	uint32_t size;		/* sizeof(struct scale_args) */
	uint32_t version;	/* SCALE_VERSION */
	int64_t  n, chunk;	/* points; of a unit */
	double  *b;		/* device addresses; NULL until setup() */
	const double *a;
};

#if defined(__cplusplus) && \
	(defined(PKRUN_BUILD_HOST) || defined(PKRUN_BUILD_HIP) || defined(PKRUN_BUILD_CUDA))
#include "shape.h"

struct scale_work {
	static const bool has_norm = false;

	double *b;
	const double *a;
	uint64_t n, chunk, chunks;

	static scale_work make(const struct scale_args *args)
	{
		uint64_t n = (uint64_t)args->n, chunk = (uint64_t)args->chunk;
		scale_work w = {args->b, args->a, n, chunk, (n - 1) / chunk + 1};
		return w;
	}
	uint64_t units() const
	{
		return chunks;
	}
	__device__ __forceinline__ void step(uint32_t block, uint32_t blocks, uint64_t s) const
	{
		double *__restrict__ to = b;
		const double *__restrict__ from = a;

		(void)s;
		/* No division: two of 64 bits would take as long as the step of a small array. */
		for (uint64_t c = block; c < chunks; c += blocks) {
			uint64_t end = (c + 1) * chunk < n ? (c + 1) * chunk : n;

			for (uint64_t i = c * chunk + threadIdx.x; i < end; i += blockDim.x)
				to[i] = 0.25 * from[i];
		}
	}
	PK_FN int neighbours(uint32_t, uint32_t, uint32_t[PK_NEIGHBOURS_MAX]) const
	{
		return 0;
	}
};
#endif
#endif
