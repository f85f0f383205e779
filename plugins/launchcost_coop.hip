/* SPDX-License-Identifier: MIT
 *
 * launchcost_coop - what a cooperative launch costs: the host, between two
 * kernels, and in all (kernels/launchcost_body.h).
 */
#include "kernels/launchcost_body.h"

struct coop_way {
	static int go(struct pkrun_run *run, uint64_t work, uint64_t launches)
	{
		uint32_t blocks = launchcost_state_of(run)->blocks;
		const struct launchcost_args a = *(const struct launchcost_args *)run->work->args;

		for (uint64_t i = 0; i < launches; i++)
			PK_TRY(run, pk_launch_coop(launchcost_kernel, dim3(blocks), dim3(run->threads),
					   0, pk_stream(run), a, work, run->steps));
		return PKRUN_OK;
	}
};

static int run_sequences(struct pkrun_run *run, uint64_t iterations)
{
	return launchcost_run(run, iterations, coop_way{});
}

PKRUN_PLUGIN(
	.name = "launchcost_coop",
	.brief = "the cost of a cooperative launch, taken apart by fits",
	.control = PKRUN_CONTROL_HOST_QUEUE,
	.result = PKRUN_EXACT,
	.flags = PKRUN_COOPERATIVE,
	.state_size = sizeof(struct launchcost_state),
	.workloads = "launchcost",
	.options = NULL,
	.options_size = 0,
	.reserved = 0,
	.probe = pk_no_check,
	.footprint = launchcost_footprint,
	.setup = NULL,
	.start = launchcost_start,
	.run = run_sequences,
	.wait = launchcost_wait,
	.stop = launchcost_stop,
	.teardown = launchcost_free,
	.metrics = launchcost_metrics,
);
