/* SPDX-License-Identifier: MIT
 *
 * launch - the first rung, and what the others are measured against: one
 * kernel a step, queued one behind the other, one synchronisation at the end.
 *
 * The queue hides the cost of a launch behind the kernel before it; what stays
 * is the gap between two kernels of a stream, and a queue that fills up when
 * kernels are longer than launches.
 */
#define PK_WITH_FMA
#include "kernels/launch.h"

static const struct pkrun_option options[] = {
	LAUNCH_OPTION_STAMPS(),
	{},
};

static int run_launches(struct pkrun_run *run, uint64_t iterations)
{
	return launch_run(run, iterations, LAUNCH_ORDINARY);
}

PKRUN_PLUGIN(
	.name = "launch",
	.brief = "one queued kernel a step, one synchronisation at the end",
	.control = PKRUN_CONTROL_HOST_QUEUE,
	.result = PKRUN_EXACT,
	.flags = 0,
	.state_size = sizeof(struct launch_state),
	.workloads = PK_WORKLOADS ",fma",
	.options = options,
	.options_size = sizeof(struct launch_options),
	.reserved = 0,
	.probe = launch_probe,
	.footprint = launch_footprint,
	.setup = launch_setup,
	.start = launch_start,
	.run = run_launches,
	.wait = launch_wait,
	.stop = launch_stop,
	.teardown = NULL,
);
