/* SPDX-License-Identifier: MIT
 *
 * fake_early.c - hands the work to a thread and returns at once; wait() does not wait (d07).
 */
#include <pthread.h>
#include "fake.h"

static uint64_t wanted;

static void *worker(void *r)
{
	fake_sleep_us(20000);
	fake_work(r, wanted);
	return NULL;
}

static int run(struct pkrun_run *r, uint64_t iterations)
{
	pthread_t t;

	wanted = iterations;
	if (pthread_create(&t, NULL, worker, r))
		return PKRUN_FAIL;
	pthread_detach(t);
	return PKRUN_OK;
}

FAKE_PLUGIN("early", run);
