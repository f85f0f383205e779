/* SPDX-License-Identifier: MIT
 *
 * fake_bad_teardown.c - right, then crashes ($FAKE_HANG: hangs) in teardown.
 */
#include "fake.h"

static void teardown(struct pkrun_run *r)
{
	(void)r;
	while (getenv("FAKE_HANG"))
		fake_sleep_us(100000);
	fake_crash();
}

static int run(struct pkrun_run *r, uint64_t iterations)
{
	fake_work(r, iterations);
	fake_sleep_us(100);
	return PKRUN_OK;
}

#undef FAKE_TEARDOWN
#define FAKE_TEARDOWN teardown
FAKE_PLUGIN("bad_teardown", run);
