/* SPDX-License-Identifier: MIT
 *
 * locality_body.h - the two stages on the device, apart and fused.
 *
 * Fused, a block does a chunk: stage 1 of the chunk and of one word on either
 * side into shared memory, a block barrier, stage 2.  The two words beside it
 * are computed by both blocks, so that none waits for another.
 */
#ifndef PKRUN_LOCALITY_BODY_H
#define PKRUN_LOCALITY_BODY_H

#include "host_wait.h"
#include "locality.h"

static PK_FN uint64_t locality_nearest(int64_t i, uint64_t n)
{
	return i < 0 ? 0 : (uint64_t)i >= n ? n - 1 : (uint64_t)i;
}

/* Intermediate word i; beyond an end the nearest. */
static __device__ __forceinline__ uint64_t locality_stage1(const struct locality_args &a, int64_t i)
{
	int64_t at = (int64_t)locality_nearest(i, a.n);

	return locality_first(a.input[locality_nearest(at - 1, a.n)], a.input[at],
			      a.input[locality_nearest(at + 1, a.n)]);
}

static __device__ __forceinline__ uint64_t locality_chunks(const struct locality_args &a)
{
	return (a.n - 1) / LOCALITY_CHUNK + 1;
}

/* Call f(i) for the words of this block's chunks that are this thread's. */
template <class F>
static __device__ __forceinline__ void locality_each(const struct locality_args &a, F f)
{
	for (uint64_t chunk = blockIdx.x; chunk < locality_chunks(a); chunk += gridDim.x) {
		uint64_t first = chunk * LOCALITY_CHUNK, end = first + LOCALITY_CHUNK;

		for (uint64_t i = first + threadIdx.x; i < end && i < a.n; i += blockDim.x)
			f(i);
	}
}

/* Stage 1 into device memory; stage 2 from there. */
static __device__ __forceinline__ void locality_produce(const struct locality_args &a,
							uint64_t *between)
{
	locality_each(a, [&](uint64_t i) { between[i] = locality_stage1(a, (int64_t)i); });
}

static __device__ __forceinline__ void locality_consume(const struct locality_args &a,
							const uint64_t *between)
{
	locality_each(a, [&](uint64_t i) {
		a.sum[i] += locality_second(between[locality_nearest((int64_t)i - 1, a.n)], between[i],
					    between[locality_nearest((int64_t)i + 1, a.n)]);
	});
}

/* Both, through shared memory. */
static __device__ __forceinline__ void locality_fused(const struct locality_args &a)
{
	PK_SHARED(uint64_t, between, [LOCALITY_CHUNK + 2]);

	for (uint64_t chunk = blockIdx.x; chunk < locality_chunks(a); chunk += gridDim.x) {
		uint64_t first = chunk * LOCALITY_CHUNK;

		for (uint32_t k = threadIdx.x; k < LOCALITY_CHUNK + 2; k += blockDim.x)
			between[k] = locality_stage1(a, (int64_t)(first + k) - 1);
		__syncthreads();
		for (uint32_t k = threadIdx.x; k < LOCALITY_CHUNK && first + k < a.n; k += blockDim.x)
			a.sum[first + k] += locality_second(between[k], between[k + 1], between[k + 2]);
		__syncthreads(); /* `between` has been read */
	}
}

static inline const struct locality_args *locality_args_of(struct pkrun_run *run)
{
	return pk_args<struct locality_args>(run, LOCALITY_VERSION);
}

static inline uint64_t locality_units(struct pkrun_run *run)
{
	return (locality_args_of(run)->n - 1) / LOCALITY_CHUNK + 1;
}

static inline int locality_sync(struct pkrun_run *run)
{
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	return PKRUN_OK;
}

#endif
