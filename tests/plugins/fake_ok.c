/* SPDX-License-Identifier: MIT
 *
 * fake_ok.c - a right variant.
 */
#include "fake.h"

static int run(struct pkrun_run *r, uint64_t iterations)
{
	fake_work(r, iterations);
	fake_sleep_us(100);
	return PKRUN_OK;
}

FAKE_PLUGIN("ok", run);
