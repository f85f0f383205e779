/* SPDX-License-Identifier: MIT
 *
 * syncost.c - the host half of the workload of empty synchronisations (syncost.h).
 */
#include "syncost.h"
#include "workload.h"

struct syncost_options {
	int64_t n, check_every;
};

enum { COUNTS, ERRORS, MARKS };

static const struct pkrun_option options[] = {
	{"n", PKRUN_INT, offsetof(struct syncost_options, n), "1024", 1, 2147483647, NULL, "block",
	 "the most blocks there may be: `blocks = rows` takes so many"},
	{"check_every", PKRUN_INT, offsetof(struct syncost_options, check_every), "1024", 0,
	 1000000000, NULL, NULL,
	 "look whether a synchronisation ordered anything, once in so many (0: never)"},
	{0},
};

static int arrays(const void *opt, uint32_t blocks, struct workload_array *out)
{
	(void)opt;
	out[COUNTS] = (struct workload_array){"counts", WORKLOAD_STATE, 0, blocks, 0};
	out[ERRORS] = (struct workload_array){"errors", WORKLOAD_STATE, 0, blocks, 0};
	out[MARKS] = (struct workload_array){"marks", WORKLOAD_SCRATCH, 0, 2 * (uint64_t)blocks, 0};
	return 3;
}

static uint64_t advance(const void *opt, uint32_t blocks, void **data, uint64_t iterations,
			int threads)
{
	(void)opt;
	(void)threads;
	workload_add(data[COUNTS], blocks, iterations);
	return 0;
}

static void fill_args(const void *opt, uint32_t blocks, void **dev, void *out)
{
	struct syncost_args *a = out;

	(void)blocks;
	*a = (struct syncost_args){
		.size = sizeof(*a),
		.version = SYNCOST_VERSION,
		.units = (uint64_t)workload_n(opt),
		.check_every = (uint64_t)((const struct syncost_options *)opt)->check_every,
		.counts = dev[COUNTS],
		.errors = dev[ERRORS],
		.marks = dev[MARKS],
	};
}

const struct workload workload_syncost = {
	.name = "syncost",
	.brief = "synchronisations of blocks and nothing else: what each costs",
	.options = options,
	.options_size = sizeof(struct syncost_options),
	.args_size = sizeof(struct syncost_args),
	.n = workload_n,
	.steps_per_iteration = workload_one_step,
	.units = workload_n_units,
	.counts = workload_no_counts,
	.arrays = arrays,
	.fill = workload_zero,
	.advance = advance,
	.args = fill_args,
	.per_block = 1,
};
