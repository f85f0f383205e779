/* SPDX-License-Identifier: MIT
 *
 * persistent_device - as persistent_barrier, but a block waits only for the
 * blocks whose points lie next to its own.
 *
 * Each block has a step counter in device memory, on a line of its own
 * (kernels/neighbour_order.h says why it is enough).  Neighbours differ by one
 * step at most, but blocks far apart may drift, so a slow block delays its
 * surroundings and not everybody.
 *
 * Cost: a store and up to six polls a block and step, no central counter.
 */
#include "kernels/neighbour_order.h"

static const struct pkrun_option options[] = {
	DEVICE_OPTION_STAMPS(),
	{},
};

static int start(struct pkrun_run *run)
{
	return device_start(run, neighbour_order{});
}

PKRUN_PLUGIN(
	.name = "persistent_device",
	.brief = "one release for all iterations; blocks wait for their neighbours' step counters",
	.control = PKRUN_CONTROL_DEVICE,
	.result = PKRUN_EXACT,
	.flags = PKRUN_COOPERATIVE | PKRUN_RESIDENT,
	.state_size = sizeof(struct device_state),
	.workloads = PK_WORKLOADS,
	.options = options,
	.options_size = sizeof(struct device_options),
	.reserved = 0,
	.probe = NULL,
	.footprint = device_footprint<neighbour_order>,
	.setup = device_setup,
	.start = start,
	.run = device_run,
	.wait = device_wait,
	.stop = device_stop,
	.teardown = device_teardown,
);
