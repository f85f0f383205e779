/* SPDX-License-Identifier: MIT
 *
 * busy.c - the host half of the workload with a step of a given length (busy.h).
 */
#include "busy.h"
#include "workload.h"

struct busy_options {
	int64_t n, steps, bytes;
	double length_ns, imbalance;
};

static const struct pkrun_option options[] = {
	{"n", PKRUN_INT, offsetof(struct busy_options, n), "1", 1, 2147483647, NULL, "block",
	 "natural number of blocks"},
	{"steps", PKRUN_INT, offsetof(struct busy_options, steps), "2", 1, 1024, NULL, NULL,
	 "steps an iteration"},
	{"length_ns", PKRUN_REAL, offsetof(struct busy_options, length_ns), "1000", 0, 1e9, NULL, "ns",
	 "how long a block works on a step"},
	{"bytes", PKRUN_INT, offsetof(struct busy_options, bytes), "0", 0, 1073741824, NULL, "byte",
	 "bytes that a block reads, and writes, in a step (rounded down to words of 8)"},
	{"imbalance", PKRUN_REAL, offsetof(struct busy_options, imbalance), "0", 0, 1, NULL, NULL,
	 "the first block's step is this part shorter, the last one's longer than length_ns"},
	{0},
};

static uint64_t words_of(const void *opt)
{
	return (uint64_t)((const struct busy_options *)opt)->bytes / 8;
}

static uint32_t steps_per_iteration(const void *opt)
{
	return (uint32_t)((const struct busy_options *)opt)->steps;
}

static int arrays(const void *opt, uint32_t blocks, struct workload_array *out)
{
	out[0] = (struct workload_array){"counters", WORKLOAD_STATE, 0, blocks, 0};
	if (!words_of(opt))
		return 1;
	out[1] = (struct workload_array){"data", WORKLOAD_STATE, 0, blocks * words_of(opt), words_of(opt)};
	return 2;
}

static uint64_t advance(const void *opt, uint32_t blocks, void **data, uint64_t iterations,
			int threads)
{
	uint64_t more = iterations * steps_per_iteration(opt);

	(void)threads;
	workload_add(data[0], blocks, more);
	if (words_of(opt))
		workload_add(data[1], blocks * words_of(opt), more);
	return 0;
}

static void fill_args(const void *opt, uint32_t blocks, void **dev, void *out)
{
	const struct busy_options *o = opt;
	struct busy_args *a = out;

	(void)blocks;
	*a = (struct busy_args){
		.size = sizeof(*a),
		.version = BUSY_VERSION,
		.units = o->n,
		.counters = dev[0],
		.data = words_of(opt) ? dev[1] : NULL,
		.words = words_of(opt),
		.length_ns = o->length_ns,
		.imbalance = o->imbalance,
	};
}

const struct workload workload_busy = {
	.name = "busy",
	.brief = "a step of a given length and traffic: where does persistence begin to pay?",
	.options = options,
	.options_size = sizeof(struct busy_options),
	.args_size = sizeof(struct busy_args),
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
