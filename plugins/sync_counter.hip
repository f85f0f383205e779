/* SPDX-License-Identifier: MIT
 *
 * sync_counter - a barrier of all blocks from one counter that only grows
 * (kernels/barrier.h): an atomic addition a block, and all poll the same word.
 */
#include "kernels/sync_body.h"

struct counter_sync {
	using witness = sync_witness_grid;
	struct step_line *line;

	static size_t lines(const struct pkrun_run *, uint32_t)
	{
		return 1;
	}
	__device__ __forceinline__ bool agree(const struct device_control &, bool leave,
					      uint32_t *) const
	{
		return !leave;
	}
	__device__ __forceinline__ bool step(uint64_t s, const struct device_control &c,
					     uint32_t *left) const
	{
		return pk_barrier_counter(&line->done, s, gridDim.x, left, c.watch, s);
	}
	__device__ __forceinline__ uint32_t peer(uint64_t look) const
	{
		return sync_any_peer(look);
	}
};

SYNC_PLUGIN("sync_counter", "a barrier of all blocks from one atomic counter", PKRUN_CONTROL_DEVICE,
	    counter_sync, sync_start<counter_sync>, device_run, NULL, 0);
