/* SPDX-License-Identifier: MIT
 *
 * fake_late_thread.c - right; its thread wakes after teardown, an atexit handler and a key destructor crash.
 */
#include <pthread.h>
#include "fake.h"

static volatile int written;
static pthread_key_t key;

static void crash(void)
{
	fake_crash();
}

static void crash_key(void *p)
{
	(void)p;
	crash();
}

static void *sleeper(void *unused)
{
	fake_sleep_us(2000000);
	written = 1;
	return unused;
}

static int setup(struct pkrun_run *r)
{
	pthread_t t;

	(void)r;
	atexit(crash);
	pthread_key_create(&key, crash_key);
	pthread_setspecific(key, &key);
	return pthread_create(&t, NULL, sleeper, NULL) ? PKRUN_FAIL : PKRUN_OK;
}

static int run(struct pkrun_run *r, uint64_t iterations)
{
	fake_work(r, iterations);
	fake_sleep_us(100);
	return PKRUN_OK;
}

#undef FAKE_SETUP
#define FAKE_SETUP setup
FAKE_PLUGIN("late_thread", run);
