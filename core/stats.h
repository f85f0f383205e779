/* SPDX-License-Identifier: MIT
 *
 * stats.h - the statistics of MEASURING: everything that decides, in one pure
 * file (no I/O, no globals; the only thing that can go wrong besides bad input
 * is memory, and it is reported).
 *
 * Functions that return int give 0; STATS_FEW when the estimate is good but
 * there are too few values for an interval or a test at the wanted level (lo
 * and hi are then -INFINITY and INFINITY); -1 for no values, a value that is
 * not finite, or no memory (nothing is set).  `level` is a coverage, 0.95.
 * Inputs are never changed and need not be sorted, unless a name ends in
 * _sorted.
 *
 * Ties and zeros.  Intervals are closed and come from order statistics, so
 * ties can only raise their coverage.  Tests use mid-ranks and the exact
 * distribution of those mid-ranks (the permutation distribution), up to
 * STATS_EXACT values a sample; beyond, the normal approximation with
 * continuity and tie correction.  Zeros in the signed-rank test follow Pratt
 * (JASA 54, 1959): they take part in the ranking and in nothing else.
 */
#ifndef PKRUN_STATS_H
#define PKRUN_STATS_H

#include <stddef.h>
#include <stdint.h>

#define STATS_FEW 1
#define STATS_EXACT 50 /* values a sample up to which tests and intervals are exact */

struct stats_interval {
	double estimate, lo, hi;
	double coverage; /* of [lo, hi], exact where the method is; 1 after STATS_FEW */
	size_t n;        /* values (of both samples together for a shift) */
};

/* Mean; sample variance and deviation (divisor n - 1), NAN for n < 2.  Summed
 * about the first value: equal values have variance 0, and 1e9 + {1, 2, 3} has 1. */
double stats_mean(const double *v, size_t n);
double stats_variance(const double *v, size_t n);
double stats_sd(const double *v, size_t n);

int stats_sort(const double *v, size_t n, double *out); /* out: n values, ascending */
double stats_median_sorted(const double *v, size_t n);  /* NAN for n = 0 */
int stats_median(const double *v, size_t n, double *out);
/* Median absolute deviation from the median, times 1.4826 (the sd of a normal sample). */
int stats_mad(const double *v, size_t n, double *out);

/* The interval of the median runs from the rank-th smallest to the rank-th
 * largest value: the highest rank whose binomial coverage is at least level
 * (Conover, Practical Nonparametric Statistics, 3.2).  At 95 % n must be 6. */
int stats_median_rank(size_t n, double level, size_t *rank, double *coverage);
int stats_median_ci(const double *v, size_t n, double level, struct stats_interval *out);

/* Hodges-Lehmann estimate of the centre, and the signed-rank interval of it
 * (Walsh averages; Hollander and Wolfe, 3.3).  At 95 % n must be 6. */
int stats_hodges_lehmann(const double *v, size_t n, double level, struct stats_interval *out);
/* The same of log ratios, given back as ratios; p is the two-sided p-value of ratio 1. */
int stats_paired_ratio(const double *log_ratios, size_t n, double level, struct stats_interval *out,
                       double *p);
/* Two-sided signed-rank test of symmetry about 0. */
int stats_signed_rank(const double *v, size_t n, double *p);
/* Largest w with P(W+ <= w) <= tail without ties; -1 if even w = 0 is likelier. */
int64_t stats_signed_rank_critical(size_t n, double tail);

/* Hodges-Lehmann estimate of b - a, and the Mann-Whitney interval of it
 * (Hollander and Wolfe, 4.2-4.3).  At 95 % 4 against 4 values are needed. */
int stats_shift(const double *a, size_t na, const double *b, size_t nb, double level,
                struct stats_interval *out);
/* Two-sided Mann-Whitney test that neither is shifted against the other. */
int stats_mann_whitney(const double *a, size_t na, const double *b, size_t nb, double *p);
/* Largest u with P(U <= u) <= tail without ties; -1 if even u = 0 is likelier, or no memory. */
int64_t stats_mann_whitney_critical(size_t na, size_t nb, double tail);

/* Holm's step-down adjustment of m p-values (Scand. J. Statist. 6, 1979).  A
 * NAN is no test: it stays NAN and does not count. */
int stats_holm(const double *p, size_t m, double *adjusted);

/* The true shift that an interval of this width at 95 % finds in 4 runs of 5:
 * half-width times (1.960 + 0.842) / 1.960.  NAN without an interval. */
double stats_detectable(const struct stats_interval *ci);

/* Below *out the next value lies with the probability *coverage, whatever the
 * distribution: the least order statistic with rank / (n + 1) >= level, the
 * largest where there is none (n < 19 at 95 %).  The rank-th of n values has the
 * share rank / n of these very values, of those to come less (David and Nagaraja,
 * Order Statistics, 7.3). */
int stats_next_below(const double *v, size_t n, double level, double *out, double *coverage);

/* ---- flags: they mark, nothing is ever removed ---- */

/* Marks values farther from the median than 5 deviations (stats_mad), and
 * farther than 1 % of it, so that equal values with one tick of jitter have
 * none.  flags: n bytes, 0 or 1. */
int stats_outliers(const double *v, size_t n, unsigned char *flags, size_t *count);
/* 1: the medians of the first and the last third of the values, in time order,
 * lie farther apart than the 95 % interval of the median is wide, and than
 * 0.5 %; 0: they do not; -1: fewer than 6 values, or bad ones.  The width is
 * taken after the straight line between the two was removed: with it, ten
 * values on a pure ramp have an interval wider than the step between thirds.
 * Of steady series it marks 3 to 13 in a hundred, by their length. */
int stats_not_steady(const double *v, size_t n);
/* 1: not a time: not a number, zero, negative, or under 10 ticks of the clock. */
int stats_bad_clock(double ns, double tick_ns);
/* 0: at least 90 % of the maximum clock; 1: under 90 % ("slow_clock"); 2: under
 * 75 % ("throttled"); -1: unknown (either is 0 or less). */
int stats_clock_state(double mhz, double max_mhz);

#endif
