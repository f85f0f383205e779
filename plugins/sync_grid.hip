/* SPDX-License-Identifier: MIT
 *
 * sync_grid - the runtime's barrier of a cooperative grid, this_grid().sync().
 *
 * It cannot be left alone: blocks that want to leave say so in a device word
 * before a barrier and all look at it behind that barrier, where between a look
 * and the next write of the word lies at least one more barrier.
 */
#include "kernels/sync_body.h"

struct grid_sync {
	using witness = sync_witness_grid;
	struct step_line *line;

	static size_t lines(const struct pkrun_run *, uint32_t)
	{
		return 1;
	}
	__device__ __forceinline__ bool agree(const struct device_control &, bool leave,
					      uint32_t *) const
	{
		if (leave && threadIdx.x == 0)
			pk_agent::put_relaxed(&line->done, (uint64_t)1);
		cooperative_groups::this_grid().sync();
		leave = pk_agent::relaxed(&line->done) != 0;
		return !leave;
	}
	__device__ __forceinline__ bool step(uint64_t, const struct device_control &, uint32_t *) const
	{
		cooperative_groups::this_grid().sync();
		return true;
	}
	__device__ __forceinline__ uint32_t peer(uint64_t look) const
	{
		return sync_any_peer(look);
	}
};

SYNC_PLUGIN("sync_grid", "the runtime's barrier of a cooperative grid", PKRUN_CONTROL_DEVICE,
	    grid_sync, sync_start<grid_sync>, device_run, NULL, 0);
