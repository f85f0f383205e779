/* SPDX-License-Identifier: MIT
 *
 * locality.c - the host half of the two dependent stages (locality.h).
 */
#include "locality.h"
#include "workload.h"

struct locality_options {
	int64_t n;
};

enum { SUM, INPUT, BETWEEN };

static const struct pkrun_option options[] = {
	{"n", PKRUN_INT, offsetof(struct locality_options, n), "65536", 1, 1 << 28, NULL, "word",
	 "64-bit words of the input"},
	{0},
};

static int64_t units(const void *opt, uint32_t sweep, const int64_t tile[2])
{
	(void)sweep;
	(void)tile;
	return (workload_n(opt) - 1) / LOCALITY_CHUNK + 1;
}

static void counts(const void *opt, struct workload_counts *out)
{
	double n = (double)workload_n(opt);

	/* input read, intermediate written and read, sum read and written */
	*out = (struct workload_counts){.updates = n, .bytes = 40.0 * n};
}

static int arrays(const void *opt, uint32_t blocks, struct workload_array *out)
{
	uint64_t n = (uint64_t)workload_n(opt);

	(void)blocks;
	out[SUM] = (struct workload_array){"sum", WORKLOAD_STATE, 0, n, 0};
	out[INPUT] = (struct workload_array){"input", WORKLOAD_INPUT, 0, n, 0};
	out[BETWEEN] = (struct workload_array){"between", WORKLOAD_SCRATCH, 0, 2 * n, 0};
	return 3;
}

static void fill(const void *opt, uint32_t blocks, int which, void *data)
{
	uint64_t n = (uint64_t)workload_n(opt), *out = data;

	(void)blocks;
	for (uint64_t i = 0; which == INPUT && i < n; i++)
		out[i] = pk_mix64(i + 1);
}

/* Word i, or the nearest there is. */
static uint64_t nearest(int64_t i, int64_t n)
{
	return (uint64_t)(i < 0 ? 0 : i >= n ? n - 1 : i);
}

static uint64_t first(const uint64_t *input, int64_t i, int64_t n)
{
	i = (int64_t)nearest(i, n);
	return locality_first(input[nearest(i - 1, n)], input[i], input[nearest(i + 1, n)]);
}

static uint64_t advance(const void *opt, uint32_t blocks, void **data, uint64_t iterations,
			int threads)
{
	uint64_t *sum = data[SUM];
	const uint64_t *input = data[INPUT];
	int64_t n = workload_n(opt);

	(void)blocks;
	(void)threads;
	for (int64_t i = 0; i < n; i++)
		sum[i] += iterations * locality_second(first(input, i - 1, n), first(input, i, n),
						       first(input, i + 1, n));
	return 0;
}

static void fill_args(const void *opt, uint32_t blocks, void **dev, void *out)
{
	struct locality_args *a = out;

	(void)blocks;
	*a = (struct locality_args){
		.size = sizeof(*a),
		.version = LOCALITY_VERSION,
		.n = (uint64_t)workload_n(opt),
		.sum = dev[SUM],
		.input = dev[INPUT],
		.between = dev[BETWEEN],
	};
}

const struct workload workload_locality = {
	.name = "locality",
	.brief = "two dependent stages: where does the intermediate result live?",
	.options = options,
	.options_size = sizeof(struct locality_options),
	.args_size = sizeof(struct locality_args),
	.n = workload_n,
	.steps_per_iteration = workload_one_step,
	.units = units,
	.counts = counts,
	.arrays = arrays,
	.fill = fill,
	.advance = advance,
	.args = fill_args,
};
