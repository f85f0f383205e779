/* SPDX-License-Identifier: MIT
 *
 * pingpong_queue.h - a launch for each buffer: the kernel and the order of work
 * that pingpong_launch and pingpong_graph share.
 *
 * Both keep two buffers under way: while the host checks buffer i, buffer i + 1
 * is being filled or copied, and only after the check is i + 2 handed over,
 * which goes into the same memory.
 */
#ifndef PKRUN_PINGPONG_QUEUE_H
#define PKRUN_PINGPONG_QUEUE_H

#include "pingpong_body.h"

/* Which buffer it is, the kernel knows from the count: a captured launch is
 * the same each time.  The count changes when all blocks have arrived, so
 * none can still have to read it. */
static __global__ void pingpong_kernel(struct pingpong_args a, struct pingpong_control c)
{
	uint64_t i = a.count[0];

	pingpong_fill(a, c, i);
	if (threadIdx.x == 0)
		c.steps[blockIdx.x] += 1;
}

/*
 * hand_over(i) queues buffer i, arrived(i) waits until it is in host memory.
 * `under_way`: buffers handed over and not yet checked, 1 or 2.
 */
template <class HandOver, class Arrived>
static int pingpong_cycle(struct pkrun_run *run, uint64_t iterations, uint64_t under_way,
			  HandOver hand_over, Arrived arrived)
{
	struct pingpong_state *st = pingpong_state_of(run);
	uint64_t end = st->consumed + iterations;
	int status = PKRUN_OK;

	if (!st->begin)
		st->begin = pk_now_ns();
	while (status == PKRUN_OK && st->consumed < end) {
		uint64_t i = st->produced;

		if (i < end && i < st->consumed + under_way) {
			st->allowed_at[i & 1] = pk_now_ns();
			status = hand_over(i);
			st->produced++;
			continue;
		}
		if (pingpong_aborted(run, st->consumed))
			return PKRUN_FAIL;
		status = arrived(st->consumed);
		i = st->consumed;
		st->produce_ns += pk_system::relaxed(&st->full[i & 1].produce_ns);
		if (status == PKRUN_OK)
			status = pingpong_validate(run, i, st->allowed_at[i & 1]);
	}
	return status;
}

#endif
