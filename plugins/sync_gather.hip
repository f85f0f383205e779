/* SPDX-License-Identifier: MIT
 *
 * sync_gather - a barrier of all blocks without atomic additions: each block
 * raises a word of its own, the threads of block 0 watch them all, and block 0
 * raises one word that the others watch (Xiao and Feng's lock-free barrier).
 *
 * Order: a block's store releases what its threads did before the block
 * barrier; each watching thread of block 0 acquires, and the barrier of block 0
 * joins what its threads acquired; thread 0's store then releases all of it.
 */
#include "kernels/sync_body.h"

struct gather_sync {
	using witness = sync_witness_grid;
	struct step_line *line; /* a word a block, then the common one */

	static size_t lines(const struct pkrun_run *, uint32_t blocks)
	{
		return (size_t)blocks + 1;
	}
	__device__ __forceinline__ bool agree(const struct device_control &, bool leave,
					      uint32_t *) const
	{
		return !leave;
	}
	__device__ __forceinline__ void await(const uint64_t *word, uint64_t s,
					      const struct device_control &c, uint32_t *left) const
	{
		uint64_t v;

		if (!pk_wait<pk_agent, pk_orders_relaxed>(
			    word, [=](uint64_t f) { return f > s; }, &v, c.watch, blockIdx.x, s))
			pk_block::put_relaxed(left, 1u);
	}
	__device__ __forceinline__ bool step(uint64_t s, const struct device_control &c,
					     uint32_t *left) const
	{
		uint64_t *common = &line[gridDim.x].done;

		__syncthreads();
		if (blockIdx.x == 0) {
			for (uint32_t b = threadIdx.x + 1; b < gridDim.x; b += blockDim.x)
				await(&line[b].done, s, c, left);
			__syncthreads();
			if (threadIdx.x == 0)
				pk_agent::put_release(common, s + 1);
		} else if (threadIdx.x == 0) {
			pk_agent::put_release(&line[blockIdx.x].done, s + 1);
			await(common, s, c, left);
		}
		__syncthreads();
		return !pk_block::relaxed(left);
	}
	__device__ __forceinline__ uint32_t peer(uint64_t look) const
	{
		return sync_any_peer(look);
	}
};

SYNC_PLUGIN("sync_gather", "a word a block, gathered by block 0, which opens for all",
	    PKRUN_CONTROL_DEVICE, gather_sync, sync_start<gather_sync>, device_run, NULL, 0);
