/* SPDX-License-Identifier: MIT
 *
 * mix.h - values that both a kernel and its CPU reference compute: 64-bit
 * integer arithmetic, so that they agree on every target.
 */
#ifndef PKRUN_MIX_H
#define PKRUN_MIX_H

#include <stdint.h>

#if defined(__cplusplus) && \
	(defined(PKRUN_BUILD_HOST) || defined(PKRUN_BUILD_HIP) || defined(PKRUN_BUILD_CUDA))
#include "gpu.h"
#define PK_MIX_FN static __host__ __device__ __forceinline__
#else
#define PK_MIX_FN static inline
#endif

#define PK_GOLDEN 0x9E3779B97F4A7C15ull

/* MurmurHash3's finaliser. */
PK_MIX_FN uint64_t pk_mix64(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdull;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ull;
	return x ^ x >> 33;
}

/*
 * `steps` steps of Knuth's linear congruential generator: each needs the one
 * before it, so that this is a piece of work of a given length which no
 * compiler shortens.
 */
PK_MIX_FN uint64_t pk_chain_work(uint64_t x, uint64_t steps)
{
	for (uint64_t i = 0; i < steps; i++)
		x = x * 6364136223846793005ull + 1442695040888963407ull;
	return x;
}

#endif
