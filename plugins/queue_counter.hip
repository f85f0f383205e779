/* SPDX-License-Identifier: MIT
 *
 * queue_counter - one grid an iteration, whose blocks take the next `claim`
 * tasks from a counter in device memory when they are done with the last ones.
 *
 * Against queue_static: an atomic addition and a block barrier a claim, and no
 * block is idle while there are tasks.
 *
 * The counter only grows.  Of each launch every block has exactly one claim
 * that begins behind the last task, so a launch takes (ceil(tasks / claim) +
 * blocks) claims, and the next one knows where it begins.  The claim needs no
 * order: what a task reads was there before the launch.
 */
#include "kernels/queue_grid.h"

struct options {
	int64_t claim;
};

static const struct pkrun_option option_table[] = {
	{"claim", PKRUN_INT, offsetof(struct options, claim), "1", 1, 1 << 20, NULL, "task",
	 "tasks that a block takes at a time"},
	{},
};

struct counter_deal {
	uint64_t claim;

	template <class F>
	__device__ __forceinline__ void each(const struct queue_args &a, const struct queue_control &c,
					     uint64_t iteration, F f) const
	{
		PK_SHARED(uint64_t, claimed, [1]);
		uint64_t claims = (a.tasks + claim - 1) / claim + gridDim.x;

		for (;;) {
			uint64_t first, end;

			if (threadIdx.x == 0)
				claimed[0] = __hip_atomic_fetch_add(&c.lines->head, (uint64_t)1,
								    __ATOMIC_RELAXED,
								    __HIP_MEMORY_SCOPE_AGENT) -
					     iteration * claims;
			__syncthreads();
			first = claimed[0] * claim;
			if (first >= a.tasks)
				return;
			end = first + claim < a.tasks ? first + claim : a.tasks;
			for (uint64_t t = first; t < end; t++)
				f(t); /* its barrier: `claimed` has been read */
		}
	}
};

static int run_tasks(struct pkrun_run *run, uint64_t iterations)
{
	struct counter_deal deal = {(uint64_t)((const struct options *)run->options)->claim};

	return queue_grid_run(run, iterations, deal);
}

static const struct pkrun_metric metrics[] = {
	QUEUE_METRICS,
	{},
};

PKRUN_PLUGIN(
	.name = "queue_counter",
	.brief = "one grid for all tasks, dealt out by an atomic counter of the device",
	.control = PKRUN_CONTROL_HOST_QUEUE,
	.result = PKRUN_EXACT,
	.flags = 0,
	.state_size = sizeof(struct queue_state),
	.workloads = "queue",
	.options = option_table,
	.options_size = sizeof(struct options),
	.reserved = 0,
	.probe = pk_no_check,
	.footprint = queue_grid_footprint<counter_deal>,
	.setup = queue_grid_setup,
	.start = queue_clear,
	.run = run_tasks,
	.wait = queue_grid_wait,
	.stop = queue_grid_stop,
	.teardown = queue_free,
	.metrics = metrics,
);
