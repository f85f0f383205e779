/* SPDX-License-Identifier: MIT
 *
 * launch_sync - launch, with a synchronisation after each iteration.
 *
 * What a solver pays that looks at every iteration: the launch is no longer
 * hidden behind the kernel before it, and the host learns of the end by a
 * round trip through the driver.  launch_sync minus launch is that cost.
 */
#include "kernels/launch.h"

static const struct pkrun_option options[] = {
	LAUNCH_OPTION_STAMPS(),
	{},
};

static int run_launches(struct pkrun_run *run, uint64_t iterations)
{
	((struct launch_state *)run->state)->iterations = iterations;
	return pk_with_work(run, [=](auto work) -> int {
		auto steps = [=](uint64_t before, uint64_t n) {
			return launch_steps(run, work, before, n, LAUNCH_ORDINARY);
		};
		int status = PKRUN_OK;

		for (uint64_t i = 0; i < iterations && status == PKRUN_OK; i++) {
			status = launch_checked(run, work, i, 1, steps);
			if (status == PKRUN_OK)
				status = launch_sync_stream(run);
		}
		return status;
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
