/* SPDX-License-Identifier: MIT
 *
 * orphan.c - an end of what a child left behind in a session of its own.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "orphan.h"

#define ORPHANS_MAX 256		/* seen at a time */
#define ROUNDS 100		/* of a millisecond; one that cannot be killed (in a driver) is let be */

void orphan_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* Where the kernel does not tell (CONFIG_PROC_CHILDREN): none. */
static int children(pid_t *pid)
{
	char path[64];
	long next;
	int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
	f = fopen(path, "re");
	while (f && n < ORPHANS_MAX && fscanf(f, "%ld", &next) == 1)
		pid[n++] = (pid_t)next;
	if (f)
		fclose(f);
	return n;
}

/* What was here before this program, or belongs to another, has not that in its environment. */
static int is_ours(pid_t pid, const char *mark)
{
	char path[64], *line = NULL;
	size_t room = 0;
	int found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/environ", (long)pid);
	f = fopen(path, "re");
	while (f && !found && getdelim(&line, &room, '\0', f) > 0)
		found = strcmp(line, mark) == 0;
	free(line);
	if (f)
		fclose(f);
	return found;
}

int orphan_end(const char *mark, const pid_t *spared, int n_spared)
{
	pid_t pid[ORPHANS_MAX];
	int i, k, n, left = 1, ended = 0, round, status;

	for (round = 0; left && round < ROUNDS; round++) {
		if (round)
			usleep(1000);
		n = children(pid);
		for (i = left = 0; i < n; i++) {
			for (k = 0; k < n_spared && spared[k] != pid[i]; k++)
				;
			if (k < n_spared)
				continue;
			if (waitpid(pid[i], &status, WNOHANG) == pid[i]) {
				ended += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
				left++;		/* and has left us its own, maybe */
			} else if (is_ours(pid[i], mark) && kill(pid[i], SIGKILL) == 0) {
				left++;
			}
		}
	}
	return ended;
}
