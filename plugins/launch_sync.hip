/* SPDX-License-Identifier: MIT
 *
 * launch_sync - launch, with a synchronisation after each iteration.
 *
 * What a solver pays that looks at every iteration: the launch is no longer
 * hidden behind the kernel before it, and the host learns of the end by a
 * round trip through the driver.  launch_sync minus launch is that cost.
 */
#include "kernels/launch.h"

static int run_launches(struct pkrun_run *run, uint64_t iterations)
{
	uint32_t blocks = ((struct launch_state *)run->state)->blocks;

	return pk_with_work(run, [=](auto work) -> int {
		for (uint64_t i = 0; i < iterations; i++) {
			int status = launch_queue(run, work, blocks, pk_steps(run, i),
						  pk_steps(run, 1));

			if (status == PKRUN_OK)
				status = launch_sync_stream(run);
			if (status != PKRUN_OK)
				return status;
		}
		return PKRUN_OK;
	});
}

PKRUN_PLUGIN(
	.name = "launch_sync",
	.brief = "one kernel a step, a synchronisation after each iteration",
	.control = PKRUN_CONTROL_HOST,
	.result = PKRUN_EXACT,
	.flags = 0,
	.state_size = sizeof(struct launch_state),
	.workloads = PK_WORKLOADS,
	.options = NULL,
	.options_size = 0,
	.reserved = 0,
	.probe = NULL,
	.footprint = launch_footprint,
	.setup = NULL,
	.start = NULL,
	.run = run_launches,
	.wait = launch_sync_stream,
	.stop = NULL,
	.teardown = NULL,
);
