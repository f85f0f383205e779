/* SPDX-License-Identifier: MIT
 *
 * persistent_spin - as persistent_neighbour, with the host's wait tuned.
 *
 * usleep(25) is 75 us and usleep(1) about 50, for Linux delays a timer by its
 * slack of 50 us:
 *
 * 	wait = spin		look again at once
 * 	wait = slack:N		sleep 1 us, with a timer slack of N ns (prctl)
 * 	wait = usleep:N		as the rungs before
 * 	pin = CPU		and keep the loop on one CPU
 *
 * Cost: spin takes a whole core.
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
	HOST_OPTION_WAIT("spin"),
	HOST_OPTION_PAD("0"),
	HOST_OPTION_PIN("-1"),
	HOST_OPTION_FLAGS("host"),
	HOST_OPTION_STAMPS(),
	{},
};

PKRUN_PLUGIN(
	.name = "persistent_spin",
	.brief = "as persistent_neighbour, with a host that spins instead of sleeping",
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
