/* SPDX-License-Identifier: MIT
 *
 * fake_computes.c - right, and each run takes 0.4 s of a CPU, however long it waits for one.
 */
#include "fake.h"

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int run(struct pkrun_run *r, uint64_t iterations)
{
	double begin = cpu_s();

	fake_work(r, iterations);
	while (cpu_s() - begin < 0.4)
		;
	return PKRUN_OK;
}

FAKE_PLUGIN("computes", run);
