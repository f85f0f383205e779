/* SPDX-License-Identifier: MIT
 *
 * progress_launch - the tiled product as a kernel for each iteration, a block
 * for each tile, that reports how far it is (kernels/progress_body.h).
 */
#include "kernels/progress_body.h"

static int footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	return progress_footprint(run, PK_AUTO_UNITS, fp);
}

static int run_products(struct pkrun_run *run, uint64_t iterations)
{
	int status = PKRUN_OK;

	for (uint64_t i = 0; i < iterations && status == PKRUN_OK; i++)
		status = progress_launch(run, 1);
	return status;
}

PKRUN_PLUGIN(
	.name = "progress_launch",
	.brief = "a product a launch, a block a tile, that reports how far it is",
	.control = PKRUN_CONTROL_HOST_QUEUE,
	.result = PKRUN_EXACT,
	.flags = 0,
	.state_size = sizeof(struct progress_state),
	.workloads = "progress",
	.options = progress_options,
	.options_size = sizeof(struct progress_options),
	.reserved = 0,
	.probe = pk_no_check,
	.footprint = footprint,
	.setup = progress_setup,
	.start = progress_start,
	.run = run_products,
	.wait = progress_wait,
	.stop = progress_stop,
	.teardown = progress_teardown,
	.metrics = progress_metrics,
);
