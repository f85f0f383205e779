/* SPDX-License-Identifier: MIT
 *
 * persistent_neighbour - as persistent_relaxed, without lockstep.
 *
 * The host keeps the steps that each block has done and releases a block for its
 * next one as soon as it has answered and no neighbour has done fewer.
 * Neighbours (from the sweep shape) then never differ by more than one step, in
 * either direction, which is all that red-black needs; a slow block delays its
 * surroundings and not everybody.
 *
 * Cost: the host looks at the neighbours' counts of every block in every pass.
 */
#include "kernels/persistent_host.h"

struct rung {
	using orders = pk_orders_relaxed;
	static const bool all_poll = false;
	static const uint32_t sweep = PKRUN_SWEEP_ROWS;
};

static const struct pkrun_option options[] = {
	HOST_OPTION_BROADCAST("barrier"),
	HOST_OPTION_SCHEDULE("neighbour"),
	HOST_OPTION_WAIT("usleep:25"),
	HOST_OPTION_PAD("0"),
	HOST_OPTION_PIN("-1"),
	HOST_OPTION_FLAGS("host"),
	HOST_OPTION_STAMPS(),
	{},
};

PKRUN_PLUGIN(
	.name = "persistent_neighbour",
	.brief = "the host releases each block as soon as its neighbours are not behind it",
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
