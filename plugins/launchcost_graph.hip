/* SPDX-License-Identifier: MIT
 *
 * launchcost_graph - what a kernel costs as a node of a graph: each sequence
 * is captured and instantiated beforehand and is one call
 * (kernels/launchcost_body.h).
 */
#include "kernels/launchcost_body.h"

struct graph_cost_state {
	struct launchcost_state cost; /* first */
	hipGraph_t graphs[LAUNCHCOST_CELLS];
	hipGraphExec_t execs[LAUNCHCOST_CELLS];
};

static unsigned cell_of(uint64_t work, uint64_t launches)
{
	return (unsigned)work * LAUNCHCOST_SEQUENCES + (unsigned)__builtin_ctzll(launches);
}

struct graph_way {
	static int go(struct pkrun_run *run, uint64_t work, uint64_t launches)
	{
		struct graph_cost_state *st = (struct graph_cost_state *)run->state;

		PK_TRY(run, hipGraphLaunch(st->execs[cell_of(work, launches)], pk_stream(run)));
		return PKRUN_OK;
	}
};

/* A failing launch still ends the capture. */
static int capture(struct pkrun_run *run, uint64_t work, uint64_t launches)
{
	struct graph_cost_state *st = (struct graph_cost_state *)run->state;
	const struct launchcost_args a = *(const struct launchcost_args *)run->work->args;
	unsigned cell = cell_of(work, launches);
	hipError_t launched = hipSuccess, ended;

	PK_TRY(run, hipStreamBeginCapture(pk_stream(run), hipStreamCaptureModeThreadLocal));
	for (uint64_t i = 0; i < launches && launched == hipSuccess; i++)
		launched = pk_launch(launchcost_kernel, dim3(st->cost.blocks), dim3(run->threads), 0,
				     pk_stream(run), a, work, run->steps);
	ended = hipStreamEndCapture(pk_stream(run), &st->graphs[cell]);
	PK_TRY(run, launched);
	PK_TRY(run, ended);
	PK_TRY(run, hipGraphInstantiate(&st->execs[cell], st->graphs[cell], NULL, NULL, 0));
	return PKRUN_OK;
}

static int setup(struct pkrun_run *run)
{
	int status = PKRUN_OK;

	for (uint64_t w = 0; w < LAUNCHCOST_WORKS; w++)
		for (unsigned i = 0; i < LAUNCHCOST_SEQUENCES && status == PKRUN_OK; i++)
			status = capture(run, w, 1ull << i);
	return status;
}

static int run_sequences(struct pkrun_run *run, uint64_t iterations)
{
	return launchcost_run(run, iterations, graph_way{});
}

static void teardown(struct pkrun_run *run)
{
	struct graph_cost_state *st = (struct graph_cost_state *)run->state;

	for (unsigned i = 0; i < LAUNCHCOST_CELLS; i++) {
		if (st->execs[i])
			(void)hipGraphExecDestroy(st->execs[i]);
		if (st->graphs[i])
			(void)hipGraphDestroy(st->graphs[i]);
		st->execs[i] = NULL;
		st->graphs[i] = NULL;
	}
	launchcost_free(run);
}

PKRUN_PLUGIN(
	.name = "launchcost_graph",
	.brief = "the cost of a kernel as a node of a graph, taken apart by fits",
	.control = PKRUN_CONTROL_HOST_QUEUE,
	.result = PKRUN_EXACT,
	.flags = 0,
	.state_size = sizeof(struct graph_cost_state),
	.workloads = "launchcost",
	.options = NULL,
	.options_size = 0,
	.reserved = 0,
	.probe = pk_no_check,
	.footprint = launchcost_footprint,
	.setup = setup,
	.start = launchcost_start,
	.run = run_sequences,
	.wait = launchcost_wait,
	.stop = launchcost_stop,
	.teardown = teardown,
	.metrics = launchcost_metrics,
);
