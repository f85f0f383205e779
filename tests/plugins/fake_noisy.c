/* SPDX-License-Identifier: MIT
 *
 * fake_noisy.c - right; takes 1 and 3 ms by turns, from process to process: the
 * turn is the size of the file $FAKE_TURN.  With FAKE_AT=drift: 10 % longer each turn.
 */
#include <fcntl.h>
#include "fake.h"

static long us;

static int setup(struct pkrun_run *r)
{
	int fd = open(getenv("FAKE_TURN"), O_WRONLY | O_CREAT | O_APPEND, 0666);
	long turn;

	if (fd < 0 || write(fd, "", 1) != 1) {
		r->host->say(r, "FAKE_TURN names no file");
		return PKRUN_FAIL;
	}
	turn = (long)lseek(fd, 0, SEEK_END);
	us = getenv("FAKE_AT") ? 1000 + 100 * turn : turn & 1 ? 1000 : 3000;
	close(fd);
	return PKRUN_OK;
}

static int run(struct pkrun_run *r, uint64_t iterations)
{
	fake_work(r, iterations);
	fake_sleep_us(us);
	return PKRUN_OK;
}

#undef FAKE_SETUP
#define FAKE_SETUP setup
FAKE_PLUGIN("noisy", run);
