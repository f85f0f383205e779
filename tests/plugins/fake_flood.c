/* SPDX-License-Identifier: MIT
 *
 * fake_flood.c - prints 4 MB to stdout and stderr, 5000 metrics and 100 notes a trial, and is right.
 * FAKE_AT: behind all those metrics a residual norm, which is not.
 * It fails where pkrun.db is written while it runs.
 */
#include <fcntl.h>
#include <stdio.h>
#include "fake.h"

/* SQLite's locks of who writes to the log and of who carries it over: bytes 120 and 121 of this file. */
static int is_written(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 120, .l_len = 2 };
	int fd = open("pkrun.db-shm", O_RDWR), rc = fd < 0 ? -1 : fcntl(fd, F_GETLK, &lock);

	if (fd >= 0)
		close(fd);
	return rc == 0 && lock.l_type != F_UNLCK;
}

static int run(struct pkrun_run *r, uint64_t iterations)
{
	int i;

	if (is_written()) {
		r->host->say(r, "pkrun.db is written beside this run");
		return PKRUN_FAIL;
	}
	fake_work(r, iterations);
	for (i = 0; i < 40000; i++) {
		fprintf(i & 1 ? stdout : stderr, "%d: a line that nobody asked for, and then some more of it ........... \033[31m\n", i);
	}
	for (i = 0; i < 5000; i++)
		r->host->metric(r, "useless", i, "");
	if (getenv("FAKE_AT"))
		r->host->metric(r, "residual_norm", 1.5, "");
	for (i = 0; i < 100; i++)
		r->host->say(r, "note %d", i);
	return PKRUN_OK;
}

FAKE_PLUGIN("flood", run);
