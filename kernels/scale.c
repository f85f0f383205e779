/* SPDX-License-Identifier: MIT
 *
 * scale.c - the host half of B = 0.25 A (scale.h).
 *
 * B is the same after one iteration and after many: what shows that every step
 * was done are the blocks' step counters.
 */
#include "scale.h"
#include "workload.h"

struct scale_options {
	int64_t n, chunk;
};

static const struct pkrun_option options[] = {
	{"n", PKRUN_INT, offsetof(struct scale_options, n), "1048576", 1, 1099511627776.0, NULL, "point",
	 "length of A and of B"},
	{"chunk", PKRUN_INT, offsetof(struct scale_options, chunk), "1024", 1, 1 << 30, NULL, "point",
	 "points of a unit, of which a block has one or more"},
	{0},
};

static int64_t units(const void *opt, uint32_t sweep, const int64_t tile[2])
{
	(void)sweep;
	(void)tile;
	return (workload_n(opt) - 1) / ((const struct scale_options *)opt)->chunk + 1;
}

static void counts(const void *opt, struct workload_counts *out)
{
	double n = (double)workload_n(opt);

	*out = (struct workload_counts){.updates = n, .flops = n, .bytes = 16 * n};
}

static int arrays(const void *opt, uint32_t blocks, struct workload_array *out)
{
	uint64_t n = (uint64_t)workload_n(opt);

	(void)blocks;
	out[0] = (struct workload_array){"b", WORKLOAD_STATE, 1, n, 0};
	out[1] = (struct workload_array){"a", WORKLOAD_INPUT, 1, n, 0};
	return 2;
}

/* A differs everywhere, so that a value in the wrong place is seen. */
static void fill(const void *opt, uint32_t blocks, int which, void *data)
{
	int64_t n = workload_n(opt);
	double *out = data;

	(void)blocks;
	for (int64_t i = 0; which && i < n; i++)
		out[i] = (double)i + 0.5;
}

static uint64_t advance(const void *opt, uint32_t blocks, void **data, uint64_t iterations,
			int threads)
{
	int64_t n = workload_n(opt);
	double *b = data[0];
	const double *a = data[1];

	(void)blocks;
	(void)threads;
	for (int64_t i = 0; iterations && i < n; i++)
		b[i] = 0.25 * a[i];
	return iterations ? 1 : 0;
}

static void fill_args(const void *opt, uint32_t blocks, void **dev, void *out)
{
	struct scale_args *s = out;

	(void)blocks;
	*s = (struct scale_args){
		.size = sizeof(*s),
		.version = SCALE_VERSION,
		.n = workload_n(opt),
		.chunk = ((const struct scale_options *)opt)->chunk,
		.b = dev[0],
		.a = dev[1],
	};
}

const struct workload workload_scale = {
	.name = "scale",
	.brief = "B = 0.25 A: one read and one write a point",
	.options = options,
	.options_size = sizeof(struct scale_options),
	.args_size = sizeof(struct scale_args),
	.n = workload_n,
	.steps_per_iteration = workload_one_step,
	.units = units,
	.counts = counts,
	.arrays = arrays,
	.fill = fill,
	.advance = advance,
	.args = fill_args,
};
