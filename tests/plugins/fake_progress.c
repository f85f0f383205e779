/* SPDX-License-Identifier: MIT
 *
 * fake_progress.c - right, and tells its progress for half a second a trial as fast as it can,
 * as $FAKE_PROGRESS says: by `calls`, with nonsense between them, by `frames` of its own on
 * pkrun's pipe, or by frames without an end (`hang`), deaf to SIGTERM.
 */
#include <signal.h>
#include "core/protocol.h"
#include "fake.h"

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void call(struct pkrun_run *r, uint64_t done)
{
	r->host->progress(r, done, 100);
	r->host->progress(r, done, 0);
	r->host->progress(r, UINT64_MAX, 1);
}

struct frame {
	uint32_t magic, type, size;
	unsigned char data[sizeof(struct protocol_progress)];
};

/* Many in one write, so that the reader hardly finds an end of them. */
static void frames(void)
{
	const struct protocol_progress p = { 43, 100 };
	static struct frame f[2000];
	int fd, i;

	for (i = 0; i < 2000 && !f[1999].magic; i++) {
		f[i] = (struct frame){ 0x67736d50u, PROTOCOL_PROGRESS, sizeof(p), { 0 } };
		memcpy(f[i].data, &p, sizeof(p));
	}
	for (fd = 200; fd < 204; fd++)	/* one of these is pkrun's own; the others are not open for writing */
		(void)!write(fd, f, sizeof(f));
}

static int run(struct pkrun_run *r, uint64_t iterations)
{
	const char *how = getenv("FAKE_PROGRESS");
	int hangs = how && strcmp(how, "hang") == 0;
	double begin = now_s(), part;

	fake_work(r, iterations);
	if (hangs)
		signal(SIGTERM, SIG_IGN);
	while ((part = (now_s() - begin) / 0.5) < 1 || hangs)
		if (how && strcmp(how, "calls"))
			frames();
		else
			call(r, (uint64_t)(part * 100));
	return PKRUN_OK;
}

FAKE_PLUGIN("progress", run);
