/* SPDX-License-Identifier: MIT
 *
 * launchcost_nested - what a launch by the device itself costs (dynamic
 * parallelism): a parent kernel of one thread launches the whole sequence, and
 * is complete when its children are.  The official neighbour of persistent
 * threads; CUDA only, skipped elsewhere.
 *
 * One call a sequence, as with launchcost_graph: the slope is the device's
 * launch, the intercept has the parent's.  Children of one block's default
 * stream run one behind the other.  A launch that the device refuses (its
 * queue of pending launches is full) is counted in the sums, by not being there.
 */
#include "kernels/launchcost_body.h"

#if defined(PKRUN_BUILD_CUDA)

static __global__ void parent_kernel(struct launchcost_args a, uint64_t work, uint64_t launches,
				     uint32_t blocks, uint32_t threads, uint64_t *steps)
{
	for (uint64_t i = 0; i < launches; i++)
		launchcost_kernel<<<blocks, threads>>>(a, work, steps);
}

struct nested_way {
	static int go(struct pkrun_run *run, uint64_t work, uint64_t launches)
	{
		const struct launchcost_args a = *(const struct launchcost_args *)run->work->args;

		PK_TRY(run, pk_launch(parent_kernel, dim3(1), dim3(1), 0, pk_stream(run), a, work,
				      launches, launchcost_state_of(run)->blocks, run->threads,
				      run->steps));
		return PKRUN_OK;
	}
};

static int probe(struct pkrun_run *run)
{
	return pk_no_check(run);
}

static int run_sequences(struct pkrun_run *run, uint64_t iterations)
{
	return launchcost_run(run, iterations, nested_way{});
}

#else

static int probe(struct pkrun_run *run)
{
	run->host->say(run, "kernels that launch kernels: only CUDA has them");
	return PKRUN_SKIP;
}

static int run_sequences(struct pkrun_run *run, uint64_t iterations)
{
	(void)iterations;
	return probe(run);
}

#endif

PKRUN_PLUGIN(
	.name = "launchcost_nested",
	.brief = "the cost of a launch by the device itself (CUDA)",
	.control = PKRUN_CONTROL_DEVICE_QUEUE,
	.result = PKRUN_EXACT,
	.flags = 0,
	.state_size = sizeof(struct launchcost_state),
	.workloads = "launchcost",
	.options = NULL,
	.options_size = 0,
	.reserved = 0,
	.probe = probe,
	.footprint = launchcost_footprint,
	.setup = NULL,
	.start = launchcost_start,
	.run = run_sequences,
	.wait = launchcost_wait,
	.stop = launchcost_stop,
	.teardown = launchcost_free,
	.metrics = launchcost_metrics,
);
