/* SPDX-License-Identifier: MIT
 *
 * progress.c - the host half of the matrix product (progress.h).
 */
#include <stdlib.h>
#include <string.h>
#include "mix.h"
#include "progress.h"
#include "workload.h"

struct progress_options {
	int64_t n;
};

enum { C, A, B };

static const struct pkrun_option options[] = {
	{"n", PKRUN_INT, offsetof(struct progress_options, n), "128", 1, 1 << 15, NULL, NULL,
	 "rows and columns of the matrices"},
	{0},
};

static int64_t units(const void *opt, uint32_t sweep, const int64_t tile[2])
{
	int64_t side = (workload_n(opt) - 1) / PROGRESS_TILE + 1;

	(void)sweep;
	(void)tile;
	return side * side;
}

static void counts(const void *opt, struct workload_counts *out)
{
	double n = (double)workload_n(opt);

	/* each tile reads a row of tiles of A and a column of B */
	*out = (struct workload_counts){
		.updates = n * n, .flops = 2 * n * n * n + n * n,
		.bytes = 16 * n * n * n / PROGRESS_TILE + 16 * n * n};
}

static int arrays(const void *opt, uint32_t blocks, struct workload_array *out)
{
	uint64_t n = (uint64_t)workload_n(opt);

	(void)blocks;
	out[C] = (struct workload_array){"c", WORKLOAD_STATE, 1, n * n, n};
	out[A] = (struct workload_array){"a", WORKLOAD_INPUT, 1, n * n, n};
	out[B] = (struct workload_array){"b", WORKLOAD_INPUT, 1, n * n, n};
	return 3;
}

/* Evenly between -1/2 and 1/2: sums round, so their order shows. */
static void fill(const void *opt, uint32_t blocks, int which, void *data)
{
	uint64_t n = (uint64_t)workload_n(opt);
	double *out = data;

	(void)blocks;
	for (uint64_t i = 0; which != C && i < n * n; i++)
		out[i] = (double)(pk_mix64(i * 2 + (uint64_t)which) >> 11) / 9007199254740992.0 - 0.5;
}

/* One row of A B, each sum over k from 0 on. */
static void product_row(const double *a, const double *b, uint64_t n, double *row)
{
	memset(row, 0, n * sizeof(*row));
	for (uint64_t k = 0; k < n; k++)
		for (uint64_t j = 0; j < n; j++)
			row[j] = row[j] + a[k] * b[k * n + j];
}

static uint64_t advance(const void *opt, uint32_t blocks, void **data, uint64_t iterations,
			int threads)
{
	const double *a = data[A], *b = data[B];
	uint64_t n = (uint64_t)workload_n(opt);
	double *c = data[C], *row = malloc(n * sizeof(*row));

	(void)blocks;
	(void)threads;
	if (!row)
		abort(); /* a child of its own: its death is reported as such */
	for (uint64_t i = 0; i < n; i++) {
		product_row(a + i * n, b, n, row);
		for (uint64_t it = 0; it < iterations; it++)
			for (uint64_t j = 0; j < n; j++)
				c[i * n + j] = c[i * n + j] + row[j];
	}
	free(row);
	return 0;
}

static void fill_args(const void *opt, uint32_t blocks, void **dev, void *out)
{
	struct progress_args *p = out;

	(void)blocks;
	*p = (struct progress_args){
		.size = sizeof(*p),
		.version = PROGRESS_VERSION,
		.n = (uint64_t)workload_n(opt),
		.c = dev[C],
		.a = dev[A],
		.b = dev[B],
	};
}

const struct workload workload_progress = {
	.name = "progress",
	.brief = "a tiled matrix product that tells the host how far it is",
	.options = options,
	.options_size = sizeof(struct progress_options),
	.args_size = sizeof(struct progress_args),
	.n = workload_n,
	.steps_per_iteration = workload_one_step,
	.units = units,
	.counts = counts,
	.arrays = arrays,
	.fill = fill,
	.advance = advance,
	.args = fill_args,
};
