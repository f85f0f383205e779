/* SPDX-License-Identifier: MIT
 *
 * child.c - spawn this program again, listen to it, and make an end of it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "child.h"
#include "orphan.h"
#include "paths.h"

#define FD_IN  3	/* in the child, until child_attach */
#define FD_OUT 4
#define FD_HIGH 200	/* out of the way of a plugin's own files */
#define ARGS_MAX 64
#define STILL_NS INT64_C(1000000000)
#define STARVED_NS INT64_C(100000000)
#define KILLED_NS INT64_C(60000000000)	/* to give back the memory of a large problem */
#define LIVE_MAX 64
#define MARK "PKRUN_PARENT"	/* in the environment of a child: our number */

extern char **environ;

static pid_t live[LIVE_MAX];	/* children of ours */
static int n_live;

int64_t child_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* The pipes of one child: ours close on exec; theirs do too, and come through by dup2. */
struct pipes {
	int to[2], from[2], output[2];
};

static void pipes_close(struct pipes *p)
{
	int i;

	for (i = 0; i < 2; i++) {
		close_fd(&p->to[i]);
		close_fd(&p->from[i]);
		close_fd(&p->output[i]);
	}
}

/* Ends of pipes that are above FD_OUT, so that no dup2 of the child closes one that is still needed. */
static int pipe_high(int fd[2])
{
	int i, high, low[2];

	if (pipe2(low, O_CLOEXEC))
		return -1;
	for (i = 0; i < 2; i++) {
		high = fcntl(low[i], F_DUPFD_CLOEXEC, 10);
		close(low[i]);
		fd[i] = high;
	}
	return fd[0] < 0 || fd[1] < 0 ? -1 : 0;
}

static int pipes_open(struct pipes *p)
{
	memset(p, 0xff, sizeof(*p));
	if (pipe_high(p->to) || pipe_high(p->from) || pipe_high(p->output)) {
		pipes_close(p);
		return -1;
	}
	return 0;
}

static int spawn(pid_t *pid, const char *const *argv, int wrapped, const struct pipes *p)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int rc;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, p->output[1], 1);
	posix_spawn_file_actions_adddup2(&files, p->output[1], 2);
	posix_spawn_file_actions_adddup2(&files, p->to[0], FD_IN);
	posix_spawn_file_actions_adddup2(&files, p->from[1], FD_OUT);
	posix_spawnattr_init(&attr);
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
				 POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	rc = posix_spawnp(pid, wrapped ? argv[0] : paths_running(), &files, &attr, (char *const *)argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return rc;
}

static int build_argv(const char **argv, const char *const *args, const char *const *wrap)
{
	int n = 0;

	for (; wrap && *wrap && n < ARGS_MAX - 1; wrap++)
		argv[n++] = *wrap;
	if (n < ARGS_MAX - 1)
		argv[n++] = wrap ? paths_running() : paths_self();
	for (; *args && n < ARGS_MAX - 1; args++)
		argv[n++] = *args;
	argv[n] = NULL;
	return *args ? -1 : 0;
}

int child_spawn(struct child *c, const char *const *args, const char *const *wrap,
		char *why, size_t why_size)
{
	const char *argv[ARGS_MAX];
	char parent[32];
	struct pipes p;
	pid_t pid;
	int rc;

	signal(SIGPIPE, SIG_IGN);	/* a child that is gone is seen by its end, */
	signal(SIGCHLD, SIG_DFL);	/* which nobody tells where our parent had us ignore it */
	snprintf(parent, sizeof(parent), "%ld", (long)getpid());
	setenv(MARK, parent, 1);
	if (wrap)
		setenv("PKRUN_WRAPPED", "1", 1);
	else
		unsetenv("PKRUN_WRAPPED");
	if (build_argv(argv, args, wrap)) {
		snprintf(why, why_size, "more than %d arguments for a child", ARGS_MAX - 1);
		return -1;
	}
	if (pipes_open(&p)) {
		snprintf(why, why_size, "pipe: %s", strerror(errno));
		return -1;
	}
	orphan_adopt();
	rc = n_live < LIVE_MAX ? spawn(&pid, argv, wrap != NULL, &p) : EAGAIN;
	if (rc) {
		snprintf(why, why_size, "cannot start %s: %s", argv[0], strerror(rc));
		pipes_close(&p);
		return -1;
	}
	memset(c, 0, offsetof(struct child, reader));
	c->output_size = 0;
	c->pid = live[n_live++] = pid;
	c->is_wrapped = wrap != NULL;
	c->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	c->to = p.to[1];
	c->from = p.from[0];
	c->output = p.output[0];
	c->reader.fd = c->from;
	c->reader.used = c->reader.taken = 0;
	p.to[1] = p.from[0] = p.output[0] = -1;
	pipes_close(&p);
	fcntl(c->from, F_SETFL, O_NONBLOCK);
	fcntl(c->output, F_SETFL, O_NONBLOCK);
	return 0;
}

int child_send(struct child *c, uint32_t type, const void *data, size_t size)
{
	return c->to < 0 ? -1 : message_send(c->to, type, data, size);
}

/* Keep the first half, and let the last half slide. */
static void output_keep(struct child *c, const char *data, size_t n)
{
	const size_t half = CHILD_OUTPUT_MAX / 2;
	char *tail = c->output_text + half;
	size_t have = c->output_size < CHILD_OUTPUT_MAX ? (size_t)c->output_size : CHILD_OUTPUT_MAX;
	size_t fits = CHILD_OUTPUT_MAX - have, over;

	c->output_size += n;
	if (fits >= n) {
		memcpy(c->output_text + have, data, n);
		return;
	}
	memcpy(c->output_text + have, data, fits);
	over = n - fits;
	data += fits;
	if (over > half) {
		data += over - half;
		over = half;
	}
	memmove(tail, tail + over, half - over);
	memcpy(tail + half - over, data, over);
}

/* Read what there is of its output, a bounded amount at a time. */
static void output_drain(struct child *c)
{
	char buf[8192];
	ssize_t n;
	int turns;

	for (turns = 0; c->output >= 0 && turns < 64; turns++) {
		n = read(c->output, buf, sizeof(buf));
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			close_fd(&c->output);
			return;
		}
		output_keep(c, buf, (size_t)n);
	}
}

/* Has it ended?  It stays a zombie until child_end, so that its number - also
 * that of its group - cannot become another's. */
static void look(struct child *c)
{
	siginfo_t info;
	int rc;

	if (c->ended)
		return;
	info.si_pid = 0;
	do {
		rc = waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOWAIT | WNOHANG);
	} while (rc < 0 && errno == EINTR);
	if (rc == 0 && info.si_pid == 0)
		return;
	c->ended = 1;
	c->wait_status = rc < 0 ? 0 : info.si_code == CLD_EXITED ? info.si_status << 8 :
			 info.si_status;
}

/* 1 when *e is set. */
static int next_message(struct child *c, struct message *m, enum child_event *e)
{
	int rc;

	if (c->from < 0)
		return 0;
	rc = message_read(&c->reader, m);
	if (rc == 0)
		return 0;
	*e = rc == -2 ? CHILD_BROKEN : CHILD_MESSAGE;
	if (rc < 0)
		close_fd(&c->from);
	return rc != -1;
}

static int wait_ms(const struct child *c, int64_t deadline)
{
	int64_t left, ms = -1;

	if (deadline) {
		left = deadline - child_now();
		ms = left <= 0 ? 0 : left / 1000000 + 1;
	}
	if (c->pidfd < 0 && (ms < 0 || ms > 10))
		ms = 10;
	return ms > 1000000 ? 1000000 : (int)ms;
}

/* A wait that took a second longer than was asked for: this process did not run, and as a rule
 * the child neither (a batch system stops both, a container is frozen).  From when in the wait on
 * cannot be known, so the child gets back all of it. */
static int64_t stood_still(int64_t since, int ms)
{
	int64_t took = child_now() - since;

	return ms >= 0 && took - ms * INT64_C(1000000) >= STILL_NS ? took : 0;
}

/* How long it was ready to run, since this was last asked, while others had the CPUs.  0 where the
 * kernel does not tell. */
static int64_t starved(struct child *c)
{
	char path[64];
	long long ran, waited = 0;
	int64_t since = c->waited_ns;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/schedstat", (long)c->pid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%lld %lld", &ran, &waited) == 2 && waited > since)
		c->waited_ns = waited;
	if (f)
		fclose(f);
	return c->waited_ns - since;
}

/* Its time is over; but on a crowded machine it gets back what it could not use. */
static int is_late(struct child *c, int64_t *deadline)
{
	int64_t more;

	if (!*deadline || child_now() < *deadline)
		return 0;
	more = starved(c);
	if (more < STARVED_NS)
		return 1;
	*deadline = child_now() + more;
	return 0;
}

enum child_event child_wait(struct child *c, struct message *m, int64_t *deadline, int wake_fd)
{
	enum child_event e;
	int was_ended, ms;
	int64_t since;

	for (;;) {
		struct pollfd fd[4] = {
			{ c->from, POLLIN, 0 },
			{ c->output, POLLIN, 0 },
			{ c->ended ? -1 : c->pidfd, POLLIN, 0 },
			{ wake_fd, POLLIN, 0 },
		};

		was_ended = c->ended;
		if (next_message(c, m, &e))
			return e;
		if (was_ended) {
			output_drain(c);
			return CHILD_ENDED;
		}
		fd[0].fd = c->from;
		since = child_now();
		ms = wait_ms(c, *deadline);
		poll(fd, 4, ms);
		if (*deadline)
			*deadline += stood_still(since, ms);
		if (fd[1].revents)
			output_drain(c);
		if (fd[3].revents)
			return CHILD_WAKE;
		if (c->pidfd < 0 || fd[2].revents)
			look(c);
		if (!c->ended && !fd[0].revents && is_late(c, deadline))
			return CHILD_TIMEOUT;
	}
}

void child_signal(struct child *c, int sig, int group)
{
	if (c->pid > 0 && !c->ended)
		kill(group ? -c->pid : c->pid, sig);
}

static void forget(pid_t pid)
{
	int i;

	for (i = 0; i < n_live && live[i] != pid; i++)
		;
	if (i < n_live)
		live[i] = live[--n_live];
}

/* A process that it forked into a session of its own would run beside the next cells. */
static void end_orphans(struct child *c)
{
	char mark[64], text[120];
	int n, ended;

	snprintf(mark, sizeof(mark), MARK "=%ld", (long)getpid());
	ended = c->is_wrapped ? 0 : orphan_end(mark, live, n_live);
	if (!ended)
		return;
	n = snprintf(text, sizeof(text), "\n%d process%s that it had started and left behind %s ended\n", ended,
		     ended == 1 ? "" : "es", ended == 1 ? "was" : "were");
	output_keep(c, text, (size_t)n);
}

/* One that a driver does not let go would be waited for as long as the machine is up. */
static void await_end(struct child *c)
{
	const int64_t deadline = child_now() + KILLED_NS;
	struct pollfd end = { c->pidfd, POLLIN, 0 };

	for (look(c); !c->ended && child_now() < deadline; look(c))
		poll(&end, 1, c->pidfd < 0 ? 10 : 1000);
}

int child_end(struct child *c)
{
	int rc = 0;

	if (c->pid <= 0)
		return 0;
	/* Even when it has ended, others of its group may live on. */
	kill(-c->pid, SIGKILL);
	kill(c->pid, SIGKILL);
	await_end(c);
	if (c->ended) {
		while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
			;
		forget(c->pid);
	} else {
		rc = -1;
	}
	output_drain(c);
	end_orphans(c);
	close_fd(&c->to);
	close_fd(&c->from);
	close_fd(&c->output);
	close_fd(&c->pidfd);
	c->pid = 0;
	return rc;
}

void child_output(const struct child *c, char *out, size_t out_size)
{
	size_t have = c->output_size < CHILD_OUTPUT_MAX ? (size_t)c->output_size : CHILD_OUTPUT_MAX;
	const char *text = c->output_text;
	size_t i, o = 0;

	if (have > out_size - 1) {	/* the end says most */
		text += have - (out_size - 1);
		have = out_size - 1;
	}
	for (i = 0; i < have; i++) {
		unsigned char ch = (unsigned char)text[i];

		if (ch < ' ' || ch == 0x7f)
			ch = ' ';
		if (ch == ' ' && (o == 0 || out[o - 1] == ' '))
			continue;
		out[o++] = (char)ch;
	}
	while (o && out[o - 1] == ' ')
		o--;
	out[o] = '\0';
}

void child_reason(const struct child *c, char *out, size_t out_size)
{
	char text[400];
	const char *name;
	int sig, n;

	if (WIFSIGNALED(c->wait_status)) {
		sig = WTERMSIG(c->wait_status);
		name = sigabbrev_np(sig);
		if (name)
			n = snprintf(out, out_size, "killed by SIG%s", name);
		else
			n = snprintf(out, out_size, "killed by signal %d", sig);
	} else if (WEXITSTATUS(c->wait_status) == CHILD_LOST_PIPE) {
		n = snprintf(out, out_size, "lost its pipe to pkrun (closed in the child?)");
	} else {
		n = snprintf(out, out_size, "exited with %d before it was done",
			     WEXITSTATUS(c->wait_status));
	}
	child_output(c, text, sizeof(text));
	if (*text && n >= 0 && (size_t)n < out_size)
		snprintf(out + n, out_size - (size_t)n, "; it printed: %s", text);
}

static int move_high(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, FD_HIGH);

	if (high < 0)	/* a low limit on open files */
		high = fcntl(fd, F_DUPFD_CLOEXEC, 10);
	if (high < 0)
		_exit(CHILD_LOST_PIPE);
	close(fd);
	return high;
}

void child_attach(int *in, int *out)
{
	const char *parent = getenv(MARK);

	/* Under --wrap the parent of this process is the wrapper. */
	if (!getenv("PKRUN_WRAPPED")) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (parent && atol(parent) != (long)getppid())
			_exit(CHILD_LOST_PIPE);
	}
	signal(SIGPIPE, SIG_IGN);
	*in = move_high(FD_IN);
	*out = move_high(FD_OUT);
}
