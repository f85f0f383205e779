/* SPDX-License-Identifier: MIT
 *
 * fake_clocks.c - right; gives a time of its own ($FAKE_KERNEL_NS) and a metric a trial.
 */
#include "fake.h"

static int run(struct pkrun_run *r, uint64_t iterations)
{
	const char *ns = getenv("FAKE_KERNEL_NS");

	fake_work(r, iterations);
	fake_sleep_us(10000);
	r->host->kernel_ns(r, ns ? strtoll(ns, NULL, 10) : 10000000);
	r->host->metric(r, "legs", 3, "leg");
	return PKRUN_OK;
}

FAKE_PLUGIN("clocks", run);
