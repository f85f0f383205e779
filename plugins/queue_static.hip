/* SPDX-License-Identifier: MIT
 *
 * queue_static - who does which task is decided beforehand: one grid an
 * iteration, each block has its share of the tasks.
 *
 *	deal = cyclic	block b does tasks b, b + blocks, ...
 *	deal = blocks	block b does contiguous tasks
 *
 * No scheduling costs anything, and the iteration takes as long as the block
 * that happened to get the most work.
 */
#include "kernels/queue_grid.h"

struct options {
	struct pkrun_choice deal;
};

static const struct pkrun_option option_table[] = {
	{"deal", PKRUN_CHOICE, offsetof(struct options, deal), "cyclic", 0, 0, "cyclic|blocks", NULL,
	 "tasks of a block: every so manieth, or contiguous ones"},
	{},
};

struct static_deal {
	uint32_t contiguous;

	template <class F>
	__device__ __forceinline__ void each(const struct queue_args &a, const struct queue_control &,
					     uint64_t, F f) const
	{
		uint64_t first = blockIdx.x, end = a.tasks, stride = gridDim.x;

		if (contiguous) {
			first = a.tasks * blockIdx.x / gridDim.x;
			end = a.tasks * (blockIdx.x + 1) / gridDim.x;
			stride = 1;
		}
		for (uint64_t t = first; t < end; t += stride)
			f(t);
	}
};

static int run_tasks(struct pkrun_run *run, uint64_t iterations)
{
	struct static_deal deal = {
		(uint32_t)((const struct options *)run->options)->deal.index == 1};

	return queue_grid_run(run, iterations, deal);
}

static const struct pkrun_metric metrics[] = {
	QUEUE_METRICS,
	{},
};

PKRUN_PLUGIN(
	.name = "queue_static",
	.brief = "one grid for all tasks, each block's share fixed beforehand",
	.control = PKRUN_CONTROL_HOST_QUEUE,
	.result = PKRUN_EXACT,
	.flags = 0,
	.state_size = sizeof(struct queue_state),
	.workloads = "queue",
	.options = option_table,
	.options_size = sizeof(struct options),
	.reserved = 0,
	.probe = pk_no_check,
	.footprint = queue_grid_footprint<static_deal>,
	.setup = queue_grid_setup,
	.start = queue_clear,
	.run = run_tasks,
	.wait = queue_grid_wait,
	.stop = queue_grid_stop,
	.teardown = queue_free,
	.metrics = metrics,
);
