/* SPDX-License-Identifier: MIT
 *
 * fake_unpoisoned.c - right only if its scratch begins with zeros, which it never does.
 */
#include "fake.h"

static uint64_t *scratch;

static int setup(struct pkrun_run *r)
{
	void *dev;
	int rc = r->host->alloc(r, "scratch", PKRUN_MEMORY_DEVICE, 8, NULL, &dev);

	scratch = dev;
	return rc;
}

static int run(struct pkrun_run *r, uint64_t iterations)
{
	fake_work(r, iterations + (scratch[0] != 0));
	fake_sleep_us(100);
	scratch[0] = 0;
	return PKRUN_OK;
}

#undef FAKE_SETUP
#define FAKE_SETUP setup
FAKE_PLUGIN("unpoisoned", run);
