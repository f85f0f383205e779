/* SPDX-License-Identifier: MIT
 *
 * latency.h - durations that a variant saw within a trial, and how they reach
 * the database: a few quantiles and a histogram, all plain metrics.
 *
 * Of samples named N, in ns:
 *	N_p50 N_p90 N_p99 N_p999	nearest rank: a duration that was seen
 *	N_min N_max N_mean
 *	N_samples			how many (unit "count")
 *	N_hist_ns_le_250		how many were above the bound before and at
 *					most 250 ns (unit "count"); empty bins have
 *					no row, the last bound is `inf`
 * Bounds are the preferred numbers R10 (100 125 160 200 250 315 400 500 630
 * 800) from 100 ns to 10 s, the same for all, so that bins of trials add up.
 *
 * Memory is taken before the clock runs, never during a trial.
 */
#ifndef PKRUN_LATENCY_H
#define PKRUN_LATENCY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "gpu.h"

static inline uint64_t pk_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return 1000000000ull * (uint64_t)t.tv_sec + (uint64_t)t.tv_nsec;
}

struct pk_samples {
	uint64_t *ns;
	size_t n, room;
};

/* Room for `n` samples, none taken; also to begin again. */
static inline int pk_samples_begin(struct pkrun_run *run, struct pk_samples *s, size_t n)
{
	uint64_t *more;

	s->n = 0;
	if (n <= s->room)
		return PKRUN_OK;
	more = (uint64_t *)realloc(s->ns, n * sizeof(*more));
	if (!more) {
		run->host->say(run, "no memory for %zu samples", n);
		return PKRUN_FAIL;
	}
	memset(more, 0, n * sizeof(*more)); /* touched now, not while a clock runs */
	s->ns = more;
	s->room = n;
	return PKRUN_OK;
}

static inline void pk_samples_add(struct pk_samples *s, uint64_t ns)
{
	if (s->n < s->room)
		s->ns[s->n++] = ns;
}

static inline void pk_samples_free(struct pk_samples *s)
{
	free(s->ns);
	memset(s, 0, sizeof(*s));
}

static inline int pk_samples_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static inline void pk_samples_metric(struct pkrun_run *run, const char *name, const char *what,
				     double value, const char *unit)
{
	char full[64];

	snprintf(full, sizeof(full), "%s_%s", name, what);
	run->host->metric(run, full, value, unit);
}

/* The value that a share of `per_1000` of the n sorted samples does not exceed. */
static inline uint64_t pk_quantile(const uint64_t *sorted, size_t n, size_t per_1000)
{
	size_t rank = (n * per_1000 + 999) / 1000;

	return sorted[rank ? rank - 1 : 0];
}

static inline void pk_samples_histogram(struct pkrun_run *run, const char *name,
					const uint64_t *sorted, size_t n)
{
	static const unsigned r10[] = {100, 125, 160, 200, 250, 315, 400, 500, 630, 800};
	uint64_t decade = 1;
	size_t at = 0;
	char what[48];

	for (unsigned k = 0; at < n; k++) {
		uint64_t bound = r10[k % 10] * decade;
		size_t begin = at;

		if (bound > 10000000000ull)
			break;
		if (k % 10 == 9)
			decade *= 10;
		while (at < n && sorted[at] <= bound)
			at++;
		snprintf(what, sizeof(what), "hist_ns_le_%llu", (unsigned long long)bound);
		if (at > begin)
			pk_samples_metric(run, name, what, (double)(at - begin), "count");
	}
	if (at < n)
		pk_samples_metric(run, name, "hist_ns_le_inf", (double)(n - at), "count");
}

/* For the `metrics` of a plugin that reports samples under this name (common_metrics of
 * core/metrics.c has their number and histogram). */
#define PK_SAMPLES_METRICS(name, of)                                                               \
	{name "_*", "ns", of ": p50, p90, p99, p999 (99.9 %), min, max and mean of a trial"}
#define PK_METRIC_CLOCK_ERROR                                                                      \
	{"clock_error", "ns",                                                                      \
	 "how far times from one clock to the other, of host and device, may be off"}

/* Sorts the samples and hands them to pkrun; to be called outside the timed part. */
static inline void pk_samples_report(struct pkrun_run *run, struct pk_samples *s, const char *name)
{
	double sum = 0;

	if (!s->n)
		return;
	qsort(s->ns, s->n, sizeof(*s->ns), pk_samples_order);
	for (size_t i = 0; i < s->n; i++)
		sum += (double)s->ns[i];
	pk_samples_metric(run, name, "p50", (double)pk_quantile(s->ns, s->n, 500), "ns");
	pk_samples_metric(run, name, "p90", (double)pk_quantile(s->ns, s->n, 900), "ns");
	pk_samples_metric(run, name, "p99", (double)pk_quantile(s->ns, s->n, 990), "ns");
	pk_samples_metric(run, name, "p999", (double)pk_quantile(s->ns, s->n, 999), "ns");
	pk_samples_metric(run, name, "min", (double)s->ns[0], "ns");
	pk_samples_metric(run, name, "max", (double)s->ns[s->n - 1], "ns");
	pk_samples_metric(run, name, "mean", sum / (double)s->n, "ns");
	pk_samples_metric(run, name, "samples", (double)s->n, "count");
	pk_samples_histogram(run, name, s->ns, s->n);
}

#endif
