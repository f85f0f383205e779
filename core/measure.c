/* SPDX-License-Identifier: MIT
 *
 * measure.c - the trials of one block of a cell.
 *
 * A trial: restore the state, poison what else the variant writes, zero the
 * step counters; start; run and wait, the only timed part; stop; verify.
 * Between start and stop we do nothing on the device and record no event for a
 * resident variant: its kernel may hold every compute unit, and a copy, a hash
 * kernel or a free would wait for ever.
 *
 * The block: one iteration (loads code, gives the watchdog its scale), an odd
 * number of iterations below the fixed point, warm-up runs, timed runs; each
 * one verified over the whole array.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "bench.h"
#include "child.h"
#include "energy.h"
#include "range.h"
#include "stats.h"
#include "worker.h"

#define NONE INT64_MIN
#define CALIBRATE_NS 10e6	/* a trial is to last this long at the least, */
#define CALIBRATE_TICKS 1000	/* and so many ticks */
#define CALIBRATE_MAX (UINT64_C(1) << 40)

struct plan {			/* of the block */
	int64_t trials, warmup_runs;
	double warmup_ns, tick_ns;
	int64_t end;		/* child_now() when the cell's time is over; 0: never */
	int cold;
	uint32_t position;
	double per_iteration;	/* ns, the best guess so far; 0: none */
};

struct timing {
	int64_t wall, device, cpu;
};

static int64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* The smallest step that the clock was seen to make. */
static double clock_tick(void)
{
	int64_t a, b, least = INT64_MAX;
	int i;

	for (i = 0; i < 1000; i++) {
		a = clock_ns(CLOCK_MONOTONIC_RAW);
		do {
			b = clock_ns(CLOCK_MONOTONIC_RAW);
		} while (b == a);
		if (b - a < least)
			least = b - a;
	}
	return (double)least;
}

/* On the host target this thread runs the device as well (unless PKH_WORKERS=1): the sum of both. */
static clockid_t cpu_clock(const struct bench *b)
{
	return b->dev->target == PKRUN_HOST ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID;
}

static enum bench_status restore(struct bench *b, const struct plan *plan)
{
	const struct pkrun_device *d = b->dev;
	int i;

	for (i = 0; i < b->initial.n; i++)
		if (b->pristine[i] &&
		    d->copy(b->array[i], b->pristine[i], b->initial.info[i].count * 8))
			return bench_device_error(b, "restore");
	if (arena_poison(&b->arena) || d->fill(b->run.steps, 0, (size_t)b->grid.blocks * 8))
		return bench_device_error(b, "poison");
	if (d->sync() || (plan->cold && d->flush_cache()))
		return bench_device_error(b, "restore");
	return BENCH_OK;
}

static enum bench_status timed_part(struct bench *b, uint64_t iterations, struct timing *t)
{
	const int events = !(b->plugin->flags & PKRUN_RESIDENT);
	clockid_t cpu = cpu_clock(b);
	int64_t t0, t1, c0, c1;
	int rc, rc_wait = PKRUN_OK, marks = 0;

	b->progress_ns = clock_ns(CLOCK_MONOTONIC);
	if (events)
		marks |= b->dev->mark(0, b->run.stream);
	c0 = clock_ns(cpu);
	t0 = clock_ns(CLOCK_MONOTONIC_RAW);
	rc = b->plugin->run(&b->run, iterations);
	if (events)
		marks |= b->dev->mark(1, b->run.stream);
	if (rc == PKRUN_OK)
		rc_wait = b->plugin->wait(&b->run);
	t1 = clock_ns(CLOCK_MONOTONIC_RAW);
	c1 = clock_ns(cpu);
	t->wall = t1 - t0;
	t->cpu = c1 - c0;
	t->device = NONE;
	if (rc)
		return bench_answer(b, "run", rc);
	if (rc_wait || bench_aborted(b))
		return bench_answer(b, "wait", rc_wait);
	if (events && (marks || b->dev->elapsed_ns(&t->device)))
		t->device = NONE;
	return BENCH_OK;
}

static enum bench_status stop(struct bench *b)
{
	enum bench_status s = BENCH_OK;

	if (b->plugin->stop)
		s = bench_answer(b, "stop", b->plugin->stop(&b->run));
	if (!s && b->dev->sync())
		s = bench_device_error(b, "after stop");
	return s;
}

/* ---- the trial ---- */

static void add_flag(struct protocol_trial *out, const char *flag)
{
	size_t n = strlen(out->flags);

	snprintf(out->flags + n, sizeof(out->flags) - n, "%s%s", n ? "," : "", flag);
}

/* A variant's own clock is stored beside ours; a wrong unit shows as a factor of 10 or more. */
static void fill_flags(const struct bench *b, const struct plan *plan, const struct timing *t,
		       struct protocol_trial *out)
{
	const double wall = (double)t->wall, kernel = (double)b->kernel_ns;

	if (stats_bad_clock(wall, plan->tick_ns))
		add_flag(out, "bad_clock");
	if (b->kernel_ns == NONE)
		return;
	if (b->kernel_ns <= 0)
		add_flag(out, "bad_kernel_ns");
	else if (kernel >= 10 * wall || kernel <= wall / 10)
		add_flag(out, "clocks_differ");
}

static enum bench_status report(struct bench *b, struct plan *plan, const char *kind,
				uint64_t iterations, const struct timing *t, int verified,
				uint64_t hash)
{
	struct protocol_trial m;

	memset(&m, 0, sizeof(m));
	snprintf(m.kind, sizeof(m.kind), "%s", kind);
	snprintf(m.hash, sizeof(m.hash), "%016" PRIx64, hash);
	m.verified = verified;
	m.position = plan->position++;
	m.iterations = iterations;
	m.wall_ns = t->wall;
	m.device_ns = t->device;
	m.kernel_ns = b->kernel_ns;
	m.host_cpu_ns = t->cpu;
	fill_flags(b, plan, t, &m);
	worker_send(PROTOCOL_TRIAL, &m, sizeof(m));
	bench_flush(b, PROTOCOL_OF_TRIAL);
	worker_send(PROTOCOL_TOLD, NULL, 0);
	return worker_expect(PROTOCOL_STORED, NULL, 0) ? BENCH_ABORTED : BENCH_OK;
}

static void guess(struct plan *plan, uint64_t iterations, int64_t wall)
{
	double per = (double)wall / (double)iterations;

	if (wall > 0 && (plan->per_iteration <= 0 || per < plan->per_iteration))
		plan->per_iteration = per;
}

/* The timed part with what must surround it, unverified. */
static enum bench_status bare_trial(struct bench *b, const struct plan *plan, const char *kind,
				    uint64_t iterations, struct timing *t)
{
	const char *range = strcmp(kind, "timed") ? NULL : job_get(b->job, "range");
	enum bench_status s;

	worker_phase(kind, PROTOCOL_LIMIT_PLUGIN, iterations,
		     plan->per_iteration * (double)iterations);
	b->kernel_ns = NONE;
	s = restore(b, plan);
	if (!s && b->plugin->start)
		s = bench_answer(b, "start", b->plugin->start(&b->run));
	if (!s) {
		if (range)
			range_push(range);
		s = timed_part(b, iterations, t);
		if (range)
			range_pop();
	}
	return s ? s : stop(b);
}

static enum bench_status trial(struct bench *b, struct plan *plan, const char *kind,
			       uint64_t iterations, struct judge_expected *expected)
{
	struct timing t = { 0, NONE, 0 };
	enum bench_status s, judged;
	uint64_t hash = 0;

	s = bare_trial(b, plan, kind, iterations, &t);
	if (s)
		return s;
	judged = judge_result(b, kind, iterations, expected, &hash);
	if (judged != BENCH_OK && judged != BENCH_WRONG)
		return judged;
	s = report(b, plan, kind, iterations, &t, judged == BENCH_OK, hash);
	guess(plan, iterations, t.wall);
	return judged ? judged : s;
}

static int is_late(const struct plan *plan)
{
	return plan->end && child_now() > plan->end;
}

/* By the clock on the wall, not by the sum of the timed parts: runs of some us would
 * be repeated, verified and stored ten thousand times before they add up. */
static enum bench_status warm_up(struct bench *b, struct plan *plan)
{
	const int64_t begin = clock_ns(CLOCK_MONOTONIC_RAW);
	enum bench_status s;
	int64_t run;

	for (run = 0; !is_late(plan) && (run < plan->warmup_runs ||
	     (double)(clock_ns(CLOCK_MONOTONIC_RAW) - begin) < plan->warmup_ns); run++) {
		s = trial(b, plan, "warmup", b->run.iterations, &b->judge.all);
		if (s)
			return s;
	}
	return BENCH_OK;
}

static void keep_energy(struct bench *b, const struct energy_result *e)
{
	b->host.metric(&b->run, "energy_uj", e->uj_an_iteration, "uJ/iteration");
	b->host.metric(&b->run, "energy_power_w", e->power_w, "W");
	b->host.metric(&b->run, "energy_rest_w", e->rest_w, "W");
	b->host.metric(&b->run, "energy_share", e->share, "1");
}

/* Trials for `seconds` between two leaps of the energy counter.  Neither their times nor their
 * results are kept: the timed trials have shown that both are right. */
static enum bench_status energy(struct bench *b, const struct plan *plan, double seconds)
{
	struct pkrun_device_info info;
	struct telemetry *telemetry;
	enum bench_status s = BENCH_OK;
	struct energy_result result;
	struct energy_meter meter;
	struct timing t;
	char why[256];
	int rc;

	worker_phase("energy", PROTOCOL_LIMIT_LOAD, 0, 0);
	if (b->dev->info(b->run.device, &info) ||
	    telemetry_open(&telemetry, b->dev->target, &info, why, sizeof(why)))
		return BENCH_OK;
	rc = energy_begin(&meter, telemetry);
	while (!rc && !s && energy_seconds(&meter) < seconds) {
		s = bare_trial(b, plan, "energy", b->run.iterations, &t);
		energy_add(&meter, t.wall, b->run.iterations);
		b->n_metrics = 0;	/* of no trial */
	}
	worker_phase("energy", PROTOCOL_LIMIT_LOAD, 0, 0);
	if (!rc && !s && energy_end(&meter, &result) == 0)
		keep_energy(b, &result);
	telemetry_close(telemetry);
	return s;
}

enum bench_status measure(struct bench *b)
{
	struct plan plan = {
		.trials = job_int(b->job, "trials", 5),
		.warmup_runs = job_int(b->job, "warmup_runs", 3),
		.warmup_ns = job_real(b->job, "warmup_s", 0) * 1e9,
		.cold = job_int(b->job, "cold", 0) != 0,
		.tick_ns = clock_tick(),
	};
	const double left_ns = job_real(b->job, "left_s", 0) * 1e9;
	enum bench_status s;
	int64_t i;

	if (left_ns > 0)
		plan.end = child_now() + (int64_t)left_ns;
	s = trial(b, &plan, "first", 1, &b->judge.one);
	if (!s)
		s = trial(b, &plan, "odd", b->reference.k, &b->judge.odd);
	if (!s)
		s = warm_up(b, &plan);
	for (i = 0; i < plan.trials && !s && (i == 0 || !is_late(&plan)); i++)
		s = trial(b, &plan, "timed", b->run.iterations, &b->judge.all);
	if (!s && job_real(b->job, "energy_s", 0) > 0)
		s = energy(b, &plan, job_real(b->job, "energy_s", 0));
	return s;
}

/* After a run of n iterations that took so long: at least twice as many, at most 64 times. */
static uint64_t more_iterations(uint64_t n, double wall_ns, double want_ns)
{
	uint64_t times = 2;

	while (times < 64 && (double)times * wall_ns < want_ns)
		times *= 2;
	return times * n;
}

/* A variant may make room in setup() for as many iterations as it is told of there. */
enum bench_status calibrate(struct bench *b)
{
	struct plan plan = { .tick_ns = clock_tick() };
	struct protocol_calibrated m = { 0, plan.tick_ns };
	struct timing t = { 0, NONE, 0 };
	const double want = fmax(CALIBRATE_NS, CALIBRATE_TICKS * plan.tick_ns);
	enum bench_status s = BENCH_OK;
	uint64_t n;

	for (n = 1; n <= CALIBRATE_MAX; n = more_iterations(n, (double)t.wall, want)) {
		s = b->run.iterations == n ? BENCH_OK : bench_reopen(b, n);
		if (!s)
			s = bare_trial(b, &plan, "calibrate", n, &t);
		if (s)
			return s;
		guess(&plan, n, t.wall);
		b->n_metrics = 0;	/* of no trial */
		if ((double)t.wall >= want)
			break;
	}
	m.per_iteration_ns = plan.per_iteration;
	worker_send(PROTOCOL_CALIBRATED, &m, sizeof(m));
	return BENCH_OK;
}
