/* SPDX-License-Identifier: MIT
 *
 * persistent_device - as persistent_barrier, but a block waits only for the
 * blocks whose points lie next to its own.
 *
 * Each block has a step counter in device memory, on a line of its own: how
 * many steps it has done.  It begins step s when every neighbour's counter
 * stands at s or more.  That is enough in both directions: a neighbour cannot
 * begin step s + 1, which writes what this block reads in step s, before this
 * block's own counter stands at s + 1.  Neighbours thus differ by one step at
 * most, but blocks far apart may drift, so a slow block delays its surroundings
 * and not everybody.
 *
 * Cost: a store and up to six polls a block and step, no central counter.
 */
#include "kernels/persistent_device.h"

struct neighbour_order {
	static __device__ __forceinline__ bool agree(const struct device_control &, bool leave,
						     uint32_t *)
	{
		return device_agree_alone(leave);
	}
	/* Threads 0, 1, ... each watch one neighbour. */
	template <class W>
	static __device__ __forceinline__ bool before(const struct device_control &c, const W &work,
						      uint64_t s, uint32_t *left)
	{
		PK_SHARED(uint32_t, neighbours, [PK_NEIGHBOURS_MAX]);
		PK_SHARED(int, n, [1]);

		if (s == 0) {
			if (threadIdx.x == 0)
				n[0] = work.neighbours(blockIdx.x, gridDim.x, neighbours);
			__syncthreads();
			return true;
		}
		for (int q = (int)threadIdx.x; q < n[0]; q += (int)blockDim.x) {
			const uint64_t *theirs = &c.counters[neighbours[q]].done;
			uint64_t done;

			if (!pk_wait<pk_agent, pk_orders_relaxed>(
				    theirs, [=](uint64_t v) { return v >= s; }, &done, c.watch,
				    blockIdx.x, s))
				pk_block::put_relaxed(left, 1u);
		}
		__syncthreads();
		return !pk_block::relaxed(left);
	}
	static __device__ __forceinline__ bool after(const struct device_control &c, uint64_t s,
						     uint32_t *)
	{
		__syncthreads();
		if (threadIdx.x == 0)
			pk_agent::put_release(&c.counters[blockIdx.x].done, s + 1);
		return true;
	}
};

static int start(struct pkrun_run *run)
{
	return device_start(run, neighbour_order{});
}

PKRUN_PLUGIN(
	.name = "persistent_device",
	.brief = "one release for all iterations; blocks wait for their neighbours' step counters",
	.control = PKRUN_CONTROL_DEVICE,
	.result = PKRUN_EXACT,
	.flags = PKRUN_COOPERATIVE | PKRUN_RESIDENT,
	.state_size = sizeof(struct device_state),
	.workloads = "poisson2d,null",
	.options = NULL,
	.options_size = 0,
	.reserved = 0,
	.probe = NULL,
	.footprint = device_footprint<neighbour_order>,
	.setup = device_setup,
	.start = start,
	.run = device_run,
	.wait = device_wait,
	.stop = device_stop,
	.teardown = device_teardown,
);
