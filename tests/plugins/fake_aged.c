/* SPDX-License-Identifier: MIT
 *
 * fake_aged.c - a right variant, as it was built against ABI 1.0: for it `blocks` has four words.
 */
#include "fake.h"

static int run(struct pkrun_run *r, uint64_t iterations)
{
	fake_work(r, iterations);
	fake_sleep_us(100);
	return PKRUN_OK;
}

struct pkrun_plugin pkrun_plugin = {
	.magic = PKRUN_MAGIC,
	.abi_major = 1,
	.abi_minor = 0,
	.size = PKRUN_PLUGIN_SIZE_1_0,
	.target = PKRUN_THIS_TARGET,
	.name = "aged",
	.brief = FAKE_BRIEF,
	.control = PKRUN_CONTROL_HOST,
	.result = PKRUN_EXACT,
	.state_size = sizeof(struct fake_state),
	.workloads = "poisson2d,null",
	.footprint = fake_footprint,
	.run = run,
	.wait = fake_wait,
};
