/* SPDX-License-Identifier: MIT
 *
 * bad_ctor_thread.c - another major, and a constructor that starts a thread and registers an exit handler.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "plain.h"

static void *wake_later(void *nothing)
{
	static volatile int word;

	usleep(20000);
	word = word + 1;
	return nothing;
}

static void at_end(void)
{
	abort();
}

__attribute__((constructor)) static void start(void)
{
	pthread_t thread;

	atexit(at_end);
	pthread_create(&thread, NULL, wake_later, NULL);
}

struct pkrun_plugin pkrun_plugin = {
	.magic = PKRUN_MAGIC,
	.abi_major = PKRUN_ABI_MAJOR + 1,
	.abi_minor = 3,
	.size = sizeof(struct pkrun_plugin),
	.target = PKRUN_THIS_TARGET,
	PLAIN("bad_ctor_thread")
};
