/* SPDX-License-Identifier: MIT
 *
 * fake_fails.c - says no in the way that $FAKE_FAIL says: skip (probe), setup, run, silent, odd,
 * wrong (what it looked at itself).
 */
#include "fake.h"

static int is(const char *how)
{
	const char *v = getenv("FAKE_FAIL");

	return v && strcmp(v, how) == 0;
}

static int probe(struct pkrun_run *r)
{
	if (!is("skip"))
		return PKRUN_OK;
	r->host->say(r, "needs %d legs", 3);
	return PKRUN_SKIP;
}

static int setup(struct pkrun_run *r)
{
	if (!is("setup"))
		return PKRUN_OK;
	r->host->say(r, "setup.c:7: hipMalloc: out of memory");
	return PKRUN_FAIL;
}

static int run(struct pkrun_run *r, uint64_t iterations)
{
	(void)iterations;
	if (is("run"))
		r->host->say(r, "launch failed");
	if (is("wrong"))
		r->host->say(r, "leg 2: got 3, expected 4");
	return is("odd") ? 42 : is("wrong") ? PKRUN_WRONG : PKRUN_FAIL;
}

#undef FAKE_PROBE
#define FAKE_PROBE probe
#undef FAKE_SETUP
#define FAKE_SETUP setup
FAKE_PLUGIN("fails", run);
