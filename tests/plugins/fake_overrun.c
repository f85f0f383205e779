/* SPDX-License-Identifier: MIT
 *
 * fake_overrun.c - the right array, and one word behind the end of its own scratch.
 */
#include "fake.h"

static uint64_t *scratch;

static int setup(struct pkrun_run *r)
{
	void *dev;
	int rc = r->host->alloc(r, "scratch", PKRUN_MEMORY_DEVICE, 100 * 8, NULL, &dev);

	scratch = dev;
	return rc;
}

static int run(struct pkrun_run *r, uint64_t iterations)
{
	fake_work(r, iterations);
	fake_sleep_us(100);
	scratch[103] = 0;
	return PKRUN_OK;
}

#undef FAKE_SETUP
#define FAKE_SETUP setup
FAKE_PLUGIN("overrun", run);
