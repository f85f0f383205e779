/* SPDX-License-Identifier: MIT
 *
 * progress_persistent - the tiled product in one launch for all iterations, by
 * as many blocks as keep the compute units busy, that reports how far it is
 * (kernels/progress_body.h).  One block a compute unit (blocks = percu:1) took 2.6
 * times as long as launches of a block a tile (H200, 1024 x 1024).
 *
 * Against progress_launch: without reports the host would know nothing until
 * the very end.
 */
#include "kernels/progress_body.h"

static int footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	return progress_footprint(run, PK_AUTO_FILL, fp);
}

PKRUN_PLUGIN(
	.name = "progress_persistent",
	.brief = "all products in one launch of persistent blocks that report how far they are",
	.control = PKRUN_CONTROL_DEVICE,
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
	.run = progress_launch,
	.wait = progress_wait,
	.stop = progress_stop,
	.teardown = progress_teardown,
	.metrics = progress_metrics,
);
