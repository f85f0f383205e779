/* SPDX-License-Identifier: MIT
 *
 * faulty_coverage - a quarter of each block's threads leave the work early.
 *
 * The first report's largest grid ran at 1.58 of 1.6 TB/s, which points to
 * work not done.  Here the last quarter of a block's threads does the first
 * step only: their points stand still from then on.  The order of everything
 * is right, so no race checker has anything to say, and a check of a few points
 * of the first wavefront sees little or nothing.  With rows so short that these
 * threads have no points, it is right.
 */
#include "faulty.h"

struct rung {
	using orders = pk_orders_relaxed;
	static const bool all_poll = false;
	static const uint32_t sweep = PKRUN_SWEEP_ROWS;
};

template <class W> static __global__ void coverage_kernel(W work, struct host_control c)
{
	PK_SHARED(uint32_t, word, [1]);
	const bool leaves = threadIdx.x >= blockDim.x - blockDim.x / 4;
	uint64_t s = 0;

	if (threadIdx.x == 0)
		pk_system::put_release(faulty_answer(c), 0u);
	for (;; s++) {
		if (threadIdx.x == 0)
			word[0] = faulty_poll<rung::orders>(c, s);
		__syncthreads();
		if (word[0] == FLAG_LEAVE)
			break;
		if (!leaves || s == 0) /* the mistake */
			work.step(blockIdx.x, gridDim.x, s);
		__syncthreads();
		if (threadIdx.x == 0)
			pk_system::put_release(faulty_answer(c), (uint32_t)s + 1);
	}
	if (threadIdx.x == 0)
		c.steps[blockIdx.x] = s;
}

template <class W> struct host_kernel_of<W, rung> {
	static auto kernel()
	{
		return coverage_kernel<W>;
	}
};

FAULTY_PLUGIN("faulty_coverage", "some threads leave early and their points stand still");
