/* SPDX-License-Identifier: MIT
 *
 * queue_launch - a launch of one block for each task, dealt out to `streams`
 * streams: the device's own queues do the scheduling.
 *
 * What queue_ring is to be compared with.  A task learns its number and length
 * from the kernel's arguments; streams let tasks overlap as blocks of one grid
 * do.  Completions and their cost are the same as everywhere (queue_body.h).
 */
#include "kernels/queue_body.h"

#define STREAMS_MAX 64

struct options {
	int64_t streams;
};

static const struct pkrun_option option_table[] = {
	{"streams", PKRUN_INT, offsetof(struct options, streams), "8", 1, STREAMS_MAX, NULL, "stream",
	 "streams that launches are dealt out to"},
	{},
};

struct launch_queue_state {
	struct queue_state queue; /* first */
	hipStream_t streams[STREAMS_MAX];
};

static __global__ void task_kernel(struct queue_args a, struct queue_control c, uint64_t position)
{
	uint64_t task = position % a.tasks;

	queue_do(a, task, a.lengths[task]);
	/* An iteration is counted with its last task; the tasks count themselves. */
	if (threadIdx.x == 0 && task == a.tasks - 1)
		(void)__hip_atomic_fetch_add(c.steps, (uint64_t)1, __ATOMIC_RELAXED,
					     __HIP_MEMORY_SCOPE_AGENT);
	queue_complete(c, position);
}

static int64_t streams_of(const struct pkrun_run *run)
{
	return ((const struct options *)run->options)->streams;
}

static int footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	queue_state_of(run)->blocks = 1;
	return queue_args_of(run) ? pk_footprint(run, task_kernel, 1, 0, PK_AUTO_UNITS, fp) :
				    PKRUN_FAIL;
}

static int setup(struct pkrun_run *run)
{
	struct launch_queue_state *st = (struct launch_queue_state *)run->state;

	for (int64_t i = 0; i < streams_of(run); i++)
		PK_TRY(run, hipStreamCreateWithFlags(&st->streams[i], hipStreamNonBlocking));
	return queue_setup(run, 4096);
}

static int run_tasks(struct pkrun_run *run, uint64_t iterations)
{
	struct launch_queue_state *st = (struct launch_queue_state *)run->state;
	struct queue_state *q = &st->queue;
	const struct queue_args a = *queue_args_of(run);
	const struct queue_control c = queue_control_of(run);
	uint64_t end = q->submitted + iterations * a.tasks, n = (uint64_t)streams_of(run);
	int status = queue_room(run, end);

	q->first = pk_now_ns();
	for (; status == PKRUN_OK && q->submitted < end; q->submitted++) {
		uint64_t p = q->submitted;

		status = queue_drain_until(run, [=]() { return queue_may_submit(q, p + 1); },
					   "completions", false);
		if (status != PKRUN_OK)
			break;
		q->sent[p] = pk_now_ns();
		PK_TRY(run, pk_launch(task_kernel, dim3(1), dim3(run->threads), 0,
				      st->streams[p % n], a, c, p));
	}
	return status;
}

static int wait_tasks(struct pkrun_run *run)
{
	struct queue_state *q = queue_state_of(run);

	return queue_drain_until(run, [=]() { return q->drained == q->submitted; }, "completions",
				 false);
}

static int stop(struct pkrun_run *run)
{
	struct launch_queue_state *st = (struct launch_queue_state *)run->state;

	for (int64_t i = 0; i < streams_of(run); i++)
		PK_TRY(run, hipStreamSynchronize(st->streams[i]));
	return queue_report(run);
}

static void teardown(struct pkrun_run *run)
{
	struct launch_queue_state *st = (struct launch_queue_state *)run->state;

	for (int64_t i = 0; i < STREAMS_MAX; i++)
		if (st->streams[i])
			(void)hipStreamDestroy(st->streams[i]);
	memset(st->streams, 0, sizeof(st->streams));
	queue_free(run);
}

static const struct pkrun_metric metrics[] = {
	QUEUE_METRICS,
	{},
};

PKRUN_PLUGIN(
	.name = "queue_launch",
	.brief = "a launch of one block for each task, over several streams",
	.control = PKRUN_CONTROL_HOST_QUEUE,
	.result = PKRUN_EXACT,
	.flags = 0,
	.state_size = sizeof(struct launch_queue_state),
	.workloads = "queue",
	.options = option_table,
	.options_size = sizeof(struct options),
	.reserved = 0,
	.probe = pk_no_check,
	.footprint = footprint,
	.setup = setup,
	.start = queue_clear,
	.run = run_tasks,
	.wait = wait_tasks,
	.stop = stop,
	.teardown = teardown,
	.metrics = metrics,
);
