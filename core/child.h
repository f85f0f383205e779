/* SPDX-License-Identifier: MIT
 *
 * child.h - processes of our own: this program again with an internal first
 * argument (`--worker`, `--describe`, ...), in its own process group, with two
 * pipes for messages and its stdout and stderr caught.
 *
 * Whatever a plugin does in there - print, exit, crash, fork, close every file,
 * ignore signals - ends here as an event.  The end is seen by the process, not
 * by the end of a pipe, which a grandchild may hold open.
 */
#ifndef PKRUN_CHILD_H
#define PKRUN_CHILD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "message.h"

#define CHILD_OUTPUT_MAX 16384	/* bytes of a child's output that are kept: the first and last half */
#define CHILD_LOST_PIPE 97	/* exit code of a child that cannot write to its pipe any more */

struct child {
	pid_t pid;		/* 0: none */
	int pidfd;		/* -1 where the kernel has none: then we look every 10 ms */
	int to, from, output;	/* our ends; -1 when closed */
	int ended;		/* reaped: wait_status holds */
	int wait_status;
	int64_t waited_ns;	/* for a CPU, in all, as was seen last */
	int is_wrapped;		/* what a tool leaves behind is its own affair */
	struct message_reader reader;
	uint64_t output_size;	/* all that it printed */
	char output_text[CHILD_OUTPUT_MAX + 1];
};

enum child_event {
	CHILD_MESSAGE = 1,	/* *m holds it */
	CHILD_ENDED,		/* every message it sent was handed out before this */
	CHILD_TIMEOUT,
	CHILD_WAKE,		/* wake_fd became readable (signals of the parent) */
	CHILD_BROKEN		/* what it sent is not our protocol; it still runs */
};

/* args: NULL-terminated, from the internal argument on.  wrap: a command to run it under, NULL-terminated, or NULL.
 * 0, or -1 with the reason. */
int child_spawn(struct child *c, const char *const *args, const char *const *wrap,
		char *why, size_t why_size);
int child_send(struct child *c, uint32_t type, const void *data, size_t size);
/* The next event.  *deadline: CLOCK_MONOTONIC ns (child_now), 0: none; it is put off by the time in which
 * this process was stopped, for the waits that follow as well.  wake_fd: -1 if none. */
enum child_event child_wait(struct child *c, struct message *m, int64_t *deadline, int wake_fd);
int64_t child_now(void);
/* A signal to the child, or to its whole process group. */
void child_signal(struct child *c, int sig, int group);
/* Make an end of it now, and of all that it leaves behind: SIGKILL to the group, reap, close.  0, or -1: after a
 * minute it still lives (in a driver), and is left. */
int child_end(struct child *c);
/* How it ended, in words: "killed by SIGSEGV", "exited with 0 before it was done"; then the end of its output, if any. */
void child_reason(const struct child *c, char *out, size_t out_size);
/* What it printed, made one line of at most out_size bytes ("" if nothing). */
void child_output(const struct child *c, char *out, size_t out_size);

/* In the child, first of all: die with the parent, take the pipes to high numbers that exec closes.
 * in, out: the ends for message_wait and message_send. */
void child_attach(int *in, int *out);

#endif
