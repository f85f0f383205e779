/* SPDX-License-Identifier: MIT
 *
 * persistent_padded - as persistent_tiled, with 128 bytes between two flags.
 *
 * Packed side by side, 32 flags share a line that the host writes while every
 * block that has not been released polls it, and that blocks write while the host
 * polls it: each access takes the line away from everybody else.  With a line a
 * flag each has one writer and one reader (pad = 0, 64, 128, 256).
 *
 * Cost: the host reads and writes a line a block and step, no longer 32 at once.
 */
#include "kernels/persistent_host.h"

struct rung {
	using orders = pk_orders_relaxed;
	static const bool all_poll = false;
	static const uint32_t sweep = PKRUN_SWEEP_TILES;
};

static const struct pkrun_option options[] = {
	HOST_OPTION_BROADCAST("barrier"),
	HOST_OPTION_SCHEDULE("neighbour"),
	HOST_OPTION_WAIT("spin"),
	HOST_OPTION_PAD("128"),
	HOST_OPTION_PIN("-1"),
	HOST_OPTION_FLAGS("host"),
	HOST_OPTION_STAMPS(),
	{},
};

PKRUN_PLUGIN(
	.name = "persistent_padded",
	.brief = "as persistent_tiled, each flag on a cache line of its own",
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
