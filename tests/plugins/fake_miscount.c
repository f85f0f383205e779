/* SPDX-License-Identifier: MIT
 *
 * fake_miscount.c - the right array, but one block says that it did a step too few.
 */
#include "fake.h"

static int run(struct pkrun_run *r, uint64_t iterations)
{
	fake_work(r, iterations);
	fake_sleep_us(100);
	r->steps[fake_state(r)->blocks - 1]--;
	return PKRUN_OK;
}

FAKE_PLUGIN("miscount", run);
