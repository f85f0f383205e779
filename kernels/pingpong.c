/* SPDX-License-Identifier: MIT
 *
 * pingpong.c - the host half of the double buffer (pingpong.h).
 */
#include "pingpong.h"
#include "workload.h"

struct pingpong_options {
	int64_t n;
};

enum { BUFFERS, COUNT };

static const struct pkrun_option options[] = {
	{"n", PKRUN_INT, offsetof(struct pingpong_options, n), "32768", 1, 1 << 28, NULL, "word",
	 "64-bit words of a buffer"},
	{0},
};

/* A block for every 256 words at most. */
static int64_t units(const void *opt, uint32_t sweep, const int64_t tile[2])
{
	(void)sweep;
	(void)tile;
	return (workload_n(opt) - 1) / 256 + 1;
}

static void counts(const void *opt, struct workload_counts *out)
{
	double n = (double)workload_n(opt);

	/* an update is a word; it is written by the device and read by the copy */
	*out = (struct workload_counts){.updates = n, .bytes = 16.0 * n};
}

static int arrays(const void *opt, uint32_t blocks, struct workload_array *out)
{
	uint64_t n = (uint64_t)workload_n(opt);

	(void)blocks;
	out[BUFFERS] = (struct workload_array){"buffers", WORKLOAD_STATE, 0, 2 * n, n};
	out[COUNT] = (struct workload_array){"count", WORKLOAD_STATE, 0, 1, 0};
	return 2;
}

/* Of all buffers the last two are still there. */
static uint64_t advance(const void *opt, uint32_t blocks, void **data, uint64_t iterations,
			int threads)
{
	uint64_t *buffers = data[BUFFERS], *count = data[COUNT], n = (uint64_t)workload_n(opt);
	uint64_t end = *count + iterations;

	(void)blocks;
	(void)threads;
	for (uint64_t i = iterations > 2 ? end - 2 : *count; i < end; i++)
		for (uint64_t k = 0; k < n; k++)
			buffers[(i & 1) * n + k] = pingpong_word(i, k);
	*count = end;
	return 0;
}

static void fill_args(const void *opt, uint32_t blocks, void **dev, void *out)
{
	struct pingpong_args *a = out;

	(void)blocks;
	*a = (struct pingpong_args){
		.size = sizeof(*a),
		.version = PINGPONG_VERSION,
		.words = (uint64_t)workload_n(opt),
		.buffers = dev[BUFFERS],
		.count = dev[COUNT],
	};
}

const struct workload workload_pingpong = {
	.name = "pingpong",
	.brief = "a double buffer: the device fills one, the host consumes the other",
	.options = options,
	.options_size = sizeof(struct pingpong_options),
	.args_size = sizeof(struct pingpong_args),
	.n = workload_n,
	.steps_per_iteration = workload_one_step,
	.units = units,
	.counts = counts,
	.arrays = arrays,
	.fill = workload_zero,
	.advance = advance,
	.args = fill_args,
};
