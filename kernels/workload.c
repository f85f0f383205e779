/* SPDX-License-Identifier: MIT
 *
 * workload.c - answers that many workloads give alike (workload.h).
 */
#include <string.h>
#include "workload.h"

int64_t workload_n(const void *opt)
{
	return *(const int64_t *)opt;
}

uint32_t workload_one_step(const void *opt)
{
	(void)opt;
	return 1;
}

int64_t workload_n_units(const void *opt, uint32_t sweep, const int64_t tile[2])
{
	(void)sweep;
	(void)tile;
	return workload_n(opt);
}

void workload_no_counts(const void *opt, struct workload_counts *out)
{
	(void)opt;
	memset(out, 0, sizeof(*out));
}

void workload_zero(const void *opt, uint32_t blocks, int which, void *data)
{
	(void)opt;
	(void)blocks;
	(void)which;
	(void)data;
}

void workload_add(uint64_t *words, uint64_t count, uint64_t more)
{
	for (uint64_t i = 0; i < count; i++)
		words[i] += more;
}
