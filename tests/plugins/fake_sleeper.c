/* SPDX-License-Identifier: MIT
 *
 * fake_sleeper.c - right, but takes 50 ms of wall time and no CPU time.
 */
#include "fake.h"

static int run(struct pkrun_run *r, uint64_t iterations)
{
	fake_work(r, iterations);
	fake_sleep_us(50000);
	return PKRUN_OK;
}

FAKE_PLUGIN("sleeper", run);
