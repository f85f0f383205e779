/* SPDX-License-Identifier: MIT
 *
 * persistent_tiled - as persistent_spin, on 2D tiles instead of rows.
 *
 * A row of N = 1001 touches three rows of lines, 189 lines of 128 bytes a block
 * and half-sweep; a tile of 37 x 27 points holds as many points and touches 78 to
 * 117.  A block has up to four neighbours to wait for instead of two.  For grids
 * beyond the cache, sweep = bands (contiguous rows a block, each thread walks down
 * a pair of columns) is the report's next step.  sweep, tile and blocks are
 * options of every variant, so the baseline can have them too.
 *
 * Cost: rows of a tile do not begin on a line, and a warp spans several of them.
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
	HOST_OPTION_PAD("0"),
	HOST_OPTION_PIN("-1"),
	HOST_OPTION_FLAGS("host"),
	HOST_OPTION_STAMPS(),
	{},
};

PKRUN_PLUGIN(
	.name = "persistent_tiled",
	.brief = "as persistent_spin, on 2D tiles",
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
