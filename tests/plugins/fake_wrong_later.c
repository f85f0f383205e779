/* SPDX-License-Identifier: MIT
 *
 * fake_wrong_later.c - right for its first 10 calls, then adds 1 to one word; wrong at once for n above 30.
 */
#include "fake.h"

static int run(struct pkrun_run *r, uint64_t iterations)
{
	uint64_t n, *words = fake_words(r, &n);

	fake_work(r, iterations);
	fake_sleep_us(100);
	if (++fake_state(r)->calls > 10 || n > 30 * 30)
		words[n / 2] += 1;
	return PKRUN_OK;
}

FAKE_PLUGIN("wrong_later", run);
