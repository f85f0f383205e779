/* SPDX-License-Identifier: MIT
 *
 * barrier.h - a barrier of all blocks of a resident grid.
 *
 * The counter only grows: block after block adds 1, and barrier number k is
 * open when it stands at (k + 1) * blocks.  Nothing is reset, so a block that
 * is early for the next one cannot disturb a block that is late for this one.
 * Each addition releases and the waiter acquires; additions in between keep
 * the release sequence, so the waiter sees what every block did before.
 */
#ifndef PKRUN_BARRIER_H
#define PKRUN_BARRIER_H

#include "flags.h"

/*
 * Every thread of every block calls it, `number` counts from 0.  `left` is a
 * shared word of the block, 0 before; false for all threads of a block when
 * the run is being aborted.  arrived(), by thread 0: the block has been counted.
 */
template <class Arrived = struct pk_untold>
static __device__ __forceinline__ bool
pk_barrier_counter(uint64_t *counter, uint64_t number, uint32_t blocks, uint32_t *left,
		   struct pkrun_watch *watch, uint64_t step, Arrived arrived = {})
{
	__syncthreads();
	if (threadIdx.x == 0) {
		uint64_t all = (number + 1) * blocks, seen;

		pk_agent::add_acq_rel(counter, (uint64_t)1);
		arrived();
		if (!pk_wait<pk_agent, pk_orders_relaxed>(
			    counter, [=](uint64_t v) { return v >= all; }, &seen, watch, blockIdx.x,
			    step))
			*left = 1;
	}
	__syncthreads();
	return !*left;
}

#endif
