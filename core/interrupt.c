/* SPDX-License-Identifier: MIT
 *
 * interrupt.c - SIGINT, SIGTERM and SIGHUP: the first asks for an orderly end,
 * the second gets one within a second whatever the program is in the middle of.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include "runner.h"
#include "say.h"

static volatile sig_atomic_t first, count;
static volatile pid_t group;
static int wake[2] = { -1, -1 };

static void on_alarm(int sig)
{
	(void)sig;
	_exit(first == SIGINT ? EXIT_SIGINT : EXIT_SIGTERM);
}

static void on_signal(int sig)
{
	struct itimerval soon = { { 0, 0 }, { 0, 700000 } };
	ssize_t n;

	if (count++ == 0)
		first = sig;
	n = write(wake[1], "", 1);
	(void)n;
	if (count < 2)
		return;
	if (group > 0)
		kill(-group, SIGKILL);
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &soon, NULL);
}

int interrupt_open(int *wake_fd)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa, old;
	size_t i;

	if (wake[0] < 0 && pipe2(wake, O_CLOEXEC | O_NONBLOCK))
		return -1;
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = on_signal;
	sa.sa_flags = SA_RESTART;
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		sigaction(signals[i], NULL, &old);
		if (old.sa_handler != SIG_IGN)	/* nohup stays nohup */
			sigaction(signals[i], &sa, NULL);
	}
	*wake_fd = wake[0];
	return 0;
}

int interrupt_signal(void)
{
	return count ? first : 0;
}

void interrupt_clear(int wake_fd)
{
	char buf[16];

	while (read(wake_fd, buf, sizeof(buf)) > 0)
		;
}

void interrupt_child(pid_t pid)
{
	group = pid;
}
