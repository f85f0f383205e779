/* SPDX-License-Identifier: MIT
 *
 * fake_lazy.c - an empty run(): the start value must not pass, nor what $FAKE_AT = setup computed beforehand.
 */
#include "fake.h"

static int run(struct pkrun_run *r, uint64_t iterations)
{
	(void)r;
	(void)iterations;
	fake_sleep_us(100);
	return PKRUN_OK;
}

static int setup(struct pkrun_run *r)
{
	if (getenv("FAKE_AT"))
		fake_work(r, r->iterations);
	return PKRUN_OK;
}

#undef FAKE_SETUP
#define FAKE_SETUP setup
FAKE_PLUGIN("lazy", run);
