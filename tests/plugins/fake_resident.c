/* SPDX-License-Identifier: MIT
 *
 * fake_resident.c - needs all its blocks at once; its runtime says that 64 fit.
 */
#define FAKE_FLAGS (PKRUN_RESIDENT | PKRUN_COOPERATIVE)
#include "fake.h"

static int run(struct pkrun_run *r, uint64_t iterations)
{
	fake_work(r, iterations);
	fake_sleep_us(100);
	return PKRUN_OK;
}

FAKE_PLUGIN("resident", run);
