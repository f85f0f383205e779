/* SPDX-License-Identifier: MIT
 *
 * launch_batch - a variant outside pkrun's tree: launches are queued, but the
 * host waits after every `every` iterations, as a solver does that looks at
 * its residual.  Between `launch` (never waits) and `launch_sync` (always).
 */
#include "kernels/launch.h"

struct options {
	int64_t every;
};

static const struct pkrun_option options[] = {
	{.name = "every", .type = PKRUN_INT, .offset = offsetof(struct options, every),
	 .value = "10", .min = 1, .max = 1e9, .choices = NULL, .unit = NULL,
	 .help = "iterations that are queued before the host waits"},
	{},
};

static int run_batches(struct pkrun_run *run, uint64_t iterations)
{
	uint64_t every = (uint64_t)((const struct options *)run->options)->every;
	uint32_t blocks = ((struct launch_state *)run->state)->blocks;

	for (uint64_t done = 0; done < iterations; done += every) {
		uint64_t n = iterations - done < every ? iterations - done : every;
		int status = pk_with_work(run, [=](auto work) {
			return launch_queue(run, work, blocks, pk_steps(run, done), pk_steps(run, n));
		});

		if (status == PKRUN_OK)
			status = launch_sync_stream(run);
		if (status != PKRUN_OK)
			return status;
	}
	return PKRUN_OK;
}

PKRUN_PLUGIN(
	.name = "launch_batch",
	.brief = "queued launches with a synchronisation every few iterations",
	.control = PKRUN_CONTROL_HOST_QUEUE,
	.result = PKRUN_EXACT,
	.flags = 0,
	.state_size = sizeof(struct launch_state),
	.workloads = "poisson2d,null",
	.options = options,
	.options_size = sizeof(struct options),
	.reserved = 0,
	.probe = NULL,
	.footprint = launch_footprint,
	.setup = NULL,
	.start = NULL,
	.run = run_batches,
	.wait = launch_sync_stream,
	.stop = NULL,
	.teardown = NULL,
);
