/* SPDX-License-Identifier: MIT
 *
 * faulty_early_ack - "done" is stored before the work.
 *
 * One of the first report's two mistakes on the way from all threads polling
 * to one.  The host releases the neighbours, and in the end reads the result,
 * while this block may still be at work; it is faster, of course.
 */
#include "faulty.h"

struct rung {
	using orders = pk_orders_relaxed;
	static const bool all_poll = false;
	static const uint32_t sweep = PKRUN_SWEEP_ROWS;
};

template <class W> static __global__ void early_ack_kernel(W work, struct host_control c)
{
	PK_SHARED(uint32_t, word, [1]);
	uint64_t s = 0;

	if (threadIdx.x == 0)
		pk_system::put_release(faulty_answer(c), 0u);
	for (;; s++) {
		if (threadIdx.x == 0)
			word[0] = faulty_poll<rung::orders>(c, s);
		__syncthreads();
		if (word[0] == FLAG_LEAVE)
			break;
		if (threadIdx.x == 0) /* the mistake */
			pk_system::put_release(faulty_answer(c), (uint32_t)s + 1);
		work.step(blockIdx.x, gridDim.x, s);
		__syncthreads();
	}
	if (threadIdx.x == 0)
		c.steps[blockIdx.x] = s;
}

template <class W> struct host_kernel_of<W, rung> {
	static auto kernel()
	{
		return early_ack_kernel<W>;
	}
};

FAULTY_PLUGIN("faulty_early_ack", "says done before the work");
