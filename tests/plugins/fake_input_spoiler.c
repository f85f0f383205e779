/* SPDX-License-Identifier: MIT
 *
 * fake_input_spoiler.c - the right array, but rhs is changed after its last use.
 */
#include "fake.h"

static int run(struct pkrun_run *r, uint64_t iterations)
{
	const struct poisson2d_args *a = r->work->args;

	fake_work(r, iterations);
	fake_sleep_us(100);
	((double *)(uintptr_t)a->rhs)[a->cols + 1] += 1;
	return PKRUN_OK;
}

FAKE_PLUGIN("input_spoiler", run);
