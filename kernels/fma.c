/* SPDX-License-Identifier: MIT
 *
 * fma.c - the host half of the arithmetic roof (fma.h).
 */
#include <math.h>
#include <pthread.h>
#include <string.h>
#include "fma.h"
#include "workload.h"

#define THREADS_MAX 64
#define TOGETHER 16	/* points at once: the compiler's vectors */

struct fma_options {
	int64_t n, chain;
};

static const struct pkrun_option options[] = {
	{"n", PKRUN_INT, offsetof(struct fma_options, n), "1048576", 1, 1073741824, NULL, "point",
	 "points"},
	{"chain", PKRUN_INT, offsetof(struct fma_options, chain), "512", 1, 1048576, NULL, NULL,
	 "fused multiply-adds a point and step"},
	{0},
};

static int64_t chain(const void *opt)
{
	return ((const struct fma_options *)opt)->chain;
}

static int64_t units(const void *opt, uint32_t sweep, const int64_t tile[2])
{
	(void)sweep;
	(void)tile;
	return (workload_n(opt) + FMA_CHUNK - 1) / FMA_CHUNK;
}

static void counts(const void *opt, struct workload_counts *out)
{
	double n = (double)workload_n(opt);

	*out = (struct workload_counts){
		.updates = n, .flops = 2 * n * (double)chain(opt), .bytes = 16 * n};
}

static int arrays(const void *opt, uint32_t blocks, struct workload_array *out)
{
	(void)blocks;
	out[0] = (struct workload_array){"x", WORKLOAD_STATE, 1, (uint64_t)workload_n(opt), 0};
	return 1;
}

/* Within the interval that the map keeps to, and different everywhere. */
static void fill(const void *opt, uint32_t blocks, int which, void *data)
{
	int64_t n = workload_n(opt);
	double *x = data;

	(void)blocks;
	(void)which;
	for (int64_t i = 0; i < n; i++)
		x[i] = 1.5 * (double)(i + 1) / (double)(n + 1);
}

struct share {
	double *x;
	int64_t n;
	uint64_t operations;
};

/* fma() is an instruction on most machines of today; without it, a call. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("arch=haswell", "default")))
#endif
static void advance_points(double *x, uint64_t operations)
{
	for (uint64_t k = 0; k < operations; k++)
		for (int q = 0; q < TOGETHER; q++)
			x[q] = fma(x[q], x[q], -FMA_SHIFT);
}

static void *advance_share(void *data)
{
	const struct share *s = data;
	double together[TOGETHER];

	for (int64_t i = 0; i < s->n; i += TOGETHER) {
		size_t here = (size_t)(s->n - i < TOGETHER ? s->n - i : TOGETHER);

		memset(together, 0, sizeof(together));
		memcpy(together, s->x + i, here * sizeof(*together));
		advance_points(together, s->operations);
		memcpy(s->x + i, together, here * sizeof(*together));
	}
	return NULL;
}

static uint64_t advance(const void *opt, uint32_t blocks, void **data, uint64_t iterations,
			int threads)
{
	struct share shares[THREADS_MAX];
	pthread_t ids[THREADS_MAX];
	int n = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads, started[THREADS_MAX];
	int64_t points = workload_n(opt), each = (points + n - 1) / n;

	(void)blocks;
	for (int i = 0; i < n; i++) {
		int64_t begin = i * each < points ? i * each : points;
		int64_t end = begin + each < points ? begin + each : points;

		shares[i] = (struct share){(double *)data[0] + begin, end - begin,
					   iterations * (uint64_t)chain(opt)};
		started[i] = i + 1 < n && !pthread_create(&ids[i], NULL, advance_share, &shares[i]);
		if (!started[i])
			advance_share(&shares[i]);
	}
	for (int i = 0; i < n; i++)
		if (started[i])
			pthread_join(ids[i], NULL);
	return 0;
}

static void fill_args(const void *opt, uint32_t blocks, void **dev, void *out)
{
	struct fma_args *s = out;

	(void)blocks;
	*s = (struct fma_args){
		.size = sizeof(*s),
		.version = FMA_VERSION,
		.n = workload_n(opt),
		.chain = chain(opt),
		.x = dev[0],
	};
}

const struct workload workload_fma = {
	.name = "fma",
	.brief = "fused multiply-adds only: what the arithmetic of a device gives",
	.options = options,
	.options_size = sizeof(struct fma_options),
	.args_size = sizeof(struct fma_args),
	.n = workload_n,
	.steps_per_iteration = workload_one_step,
	.units = units,
	.counts = counts,
	.arrays = arrays,
	.fill = fill,
	.advance = advance,
	.args = fill_args,
};
