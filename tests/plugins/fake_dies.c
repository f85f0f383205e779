/* SPDX-License-Identifier: MIT
 *
 * fake_dies.c - ends the process in the way that $FAKE_DEATH says, in call $FAKE_CALL (1) of run().
 */
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include "fake.h"

static void deep(volatile char *above)
{
	volatile char here[1 << 20];

	here[0] = above ? above[0] : 1;
	if (here[0])
		deep(here);
	here[1] = here[0];
}

/* The head of a message of pkrun's, and what it carries: texts without an end. */
static void send_frame(int fd, uint32_t type, uint32_t size)
{
	static char bytes[12 + 4096];
	uint32_t head[] = { 0x67736d50u, type, size };

	memcpy(bytes, head, sizeof(head));
	memset(bytes + sizeof(head), 'A', size);
	(void)!write(fd, bytes, sizeof(head) + size);
}

static void die(const char *how)
{
	const struct rlimit no_core = { 0, 0 };

	setrlimit(RLIMIT_CORE, &no_core);
	if (strcmp(how, "segv") == 0)
		fake_crash();
	else if (strcmp(how, "abort") == 0)
		abort();
	else if (strcmp(how, "exit0") == 0)
		exit(0);
	else if (strcmp(how, "_exit0") == 0)
		_exit(0);
	else if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	else if (strcmp(how, "stack") == 0)
		deep(NULL);
	else if (strcmp(how, "fork") == 0) {
		if (fork() == 0) {	/* holds every pipe open after the crash */
			sleep(30);
			_exit(0);
		}
		fake_crash();
	} else if (strcmp(how, "closes_fds") == 0) {
		int fd;

		for (fd = 0; fd < 1024; fd++)
			close(fd);
	} else if (strcmp(how, "garbage") == 0 || strcmp(how, "half") == 0 ||
		   strcmp(how, "half_hang") == 0) {
		int fd;	/* one of these is pkrun's own; the others are not open */

		for (fd = 200; fd < 220; fd++)
			(void)!write(fd, how[0] == 'g' ? "no message at all" : "Pmsg\1\0", how[0] == 'g' ? 17 : 6);
		while (strcmp(how, "half_hang") == 0)
			fake_sleep_us(100000);
		if (how[0] == 'h')
			_exit(0);
	} else if (strcmp(how, "frame") == 0) {	/* $FAKE_FRAME = TYPE:SIZE */
		uint32_t type = 0, size = 0;
		int fd;

		(void)!sscanf(getenv("FAKE_FRAME"), "%u:%u", &type, &size);
		for (fd = 200; fd < 220; fd++)
			send_frame(fd, type, size);
	} else if (strcmp(how, "words") == 0) {
		fprintf(stderr, "the last words\tof a plugin\n");
		abort();
	} else {
		printf("FAKE_DEATH=%s is unknown\n", how);
		exit(9);
	}
}

static int run(struct pkrun_run *r, uint64_t iterations)
{
	const char *how = getenv("FAKE_DEATH"), *call = getenv("FAKE_CALL");

	if (++fake_state(r)->calls == (call ? strtoull(call, NULL, 10) : 1))
		die(how ? how : "segv");
	fake_work(r, iterations);
	fake_sleep_us(100);
	return PKRUN_OK;
}

FAKE_PLUGIN("dies", run);
