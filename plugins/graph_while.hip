/* SPDX-License-Identifier: MIT
 *
 * graph_while - a graph that loops on the device: a conditional node whose body
 * is the launches of k iterations and a kernel that counts down.
 *
 * Against graph: the host launches once however many iterations there are, and
 * the device decides whether to go round again, as a solver with a convergence
 * test would.  Iterations that per_graph does not divide are launched behind
 * the loop.
 *
 * Cost: one small kernel and the evaluation of the condition a round.  CUDA
 * from 12.4 on; elsewhere it is skipped.
 */
#include "kernels/launch.h"

struct while_options {
	struct launch_options launch; /* first */
	int64_t per_graph;
};

static const struct pkrun_option options[] = {
	{"per_graph", PKRUN_INT, offsetof(struct while_options, per_graph), "10", 1, 100000, NULL,
	 "iteration", "iterations a round of the loop"},
	LAUNCH_OPTION_STAMPS(),
	{},
};

#if defined(PKRUN_BUILD_CUDA) && CUDART_VERSION >= 12040

#define CHECK_MAX 100000u

struct while_state {
	struct launch_state launch; /* first */
	uint64_t *rounds;	/* device: how many are still to go */
	cudaGraph_t graph;
	cudaGraphExec_t exec;
};

static uint64_t each(const struct pkrun_run *run)
{
	if (run->check)
		return run->check; /* the norm ends a round */
	return (uint64_t)((const struct while_options *)run->options)->per_graph;
}

static __global__ void set_rounds(uint64_t *rounds, uint64_t n)
{
	*rounds = n;
}

static __global__ void count_down(uint64_t *rounds, cudaGraphConditionalHandle more)
{
	*rounds -= 1;
	cudaGraphSetConditional(more, *rounds > 0);
}

static int probe(struct pkrun_run *run)
{
	int driver = 0;

	if (run->check > CHECK_MAX) {
		run->host->say(run, "the %llu iterations between two norms are one graph; at most %u",
			       (unsigned long long)run->check, CHECK_MAX);
		return PKRUN_SKIP;
	}
	PK_TRY(run, hipDriverGetVersion(&driver));
	if (driver >= 12040)
		return launch_probe(run);
	run->host->say(run, "conditional graph nodes need a driver for CUDA 12.4; this one is for %d.%d",
		       driver / 1000, driver % 1000 / 10);
	return PKRUN_SKIP;
}

/* An empty loop; *body is the graph to be filled. */
static int add_loop(struct pkrun_run *run, struct while_state *w, cudaGraph_t *body,
		    cudaGraphConditionalHandle *more)
{
	cudaGraphNodeParams params = {};
	cudaGraphNode_t node;

	PK_TRY(run, cudaGraphCreate(&w->graph, 0));
	PK_TRY(run, cudaGraphConditionalHandleCreate(more, w->graph, 1, cudaGraphCondAssignDefault));
	params.type = cudaGraphNodeTypeConditional;
	params.conditional.handle = *more;
	params.conditional.type = cudaGraphCondTypeWhile;
	params.conditional.size = 1;
#if CUDART_VERSION >= 13000
	PK_TRY(run, cudaGraphAddNode(&node, w->graph, NULL, NULL, 0, &params));
#else
	PK_TRY(run, cudaGraphAddNode(&node, w->graph, NULL, 0, &params));
#endif
	*body = params.conditional.phGraph_out[0];
	return PKRUN_OK;
}

static int setup(struct pkrun_run *run)
{
	struct while_state *w = (struct while_state *)run->state;
	cudaStream_t stream = pk_stream(run);
	uint64_t steps = pk_steps(run, each(run)), expected = steps + 1 + (run->check ? 1 : 0);
	cudaGraphConditionalHandle more;
	cudaGraph_t body;
	size_t nodes = 0;
	cudaError_t ended;
	int status = run->host->alloc(run, "rounds", PKRUN_MEMORY_DEVICE, sizeof(*w->rounds), NULL,
				      (void **)&w->rounds);

	if (status == PKRUN_OK)
		status = launch_setup(run);
	if (status == PKRUN_OK)
		status = add_loop(run, w, &body, &more);
	if (status != PKRUN_OK)
		return status;
	PK_TRY(run, cudaStreamBeginCaptureToGraph(stream, body, NULL, NULL, 0,
						  cudaStreamCaptureModeThreadLocal));
	status = pk_with_work(run, [=](auto work) -> int {
		int queued = launch_steps(run, work, 0, steps, LAUNCH_ORDINARY);

		return queued == PKRUN_OK && run->check ? launch_norm(run, work) : queued;
	});
	if (status == PKRUN_OK &&
	    pk_launch(count_down, dim3(1), dim3(1), 0, stream, w->rounds, more) != cudaSuccess) {
		run->host->say(run, "the kernel that counts down could not be captured");
		status = PKRUN_FAIL;
	}
	ended = cudaStreamEndCapture(stream, &body);
	if (status != PKRUN_OK)
		return status;
	PK_TRY(run, ended);
	PK_TRY(run, cudaGraphGetNodes(body, NULL, &nodes));
	if (nodes != expected) {
		run->host->say(run, "the loop's body has %zu nodes, %llu launches were made", nodes,
			       (unsigned long long)expected);
		return PKRUN_FAIL;
	}
	PK_TRY(run, cudaGraphInstantiate(&w->exec, w->graph, 0));
	PK_TRY(run, cudaGraphUpload(w->exec, stream));
	PK_TRY(run, cudaStreamSynchronize(stream));
	return PKRUN_OK;
}

static int run_loop(struct pkrun_run *run, uint64_t iterations)
{
	struct while_state *w = (struct while_state *)run->state;
	uint64_t rounds = iterations / each(run), rest = iterations % each(run);

	w->launch.iterations = iterations;
	if (rounds) {
		PK_TRY(run, pk_launch(set_rounds, dim3(1), dim3(1), 0, pk_stream(run), w->rounds,
				      rounds));
		PK_TRY(run, cudaGraphLaunch(w->exec, pk_stream(run)));
	}
	return pk_with_work(run, [=](auto work) -> int {
		return launch_steps(run, work, 0, pk_steps(run, rest), LAUNCH_ORDINARY);
	});
}

static void teardown(struct pkrun_run *run)
{
	struct while_state *w = (struct while_state *)run->state;

	if (w->exec)
		(void)cudaGraphExecDestroy(w->exec);
	if (w->graph)
		(void)cudaGraphDestroy(w->graph);
	w->exec = NULL;
	w->graph = NULL;
}

#else

struct while_state {
	struct launch_state launch;
};

static int probe(struct pkrun_run *run)
{
	run->host->say(run, "conditional graph nodes are CUDA's (12.4 or later)");
	return PKRUN_SKIP;
}

/* Behind probe() these are not reached. */
static int setup(struct pkrun_run *run)
{
	return probe(run);
}

static int run_loop(struct pkrun_run *run, uint64_t iterations)
{
	(void)iterations;
	return probe(run);
}

static void teardown(struct pkrun_run *run)
{
	(void)run;
}

#endif

PKRUN_PLUGIN(
	.name = "graph_while",
	.brief = "a graph with a conditional node that loops on the device",
	.control = PKRUN_CONTROL_DEVICE_QUEUE,
	.result = PKRUN_EXACT,
	.flags = 0,
	.state_size = sizeof(struct while_state),
	.workloads = PK_WORKLOADS,
	.options = options,
	.options_size = sizeof(struct while_options),
	.reserved = 0,
	.probe = probe,
	.footprint = launch_footprint,
	.setup = setup,
	.start = launch_start,
	.run = run_loop,
	.wait = launch_wait,
	.stop = launch_stop,
	.teardown = teardown,
);
