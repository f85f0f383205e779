/* SPDX-License-Identifier: MIT
 *
 * launch_coop - launch, with cooperative launches.
 *
 * The same kernels in the same queue; the runtime now promises that all blocks
 * are co-resident, so the grid is capped and blocks stride over the rows.
 * launch with blocks = capped is the fair thing to compare with: the
 * difference is what the promise costs.
 */
#include "kernels/launch.h"

static const struct pkrun_option options[] = {
	LAUNCH_OPTION_STAMPS(),
	{},
};

static int footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	return launch_footprint_auto(run, PK_AUTO_CAPPED, fp);
}

static int run_launches(struct pkrun_run *run, uint64_t iterations)
{
	return launch_run(run, iterations, LAUNCH_COOP);
}

PKRUN_PLUGIN(
	.name = "launch_coop",
	.brief = "as launch, with cooperative launches of a capped grid",
	.control = PKRUN_CONTROL_HOST_QUEUE,
	.result = PKRUN_EXACT,
	.flags = PKRUN_COOPERATIVE,
	.state_size = sizeof(struct launch_state),
	.workloads = PK_WORKLOADS,
	.options = options,
	.options_size = sizeof(struct launch_options),
	.reserved = 0,
	.probe = launch_probe,
	.footprint = footprint,
	.setup = launch_setup,
	.start = launch_start,
	.run = run_launches,
	.wait = launch_wait,
	.stop = launch_stop,
	.teardown = NULL,
);
