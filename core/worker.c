/* SPDX-License-Identifier: MIT
 *
 * worker.c - the child process: takes jobs, one block of one cell each, until
 * told to quit.  Devices and plugins are loaded here and nowhere else.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>
#include "bench.h"
#include "catalog.h"
#include "child.h"
#include "load.h"
#include "range.h"
#include "spent.h"
#include "worker.h"

static int pipe_in = -1, pipe_out = -1;
static struct message_reader reader;
static struct job job;
static struct pkrun_watch *volatile watch;
static volatile sig_atomic_t terminated;
static pid_t self;
static struct rlimit limits[RLIM_NLIMITS];	/* as they were at first */
static unsigned char spent;	/* this process is not to measure another cell */

static void on_term(int sig)
{
	struct pkrun_watch *w = watch;

	(void)sig;
	terminated = 1;
	if (w)
		__atomic_store_n(&w->abort, 1, __ATOMIC_RELEASE);
}

void worker_watch(struct pkrun_watch *w)
{
	watch = w;
	if (w && terminated)
		__atomic_store_n(&w->abort, 1, __ATOMIC_RELEASE);
}

int worker_terminated(void)
{
	return terminated;
}

void worker_own_ways(void)
{
	fesetenv(FE_DFL_ENV);
	uselocale(LC_GLOBAL_LOCALE);
	setlocale(LC_ALL, "C");
}

/* A process that a variant forked and let come back would measure and tell as well. */
static void check_process(void)
{
	static const char text[] = "a process that the variant forked came back from it, and was ended\n";
	ssize_t n;

	if (getpid() == self)
		return;
	n = write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)n;
	_exit(CHILD_LOST_PIPE);
}

void worker_send(uint32_t type, const void *data, size_t size)
{
	check_process();
	if (message_send(pipe_out, type, data, size))
		_exit(CHILD_LOST_PIPE);
}

/* A pipe that polls as writable takes PIPE_BUF bytes at once. */
void worker_offer(uint32_t type, const void *data, size_t size)
{
	struct pollfd out = { pipe_out, POLLOUT, 0 };

	if (poll(&out, 1, 0) == 1 && (out.revents & POLLOUT))
		worker_send(type, data, size);
}

void worker_phase(const char *name, enum protocol_limit limit, uint64_t iterations, double predicted_ns)
{
	struct protocol_phase p;

	memset(&p, 0, sizeof(p));
	snprintf(p.name, sizeof(p.name), "%s", name);
	p.limit = limit;
	p.iterations = iterations > UINT32_MAX ? UINT32_MAX : (uint32_t)iterations;
	p.predicted_ns = predicted_ns;
	worker_send(PROTOCOL_PHASE, &p, sizeof(p));
}

int worker_expect(uint32_t type, void *data, size_t size)
{
	struct message m;
	int rc;

	while ((rc = message_wait(&reader, &m)) == 0)
		if (terminated)
			return -1;
	if (rc < 0)
		_exit(CHILD_LOST_PIPE);
	if (m.type != type || (size && m.size != size))
		return -1;
	if (size)
		memcpy(data, m.data, size);
	return 0;
}

static void send_end(enum bench_status s, const char *reason, const struct pkrun_watch *w)
{
	struct protocol_end e;

	memset(&e, 0, sizeof(e));
	snprintf(e.status, sizeof(e.status), "%s", bench_status_name(s));
	snprintf(e.reason, sizeof(e.reason), "%s", reason);
	e.healthy = s != BENCH_ERROR && s != BENCH_ABORTED;
	if (w) {
		e.seen = __atomic_load_n(&w->seen, __ATOMIC_ACQUIRE);
		e.where = w->where;
		e.block = w->block;
		e.step = w->step;
	}
	worker_send(PROTOCOL_END, &e, sizeof(e));
}

/* The device of this process: opened by the first job, then kept. */
static const struct pkrun_device *open_device(void **stream, char *why, size_t why_size)
{
	static const struct pkrun_device *dev;
	static void *its_stream;
	const char *path = job_get(&job, "device_so"), *target = job_get(&job, "target");
	uint32_t t;

	if (!dev) {
		worker_phase("load", PROTOCOL_LIMIT_LOAD, 0, 0);
		if (!path || !target || target_parse(target, &t)) {
			snprintf(why, why_size, "the job names no device");
			return NULL;
		}
		if (load_device(path, t, &dev, why, why_size))
			return NULL;
		if (dev->open((int)job_int(&job, "device", 0), &its_stream)) {
			snprintf(why, why_size, "cannot open the device: %s", dev->error());
			dev = NULL;
			return NULL;
		}
	}
	*stream = its_stream;
	return dev;
}

/* After an error or an abort the device may be in any state: the process ends
 * without teardown, and its context with it. */
static void do_cell(void)
{
	const struct pkrun_device *dev;
	static struct bench bench;
	enum bench_status s;
	char why[512];
	void *stream;

	dev = open_device(&stream, why, sizeof(why));
	if (!dev) {
		send_end(BENCH_ERROR, why, NULL);
		_exit(0);
	}
	spent_mark();
	s = bench_open(&bench, &job, dev, stream);
	if (job_get(&job, "range"))
		range_open(job_get(&job, "device_so"));
	if (!s)
		s = bench.calibrating ? calibrate(&bench) : measure(&bench);
	bench_flush(&bench, PROTOCOL_OF_BLOCK);
	if (s == BENCH_ABORTED)
		snprintf(bench.reason, sizeof(bench.reason), "%s", terminated ? "" :
			 "the variant itself set the abort word, which is pkrun's");
	send_end(s, bench.reason, bench.run.watch);
	if (s == BENCH_ERROR || s == BENCH_ABORTED)
		_exit(0);
	worker_phase("teardown", PROTOCOL_LIMIT_PLUGIN, 0, 0);
	bench_close(&bench);
	spent = spent_is() != 0;
}

static void do_reference(void)
{
	const struct workload *w = workload_find(job_get(&job, "workload"));
	static union { unsigned char bytes[MATRIX_OPTIONS_BYTES]; int64_t align; } problem;
	struct protocol_reference r;

	memset(&r, 0, sizeof(r));
	if (!w)
		snprintf(r.why, sizeof(r.why), "no such workload");
	else if (!job_options(&job, "workload", w->options, &problem, r.why, sizeof(r.why)))
		reference_compute(w, &problem, (uint32_t)job_int(&job, "blocks", 1),
				  (uint64_t)job_int(&job, "iterations", 1), &r);
	worker_send(PROTOCOL_REFERENCE, &r, sizeof(r));
}

static void do_probe(void)
{
	const struct pkrun_device *dev;
	char why[512] = "";
	void *stream;

	dev = open_device(&stream, why, sizeof(why));
	if (dev && dev->probe()) {
		snprintf(why, sizeof(why), "%s", dev->error());
		dev = NULL;
	}
	send_end(dev ? BENCH_OK : BENCH_ERROR, why, NULL);
}

static void keep_limits(void)
{
	int i;

	for (i = 0; i < RLIM_NLIMITS; i++)
		getrlimit(i, &limits[i]);
}

/* A variant's timer that goes off, its limit that is reached, a signal that it blocks: not in the next cell. */
static void own_signals(void)
{
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };
	struct sigaction sa;
	sigset_t none;
	int i;

	for (i = ITIMER_REAL; i <= ITIMER_PROF; i++)
		setitimer(i, &never, NULL);
	for (i = 0; i < RLIM_NLIMITS; i++)
		setrlimit(i, &limits[i]);
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = on_term;	/* no SA_RESTART: a waiting read must notice */
	sigaction(SIGTERM, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void do_job(void)
{
	const char *mode = job_get(&job, "mode");

	worker_own_ways();
	if (mode && strcmp(mode, "reference") == 0)
		do_reference();
	else if (mode && strcmp(mode, "probe") == 0)
		do_probe();
	else
		do_cell();
}

int worker_main(int argc, char **argv)
{
	struct message m;

	(void)argc;
	(void)argv;
	self = getpid();
	keep_limits();
	own_signals();
	/* A lazily loaded kernel waits for the resident one to leave, which waits for it. */
	setenv("CUDA_MODULE_LOADING", "EAGER", 1);
	child_attach(&pipe_in, &pipe_out);
	reader.fd = pipe_in;
	while (!terminated && message_wait(&reader, &m) == 1 && m.type == PROTOCOL_JOB) {
		if (job_take(&job, &m))
			_exit(CHILD_LOST_PIPE);
		do_job();
		own_signals();
		worker_send(PROTOCOL_READY, &spent, spent ? sizeof(spent) : 0);
	}
	/* Not exit(): what plugins registered with atexit is no part of a measurement. */
	_exit(0);
}
