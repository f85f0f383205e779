/* SPDX-License-Identifier: MIT
 *
 * sync_neighbour - a block waits only for the blocks before and after it in a
 * chain, by step counters in device memory, a line each.
 *
 * Not a barrier: blocks k apart may differ by k steps.  It is what a stencil
 * needs, and its cost does not grow with the number of blocks.
 */
#include "kernels/sync_body.h"

struct neighbour_sync {
	using witness = sync_witness_grid;
	struct step_line *line;

	static size_t lines(const struct pkrun_run *, uint32_t blocks)
	{
		return blocks;
	}
	__device__ __forceinline__ bool agree(const struct device_control &, bool leave,
					      uint32_t *) const
	{
		return !leave;
	}
	/* Neighbour 0 is the block before, 1 the one after; itself where there is none. */
	__device__ __forceinline__ uint32_t neighbour(uint32_t which) const
	{
		if (which == 0)
			return blockIdx.x ? blockIdx.x - 1 : blockIdx.x;
		return blockIdx.x + 1 < gridDim.x ? blockIdx.x + 1 : blockIdx.x;
	}
	/* With one thread a block, it watches both in turn. */
	__device__ __forceinline__ bool step(uint64_t s, const struct device_control &c,
					     uint32_t *left) const
	{
		__syncthreads();
		if (threadIdx.x == 0)
			pk_agent::put_release(&line[blockIdx.x].done, s + 1);
		for (uint32_t q = threadIdx.x; q < 2; q += blockDim.x) {
			uint64_t v;

			if (!pk_wait<pk_agent, pk_orders_relaxed>(
				    &line[neighbour(q)].done, [=](uint64_t f) { return f > s; }, &v,
				    c.watch, blockIdx.x, s))
				pk_block::put_relaxed(left, 1u);
		}
		__syncthreads();
		return !pk_block::relaxed(left);
	}
	__device__ __forceinline__ uint32_t peer(uint64_t look) const
	{
		return neighbour((uint32_t)(look & 1));
	}
};

SYNC_PLUGIN("sync_neighbour", "each block waits for the blocks beside it, by step counters",
	    PKRUN_CONTROL_DEVICE, neighbour_sync, sync_start<neighbour_sync>, device_run, NULL, 0);
