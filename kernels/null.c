/* SPDX-License-Identifier: MIT
 *
 * null.c - the host half of the empty workload (null.h).
 */
#include "null.h"
#include "workload.h"

struct null_options {
	int64_t n, steps;
};

static const struct pkrun_option options[] = {
	{"n", PKRUN_INT, offsetof(struct null_options, n), "1", 1, 2147483647, NULL, "block",
	 "natural number of blocks"},
	{"steps", PKRUN_INT, offsetof(struct null_options, steps), "2", 1, 1024, NULL, NULL,
	 "steps an iteration (2, as poisson2d has, so that times can be subtracted)"},
	{0},
};

static uint32_t steps_per_iteration(const void *opt)
{
	return (uint32_t)((const struct null_options *)opt)->steps;
}

static int arrays(const void *opt, uint32_t blocks, struct workload_array *out)
{
	(void)opt;
	out[0] = (struct workload_array){"counters", WORKLOAD_STATE, 0, blocks, 0};
	return 1;
}

static uint64_t advance(const void *opt, uint32_t blocks, void **data, uint64_t iterations,
			int threads)
{
	(void)threads;
	workload_add(data[0], blocks, iterations * steps_per_iteration(opt));
	return 0;
}

static void fill_args(const void *opt, uint32_t blocks, void **dev, void *out)
{
	struct null_args *a = out;

	(void)blocks;
	*a = (struct null_args){
		.size = sizeof(*a),
		.version = NULL_VERSION,
		.units = workload_n(opt),
		.counters = dev[0],
	};
}

const struct workload workload_null = {
	.name = "null",
	.brief = "an empty step: the cost of the protocol alone",
	.options = options,
	.options_size = sizeof(struct null_options),
	.args_size = sizeof(struct null_args),
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
