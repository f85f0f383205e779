/* SPDX-License-Identifier: MIT
 *
 * fake_leaves.c - right, but run() leaves its process otherwise than it found it, as $FAKE_LEFT says:
 * round, comma (both also in its constructor), fork, name (of a metric, too long),
 * abort (the word), room (asks for more than memory can have).
 */
#include <fenv.h>
#include <locale.h>
#include "fake.h"

static void leave(const char *what)
{
	if (strcmp(what, "round") == 0)
		fesetround(FE_UPWARD);
	else if (strcmp(what, "comma") == 0 && !setlocale(LC_ALL, "de_DE.UTF-8"))
		setlocale(LC_ALL, "C.UTF-8");
}

__attribute__((constructor)) static void begin(void)
{
	const char *what = getenv("FAKE_LEFT");

	leave(what ? what : "");
}

static int run(struct pkrun_run *r, uint64_t iterations)
{
	const char *what = getenv("FAKE_LEFT");
	char name[80];

	fake_work(r, iterations);
	fake_sleep_us(100);
	if (!what)
		return PKRUN_OK;
	leave(what);
	if (strcmp(what, "fork") == 0)
		return fork() < 0 ? PKRUN_FAIL : PKRUN_OK;
	if (strcmp(what, "abort") == 0)
		r->watch->abort = 1;
	if (strcmp(what, "room") == 0)
		return r->host->alloc(r, "room", PKRUN_MEMORY_HOST, SIZE_MAX - 4095, NULL, NULL);
	if (strcmp(what, "name") == 0) {
		memset(name, 'x', sizeof(name));
		name[64] = '\0';
		if (r->host->metric(r, name, 1, "") != PKRUN_FAIL || r->host->metric(r, name + 1, 2, "") != PKRUN_OK)
			return PKRUN_FAIL;
	}
	return PKRUN_OK;
}

FAKE_PLUGIN("leaves", run);
