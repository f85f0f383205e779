/* SPDX-License-Identifier: MIT
 *
 * test_child.c - deadlines of children, and one that does not die.  Time passes only as the test
 * says: it brings its own clock_gettime(), poll(), and what else it takes.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "core/child.h"

#define SECOND INT64_C(1000000000)

static int64_t now;
static int64_t stopped_s;	/* in the next wait this process is stopped for so long, */
static int wakes;		/* and then it is woken */

int clock_gettime(clockid_t id, struct timespec *t)
{
	(void)id;
	t->tv_sec = now / SECOND;
	t->tv_nsec = now % SECOND;
	return 0;
}

/* Nothing happens until the time is up. */
int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	now += timeout * INT64_C(1000000) + stopped_s * SECOND;
	fds[n - 1].revents = wakes ? POLLIN : 0;
	stopped_s = wakes = 0;
	return fds[n - 1].revents != 0;
}

/* What a driver holds cannot be killed, and does not end. */
static int kills, waits;

int kill(pid_t pid, int sig)
{
	(void)pid;
	kills += sig == SIGKILL;
	return 0;
}

int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	(void)type;
	(void)id;
	assert_true(options & WNOHANG);
	info->si_pid = 0;
	return 0;
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	(void)pid;
	(void)status;
	waits += !(options & WNOHANG);
	return 0;
}

/* A child as child_spawn leaves it, whose end of the pipe is ours; it has no process. */
static struct child child;

static int open_child(void)
{
	int pipes[2], quiet[2];

	assert_int_equal(pipe2(pipes, O_NONBLOCK) || pipe(quiet), 0);
	memset(&child, 0, sizeof(child));
	child.from = child.reader.fd = pipes[0];
	child.pidfd = quiet[0];
	child.output = child.to = -1;
	return pipes[1];
}

static void a_deadline_passes(void **state)
{
	int64_t deadline = now + 10 * SECOND;
	struct message m;

	(void)state;
	open_child();
	assert_int_equal(child_wait(&child, &m, &deadline, -1), CHILD_TIMEOUT);
	assert_true(now >= deadline && now < deadline + SECOND);
}

/* Not by a message that comes of it, either. */
static void the_time_that_both_were_stopped_is_given_back_once_and_for_all(void **state)
{
	int64_t deadline = now + 10 * SECOND, first = deadline;
	int out = open_child();
	struct message m;

	(void)state;
	stopped_s = 100;
	wakes = 1;
	assert_int_equal(child_wait(&child, &m, &deadline, 0), CHILD_WAKE);
	assert_int_equal(message_send(out, 7, NULL, 0), 0);
	assert_int_equal(child_wait(&child, &m, &deadline, -1), CHILD_MESSAGE);
	assert_int_equal(child_wait(&child, &m, &deadline, -1), CHILD_TIMEOUT);
	/* 10 s of the wait, 100 stopped, 10 that are left */
	assert_true(now >= first + 110 * SECOND && now < first + 111 * SECOND);
}

static void one_that_cannot_be_killed_is_left(void **state)
{
	int64_t begin = now;

	(void)state;
	open_child();
	child.pid = 0x3ffffffe;	/* nobody, should this kill() not be the one that is called */
	assert_int_equal(child_end(&child), -1);
	assert_true(kills >= 2 && !waits);
	assert_true(now >= begin + 60 * SECOND && now < begin + 62 * SECOND);
	assert_int_equal(child.pid, 0);
	assert_int_equal(child.from, -1);
	assert_int_equal(child_end(&child), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_deadline_passes),
		cmocka_unit_test(one_that_cannot_be_killed_is_left),
		cmocka_unit_test(the_time_that_both_were_stopped_is_given_back_once_and_for_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
