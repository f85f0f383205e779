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

	((struct launch_state *)run->state)->iterations = iterations;
	for (uint64_t done = 0; done < iterations; done += every) {
		uint64_t n = iterations - done < every ? iterations - done : every;
		int status = pk_with_work(run, [=](auto work) {
			return launch_checked(run, work, done, n, [=](uint64_t s, uint64_t steps) {
				return launch_steps(run, work, s, steps, LAUNCH_ORDINARY);
			});
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
	.workloads = PK_WORKLOADS,
	.options = options,
	.options_size = sizeof(struct options),
	.reserved = 0,
	.probe = NULL,
	.footprint = launch_footprint,
	.setup = launch_setup,
	.start = launch_start,
	.run = run_batches,
	.wait = launch_wait,
	.stop = NULL,
	.teardown = NULL,
);
