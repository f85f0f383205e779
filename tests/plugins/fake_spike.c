/* SPDX-License-Identifier: MIT
 *
 * fake_spike.c - right; takes 5 ms, but 30 ms in its fifth run.
 */
#include "fake.h"

static int run(struct pkrun_run *r, uint64_t iterations)
{
	fake_work(r, iterations);
	fake_sleep_us(++fake_state(r)->calls == 5 ? 30000 : 5000);
	return PKRUN_OK;
}

FAKE_PLUGIN("spike", run);
