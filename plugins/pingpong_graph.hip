/* SPDX-License-Identifier: MIT
 *
 * pingpong_graph - the kernel and the copy of a buffer captured once, a graph
 * for each of the two buffers, replayed in turn.
 *
 * Against pingpong_launch: one call a buffer instead of six.  Kernel and copy
 * of one stream: a buffer is filled while the host checks the other, not while
 * it is copied.
 */
#include "kernels/pingpong_queue.h"

struct graph_pingpong_state {
	struct pingpong_state pingpong; /* first */
	hipGraph_t graphs[2];
	hipGraphExec_t execs[2];
	hipEvent_t copied[2];
};

static int footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	return pingpong_footprint(run, pingpong_kernel, fp);
}

/* A failing call still ends the capture. */
static int capture(struct pkrun_run *run, uint64_t i)
{
	struct graph_pingpong_state *st = (struct graph_pingpong_state *)run->state;
	hipError_t launched, ended;
	int status;

	PK_TRY(run, hipStreamBeginCapture(pk_stream(run), hipStreamCaptureModeThreadLocal));
	launched = pk_launch(pingpong_kernel, dim3(st->pingpong.blocks), dim3(run->threads), 0,
			     pk_stream(run), *pingpong_args_of(run), pingpong_control_of(run));
	status = pingpong_copy(run, i, pk_stream(run));
	ended = hipStreamEndCapture(pk_stream(run), &st->graphs[i]);
	PK_TRY(run, launched);
	if (status != PKRUN_OK)
		return status;
	PK_TRY(run, ended);
	PK_TRY(run, hipGraphInstantiate(&st->execs[i], st->graphs[i], NULL, NULL, 0));
	return PKRUN_OK;
}

static int setup(struct pkrun_run *run)
{
	struct graph_pingpong_state *st = (struct graph_pingpong_state *)run->state;
	int status = pingpong_setup(run);

	for (uint64_t i = 0; i < 2 && status == PKRUN_OK; i++) {
		PK_TRY(run, hipEventCreateWithFlags(&st->copied[i], hipEventDisableTiming));
		status = capture(run, i);
	}
	return status;
}

static int hand_over(struct pkrun_run *run, uint64_t i)
{
	struct graph_pingpong_state *st = (struct graph_pingpong_state *)run->state;

	PK_TRY(run, hipGraphLaunch(st->execs[i & 1], pk_stream(run)));
	PK_TRY(run, hipEventRecord(st->copied[i & 1], pk_stream(run)));
	return PKRUN_OK;
}

static int arrived(struct pkrun_run *run, uint64_t i)
{
	struct graph_pingpong_state *st = (struct graph_pingpong_state *)run->state;

	PK_TRY(run, hipEventSynchronize(st->copied[i & 1]));
	return PKRUN_OK;
}

static int run_buffers(struct pkrun_run *run, uint64_t iterations)
{
	return pingpong_cycle(
		run, iterations, 2, [=](uint64_t i) { return hand_over(run, i); },
		[=](uint64_t i) { return arrived(run, i); });
}

static int stop(struct pkrun_run *run)
{
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	return pingpong_report(run);
}

static void teardown(struct pkrun_run *run)
{
	struct graph_pingpong_state *st = (struct graph_pingpong_state *)run->state;

	for (int i = 0; i < 2; i++) {
		if (st->execs[i])
			(void)hipGraphExecDestroy(st->execs[i]);
		if (st->graphs[i])
			(void)hipGraphDestroy(st->graphs[i]);
		if (st->copied[i])
			(void)hipEventDestroy(st->copied[i]);
		st->execs[i] = NULL;
		st->graphs[i] = NULL;
		st->copied[i] = NULL;
	}
	pingpong_free(run);
}

PKRUN_PLUGIN(
	.name = "pingpong_graph",
	.brief = "kernel and copy of a buffer captured once and replayed",
	.control = PKRUN_CONTROL_HOST_QUEUE,
	.result = PKRUN_EXACT,
	.flags = 0,
	.state_size = sizeof(struct graph_pingpong_state),
	.workloads = "pingpong",
	.options = NULL,
	.options_size = 0,
	.reserved = 0,
	.probe = pk_no_check,
	.footprint = footprint,
	.setup = setup,
	.start = pingpong_clear,
	.run = run_buffers,
	.wait = pingpong_wait,
	.stop = stop,
	.teardown = teardown,
	.metrics = pingpong_metrics,
);
