/* SPDX-License-Identifier: MIT
 *
 * launchcost_body.h - measuring sequences of launches, after Zhang, Wahib and
 * Matsuoka (ICPP 2019), with fits in place of single differences.
 *
 * T(L, w) is the host's time from before the first of L launches, each with w
 * units of work, to after the synchronisation; C(L, w) only that of the calls.
 * Medians over the iterations, and through them straight lines:
 *
 *	T over L, for each w	slope: time a launch costs in a row (`period_wN`)
 *				intercept: what a row costs besides (`fixed_wN`)
 *	C over L, for w = 0	slope: what one call costs the host (`call`)
 *	period over w = 1, 2..	slope: a unit's execution (`execution`)
 *				intercept: launch overhead apart from execution,
 *				the gap between two kernels (`gap`)
 *	T(1, 0)			launch, empty execution and synchronisation (`latency`)
 *
 * Each line with its standard errors (_se) and with the chance that points
 * scattered as these are would lie so far from a line (_fit_p, which allows for
 * errors from few iterations; _fit_chi2, over its degrees of freedom, does not):
 * near 0 is lack of fit, as where a queue fills up, and then the line is no
 * answer.  The gap is right only where kernels are longer than launches take:
 * unit_steps is to be chosen so, and a period_w1 well above period_w0 says that
 * it was.
 *
 * A way to launch is `Way`: a struct with
 *	go(run, work, launches)	queue that row, return a status
 */
#ifndef PKRUN_LAUNCHCOST_BODY_H
#define PKRUN_LAUNCHCOST_BODY_H

#include "fit.h"
#include "host_wait.h"
#include "latency.h"
#include "launchcost.h"

#define LAUNCHCOST_CELLS (LAUNCHCOST_WORKS * LAUNCHCOST_SEQUENCES)
#define LAUNCHCOST_TICK_NS 30.0 /* no median is known better */

/* Begins the state of each of them. */
struct launchcost_state {
	uint32_t blocks;
	uint64_t rounds, room;	/* iterations measured in this trial; for which there is room */
	double *total, *call;	/* [cell][round] */
};

static __global__ void launchcost_kernel(struct launchcost_args a, uint64_t work, uint64_t *steps)
{
	if (threadIdx.x == 0) {
		a.sums[blockIdx.x] += launchcost_value(blockIdx.x, work, a.unit);
		steps[blockIdx.x] += 1;
	}
}

static inline struct launchcost_state *launchcost_state_of(struct pkrun_run *run)
{
	return (struct launchcost_state *)run->state;
}

static inline const struct launchcost_args *launchcost_args_of(struct pkrun_run *run)
{
	return pk_args<struct launchcost_args>(run, LAUNCHCOST_VERSION);
}

static inline int launchcost_footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	const struct launchcost_args *a = launchcost_args_of(run);
	int status;

	if (!a)
		return PKRUN_FAIL;
	status = pk_footprint(run, launchcost_kernel, a->units, 0, PK_AUTO_PER_CU, fp);
	launchcost_state_of(run)->blocks = fp->blocks;
	return status;
}

static inline int launchcost_start(struct pkrun_run *run)
{
	struct launchcost_state *st = launchcost_state_of(run);
	size_t n = (size_t)run->iterations * LAUNCHCOST_CELLS;

	st->rounds = 0;
	if (st->room >= run->iterations)
		return PKRUN_OK;
	free(st->total);
	free(st->call);
	st->total = (double *)calloc(n, sizeof(*st->total));
	st->call = (double *)calloc(n, sizeof(*st->call));
	st->room = st->total && st->call ? run->iterations : 0;
	if (st->room)
		return PKRUN_OK;
	run->host->say(run, "no memory for %zu times", 2 * n);
	return PKRUN_FAIL;
}

template <class Way> static int launchcost_sequence(struct pkrun_run *run, Way way, unsigned cell)
{
	struct launchcost_state *st = launchcost_state_of(run);
	uint64_t work = cell / LAUNCHCOST_SEQUENCES, launches = 1ull << cell % LAUNCHCOST_SEQUENCES;
	uint64_t begin = pk_now_ns(), called;
	int status = way.go(run, work, launches);

	if (status != PKRUN_OK)
		return status;
	called = pk_now_ns();
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	st->total[cell * st->room + st->rounds] = (double)(pk_now_ns() - begin);
	st->call[cell * st->room + st->rounds] = (double)(called - begin);
	return PKRUN_OK;
}

/* The sequences in an order of its own for each iteration: what changes with
 * time must not look like a slope. */
template <class Way> static int launchcost_run(struct pkrun_run *run, uint64_t iterations, Way way)
{
	struct launchcost_state *st = launchcost_state_of(run);
	unsigned order[LAUNCHCOST_CELLS];
	uint64_t end = st->rounds + iterations, random = run->seed + 1;

	if (end > st->room) {
		run->host->say(run, "room for %llu iterations, %llu asked for",
			       (unsigned long long)st->room, (unsigned long long)end);
		return PKRUN_FAIL;
	}
	for (; st->rounds < end; st->rounds++) {
		for (unsigned i = 0; i < LAUNCHCOST_CELLS; i++) {
			unsigned at = (unsigned)((random = pk_mix64(random + PK_GOLDEN)) % (i + 1));

			order[i] = order[at];
			order[at] = i;
		}
		for (unsigned i = 0; i < LAUNCHCOST_CELLS; i++) {
			int status = launchcost_sequence(run, way, order[i]);

			if (status != PKRUN_OK)
				return status;
		}
		if (pk_host_aborted_at(run, 0, st->rounds)) {
			run->host->say(run, "aborted after iteration %llu",
				       (unsigned long long)st->rounds);
			return PKRUN_FAIL;
		}
	}
	return PKRUN_OK;
}

static inline int launchcost_wait(struct pkrun_run *run)
{
	(void)run;
	return PKRUN_OK;
}

/* ---- fits */

static const struct pkrun_metric launchcost_metrics[] = {
	{"latency_ns", "ns", "a launch of an empty kernel and the wait for its end"},
	{"period_w*_ns", "ns",
	 "what one launch more in a row takes, with 0 to 3 units of work; w0: an empty launch"},
	{"fixed_w*_ns", "ns", "what such a row takes besides its launches"},
	{"call_ns", "ns", "of an empty launch, what the call takes the host"},
	{"gap_ns", "ns",
	 "from the end of a kernel that works to the beginning of the next in a row"},
	{"execution_ns", "ns", "one unit of work"},
	{"*_se", "ns", "standard error of the figure of that name"},
	{"*_fit_p", "1",
	 "chance of points so far from a line; near 0: no line, and the figure is no constant"},
	{"*_fit_chi2", "1", "chi-square of that fit over its degrees of freedom"},
	{},
};

static inline void launchcost_tell(struct pkrun_run *run, const char *name, double value, double se)
{
	pk_samples_metric(run, name, "ns", value, "ns");
	pk_samples_metric(run, name, "se", se, "ns");
}

static inline void launchcost_tell_fit(struct pkrun_run *run, const char *name, const struct fit *f)
{
	pk_samples_metric(run, name, "fit_chi2", f->freedom ? f->chi2 / f->freedom : 0, "1");
	pk_samples_metric(run, name, "fit_p", f->p, "1");
}

/* The line of `times` over the length of the sequence. */
static inline int launchcost_line(struct launchcost_state *st, double *times, unsigned work,
				  struct fit *f)
{
	struct fit_point p[LAUNCHCOST_SEQUENCES];

	for (unsigned i = 0; i < LAUNCHCOST_SEQUENCES; i++) {
		double *v = times + (work * LAUNCHCOST_SEQUENCES + i) * st->room;

		p[i].x = (double)(1u << i);
		p[i].y = fit_median(v, (int)st->rounds, LAUNCHCOST_TICK_NS, &p[i].se);
		p[i].freedom = fit_median_freedom((int)st->rounds);
	}
	return fit_line(p, LAUNCHCOST_SEQUENCES, f);
}

static inline int launchcost_stop(struct pkrun_run *run)
{
	struct launchcost_state *st = launchcost_state_of(run);
	struct fit_point periods[LAUNCHCOST_WORKS];
	struct fit f;
	double se, latency;
	char name[32];

	if (st->rounds < 4) /* no scatter to speak of */
		return PKRUN_OK;
	latency = fit_median(st->total, (int)st->rounds, LAUNCHCOST_TICK_NS, &se);
	launchcost_tell(run, "latency", latency, se);
	for (unsigned w = 0; w < LAUNCHCOST_WORKS; w++) {
		if (launchcost_line(st, st->total, w, &f))
			return PKRUN_OK;
		periods[w] = (struct fit_point){(double)w, f.slope, f.slope_se,
						fit_median_freedom((int)st->rounds)};
		snprintf(name, sizeof(name), "period_w%u", w);
		launchcost_tell(run, name, f.slope, f.slope_se);
		launchcost_tell_fit(run, name, &f);
		snprintf(name, sizeof(name), "fixed_w%u", w);
		launchcost_tell(run, name, f.intercept, f.intercept_se);
	}
	if (!launchcost_line(st, st->call, 0, &f)) {
		launchcost_tell(run, "call", f.slope, f.slope_se);
		launchcost_tell_fit(run, "call", &f);
	}
	if (!fit_line(periods + 1, LAUNCHCOST_WORKS - 1, &f)) {
		launchcost_tell(run, "gap", f.intercept, f.intercept_se);
		launchcost_tell(run, "execution", f.slope, f.slope_se);
		launchcost_tell_fit(run, "gap", &f);
	}
	return PKRUN_OK;
}

static inline void launchcost_free(struct pkrun_run *run)
{
	struct launchcost_state *st = launchcost_state_of(run);

	free(st->total);
	free(st->call);
	st->total = st->call = NULL;
	st->room = 0;
}

#endif
