/* SPDX-License-Identifier: MIT
 *
 * persistent_relaxed - as persistent_poller, with the weakest orders that are
 * still right.
 *
 * Polls are relaxed; when a poll has seen its flag one acquire load follows,
 * whose value is used, and "done" is one release store behind the block's
 * barrier.  So caches are invalidated once a step and written back once a step,
 * and not at every poll.  The report made every access relaxed: then nothing
 * orders the halo's data, which a run may get away with.
 *
 * Cost: none against the rung before; what is left is the host's sleep.
 */
#include "kernels/persistent_host.h"

struct rung {
	using orders = pk_orders_relaxed;
	static const bool all_poll = false;
	static const uint32_t sweep = PKRUN_SWEEP_ROWS;
};

static const struct pkrun_option options[] = {
	HOST_OPTION_BROADCAST("barrier"),
	HOST_OPTION_SCHEDULE("lockstep"),
	HOST_OPTION_WAIT("usleep:25"),
	HOST_OPTION_PAD("0"),
	HOST_OPTION_PIN("-1"),
	HOST_OPTION_FLAGS("host"),
	HOST_OPTION_STAMPS(),
	{},
};

PKRUN_PLUGIN(
	.name = "persistent_relaxed",
	.brief = "relaxed polls, one acquire after the flag is seen, one release after the work",
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
