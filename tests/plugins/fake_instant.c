/* SPDX-License-Identifier: MIT
 *
 * fake_instant.c - right, and done within a few ticks of the clock; from call $FAKE_CALL of run() on
 * it takes a millisecond.
 */
#include <limits.h>
#include "fake.h"

static int run(struct pkrun_run *r, uint64_t iterations)
{
	(void)r;
	(void)iterations;
	return PKRUN_OK;
}

static int stop(struct pkrun_run *r)
{
	fake_work(r, fake_state(r)->calls);
	return PKRUN_OK;
}

static int begin(struct pkrun_run *r, uint64_t iterations)
{
	const char *from = getenv("FAKE_CALL");
	static long calls;

	if (++calls >= (from ? atol(from) : LONG_MAX))
		fake_sleep_us(1000);
	fake_state(r)->calls = iterations;
	return run(r, iterations);
}

PKRUN_PLUGIN(.name = "instant", .brief = "works in stop(), where no clock runs",
	     .control = PKRUN_CONTROL_HOST_QUEUE, .result = PKRUN_EXACT,
	     .state_size = sizeof(struct fake_state), .workloads = "poisson2d,null",
	     .footprint = fake_footprint, .run = begin, .wait = fake_wait, .stop = stop);
