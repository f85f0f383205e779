/* SPDX-License-Identifier: MIT
 *
 * neighbour_order.h - steps ordered between neighbouring blocks by a step
 * counter a block in device memory, on a line of its own.
 *
 * A block's counter is how many steps it has done.  It may begin step s when
 * every neighbour's counter stands at s or more.  That is enough in both
 * directions: a neighbour cannot begin step s + 1, which writes what this block
 * reads in step s, before this block's own counter stands at s + 1.
 */
#ifndef PKRUN_NEIGHBOUR_ORDER_H
#define PKRUN_NEIGHBOUR_ORDER_H

#include "persistent_device.h"

/* A block's neighbours, in shared memory; `left`: a waiting thread saw the abort word. */
struct neighbour_list {
	uint32_t block[PK_NEIGHBOURS_MAX];
	int n;
	uint32_t left;
};

/* Every thread calls it; ends with a barrier. */
template <class W>
static __device__ __forceinline__ void pk_neighbours_find(const W &work, struct neighbour_list *near)
{
	if (threadIdx.x == 0) {
		near->n = work.neighbours(blockIdx.x, gridDim.x, near->block);
		near->left = 0;
	}
	__syncthreads();
}

/* Threads 0, 32, ... each watch one neighbour until all have done s steps: a
 * thread a warp, for two that spin in one warp take turns (H200, 132 blocks of
 * 256 threads, N = 1001, one run each: 54.6 us an iteration with threads 0 and
 * 1, 36.1 so). */
#define PK_LEADER 32u

static __device__ __forceinline__ bool pk_neighbours_wait(const struct step_line *counters,
							  struct neighbour_list *near, uint64_t s,
							  struct pkrun_watch *watch)
{
	const uint32_t leaders = (blockDim.x + PK_LEADER - 1) / PK_LEADER;

	for (int q = (int)(threadIdx.x / PK_LEADER); q < near->n && threadIdx.x % PK_LEADER == 0;
	     q += (int)leaders) {
		uint64_t done;

		if (!pk_wait<pk_agent, pk_orders_relaxed>(
			    &counters[near->block[q]].done, [=](uint64_t v) { return v >= s; },
			    &done, watch, blockIdx.x, s))
			pk_block::put_relaxed(&near->left, 1u);
	}
	__syncthreads();
	return !pk_block::relaxed(&near->left);
}

/* As an order of persistent_device.h. */
struct neighbour_order : device_order {
	template <class W, class Waited = struct pk_untold>
	static __device__ __forceinline__ bool before(const struct device_control &c, const W &work,
						      uint64_t s, uint32_t *, Waited waited = {})
	{
		PK_SHARED(struct neighbour_list, near, [1]);

		bool on;

		if (s == 0) {
			pk_neighbours_find(work, near);
			waited();
			return true;
		}
		on = pk_neighbours_wait(c.counters, near, s, c.watch);
		waited();
		return on;
	}
	template <class W, class Told = struct pk_untold>
	static __device__ __forceinline__ bool after(const struct device_control &c, const W &,
						     uint64_t s, uint32_t *, Told told = {})
	{
		__syncthreads();
		if (threadIdx.x == 0)
			pk_agent::put_release(&c.counters[blockIdx.x].done, s + 1);
		told();
		return true;
	}
	static __device__ __forceinline__ bool all(const struct device_control &c, uint64_t number,
						   uint32_t *left, uint64_t s)
	{
		return pk_barrier_counter(&c.lines->norm_barrier, number, gridDim.x, left, c.watch,
					  s);
	}
};

#endif
