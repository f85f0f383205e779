/* SPDX-License-Identifier: MIT
 *
 * fake_flood.c - prints 4 MB to stdout and stderr, 5000 metrics and 100 notes a trial, and is right.
 * FAKE_AT: behind all those metrics a residual norm, which is not.
 */
#include <stdio.h>
#include "fake.h"

static int run(struct pkrun_run *r, uint64_t iterations)
{
	int i;

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
