/* SPDX-License-Identifier: MIT
 *
 * persistent_naive - the first persistent kernel of the report "Persistent
 * Kernels: Bridging GPU-CPU Execution", rebuilt as it was (and correct).
 *
 * Against launch_sync: no launches; the kernel stays, and the host releases
 * every step of every block by a flag in host memory.  All threads of a block
 * poll it; when it holds a task the block meets at a barrier (everybody has
 * read it), thread 0 takes it back to idle, the block works, meets again, and
 * thread 0 stores "done" in the flag back.  The host writes the task to all
 * blocks, then passes over the answers, taking them back to "wait" and sleeping
 * 25 us a pass, until none is pending.
 *
 * Cost: every access is sequentially consistent at system scope, each poll of
 * each thread crosses the bus, flags of 32 blocks share a line, and the sleep
 * is in truth 75 us (Linux adds its timer slack).
 */
#include "kernels/persistent_host.h"

struct rung {
	using orders = pk_orders_seq_cst;
	static const bool all_poll = true;
	static const uint32_t sweep = PKRUN_SWEEP_ROWS;
};

static const struct pkrun_option options[] = {
	HOST_OPTION_SCHEDULE("lockstep"), HOST_OPTION_WAIT("usleep:25"), HOST_OPTION_PAD("0"),
	HOST_OPTION_PIN("-1"),		  HOST_OPTION_FLAGS("host"),	 HOST_OPTION_STAMPS(),
	{},
};

PKRUN_PLUGIN(
	.name = "persistent_naive",
	.brief = "every thread polls its block's flag in host memory, sequentially consistent",
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
