/* SPDX-License-Identifier: MIT
 *
 * persistent_halo - several steps an exchange, on private copies with a wide halo.
 *
 * Against persistent_device: a block works on a copy of its band and of `depth`
 * rows on either side, and exchanges rows with its neighbours once in `depth`
 * steps.  In between it updates halo rows too, one fewer on each side a step, so
 * that its own points get exactly the same bits (kernels/private_bands.h).
 *
 * Cost: on average (depth - 1) / 2 rows of redundant work a side and step, whole
 * rows copied to packets and back, and a copy of the grid.  It pays where a step
 * is shorter than a handshake.
 */
#include "kernels/private_bands.h"

static const struct pkrun_option options[] = {
	{"depth", PKRUN_INT, offsetof(struct private_options, rows), "4", 1, 64, NULL, "step",
	 "steps an exchange, and rows of the halo; no more blocks than leave each so many rows"},
	DEVICE_OPTION_STAMPS(),
	{},
};

PKRUN_PLUGIN(
	.name = "persistent_halo",
	.brief = "private copies with a wide halo, several half-sweeps an exchange",
	.control = PKRUN_CONTROL_DEVICE,
	.result = PKRUN_EXACT,
	.flags = PKRUN_COOPERATIVE | PKRUN_RESIDENT,
	.state_size = sizeof(struct private_state),
	.workloads = "poisson2d,null",
	.options = options,
	.options_size = sizeof(struct private_options),
	.reserved = 0,
	.probe = private_probe,
	.footprint = device_footprint<private_order, private_source>,
	.setup = private_setup,
	.start = private_start,
	.run = device_run,
	.wait = device_wait,
	.stop = device_stop,
	.teardown = device_teardown,
);
