/* SPDX-License-Identifier: MIT
 *
 * sync_block - __syncthreads(): the barrier of one block's threads.  The floor
 * of all others, each of which has at least one of these inside.
 */
#include "kernels/sync_body.h"

struct block_sync {
	using witness = sync_witness_block;
	struct step_line *line;

	static size_t lines(const struct pkrun_run *, uint32_t)
	{
		return 0;
	}
	__device__ __forceinline__ bool agree(const struct device_control &, bool leave,
					      uint32_t *) const
	{
		return !leave;
	}
	__device__ __forceinline__ bool step(uint64_t, const struct device_control &, uint32_t *) const
	{
		__syncthreads();
		return true;
	}
};

SYNC_PLUGIN("sync_block", "the barrier of a block's threads, __syncthreads()", PKRUN_CONTROL_DEVICE,
	    block_sync, sync_start<block_sync>, device_run, NULL, 0);
