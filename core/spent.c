/* SPDX-License-Identifier: MIT
 *
 * spent.c - see spent.h.  What could be set back is not: of a raised nice value or of a thread
 * that computes there is no way back.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "spent.h"

#define COMPUTES_MS 10.0

struct pace {
	int nice, policy, slack;
	cpu_set_t cpus;
};

static struct pace at_mark;

static void look(struct pace *p)
{
	memset(p, 0, sizeof(*p));
	p->nice = getpriority(PRIO_PROCESS, 0);
	p->policy = sched_getscheduler(0);
	p->slack = prctl(PR_GET_TIMERSLACK);
	sched_getaffinity(0, sizeof(p->cpus), &p->cpus);
}

void spent_mark(void)
{
	look(&at_mark);
}

static int another_runs(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	char path[300], text[512], *s;
	int found = 0;
	FILE *f;

	while (tasks && !found && (task = readdir(tasks))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/stat", task->d_name);
		f = *task->d_name == '.' || atol(task->d_name) == (long)gettid() ? NULL : fopen(path, "re");
		if (f && fgets(text, sizeof(text), f) && (s = strrchr(text, ')')))
			found = s[1] && s[2] == 'R';
		if (f)
			fclose(f);
	}
	if (tasks)
		closedir(tasks);
	return found;
}

static double cpu_ms(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Of the threads that are not ours, those of a GPU's runtime wait; one that only ends or begins to
 * wait may take a while where CPUs are few, but little of their time. */
static int others_compute(void)
{
	double used, before = cpu_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu_ms(CLOCK_THREAD_CPUTIME_ID);

	while (another_runs()) {
		usleep(500);
		used = cpu_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu_ms(CLOCK_THREAD_CPUTIME_ID) - before;
		if (used > COMPUTES_MS)
			return 1;
	}
	return 0;
}

static int has_child(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT) == 0;
}

int spent_is(void)
{
	struct pace now;

	look(&now);
	return memcmp(&now, &at_mark, sizeof(now)) || has_child() || others_compute();
}
