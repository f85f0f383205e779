/* SPDX-License-Identifier: MIT
 *
 * queue_grid.h - the body of the queue_* variants that launch one grid for all
 * tasks of an iteration; they differ in `Deal`, which is trivially copyable and
 * has
 *	each(a, c, iteration, f)	call f(task) for the tasks of this block;
 *					every thread of the block
 */
#ifndef PKRUN_QUEUE_GRID_H
#define PKRUN_QUEUE_GRID_H

#include "queue_body.h"

template <class Deal>
static __global__ void queue_grid_kernel(struct queue_args a, struct queue_control c, Deal deal,
					 uint64_t iteration)
{
	uint64_t done = 0;

	deal.each(a, c, iteration, [&](uint64_t task) {
		queue_do(a, task, a.lengths[task]);
		queue_complete(c, iteration * a.tasks + task);
		done++;
	});
	if (threadIdx.x == 0) {
		c.done_by[blockIdx.x] += done;
		c.steps[blockIdx.x] += 1;
	}
}

template <class Deal> static int queue_grid_footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	const struct queue_args *a = queue_args_of(run);
	int status;

	if (!a)
		return PKRUN_FAIL;
	status = pk_footprint(run, queue_grid_kernel<Deal>, a->tasks, 0, PK_AUTO_PER_CU, fp);
	queue_state_of(run)->blocks = fp->blocks;
	return status;
}

/* One iteration under way, the next one queued behind it. */
static inline int queue_grid_setup(struct pkrun_run *run)
{
	return queue_setup(run, 2 * queue_args_of(run)->tasks);
}

template <class Deal> static int queue_grid_run(struct pkrun_run *run, uint64_t iterations, Deal deal)
{
	struct queue_state *q = queue_state_of(run);
	const struct queue_args a = *queue_args_of(run);
	const struct queue_control c = queue_control_of(run);
	uint64_t all = q->submitted + iterations * a.tasks;
	int status = queue_room(run, all);

	if (status == PKRUN_OK && !q->first)
		q->first = pk_now_ns();
	while (status == PKRUN_OK && q->submitted < all) {
		uint64_t begin = q->submitted, end = begin + a.tasks, now;

		status = queue_drain_until(run, [=]() { return queue_may_submit(q, end); },
					   "completions", false);
		if (status != PKRUN_OK)
			break;
		now = pk_now_ns();
		for (uint64_t p = begin; p < end; p++)
			q->sent[p] = now;
		PK_TRY(run, pk_launch(queue_grid_kernel<Deal>, dim3(q->blocks), dim3(run->threads),
				      0, pk_stream(run), a, c, deal, begin / a.tasks));
		q->submitted = end;
	}
	return status;
}

static inline int queue_grid_wait(struct pkrun_run *run)
{
	struct queue_state *q = queue_state_of(run);

	return queue_drain_until(run, [=]() { return q->drained == q->submitted; }, "completions",
				 false);
}

static inline int queue_grid_stop(struct pkrun_run *run)
{
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	return queue_report(run);
}

#endif
