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

static int footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	int status = pk_with_work(run, [=](auto work) -> int {
		return pk_footprint(run, launch_kernel<decltype(work)>, work.units(), 0,
				    PK_AUTO_CAPPED, fp);
	});

	((struct launch_state *)run->state)->blocks = fp->blocks;
	return status;
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
	.options = NULL,
	.options_size = 0,
	.reserved = 0,
	.probe = NULL,
	.footprint = footprint,
	.setup = launch_setup,
	.start = launch_start,
	.run = run_launches,
	.wait = launch_wait,
	.stop = NULL,
	.teardown = NULL,
);
