/* SPDX-License-Identifier: MIT
 *
 * fma.h - nothing but fused multiply-adds: the arithmetic roof of a device.
 *
 * Each point is loaded once a step, taken `chain` times through
 * x = fma(x, x, -1.9), and stored.  The map is chaotic on [-1.97, 1.97], so that
 * every single operation shows in the bits of the result, and fma() is rounded
 * once wherever it runs, so that the bits are the same everywhere.  Of the
 * variants only `launch` is built with it.
 */
#ifndef PKRUN_FMA_H
#define PKRUN_FMA_H

#include <stdint.h>

#define FMA_VERSION 1
#define FMA_CHUNK 1024 /* points a unit */
#define FMA_SHIFT 1.9

struct fma_args {
	uint32_t size;		/* sizeof(struct fma_args) */
	uint32_t version;	/* FMA_VERSION */
	int64_t  n;		/* points */
	int64_t  chain;		/* operations a point and step */
	double  *x;		/* device address; NULL until setup() */
};

#if defined(__cplusplus) && \
	(defined(PKRUN_BUILD_HOST) || defined(PKRUN_BUILD_HIP) || defined(PKRUN_BUILD_CUDA))
#include <math.h>
#include "shape.h"

struct fma_work {
	static const bool has_norm = false;

	double *x;
	uint64_t n;
	uint32_t chain;

	static fma_work make(const struct fma_args *args)
	{
		fma_work w = {args->x, (uint64_t)args->n, (uint32_t)args->chain};
		return w;
	}
	uint64_t units() const
	{
		return (n + FMA_CHUNK - 1) / FMA_CHUNK;
	}
	/* Four points at once, so that one does not wait for the other. */
	__device__ __forceinline__ void step(uint32_t block, uint32_t blocks, uint64_t s) const
	{
		uint64_t first = pk_share_begin(n, blocks, block);
		uint64_t end = pk_share_begin(n, blocks, (uint64_t)block + 1);

		(void)s;
		for (uint64_t i = first + threadIdx.x; i < end; i += 4 * (uint64_t)blockDim.x) {
			double v[4];

			for (uint32_t q = 0; q < 4; q++)
				v[q] = i + q * (uint64_t)blockDim.x < end ? x[i + q * (uint64_t)blockDim.x] : 0;
			for (uint32_t k = 0; k < chain; k++)
				for (uint32_t q = 0; q < 4; q++)
					v[q] = fma(v[q], v[q], -FMA_SHIFT);
			for (uint32_t q = 0; q < 4; q++)
				if (i + q * (uint64_t)blockDim.x < end)
					x[i + q * (uint64_t)blockDim.x] = v[q];
		}
	}
	PK_FN int neighbours(uint32_t, uint32_t, uint32_t[PK_NEIGHBOURS_MAX]) const
	{
		return 0;
	}
};
#endif
#endif
