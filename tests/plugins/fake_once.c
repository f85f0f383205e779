/* SPDX-License-Identifier: MIT
 *
 * fake_once.c - crashes in the first process that uses it, is right in the
 * others: the first is the one that finds no file $FAKE_TURN.  With
 * FAKE_AT=every, in every second one: the others take the file away.
 */
#include <fcntl.h>
#include "fake.h"

static int run(struct pkrun_run *r, uint64_t iterations)
{
	if (++fake_state(r)->calls == 1) {
		int fd = open(getenv("FAKE_TURN"), O_WRONLY | O_CREAT | O_EXCL, 0666);

		if (fd >= 0)
			abort();
		if (getenv("FAKE_AT"))
			unlink(getenv("FAKE_TURN"));
	}
	fake_work(r, iterations);
	fake_sleep_us(100);
	return PKRUN_OK;
}

FAKE_PLUGIN("once", run);
