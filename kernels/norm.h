/* SPDX-License-Identifier: MIT
 *
 * norm.h - the residual norm that `check = k` asks for every k iterations.
 *
 * A functor with has_norm gives each thread's share of the sum of squares; a
 * block adds its threads' up, and the last block, every block or the host adds the blocks' up.
 * The order of additions is fixed for a grid and a block, so the figure is the
 * same in every run.  It is a solver's look at its progress: what counts here
 * is the synchronisation that each variant has to pay for it.
 */
#ifndef PKRUN_NORM_H
#define PKRUN_NORM_H

#include <math.h>
#include "flags.h"
#include "variant.h"

/* Where norms go: a partial sum a block, twice, and the result. */
struct pk_norm {
	double *partials;	/* device: 2 x blocks, by parity of the norm's number */
	uint64_t *arrivals;	/* device */
	double *result_dev;	/* host memory: the sum of squares */
	const double *result;	/* the same, for the host */
	uint64_t steps;		/* between two norms; 0: never */
};

/* The sum of v over the block, for thread 0; every thread calls it. */
static __device__ inline double pk_block_sum(double v)
{
	enum { WIDTH = 64 };
	PK_SHARED(double, cell, [WIDTH]);
	double sum = 0;

	for (uint32_t base = 0; base < blockDim.x; base += WIDTH) {
		uint32_t q = threadIdx.x - base;

		if (q < WIDTH)
			cell[q] = base ? cell[q] + v : v;
		__syncthreads();
	}
	if (threadIdx.x == 0)
		for (uint32_t q = 0; q < WIDTH && q < blockDim.x; q++)
			sum += cell[q];
	__syncthreads();
	return sum;
}

/* This block's partial sum of norm number `number`, for thread 0 to store. */
template <class W> static __device__ double pk_norm_partial(const W &work)
{
	return pk_block_sum(work.norm(blockIdx.x, gridDim.x));
}

/* Once all partial sums are there (and acquired): the whole, for thread 0. */
static __device__ inline double pk_norm_whole(const struct pk_norm &n, uint64_t number)
{
	const double *partials = n.partials + (number & 1) * gridDim.x;
	double v = 0;

	for (uint32_t b = threadIdx.x; b < gridDim.x; b += blockDim.x)
		v += partials[b];
	return pk_block_sum(v);
}

/* As a kernel of its own, behind the launches of a step: the last block to
 * finish adds up.  Arrivals are not reset: every norm adds as many as blocks. */
template <class W> static __global__ void norm_kernel(W work, struct pk_norm n)
{
	PK_SHARED(uint32_t, last, [1]);

	if constexpr (W::has_norm) {
		double sum = pk_norm_partial(work);

		if (threadIdx.x == 0) {
			n.partials[blockIdx.x] = sum;
			last[0] = (pk_agent::add_acq_rel(n.arrivals, (uint64_t)1) + 1) % gridDim.x == 0;
		}
		__syncthreads();
		if (!last[0])
			return;
		sum = pk_norm_whole(n, 0);
		if (threadIdx.x == 0)
			*n.result_dev = sum;
	}
}

/* ---- host side ---- */

static inline int pk_norm_setup(struct pkrun_run *run, uint32_t blocks, struct pk_norm *n)
{
	const struct pkrun_host *host = run->host;
	int status = PKRUN_OK;

	n->steps = pk_steps(run, run->check);
	if (!n->steps)
		return PKRUN_OK;
	status = host->alloc(run, "norm_partials", PKRUN_MEMORY_DEVICE, 2 * blocks * sizeof(double),
			     NULL, (void **)&n->partials);
	if (status == PKRUN_OK)
		status = host->alloc(run, "norm_arrivals", PKRUN_MEMORY_DEVICE, sizeof(uint64_t), NULL,
				     (void **)&n->arrivals);
	if (status == PKRUN_OK)
		status = host->alloc(run, "norm", PKRUN_MEMORY_HOST, sizeof(double),
				     (void **)&n->result, (void **)&n->result_dev);
	return status;
}

/* Done when it returns: the clock is about to start. */
static inline int pk_norm_clear(struct pkrun_run *run, const struct pk_norm *n)
{
	if (!n->steps)
		return PKRUN_OK;
	PK_TRY(run, hipMemsetAsync(n->arrivals, 0, sizeof(*n->arrivals), pk_stream(run)));
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	return PKRUN_OK;
}

/* When a run of so many iterations has ended: its last norm, if it had one. */
static inline void pk_norm_report(struct pkrun_run *run, double squares, uint64_t iterations)
{
	if (run->check && iterations >= run->check)
		run->host->metric(run, "residual_norm", sqrt(squares), "");
}

#endif
