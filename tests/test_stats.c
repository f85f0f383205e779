/* SPDX-License-Identifier: MIT
 *
 * test_stats.c - core/stats.c against published tables, against values that
 * can be checked by hand, and against seeded simulations of the error rates
 * that pkrun's way of measuring rests on.
 *
 * Sources of the tables:
 *   signed rank, n <= 25: Wilcoxon signed-rank table, University of York, maths tables;
 *   n > 25: McCornack, "Extended tables of the Wilcoxon matched pair signed rank
 *   statistic", JASA 60 (1965) 864-871.  (Tables that give 4, 6, 11, 14, 30 and 35 at
 *   n = 8, 9, 11, 12, 16 and 17 repeat Wilcoxon's first, rounded ones.)
 *   Mann-Whitney: Mann and Whitney 1947 as extended by Auble 1953 (Siegel 1956, table K);
 *   ranks for the median: Campbell and Gardner, "Calculating confidence intervals for some
 *   non-parametric analyses", BMJ 296 (1988) 1454-1456.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "../core/stats.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TRIALS 5

static void near(double got, double want, double relative)
{
	if (!(fabs(got - want) <= relative * fmax(1e-300, fabs(want))))
		fail_msg("%.12g, expected %.12g", got, want);
}

/* ---- random numbers: splitmix64, Box and Muller ---- */

static uint64_t random_state;

static uint64_t random_bits(void)
{
	uint64_t z = random_state += 0x9E3779B97F4A7C15u;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return z ^ (z >> 31);
}

static double uniform(void)
{
	return ((double)(random_bits() >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * 3.14159265358979324 * uniform());
}

/* Noise of one trial: normal, and one time in fifty a spike of ten deviations. */
static double trial_noise(double sd)
{
	return sd * (normal() + (uniform() < 0.02 ? 10 * uniform() : 0));
}

/* A block value: the median of the trials of one process. */
static double block_value(double process, double sd)
{
	double v[TRIALS], median;

	for (int i = 0; i < TRIALS; i++)
		v[i] = exp(process + trial_noise(sd));
	assert_int_equal(stats_median(v, TRIALS, &median), 0);
	return median;
}

/* ---- by hand ---- */

/* d11 */
static void test_spread(void **state)
{
	const double v[] = {2, 4, 4, 4, 5, 5, 7, 9}, two[] = {0.96, 1.04};
	const double large[] = {1e9 + 1, 1e9 + 2, 1e9 + 3};
	double *equal = malloc(100000 * sizeof(*equal)), median, mad;

	(void)state;
	near(stats_mean(v, 8), 5, 1e-15);
	assert_int_equal(stats_median(v, 8, &median), 0);
	near(median, 4.5, 0);
	near(stats_sd(v, 8), 2.13809, 1e-5);
	near(stats_sd(two, 2), 0.0565685, 1e-5);
	near(stats_sd(large, 3), 1, 0);
	assert_non_null(equal);
	for (int i = 0; i < 100000; i++)
		equal[i] = 0.1;
	near(stats_sd(equal, 100000), 0, 0);
	near(stats_mean(equal, 100000), 0.1, 0);
	free(equal);
	assert_true(isnan(stats_sd(v, 1)));
	assert_true(isnan(stats_mean(v, 0)));
	/* deviations 2.5 0.5 0.5 0.5 0.5 0.5 2.5 4.5 */
	assert_int_equal(stats_mad(v, 8, &mad), 0);
	near(mad, 1.4826 * 0.5, 1e-15);
}

static void test_bad_input(void **state)
{
	const double bad[] = {1, NAN, 3, 4, 5, 6}, inf[] = {1, 2, INFINITY, 4, 5, 6};
	const double good[] = {1, 2, 3, 4, 5, 6};
	struct stats_interval ci = {.estimate = 7};
	double x = 7;

	(void)state;
	assert_int_equal(stats_median(bad, 6, &x), -1);
	assert_int_equal(stats_median(good, 0, &x), -1);
	assert_int_equal(stats_median_ci(inf, 6, 0.95, &ci), -1);
	assert_int_equal(stats_hodges_lehmann(bad, 6, 0.95, &ci), -1);
	assert_int_equal(stats_shift(good, 6, bad, 6, 0.95, &ci), -1);
	assert_int_equal(stats_signed_rank(bad, 6, &x), -1);
	assert_int_equal(stats_mann_whitney(inf, 6, good, 6, &x), -1);
	assert_int_equal(stats_mann_whitney(good, 6, good, 0, &x), -1);
	near(ci.estimate, 7, 0);
	near(x, 7, 0);
}

static void test_outliers(void **state)
{
	static double v[1000];
	unsigned char flags[1000];
	size_t count;

	(void)state;
	for (int i = 0; i < 1000; i++)
		v[i] = 500;
	assert_int_equal(stats_outliers(v, 1000, flags, &count), 0);
	assert_int_equal(count, 0);
	v[400] = 600;
	assert_int_equal(stats_outliers(v, 1000, flags, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(flags[400], 1);
	/* one tick of jitter on a constant is no outlier */
	v[400] = 501;
	assert_int_equal(stats_outliers(v, 1000, flags, &count), 0);
	assert_int_equal(count, 0);
}

static void test_flags(void **state)
{
	double v[12], alternating[12], slight[12];

	(void)state;
	assert_int_equal(stats_bad_clock(0, 1), 1);
	assert_int_equal(stats_bad_clock(-5, 1), 1);
	assert_int_equal(stats_bad_clock(NAN, 1), 1);
	assert_int_equal(stats_bad_clock(INFINITY, 1), 1);
	assert_int_equal(stats_bad_clock(299, 30), 1);
	assert_int_equal(stats_bad_clock(300, 30), 0);
	assert_int_equal(stats_clock_state(900, 1000), 0);
	assert_int_equal(stats_clock_state(899, 1000), 1);
	assert_int_equal(stats_clock_state(749, 1000), 2);
	assert_int_equal(stats_clock_state(0, 1000), -1);
	assert_int_equal(stats_clock_state(900, 0), -1);
	for (int i = 0; i < 12; i++) {
		v[i] = i;
		slight[i] = 1000 + 0.5 * i; /* 4 of 1000 between the thirds */
		alternating[i] = i % 2;
	}
	assert_int_equal(stats_not_steady(v, 12), 1);
	assert_int_equal(stats_not_steady(alternating, 12), 0);
	assert_int_equal(stats_not_steady(slight, 12), 0);
	assert_int_equal(stats_not_steady(v, 5), -1);
}

/* ---- published tables ---- */

static void test_median_ranks(void **state)
{
	static const struct {
		size_t n, rank;
		double coverage;
	} table[] = {
	        {6, 1, 96.9},   {7, 1, 98.4},   {8, 1, 99.2},   {9, 2, 96.1},    {10, 2, 97.9},
	        {11, 2, 98.8},  {12, 3, 96.1},  {15, 4, 96.5},  {20, 6, 95.9},   {25, 8, 95.7},
	        {30, 10, 95.7}, {40, 14, 96.2}, {50, 18, 96.7}, {100, 40, 96.5},
	};
	size_t rank;
	double coverage;

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		assert_int_equal(stats_median_rank(table[i].n, 0.95, &rank, &coverage), 0);
		assert_int_equal(rank, table[i].rank);
		assert_true(fabs(100 * coverage - table[i].coverage) < 0.0501);
	}
	for (size_t n = 1; n < 6; n++)
		assert_int_equal(stats_median_rank(n, 0.95, &rank, &coverage), STATS_FEW);
	assert_int_equal(stats_median_rank(0, 0.95, &rank, &coverage), -1);
	/* 576 and 577 are where the sum begins elsewhere; large n against n/2 - 0.98 sqrt(n) */
	for (size_t n = 575; n < 580; n++) {
		assert_int_equal(stats_median_rank(n, 0.95, &rank, &coverage), 0);
		assert_true(coverage >= 0.95 && coverage < 0.96);
	}
	assert_int_equal(stats_median_rank(1000000, 0.95, &rank, &coverage), 0);
	assert_true(llabs((long long)rank - (500000 - 980)) <= 1);
	near(coverage, 0.95, 0.001);
}

static void test_signed_rank_table(void **state)
{
	static const struct {
		size_t n;
		int five, one; /* percent, two-tailed */
	} table[] = {
	        {5, -1, -1},    {6, 0, -1},     {7, 2, -1},     {8, 3, 0},      {9, 5, 1},
	        {10, 8, 3},     {11, 10, 5},    {12, 13, 7},    {13, 17, 9},    {14, 21, 12},
	        {15, 25, 15},   {16, 29, 19},   {17, 34, 23},   {18, 40, 27},   {19, 46, 32},
	        {20, 52, 37},   {21, 58, 42},   {22, 65, 48},   {23, 73, 54},   {24, 81, 61},
	        {25, 89, 68},   {30, 137, 109}, {35, 195, 159}, {40, 264, 220}, {45, 343, 291},
	        {50, 434, 373},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		assert_int_equal(stats_signed_rank_critical(table[i].n, 0.025), table[i].five);
		assert_int_equal(stats_signed_rank_critical(table[i].n, 0.005), table[i].one);
	}
	/* the normal approximation against the exact 453, 648 and 1955 */
	assert_true(llabs(stats_signed_rank_critical(51, 0.025) - 453) <= 1);
	assert_true(llabs(stats_signed_rank_critical(60, 0.025) - 648) <= 1);
	assert_true(llabs(stats_signed_rank_critical(100, 0.025) - 1955) <= 1);
}

static void test_mann_whitney_table(void **state)
{
	static const struct {
		size_t a, b;
		int five, one;
	} table[] = {
	        {3, 4, -1, -1},   {3, 5, 0, -1},      {4, 4, 0, -1},    {4, 5, 1, -1},
	        {4, 6, 2, 0},     {5, 5, 2, 0},       {5, 8, 6, 2},     {6, 6, 5, 2},
	        {7, 7, 8, 4},     {8, 8, 13, 7},      {8, 10, 17, 11},  {9, 9, 17, 11},
	        {10, 10, 23, 16}, {12, 12, 37, 27},   {15, 15, 64, 51}, {9, 20, 48, 36},
	        {10, 20, 55, 42}, {20, 20, 127, 105},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		assert_int_equal(stats_mann_whitney_critical(table[i].a, table[i].b, 0.025),
		                 table[i].five);
		assert_int_equal(stats_mann_whitney_critical(table[i].b, table[i].a, 0.025),
		                 table[i].five);
		assert_int_equal(stats_mann_whitney_critical(table[i].a, table[i].b, 0.005),
		                 table[i].one);
	}
	/* the normal approximation against the exact 1007 and 183 */
	assert_true(llabs(stats_mann_whitney_critical(51, 51, 0.025) - 1007) <= 1);
	assert_true(llabs(stats_mann_whitney_critical(10, 60, 0.025) - 183) <= 1);
}

/* ---- intervals and tests on small samples ---- */

static void test_median_ci(void **state)
{
	const double v[] = {9, 1, 8, 2, 7, 3, 6, 4, 5, 10};
	struct stats_interval ci;

	(void)state;
	assert_int_equal(stats_median_ci(v, 10, 0.95, &ci), 0);
	near(ci.estimate, 5.5, 0);
	near(ci.lo, 2, 0);
	near(ci.hi, 9, 0);
	near(ci.coverage, 1 - 2 * 11.0 / 1024, 1e-12);
	near(stats_detectable(&ci), 3.5 * 2.802 / 1.960, 1e-12);
	assert_int_equal(stats_median_ci(v, 5, 0.95, &ci), STATS_FEW);
	near(ci.estimate, 7, 0);
	assert_true(isinf(ci.lo) && ci.lo < 0 && isinf(ci.hi) && ci.hi > 0);
	assert_true(isnan(stats_detectable(&ci)));
}

static void test_hodges_lehmann(void **state)
{
	/* Walsh averages of 1 2 4: 1 1.5 2 2.5 3 4, median 2.25 */
	const double three[] = {4, 1, 2}, six[] = {-3, 8, 1, 5, 2, 4}, zeros[8] = {0};
	struct stats_interval ci;
	double p;

	(void)state;
	assert_int_equal(stats_hodges_lehmann(three, 3, 0.95, &ci), STATS_FEW);
	near(ci.estimate, 2.25, 0);
	assert_int_equal(stats_hodges_lehmann(six, 6, 0.95, &ci), 0);
	near(ci.lo, -3, 0);
	near(ci.hi, 8, 0);
	near(ci.coverage, 1 - 2.0 / 64, 1e-12);
	assert_int_equal(stats_paired_ratio(zeros, 8, 0.95, &ci, &p), 0);
	near(ci.estimate, 1, 0);
	near(ci.lo, 1, 0);
	near(ci.hi, 1, 0);
	near(p, 1, 0);
	assert_int_equal(stats_paired_ratio(zeros, 5, 0.95, &ci, &p), STATS_FEW);
	near(ci.lo, 0, 0);
	assert_true(isinf(ci.hi));
}

/* The order-statistic rule on all Walsh averages, kept the long way. */
static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void test_selection(void **state)
{
	double a[23], b[17], all[400];
	struct stats_interval ci;

	(void)state;
	random_state = 7;
	for (int round = 0; round < 50; round++) {
		size_t n = 0, k;

		for (int i = 0; i < 23; i++)
			a[i] = round % 2 ? normal() : floor(5 * normal()); /* with ties */
		for (int i = 0; i < 17; i++)
			b[i] = round % 2 ? normal() : floor(5 * normal());
		for (int i = 0; i < 23; i++)
			for (int j = i; j < 23; j++)
				all[n++] = 0.5 * a[i] + 0.5 * a[j];
		qsort(all, n, sizeof(*all), compare);
		assert_int_equal(stats_hodges_lehmann(a, 23, 0.95, &ci), 0);
		k = 73; /* the table's critical value at n = 23 */
		near(ci.lo, all[k], 0);
		near(ci.hi, all[n - 1 - k], 0);
		near(ci.estimate, 0.5 * all[n / 2 - 1] + 0.5 * all[n / 2], 0);
		n = 0;
		for (int i = 0; i < 23; i++)
			for (int j = 0; j < 17; j++)
				all[n++] = b[j] - a[i];
		qsort(all, n, sizeof(*all), compare);
		assert_int_equal(stats_shift(a, 23, b, 17, 0.95, &ci), 0);
		k = (size_t)stats_mann_whitney_critical(23, 17, 0.025);
		near(ci.lo, all[k], 0);
		near(ci.hi, all[n - 1 - k], 0);
		near(ci.estimate, all[n / 2], 0);
	}
}

/* p-values with ties and zeros, counted over all assignments by a program of
 * its own in whole numbers. */
static void test_exact_p(void **state)
{
	const double a[] = {1, 2, 2, 3}, b[] = {2, 3, 4, 4, 5}, ones[] = {1, 1, 1};
	const double lo[] = {1, 2, 3, 4}, hi[] = {5, 6, 7, 8};
	const double zeros[] = {0, 0, 1, -1, 2, 2, 3, 4}, d[] = {1, 2, 3, 4, 5, 6, 7, -8};
	double p;

	(void)state;
	assert_int_equal(stats_mann_whitney(a, 4, b, 5, &p), 0);
	near(p, 1.0 / 9, 1e-12);
	assert_int_equal(stats_mann_whitney(b, 5, a, 4, &p), 0);
	near(p, 1.0 / 9, 1e-12);
	assert_int_equal(stats_mann_whitney(lo, 4, hi, 4, &p), 0);
	near(p, 2.0 / 70, 1e-12);
	assert_int_equal(stats_mann_whitney(ones, 3, ones, 3, &p), 0);
	near(p, 1, 0);
	assert_int_equal(stats_signed_rank(zeros, 8, &p), 0);
	near(p, 3.0 / 32, 1e-12);
	assert_int_equal(stats_signed_rank(d, 8, &p), 0);
	near(p, 25.0 / 128, 1e-12);
	assert_int_equal(stats_signed_rank(d, 6, &p), 0);
	near(p, 2.0 / 64, 1e-12);
}

/* Where the exact method ends, the approximation must go on without a step. */
static void test_large_sample_p(void **state)
{
	double v[52], w[52], exact, approx;

	(void)state;
	random_state = 11;
	for (int i = 0; i < 52; i++) {
		v[i] = 0.3 + normal();
		w[i] = i % 3 ? floor(v[i] * 4) / 4 : 0; /* ties and zeros */
	}
	assert_int_equal(stats_signed_rank(v, 50, &exact), 0);
	assert_int_equal(stats_signed_rank(v, 51, &approx), 0);
	assert_true(fabs(log(exact / approx)) < 0.5);
	assert_int_equal(stats_signed_rank(w, 50, &exact), 0);
	assert_int_equal(stats_signed_rank(w, 51, &approx), 0);
	assert_true(fabs(log(exact / approx)) < 0.5);
	assert_int_equal(stats_mann_whitney(w, 25, w + 1, 50, &exact), 0);
	assert_int_equal(stats_mann_whitney(w, 25, w + 1, 51, &approx), 0);
	assert_true(fabs(exact - approx) < 0.1);
}

static void test_shift(void **state)
{
	const double a[] = {10, 20, 30, 40}, b[] = {13, 23, 33, 43};
	struct stats_interval ci;

	(void)state;
	assert_int_equal(stats_shift(a, 4, b, 4, 0.95, &ci), 0);
	near(ci.estimate, 3, 0);
	near(ci.lo, 13 - 40, 0);
	near(ci.hi, 43 - 10, 0);
	near(ci.coverage, 1 - 2.0 / 70, 1e-12);
	assert_int_equal(stats_shift(a, 4, a, 4, 0.95, &ci), 0);
	near(ci.estimate, 0, 0);
	assert_int_equal(stats_shift(a, 3, b, 4, 0.95, &ci), STATS_FEW);
	assert_true(isinf(ci.lo) && isinf(ci.hi));
}

static void test_holm(void **state)
{
	/* 0.005*4, then max(0.02, 0.01*3), then 0.03*2, then 0.04 under the 0.06 before it */
	const double p[] = {0.01, 0.04, NAN, 0.03, 0.005};
	double q[5];

	(void)state;
	assert_int_equal(stats_holm(p, 5, q), 0);
	near(q[4], 0.02, 1e-12);
	near(q[0], 0.03, 1e-12);
	near(q[3], 0.06, 1e-12);
	near(q[1], 0.06, 1e-12);
	assert_true(isnan(q[2]));
	assert_int_equal(stats_holm(p, 0, q), 0);
}

static void test_million(void **state)
{
	size_t n = 1000000;
	double *v = malloc(n * sizeof(*v));
	struct stats_interval ci;

	(void)state;
	assert_non_null(v);
	for (size_t i = 0; i < n; i++)
		v[i] = (double)((i * 7919) % n); /* a permutation of 0 .. n - 1 */
	assert_int_equal(stats_median_ci(v, n, 0.95, &ci), 0);
	near(ci.estimate, 499999.5, 0);
	assert_true(ci.lo > 499000 && ci.lo < 499050 && ci.hi < 501000 && ci.hi > 500950);
	near(stats_sd(v, n), 288675.279, 1e-6);
	free(v);
}

/* The largest of 19 is what the 20th lies below in 19 cases of 20; the 95th percentile of 20
 * values, the 19th, would be that in 19 of 21. */
static void test_next_below(void **state)
{
	static const struct {
		size_t n, rank;
	} table[] = {{2, 2}, {10, 10}, {19, 19}, {20, 20}, {38, 38}, {39, 38}, {59, 57}, {100, 96}, {999, 950}};
	static double v[999];
	double bound, coverage;

	(void)state;
	for (size_t k = 0; k < COUNT(table); k++) {
		for (size_t i = 0; i < table[k].n; i++)
			v[i] = (double)(table[k].n - i);
		assert_int_equal(stats_next_below(v, table[k].n, 0.95, &bound, &coverage), 0);
		near(bound, (double)table[k].rank, 0);
		near(coverage, (double)table[k].rank / (double)(table[k].n + 1), 1e-12);
		assert_true(coverage >= 0.95 || table[k].n < 19);
	}
	assert_int_equal(stats_next_below(v, 0, 0.95, &bound, &coverage), -1);
}

/* ---- error rates ---- */

/* One A/A comparison: both cells in each block, each in a process of its own
 * (sd `process`), on a machine that drifts from block to block.  p of "no
 * difference" when A's median is `shift` below B's; sets whether the interval
 * covers the truth. */
static double paired_p(size_t blocks, double shift, double process, int *covered)
{
	double ratios[64], p;
	struct stats_interval ci;

	for (size_t i = 0; i < blocks; i++) {
		double machine = 0.02 * normal() + 0.03 * (double)i / (double)blocks;
		double a = block_value(machine + process * normal(), 0.01);
		double b = block_value(machine + process * normal() + shift, 0.01);

		ratios[i] = log(b / a);
	}
	assert_int_equal(stats_paired_ratio(ratios, blocks, 0.95, &ci, &p), 0);
	*covered = ci.lo <= exp(shift) && exp(shift) <= ci.hi;
	return p;
}

static void test_paired_error_rates(void **state)
{
	static const double process[] = {0, 0.001, 0.01};
	static const size_t blocks[] = {10, 30};
	enum { ROUNDS = 2000 };

	(void)state;
	random_state = 1;
	for (size_t k = 0; k < COUNT(process) * COUNT(blocks); k++) {
		int alarms = 0, coverage = 0, covered;

		for (int r = 0; r < ROUNDS; r++) {
			alarms += paired_p(blocks[k % 2], 0, process[k / 2], &covered) < 0.05;
			paired_p(blocks[k % 2], 0.02, process[k / 2], &covered);
			coverage += covered;
		}
		print_message("%zu paired blocks, process sd %g: %.1f %% false alarms, coverage "
		              "%.1f %%\n",
		              blocks[k % 2], process[k / 2], 100.0 * alarms / ROUNDS,
		              100.0 * coverage / ROUNDS);
		assert_in_range(alarms, ROUNDS * 3 / 100, ROUNDS * 7 / 100);
		assert_true(coverage >= ROUNDS * 93 / 100);
	}
}

/* 10 blocks find a shift of 1 % at 1 % noise of the paired ratio, and 30 one of
 * 0.55 %, four times in five; what stats_detectable says is about that shift. */
static void test_power(void **state)
{
	static const struct {
		size_t blocks;
		double shift;
	} claim[] = {{10, 0.01}, {30, 0.0055}};
	enum { ROUNDS = 2000 };

	(void)state;
	random_state = 2;
	for (size_t k = 0; k < COUNT(claim); k++) {
		int found = 0;
		double detectable = 0;

		for (int r = 0; r < ROUNDS; r++) {
			double v[30], p;
			struct stats_interval ci;

			for (size_t i = 0; i < claim[k].blocks; i++)
				v[i] = claim[k].shift + 0.01 * normal();
			assert_int_equal(stats_signed_rank(v, claim[k].blocks, &p), 0);
			assert_int_equal(stats_hodges_lehmann(v, claim[k].blocks, 0.95, &ci), 0);
			detectable += stats_detectable(&ci) / ROUNDS;
			found += p < 0.05;
		}
		print_message(
		        "%zu blocks find %.2f %% in %.0f %% of runs; detectable says %.2f %%\n",
		        claim[k].blocks, 100 * claim[k].shift, 100.0 * found / ROUNDS,
		        100 * detectable);
		assert_in_range(found, ROUNDS * 75 / 100, ROUNDS * 87 / 100);
		near(detectable, claim[k].shift, 0.15);
	}
}

/* Why the block is the unit: 100 trials of one process against 100 of another. */
static void test_pooled_trials_mislead(void **state)
{
	static const double process[] = {0.1, 1}; /* times the noise of a trial */
	enum { ROUNDS = 1000 };
	int alarms[2] = {0};

	(void)state;
	random_state = 3;
	for (int k = 0; k < 2; k++)
		for (int r = 0; r < ROUNDS; r++) {
			double a[100], b[100], of_a = process[k] * normal(),
			                       of_b = process[k] * normal(), p;

			for (int i = 0; i < 100; i++) {
				a[i] = of_a + normal();
				b[i] = of_b + normal();
			}
			assert_int_equal(stats_mann_whitney(a, 100, b, 100, &p), 0);
			alarms[k] += p < 0.05;
		}
	print_message("pooled trials: %.1f and %.1f %% false alarms\n", 100.0 * alarms[0] / ROUNDS,
	              100.0 * alarms[1] / ROUNDS);
	assert_in_range(alarms[0], 130, 230);
	assert_in_range(alarms[1], 790, 890);
}

/* Why the order is random: all of A, then all of B, while the machine slows by 3 %. */
static void test_sequential_drift_misleads(void **state)
{
	enum { ROUNDS = 200, BLOCKS = 20 };
	int alarms = 0;

	(void)state;
	random_state = 4;
	for (int r = 0; r < ROUNDS; r++) {
		double v[2 * BLOCKS], p;

		for (int i = 0; i < 2 * BLOCKS; i++)
			v[i] = block_value(0.03 * i / (2 * BLOCKS), 0.005);
		assert_int_equal(stats_mann_whitney(v, BLOCKS, v + BLOCKS, BLOCKS, &p), 0);
		alarms += p < 0.05;
	}
	print_message("sequential under drift: %.1f %% false alarms\n", 100.0 * alarms / ROUNDS);
	assert_true(alarms >= ROUNDS * 99 / 100);
}

/* Looking after block 10 and every second one: stopping when the interval is
 * narrow costs little, stopping when the result is significant a lot. */
static void test_stopping(void **state)
{
	enum { ROUNDS = 2000, MAX = 40 };
	int by_width = 0, by_significance = 0;

	(void)state;
	random_state = 5;
	for (int r = 0; r < ROUNDS; r++) {
		int stopped = 0, significant = 0;
		double v[MAX], p = 1;
		struct stats_interval ci;

		for (size_t n = 0; n < MAX;) {
			v[n++] = 0.01 * normal();
			if (n < 10 || n % 2)
				continue;
			assert_int_equal(stats_signed_rank(v, n, &p), 0);
			significant |= p < 0.05;
			if (stopped)
				continue;
			assert_int_equal(stats_hodges_lehmann(v, n, 0.95, &ci), 0);
			stopped = (ci.hi - ci.lo) / 2 <= 0.005 || n == MAX;
			by_width += stopped && p < 0.05;
		}
		by_significance += significant;
	}
	print_message("stopping on width %.1f %%, on significance %.1f %% false alarms\n",
	              100.0 * by_width / ROUNDS, 100.0 * by_significance / ROUNDS);
	assert_in_range(by_width, ROUNDS * 4 / 100, ROUNDS * 8 / 100);
	assert_true(by_significance >= ROUNDS * 15 / 100);
}

static void test_median_coverage(void **state)
{
	static const size_t blocks[] = {6, 10, 21, 40};
	enum { ROUNDS = 3000 };

	(void)state;
	random_state = 6;
	for (size_t k = 0; k < COUNT(blocks); k++) {
		int covered = 0;

		for (int r = 0; r < ROUNDS; r++) {
			double v[40];
			struct stats_interval ci;

			for (size_t i = 0; i < blocks[k]; i++)
				v[i] = exp(normal()); /* skewed; median 1 */
			assert_int_equal(stats_median_ci(v, blocks[k], 0.95, &ci), 0);
			covered += ci.lo <= 1 && 1 <= ci.hi;
		}
		assert_true(covered >= ROUNDS * 94 / 100);
	}
}

/* Sessions differ; four a side, and ten. */
static void test_session_error_rates(void **state)
{
	static const size_t sessions[] = {4, 10};
	enum { ROUNDS = 4000 };

	(void)state;
	random_state = 8;
	for (size_t k = 0; k < COUNT(sessions); k++) {
		int alarms = 0, coverage = 0;

		for (int r = 0; r < ROUNDS; r++) {
			double a[10], b[10], p;
			struct stats_interval ci;

			for (size_t i = 0; i < sessions[k]; i++) {
				a[i] = trial_noise(1);
				b[i] = 0.5 + trial_noise(1);
			}
			assert_int_equal(stats_shift(a, sessions[k], b, sessions[k], 0.95, &ci), 0);
			coverage += ci.lo <= 0.5 && 0.5 <= ci.hi;
			for (size_t i = 0; i < sessions[k]; i++)
				b[i] -= 0.5;
			assert_int_equal(stats_mann_whitney(a, sessions[k], b, sessions[k], &p), 0);
			alarms += p < 0.05;
		}
		print_message("%zu sessions a side: %.1f %% false alarms, coverage %.1f %%\n",
		              sessions[k], 100.0 * alarms / ROUNDS, 100.0 * coverage / ROUNDS);
		assert_in_range(alarms, ROUNDS * 2 / 100, ROUNDS * 5 / 100);
		assert_true(coverage >= ROUNDS * 94 / 100);
	}
}

/* A steady cell is seldom called unsteady, a drift of 6 deviations nearly always. */
static void test_steadiness(void **state)
{
	static const size_t blocks[] = {10, 30};
	enum { ROUNDS = 2000 };

	(void)state;
	random_state = 9;
	for (size_t k = 0; k < COUNT(blocks); k++) {
		int wrong = 0, seen = 0;

		for (int r = 0; r < ROUNDS; r++) {
			double steady[30], drift[30];

			for (size_t i = 0; i < blocks[k]; i++) {
				steady[i] = 100 + normal();
				drift[i] = 100 + normal() + 6 * (double)i / (double)blocks[k];
			}
			wrong += stats_not_steady(steady, blocks[k]) == 1;
			seen += stats_not_steady(drift, blocks[k]) == 1;
		}
		print_message("not_steady, %zu blocks: %.1f %% of steady cells, %.1f %% of "
		              "drifting ones\n",
		              blocks[k], 100.0 * wrong / ROUNDS, 100.0 * seen / ROUNDS);
		assert_true(wrong <= ROUNDS * 15 / 100);
		assert_true(seen >= ROUNDS * 80 / 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_spread),
	        cmocka_unit_test(test_bad_input),
	        cmocka_unit_test(test_outliers),
	        cmocka_unit_test(test_flags),
	        cmocka_unit_test(test_median_ranks),
	        cmocka_unit_test(test_signed_rank_table),
	        cmocka_unit_test(test_mann_whitney_table),
	        cmocka_unit_test(test_median_ci),
	        cmocka_unit_test(test_hodges_lehmann),
	        cmocka_unit_test(test_selection),
	        cmocka_unit_test(test_exact_p),
	        cmocka_unit_test(test_large_sample_p),
	        cmocka_unit_test(test_shift),
	        cmocka_unit_test(test_holm),
	        cmocka_unit_test(test_million),
	        cmocka_unit_test(test_next_below),
	        cmocka_unit_test(test_paired_error_rates),
	        cmocka_unit_test(test_power),
	        cmocka_unit_test(test_pooled_trials_mislead),
	        cmocka_unit_test(test_sequential_drift_misleads),
	        cmocka_unit_test(test_stopping),
	        cmocka_unit_test(test_median_coverage),
	        cmocka_unit_test(test_session_error_rates),
	        cmocka_unit_test(test_steadiness),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
