/* SPDX-License-Identifier: MIT
 *
 * late_killer.c - looks right, but a thread of its own kills the process a little later, in another's turn.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "plain.h"

static void *kill_later(void *nothing)
{
	(void)nothing;
	usleep(1000);
	abort();
}

__attribute__((constructor)) static void start(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, kill_later, NULL);
}

PKRUN_PLUGIN(PLAIN("late_killer"));
