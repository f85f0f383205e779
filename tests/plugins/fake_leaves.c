/* SPDX-License-Identifier: MIT
 *
 * fake_leaves.c - right, but run() leaves its process otherwise than it found it, as $FAKE_LEFT says:
 * round, comma (both also in its constructor), fork, name (of a metric, too long),
 * abort (the word), room (asks for more than memory can have), daemon (in a session of its own,
 * its number in $FAKE_TURN), daemon_crash (the same, then abort()), signals (a timer that kills,
 * limits, signals ignored and blocked), slack, pin, thread, child (the process goes on
 * slower than it was, or beside another), built (a byte more in file $FAKE_TURN), removed (that file).
 */
#define _GNU_SOURCE
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
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

/* Twice forked, as daemons are, and deaf to all but SIGKILL; it is there when this returns. */
static void start_daemon(void)
{
	int ready[2];
	char byte;
	FILE *f;

	if (pipe(ready))
		abort();
	if (fork()) {
		close(ready[1]);
		(void)!read(ready[0], &byte, 1);
		close(ready[0]);
		return;
	}
	setsid();
	if (fork())
		_exit(0);
	signal(SIGTERM, SIG_IGN);
	f = fopen(getenv("FAKE_TURN"), "a");
	fprintf(f, "%ld\n", (long)getpid());
	fclose(f);
	close(ready[1]);
	for (;;)
		pause();
}

static void set_signals(void)
{
	const struct itimerval soon = { { 0, 20000 }, { 0, 20000 } };
	struct rlimit files;
	sigset_t all;

	signal(SIGTERM, SIG_IGN);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);	/* the timer's too, so that this cell is not ended */
	setitimer(ITIMER_REAL, &soon, NULL);
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = 3;	/* no plugin can be loaded */
	setrlimit(RLIMIT_NOFILE, &files);
}

static void *compute(void *nothing)
{
	(void)nothing;
	for (volatile unsigned i = 0; ; i++)
		;
}

static void slow_down(const char *how)
{
	pthread_t thread;
	cpu_set_t cpu;
	int i;

	if (strcmp(how, "slack") == 0)
		prctl(PR_SET_TIMERSLACK, 60000UL);
	else if (strcmp(how, "thread") == 0)
		pthread_create(&thread, NULL, compute, NULL);
	else if (strcmp(how, "child") == 0 && fork() == 0)
		for (;;)
			pause();
	else if (strcmp(how, "pin") == 0 && sched_getaffinity(0, sizeof(cpu), &cpu) == 0) {
		for (i = 0; !CPU_ISSET(i, &cpu); i++)
			;
		CPU_ZERO(&cpu);
		CPU_SET(i, &cpu);
		sched_setaffinity(0, sizeof(cpu), &cpu);
	}
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
	if (fake_state(r)->calls++ == 0)
		slow_down(what);
	if (strcmp(what, "fork") == 0)
		return fork() < 0 ? PKRUN_FAIL : PKRUN_OK;
	if (strcmp(what, "signals") == 0)
		set_signals();
	if (strncmp(what, "daemon", 6) == 0)
		start_daemon();
	if (strcmp(what, "daemon_crash") == 0)
		abort();
	if (strcmp(what, "removed") == 0)
		unlink(getenv("FAKE_TURN"));
	if (strcmp(what, "built") == 0) {
		FILE *f = fopen(getenv("FAKE_TURN"), "a");

		fputc('x', f);
		fclose(f);
	}
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
