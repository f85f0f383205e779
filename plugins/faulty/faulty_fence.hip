/* SPDX-License-Identifier: MIT
 *
 * faulty_fence - a block fence stands where a barrier belongs.
 *
 * The first report's other mistake there: thread 0 polls and puts the task in a
 * shared word, and the others are meant to wait behind __threadfence_block().
 * A fence orders, it does not wait, so only thread 0's wavefront does.  The
 * others do what the word said last: the step before once more.  That is often
 * harmless, for a half-sweep done twice gives the same values; but the step
 * that they should have done is not done, and "done" is said for it.
 *
 * Blocks of one wavefront do it right on a GPU.
 */
#include "faulty.h"

struct rung {
	using orders = pk_orders_relaxed;
	static const bool all_poll = false;
	static const uint32_t sweep = PKRUN_SWEEP_ROWS;
};

template <class W> static __global__ void fence_kernel(W work, struct host_control c)
{
	PK_SHARED(uint32_t, word, [1]); /* the released epoch: step word - 1; 0: none yet */
	uint64_t s = 0;
	bool leave = false;

	if (threadIdx.x == 0)
		word[0] = 0;
	__syncthreads();
	if (threadIdx.x == 0)
		pk_system::put_release(faulty_answer(c), 0u);
	while (!leave) {
		if (threadIdx.x == 0)
			word[0] = faulty_poll<rung::orders>(c, s);
		__threadfence_block(); /* the mistake */
		uint32_t task = word[0];

		if (task != 0 && task != FLAG_LEAVE)
			work.step(blockIdx.x, gridDim.x, task - 1);
		__syncthreads();
		leave = word[0] == FLAG_LEAVE;
		__syncthreads();
		if (leave)
			break;
		s++;
		if (threadIdx.x == 0)
			pk_system::put_release(faulty_answer(c), (uint32_t)s);
	}
	if (threadIdx.x == 0)
		c.steps[blockIdx.x] = s;
}

template <class W> struct host_kernel_of<W, rung> {
	static auto kernel()
	{
		return fence_kernel<W>;
	}
};

FAULTY_PLUGIN("faulty_fence", "a block fence in place of the barrier after the broadcast");
