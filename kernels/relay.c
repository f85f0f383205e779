/* SPDX-License-Identifier: MIT
 *
 * relay.c - the host half of the message workload (relay.h).
 */
#include "relay.h"
#include "workload.h"

struct relay_options {
	int64_t n;
};

static const struct pkrun_option options[] = {
	{"n", PKRUN_INT, offsetof(struct relay_options, n), "1", 1, 1 << 24, NULL, "word",
	 "64-bit words of a message"},
	{0},
};

/* One mailbox, one block. */
static int64_t units(const void *opt, uint32_t sweep, const int64_t tile[2])
{
	(void)opt;
	(void)sweep;
	(void)tile;
	return 1;
}

static void counts(const void *opt, struct workload_counts *out)
{
	/* there and back */
	*out = (struct workload_counts){.updates = 1, .bytes = 16.0 * (double)workload_n(opt)};
}

static int arrays(const void *opt, uint32_t blocks, struct workload_array *out)
{
	(void)blocks;
	out[0] = (struct workload_array){"received", WORKLOAD_STATE, 0, (uint64_t)workload_n(opt), 0};
	out[1] = (struct workload_array){"count", WORKLOAD_STATE, 0, 1, 0};
	return 2;
}

static uint64_t advance(const void *opt, uint32_t blocks, void **data, uint64_t iterations,
			int threads)
{
	uint64_t *received = data[0], *count = data[1], words = (uint64_t)workload_n(opt);

	(void)blocks;
	(void)threads;
	for (uint64_t i = *count; i < *count + iterations; i++)
		for (uint64_t k = 0; k < words; k++)
			received[k] += relay_word(i, k);
	*count += iterations;
	return 0;
}

static void fill_args(const void *opt, uint32_t blocks, void **dev, void *out)
{
	struct relay_args *a = out;

	(void)blocks;
	*a = (struct relay_args){
		.size = sizeof(*a),
		.version = RELAY_VERSION,
		.words = (uint64_t)workload_n(opt),
		.received = dev[0],
		.count = dev[1],
	};
}

const struct workload workload_relay = {
	.name = "relay",
	.brief = "messages between host and device, for their latency",
	.options = options,
	.options_size = sizeof(struct relay_options),
	.args_size = sizeof(struct relay_args),
	.n = workload_n,
	.steps_per_iteration = workload_one_step,
	.units = units,
	.counts = counts,
	.arrays = arrays,
	.fill = workload_zero,
	.advance = advance,
	.args = fill_args,
};
