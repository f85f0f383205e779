/* SPDX-License-Identifier: MIT
 *
 * pingpong_launch - a launch and a copy for each buffer.
 *
 *	overlap = yes	kernels on one stream, copies on another, ordered by
 *			events: buffer i + 1 is filled while i is copied and checked
 *	overlap = no	fill, copy, check, one buffer at a time: what a double
 *			buffer is to be compared with
 *
 * Kernel i + 2 writes where copy i reads, so it waits for the copy's event;
 * copy i waits for the kernel's.  The host hands i + 2 over only after it has
 * checked i, so the staging buffer is free as well.
 */
#include "kernels/pingpong_queue.h"

struct options {
	int32_t overlap;
};

static const struct pkrun_option option_table[] = {
	{"overlap", PKRUN_BOOL, offsetof(struct options, overlap), "yes", 0, 0, NULL, NULL,
	 "fill a buffer while the other one is copied and checked"},
	{},
};

struct launch_pingpong_state {
	struct pingpong_state pingpong; /* first */
	hipEvent_t filled[2], copied[2];
};

static int footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	return pingpong_footprint(run, pingpong_kernel, fp);
}

static int setup(struct pkrun_run *run)
{
	struct launch_pingpong_state *st = (struct launch_pingpong_state *)run->state;

	for (int i = 0; i < 2; i++) {
		PK_TRY(run, hipEventCreateWithFlags(&st->filled[i], hipEventDisableTiming));
		PK_TRY(run, hipEventCreateWithFlags(&st->copied[i], hipEventDisableTiming));
	}
	return pingpong_setup(run);
}

static int hand_over(struct pkrun_run *run, uint64_t i)
{
	struct launch_pingpong_state *st = (struct launch_pingpong_state *)run->state;
	int status;

	if (i >= 2)
		PK_TRY(run, hipStreamWaitEvent(pk_stream(run), st->copied[i & 1], 0));
	PK_TRY(run, pk_launch(pingpong_kernel, dim3(st->pingpong.blocks), dim3(run->threads), 0,
			      pk_stream(run), *pingpong_args_of(run), pingpong_control_of(run)));
	PK_TRY(run, hipEventRecord(st->filled[i & 1], pk_stream(run)));
	PK_TRY(run, hipStreamWaitEvent(st->pingpong.copies, st->filled[i & 1], 0));
	status = pingpong_copy(run, i, st->pingpong.copies);
	if (status == PKRUN_OK)
		PK_TRY(run, hipEventRecord(st->copied[i & 1], st->pingpong.copies));
	return status;
}

static int arrived(struct pkrun_run *run, uint64_t i)
{
	struct launch_pingpong_state *st = (struct launch_pingpong_state *)run->state;

	PK_TRY(run, hipEventSynchronize(st->copied[i & 1]));
	return PKRUN_OK;
}

static int run_buffers(struct pkrun_run *run, uint64_t iterations)
{
	uint64_t under_way = ((const struct options *)run->options)->overlap ? 2 : 1;

	return pingpong_cycle(
		run, iterations, under_way, [=](uint64_t i) { return hand_over(run, i); },
		[=](uint64_t i) { return arrived(run, i); });
}

static int stop(struct pkrun_run *run)
{
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	return pingpong_report(run);
}

static void teardown(struct pkrun_run *run)
{
	struct launch_pingpong_state *st = (struct launch_pingpong_state *)run->state;

	for (int i = 0; i < 2; i++) {
		if (st->filled[i])
			(void)hipEventDestroy(st->filled[i]);
		if (st->copied[i])
			(void)hipEventDestroy(st->copied[i]);
		st->filled[i] = st->copied[i] = NULL;
	}
	pingpong_free(run);
}

PKRUN_PLUGIN(
	.name = "pingpong_launch",
	.brief = "a launch and a copy for each buffer, overlapped by events or not",
	.control = PKRUN_CONTROL_HOST_QUEUE,
	.result = PKRUN_EXACT,
	.flags = 0,
	.state_size = sizeof(struct launch_pingpong_state),
	.workloads = "pingpong",
	.options = option_table,
	.options_size = sizeof(struct options),
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
