/* SPDX-License-Identifier: MIT
 *
 * fake_steady.c - right; an iteration takes 0.1 ms.
 */
#include "fake.h"

static int run(struct pkrun_run *r, uint64_t iterations)
{
	fake_work(r, iterations);
	fake_sleep_us((long)iterations * 100);
	return PKRUN_OK;
}

FAKE_PLUGIN("steady", run);
