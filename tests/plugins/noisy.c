/* SPDX-License-Identifier: MIT
 *
 * noisy.c - right, with times that alternate between 1 and 3 ms.
 */
#include "fake.h"

static int run(struct pkrun_run *r, uint64_t iterations)
{
	static int turn;

	fake_work(r, iterations);
	fake_sleep_us(turn++ & 1 ? 3000 : 1000);
	return PKRUN_OK;
}

FAKE_PLUGIN("noisy", run);
