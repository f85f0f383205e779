/* SPDX-License-Identifier: MIT
 *
 * fake_hang.c - never ends; $FAKE_HANG = watch: gives up when told and says where; deaf: also ignores SIGTERM.
 */
#include <signal.h>
#include "fake.h"

static int run(struct pkrun_run *r, uint64_t iterations)
{
	const char *how = getenv("FAKE_HANG");
	struct pkrun_watch *w = r->watch;

	(void)iterations;
	if (how && strcmp(how, "deaf") == 0)
		signal(SIGTERM, SIG_IGN);
	while (!how || strcmp(how, "watch") || !__atomic_load_n(&w->abort, __ATOMIC_ACQUIRE))
		fake_sleep_us(1000);
	w->where = 1;
	w->block = 3;
	w->step = 17;
	__atomic_store_n(&w->seen, 1, __ATOMIC_RELEASE);
	r->host->say(r, "gave up");
	return PKRUN_FAIL;
}

FAKE_PLUGIN("hang", run);
