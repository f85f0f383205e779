/* SPDX-License-Identifier: MIT
 *
 * graph - the launches of `per_graph` iterations captured once and replayed.
 *
 * Against launch: the driver sees a whole chain of kernels at a time, so a
 * step costs what the device needs between two nodes.  Paid for beforehand, by
 * capture and instantiation, which grow with the nodes; their times and the
 * first replay's are metrics of their own (capture, instantiate, first_replay,
 * replay), never part of a trial.  Iterations that per_graph does not divide
 * are a second, shorter graph.
 */
#include <time.h>
#include "kernels/launch.h"

#define NODES_MAX 4000000u

struct graph_options {
	struct launch_options launch; /* first */
	int64_t per_graph;
};

static const struct pkrun_option options[] = {
	{"per_graph", PKRUN_INT, offsetof(struct graph_options, per_graph), "100", 0, 1000000, NULL,
	 "iteration", "iterations captured in one graph; 0: all of a run"},
	LAUNCH_OPTION_STAMPS(),
	{},
};

/* A captured chain; iterations 0: none. */
struct chain {
	uint64_t iterations;
	hipGraph_t graph;
	hipGraphExec_t exec;
};

struct graph_state {
	struct launch_state launch; /* first */
	struct chain whole, rest;
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void chain_free(struct chain *c)
{
	if (c->exec)
		(void)hipGraphExecDestroy(c->exec);
	if (c->graph)
		(void)hipGraphDestroy(c->graph);
	memset(c, 0, sizeof(*c));
}

/* A launch each, and one for a norm. */
static size_t chain_nodes(struct pkrun_run *run, uint64_t iterations)
{
	return (size_t)pk_steps(run, iterations) + (iterations == run->check ? 1 : 0);
}

/* Queue into a capture; a failing launch still ends the capture. */
static int chain_capture(struct pkrun_run *run, struct chain *c, uint64_t iterations)
{
	size_t nodes = 0, steps = (size_t)pk_steps(run, iterations);
	size_t expected = chain_nodes(run, iterations);
	hipError_t ended;
	int status;

	/* Thread-local: nothing that another thread does can break the capture. */
	PK_TRY(run, hipStreamBeginCapture(pk_stream(run), hipStreamCaptureModeThreadLocal));
	status = pk_with_work(run, [=](auto work) -> int {
		int queued = launch_steps(run, work, 0, steps, LAUNCH_ORDINARY);

		return queued == PKRUN_OK && expected > steps ? launch_norm(run, work) : queued;
	});
	ended = hipStreamEndCapture(pk_stream(run), &c->graph);
	if (status != PKRUN_OK)
		return status;
	PK_TRY(run, ended);
	PK_TRY(run, hipGraphGetNodes(c->graph, NULL, &nodes));
	if (nodes != expected) {
		run->host->say(run, "the captured graph has %zu nodes, %zu launches were made", nodes,
			       expected);
		return PKRUN_FAIL;
	}
	return PKRUN_OK;
}

static int replay(struct pkrun_run *run, struct chain *c, double *ns)
{
	double begin = now_ns();

	PK_TRY(run, hipGraphLaunch(c->exec, pk_stream(run)));
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	*ns = now_ns() - begin;
	return PKRUN_OK;
}

static const struct pkrun_metric metrics[] = {
	{"graph_nodes", "node", "nodes of the graph"},
	{"capture", "ns", "the launches captured into a graph, once a graph"},
	{"instantiate", "ns", "that graph made executable"},
	{"first_replay", "ns", "its first launch and the wait for its end"},
	{"replay", "ns", "its second"},
	{},
};

/*
 * Build a chain.  With `measure` it is also replayed twice, on whatever the
 * arrays hold: pkrun restores them before each trial.
 */
static int chain_build(struct pkrun_run *run, struct chain *c, uint64_t iterations, int measure)
{
	double begin = now_ns(), captured, built, first = 0, later = 0;
	int status;

	chain_free(c);
	status = chain_capture(run, c, iterations);
	if (status != PKRUN_OK)
		return status;
	captured = now_ns();
	PK_TRY(run, hipGraphInstantiate(&c->exec, c->graph, NULL, NULL, 0));
	built = now_ns();
	c->iterations = iterations;
	if (!measure)
		return PKRUN_OK;
	status = replay(run, c, &first);
	if (status == PKRUN_OK)
		status = replay(run, c, &later);
	if (status != PKRUN_OK)
		return status;
	run->host->metric(run, "graph_nodes", (double)chain_nodes(run, iterations), "node");
	run->host->metric(run, "capture", captured - begin, "ns");
	run->host->metric(run, "instantiate", built - captured, "ns");
	run->host->metric(run, "first_replay", first, "ns");
	run->host->metric(run, "replay", later, "ns");
	return PKRUN_OK;
}

/* Iterations in the repeated graph: the same for every run of the cell.  With
 * norms, as many as lie between two of them: the norm is the last node. */
static uint64_t whole_iterations(const struct pkrun_run *run)
{
	uint64_t each = (uint64_t)((const struct graph_options *)run->options)->per_graph;

	if (run->check && run->check <= run->iterations)
		return run->check;
	return each && each < run->iterations ? each : run->iterations;
}

/* Graphs for a run of this many iterations; those that fit already are kept. */
static int prepare(struct pkrun_run *run, uint64_t iterations, int measure)
{
	struct graph_state *state = (struct graph_state *)run->state;
	uint64_t whole = whole_iterations(run), rest = iterations % whole;
	int status = PKRUN_OK;

	if (state->whole.iterations != whole)
		status = chain_build(run, &state->whole, whole, measure);
	if (status == PKRUN_OK && rest && state->rest.iterations != rest)
		status = chain_build(run, &state->rest, rest, 0);
	return status;
}

static int setup(struct pkrun_run *run)
{
	uint64_t whole = whole_iterations(run), nodes = pk_steps(run, whole);
	int status;

	/* instantiation takes some us and a kilobyte a node */
	if (whole > NODES_MAX || nodes > NODES_MAX) {
		run->host->say(run, "a graph of %llu iterations has more than %u nodes; see per_graph",
			       (unsigned long long)whole, NODES_MAX);
		return PKRUN_SKIP;
	}
	status = launch_setup(run);
	if (status == PKRUN_OK)
		status = launch_start(run);
	return status == PKRUN_OK ? prepare(run, run->iterations, 1) : status;
}

/* Not timed: the place to notice that the coming trial is of another length. */
static int start(struct pkrun_run *run)
{
	int status = launch_start(run);

	return status == PKRUN_OK ? prepare(run, run->iterations, 0) : status;
}

static int run_graphs(struct pkrun_run *run, uint64_t iterations)
{
	struct graph_state *state = (struct graph_state *)run->state;
	int status = prepare(run, iterations, 0);

	if (status != PKRUN_OK)
		return status;
	state->launch.iterations = iterations;
	for (uint64_t i = 0; i < iterations / state->whole.iterations; i++) {
		PK_TRY(run, hipGraphLaunch(state->whole.exec, pk_stream(run)));
		if (run->check) /* the host has to see the norm before it goes on */
			PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
		if (launch_aborted(run, pk_steps(run, i * state->whole.iterations)))
			return PKRUN_FAIL;
	}
	if (iterations % state->whole.iterations)
		PK_TRY(run, hipGraphLaunch(state->rest.exec, pk_stream(run)));
	return PKRUN_OK;
}

static void teardown(struct pkrun_run *run)
{
	struct graph_state *state = (struct graph_state *)run->state;

	chain_free(&state->whole);
	chain_free(&state->rest);
}

PKRUN_PLUGIN(
	.name = "graph",
	.brief = "the launches of k iterations captured once and replayed",
	.control = PKRUN_CONTROL_HOST_QUEUE,
	.result = PKRUN_EXACT,
	.flags = 0,
	.state_size = sizeof(struct graph_state),
	.workloads = PK_WORKLOADS,
	.options = options,
	.options_size = sizeof(struct graph_options),
	.reserved = 0,
	.probe = launch_probe,
	.footprint = launch_footprint,
	.setup = setup,
	.start = start,
	.run = run_graphs,
	.wait = launch_wait,
	.stop = launch_stop,
	.teardown = teardown,
	.metrics = metrics,
);
