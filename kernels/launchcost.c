/* SPDX-License-Identifier: MIT
 *
 * launchcost.c - the host half of the workload of launches (launchcost.h).
 */
#include "launchcost.h"
#include "workload.h"

struct launchcost_options {
	int64_t n, unit_steps;
};

static const struct pkrun_option options[] = {
	{"n", PKRUN_INT, offsetof(struct launchcost_options, n), "1", 1, 1 << 20, NULL, "block",
	 "natural number of blocks"},
	{"unit_steps", PKRUN_INT, offsetof(struct launchcost_options, unit_steps), "4096", 1,
	 1 << 30, NULL, "step",
	 "one unit of work (one step: a multiplication and an addition); longer than a launch takes"},
	{0},
};

static uint32_t steps_per_iteration(const void *opt)
{
	(void)opt;
	return LAUNCHCOST_LAUNCHES * LAUNCHCOST_WORKS;
}

static int arrays(const void *opt, uint32_t blocks, struct workload_array *out)
{
	(void)opt;
	out[0] = (struct workload_array){"sums", WORKLOAD_STATE, 0, blocks, 0};
	return 1;
}

static uint64_t advance(const void *opt, uint32_t blocks, void **data, uint64_t iterations,
			int threads)
{
	uint64_t *sums = data[0];
	uint64_t unit = (uint64_t)((const struct launchcost_options *)opt)->unit_steps;

	(void)threads;
	for (uint64_t b = 0; b < blocks; b++)
		for (uint64_t w = 0; w < LAUNCHCOST_WORKS; w++)
			sums[b] += iterations * LAUNCHCOST_LAUNCHES * launchcost_value(b, w, unit);
	return 0;
}

static void fill_args(const void *opt, uint32_t blocks, void **dev, void *out)
{
	struct launchcost_args *a = out;

	(void)blocks;
	*a = (struct launchcost_args){
		.size = sizeof(*a),
		.version = LAUNCHCOST_VERSION,
		.units = (uint64_t)workload_n(opt),
		.unit = (uint64_t)((const struct launchcost_options *)opt)->unit_steps,
		.sums = dev[0],
	};
}

const struct workload workload_launchcost = {
	.name = "launchcost",
	.brief = "short and long sequences of launches, to take their cost apart",
	.options = options,
	.options_size = sizeof(struct launchcost_options),
	.args_size = sizeof(struct launchcost_args),
	.n = workload_n,
	.steps_per_iteration = steps_per_iteration,
	.units = workload_n_units,
	.counts = workload_no_counts,
	.arrays = arrays,
	.fill = workload_zero,
	.advance = advance,
	.args = fill_args,
	.per_block = 1,
};
