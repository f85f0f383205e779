/* SPDX-License-Identifier: MIT
 *
 * fake_lazy.c - an empty run(): the start value must not pass.
 */
#include "fake.h"

static int run(struct pkrun_run *r, uint64_t iterations)
{
	(void)r;
	(void)iterations;
	fake_sleep_us(100);
	return PKRUN_OK;
}

FAKE_PLUGIN("lazy", run);
