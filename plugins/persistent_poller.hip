/* SPDX-License-Identifier: MIT
 *
 * persistent_poller - as persistent_naive, but one thread of a block polls.
 *
 * Thread 0 polls and passes the task on through a word of shared memory; polls
 * across the bus become as many as there are blocks.  The report let the other
 * threads wait behind a block fence, which orders but does not wait, so only
 * thread 0's wavefront did; and it stored "done" before the work.  Here:
 *
 *	broadcast = barrier	a real block barrier
 *	broadcast = acquire	the others spin on the shared word and acquire it
 *	broadcast = wavefront	blocks of one wavefront, where the barrier is free
 *
 * "done" comes after the work and a barrier.  Flags are epochs (the number of
 * the step) from here on, so that nothing has to be taken back.
 *
 * Cost: one more trip through shared memory a step; still sequentially
 * consistent, packed flags, and a host that sleeps.
 */
#include "kernels/persistent_host.h"

struct rung {
	using orders = pk_orders_seq_cst;
	static const bool all_poll = false;
	static const uint32_t sweep = PKRUN_SWEEP_ROWS;
};

static const struct pkrun_option options[] = {
	HOST_OPTION_BROADCAST("barrier"), HOST_OPTION_SCHEDULE("lockstep"),
	HOST_OPTION_WAIT("usleep:25"),	  HOST_OPTION_PAD("0"),
	HOST_OPTION_PIN("-1"),		  HOST_OPTION_FLAGS("host"),
	HOST_OPTION_STAMPS(),
	{},
};

PKRUN_PLUGIN(
	.name = "persistent_poller",
	.brief = "thread 0 polls and passes the task on through shared memory",
	.control = PKRUN_CONTROL_HOST,
	.result = PKRUN_EXACT,
	.flags = PKRUN_COOPERATIVE | PKRUN_RESIDENT,
	.state_size = sizeof(struct host_state),
	.workloads = PK_WORKLOADS,
	.options = options,
	.options_size = sizeof(struct host_options),
	.reserved = 0,
	.probe = host_probe,
	.footprint = host_footprint<rung>,
	.setup = host_setup<rung>,
	.start = host_start<rung>,
	.run = host_run<rung>,
	.wait = host_wait,
	.stop = host_stop,
	.teardown = host_teardown,
);
