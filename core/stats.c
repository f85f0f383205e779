/* SPDX-License-Identifier: MIT
 *
 * stats.c - medians, rank intervals and tests, and what is decided from them.
 *
 * The k-th of the n(n+1)/2 Walsh averages, and of the na*nb differences, is
 * found without storing them: bisect over the doubles between the smallest and
 * the largest, counting in linear time how many pairs lie at or below.  So a
 * million values need no more memory than a copy.
 */
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int all_finite(const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(v[i]))
			return 0;
	return 1;
}

static double half_way(double a, double b)
{
	return 0.5 * a + 0.5 * b;
}

double stats_mean(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i] - v[0];
	return n ? v[0] + sum / (double)n : NAN;
}

double stats_variance(const double *v, size_t n)
{
	double mean, sum = 0;

	if (n < 2)
		return NAN;
	mean = stats_mean(v, n);
	for (size_t i = 0; i < n; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	return sum / (double)(n - 1);
}

double stats_sd(const double *v, size_t n)
{
	return sqrt(stats_variance(v, n));
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int stats_sort(const double *v, size_t n, double *out)
{
	if (!n || !all_finite(v, n))
		return -1;
	memcpy(out, v, n * sizeof(*v));
	qsort(out, n, sizeof(*out), compare_doubles);
	return 0;
}

/* A sorted copy, or NULL; the caller frees it. */
static double *sorted_copy(const double *v, size_t n)
{
	double *s = n && n <= SIZE_MAX / sizeof(*s) ? malloc(n * sizeof(*s)) : NULL;

	if (s && stats_sort(v, n, s)) {
		free(s);
		s = NULL;
	}
	return s;
}

double stats_median_sorted(const double *v, size_t n)
{
	if (!n)
		return NAN;
	return n % 2 ? v[n / 2] : half_way(v[n / 2 - 1], v[n / 2]);
}

int stats_median(const double *v, size_t n, double *out)
{
	double *s = sorted_copy(v, n);

	if (!s)
		return -1;
	*out = stats_median_sorted(s, n);
	free(s);
	return 0;
}

int stats_mad(const double *v, size_t n, double *out)
{
	double *s = sorted_copy(v, n), median;

	if (!s)
		return -1;
	median = stats_median_sorted(s, n);
	for (size_t i = 0; i < n; i++)
		s[i] = fabs(v[i] - median);
	qsort(s, n, sizeof(*s), compare_doubles);
	*out = 1.4826 * stats_median_sorted(s, n);
	free(s);
	return 0;
}

/* ---- null distributions ---- */

static double normal_cdf(double z)
{
	return 0.5 * erfc(-z * M_SQRT1_2);
}

int stats_median_rank(size_t n, double level, size_t *rank, double *coverage)
{
	double tail = (1 - level) / 2, below = 0, pmf;
	int sign;
	/* 24 standard deviations under the middle nothing counts any more, and 2^-576 is still a
	 * double */
	size_t k = n > 576 ? n / 2 - (size_t)(12 * sqrt((double)n)) : 0;

	if (!n)
		return -1;
	pmf = exp(lgamma_r((double)n + 1, &sign) - lgamma_r((double)k + 1, &sign) -
	          lgamma_r((double)(n - k) + 1, &sign) - (double)n * M_LN2);
	if (pmf > tail * (1 + 1e-12))
		return STATS_FEW;
	while (below + pmf <= tail * (1 + 1e-12)) {
		below += pmf;
		pmf *= (double)(n - k) / (double)(k + 1);
		k++;
	}
	*rank = k;
	*coverage = 1 - 2 * below;
	return 0;
}

/*
 * The distribution of W+, the sum of those ranks whose value is positive, each
 * with probability 1/2.  Ranks are doubled so that mid-ranks are whole: p[s] is
 * P(W+ = s / 2).
 */
#define SIGNED_RANK_WIDTH (STATS_EXACT * (STATS_EXACT + 1) + 1)
static void signed_rank_distribution(const unsigned *ranks2, size_t n, double p[SIGNED_RANK_WIDTH])
{
	unsigned sum = 0;

	memset(p, 0, SIGNED_RANK_WIDTH * sizeof(*p));
	p[0] = 1;
	for (size_t i = 0; i < n; i++) {
		sum += ranks2[i];
		for (unsigned s = sum + 1; s-- > 0;)
			p[s] = 0.5 * p[s] + (s >= ranks2[i] ? 0.5 * p[s - ranks2[i]] : 0);
	}
}

/* The distribution of the doubled sum of `take` of n ranks, all choices equally
 * likely: n(n+1) + 1 probabilities, which the caller frees; NULL: no memory.
 * ways[j][s] counts the choices of j ranks that sum to s. */
static double *rank_sum_distribution(const unsigned *ranks2, size_t n, size_t take)
{
	size_t width = n * (n + 1) + 1, sum = 0;
	double *ways = calloc((take + 1) * width, sizeof(*ways)), all = 0;

	if (!ways)
		return NULL;
	ways[0] = 1;
	for (size_t i = 0; i < n; i++) {
		sum += ranks2[i];
		for (size_t j = i < take ? i + 1 : take; j > 0; j--)
			for (size_t s = ranks2[i]; s <= sum; s++)
				ways[j * width + s] += ways[(j - 1) * width + s - ranks2[i]];
	}
	memmove(ways, ways + take * width, width * sizeof(*ways));
	for (size_t s = 0; s < width; s++)
		all += ways[s];
	for (size_t s = 0; s < width; s++)
		ways[s] /= all;
	return ways;
}

static double two_sided(double le, double ge)
{
	return fmin(1, 2 * fmin(le, ge));
}

/* Two-sided p-value of the observed sum `at`. */
static double two_sided_exact(const double *p, size_t width, size_t at)
{
	double le = 0, ge = 0;

	for (size_t s = 0; s < width; s++) {
		le += s <= at ? p[s] : 0;
		ge += s >= at ? p[s] : 0;
	}
	return two_sided(le, ge);
}

/* The same by the normal distribution, from the statistic's deviation and
 * variance, half a step nearer to the middle. */
static double two_sided_normal(double deviation, double variance)
{
	if (variance <= 0)
		return 1;
	return two_sided(normal_cdf((deviation + 0.5) / sqrt(variance)),
	                 normal_cdf((0.5 - deviation) / sqrt(variance)));
}

/* The largest k with p[0] + p[2] + ... + p[2k] <= tail, and that sum; -1: none. */
static int64_t critical_exact(const double *p, size_t width, double tail, double *below)
{
	double sum = 0;
	size_t k = 0;

	while (2 * k < width && sum + p[2 * k] <= tail * (1 + 1e-12))
		sum += p[2 * k++];
	*below = sum;
	return (int64_t)k - 1;
}

/* The same for a statistic with values 0 .. 2 * mean. */
static int64_t critical_normal(double mean, double variance, double tail, double *below)
{
	int64_t lo = -1, hi = (int64_t)(2 * mean);

	*below = 0;
	while (hi > lo) {
		int64_t mid = lo + (hi - lo + 1) / 2;
		double cdf = normal_cdf(((double)mid + 0.5 - mean) / sqrt(variance));

		if (cdf <= tail) {
			lo = mid;
			*below = cdf;
		} else {
			hi = mid - 1;
		}
	}
	return lo;
}

/* Largest w with P(W+ <= w) <= tail for n values without ties or zeros. */
static int64_t signed_rank_critical(size_t n, double tail, double *below)
{
	unsigned ranks2[STATS_EXACT] = {0};
	double p[SIGNED_RANK_WIDTH], dn = (double)n;

	if (n > STATS_EXACT)
		return critical_normal(dn * (dn + 1) / 4, dn * (dn + 1) * (2 * dn + 1) / 24, tail,
		                       below);
	for (unsigned i = 0; i < n; i++)
		ranks2[i] = 2 * (i + 1);
	signed_rank_distribution(ranks2, n, p);
	return critical_exact(p, n * (n + 1) + 1, tail, below);
}

/* Largest u with P(U <= u) <= tail without ties; -2: no memory. */
static int64_t mann_whitney_critical(size_t na, size_t nb, double tail, double *below)
{
	double da = (double)na, db = (double)nb, *p;
	unsigned ranks2[2 * STATS_EXACT];
	size_t n = na + nb, lowest = na * (na + 1);
	int64_t k;

	if (na > STATS_EXACT || nb > STATS_EXACT)
		return critical_normal(da * db / 2, da * db * (da + db + 1) / 12, tail, below);
	for (unsigned i = 0; i < n; i++)
		ranks2[i] = 2 * (i + 1);
	p = rank_sum_distribution(ranks2, n, na);
	if (!p)
		return -2;
	k = critical_exact(p + lowest, n * (n + 1) + 1 - lowest, tail, below);
	free(p);
	return k;
}

int64_t stats_signed_rank_critical(size_t n, double tail)
{
	double below;

	return n ? signed_rank_critical(n, tail, &below) : -1;
}

int64_t stats_mann_whitney_critical(size_t na, size_t nb, double tail)
{
	double below;

	return na && nb ? mann_whitney_critical(na, nb, tail, &below) : -1;
}

/* ---- the k-th of all pairs ---- */

/* Sorted values.  b NULL: the averages of a[i] and a[j], i <= j; else b[j] - a[i]. */
struct pairs {
	const double *a, *b;
	size_t na, nb;
};

static uint64_t pairs_total(const struct pairs *p)
{
	return p->b ? (uint64_t)p->na * p->nb : (uint64_t)p->na * (p->na + 1) / 2;
}

/* How many pairs are at most t. */
static uint64_t pairs_count(const struct pairs *p, double t)
{
	uint64_t count = 0;
	size_t j = p->b ? 0 : p->na;

	for (size_t i = 0; i < p->na; i++) {
		if (p->b) {
			while (j < p->nb && p->b[j] - p->a[i] <= t)
				j++;
			count += j;
		} else {
			while (j > i && half_way(p->a[i], p->a[j - 1]) > t)
				j--;
			if (j <= i)
				break;
			count += j - i;
		}
	}
	return count;
}

/* Doubles and integers in the same order; its own inverse. */
static int64_t order_bits(int64_t bits)
{
	return bits < 0 ? bits ^ INT64_MAX : bits;
}

static int64_t order_of(double x)
{
	int64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return order_bits(bits);
}

static double value_at(int64_t order)
{
	double x;

	order = order_bits(order);
	memcpy(&x, &order, sizeof(x));
	return x;
}

/* The k-th smallest pair, from 1. */
static double pairs_select(const struct pairs *p, uint64_t k)
{
	int64_t lo = order_of(p->b ? p->b[0] - p->a[p->na - 1] : p->a[0]);
	int64_t hi = order_of(p->b ? p->b[p->nb - 1] - p->a[0] : p->a[p->na - 1]);

	while (lo < hi) {
		int64_t mid = (int64_t)((uint64_t)lo + ((uint64_t)hi - (uint64_t)lo) / 2);

		if (pairs_count(p, value_at(mid)) >= k)
			hi = mid;
		else
			lo = mid + 1;
	}
	return value_at(lo) + 0.0; /* -0.0 becomes 0.0 */
}

static double pairs_median(const struct pairs *p)
{
	uint64_t total = pairs_total(p);

	if (total % 2)
		return pairs_select(p, total / 2 + 1);
	return half_way(pairs_select(p, total / 2), pairs_select(p, total / 2 + 1));
}

static int pairs_interval(const struct pairs *p, size_t n, double level, struct stats_interval *out)
{
	double below = 0, tail = (1 - level) / 2;
	uint64_t total = pairs_total(p);
	int64_t k = p->b ? mann_whitney_critical(p->na, p->nb, tail, &below)
	                 : signed_rank_critical(p->na, tail, &below);

	if (k < -1)
		return -1;
	out->n = n;
	out->estimate = pairs_median(p);
	out->lo = k < 0 ? -INFINITY : pairs_select(p, (uint64_t)k + 1);
	out->hi = k < 0 ? INFINITY : pairs_select(p, total - (uint64_t)k);
	out->coverage = k < 0 ? 1 : 1 - 2 * below;
	return k < 0 ? STATS_FEW : 0;
}

/* ---- intervals ---- */

int stats_median_ci(const double *v, size_t n, double level, struct stats_interval *out)
{
	double *s = sorted_copy(v, n), coverage;
	size_t rank;
	int few;

	if (!s)
		return -1;
	few = stats_median_rank(n, level, &rank, &coverage);
	out->n = n;
	out->estimate = stats_median_sorted(s, n);
	out->lo = few ? -INFINITY : s[rank - 1];
	out->hi = few ? INFINITY : s[n - rank];
	out->coverage = few ? 1 : coverage;
	free(s);
	return few;
}

int stats_hodges_lehmann(const double *v, size_t n, double level, struct stats_interval *out)
{
	double *s = sorted_copy(v, n);
	struct pairs p = {.a = s, .na = n};
	int rc;

	if (!s)
		return -1;
	rc = pairs_interval(&p, n, level, out);
	free(s);
	return rc;
}

int stats_shift(const double *a, size_t na, const double *b, size_t nb, double level,
                struct stats_interval *out)
{
	double *sa = sorted_copy(a, na), *sb = sorted_copy(b, nb);
	struct pairs p = {.a = sa, .b = sb, .na = na, .nb = nb};
	int rc = -1;

	if (sa && sb)
		rc = pairs_interval(&p, na + nb, level, out);
	free(sa);
	free(sb);
	return rc;
}

/* ---- tests ---- */

struct ranked {
	double key;
	size_t from;
};

static int compare_ranked(const void *a, const void *b)
{
	return compare_doubles(&((const struct ranked *)a)->key, &((const struct ranked *)b)->key);
}

/* Doubled mid-ranks of key[0..n), and the sum of t^3 - t over the groups of t
 * equal keys.  -1: no memory. */
static int mid_ranks(const double *key, size_t n, size_t *ranks2, double *ties)
{
	struct ranked *r = malloc(n * sizeof(*r));

	if (!r)
		return -1;
	for (size_t i = 0; i < n; i++)
		r[i] = (struct ranked){key[i], i};
	qsort(r, n, sizeof(*r), compare_ranked);
	*ties = 0;
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && r[end].key == r[i].key; end++)
			;
		for (size_t j = i; j < end; j++)
			ranks2[r[j].from] = i + 1 + end;
		*ties += pow((double)(end - i), 3) - (double)(end - i);
	}
	free(r);
	return 0;
}

/* p from the doubled ranks of |v|; zeros have the lowest ranks and are left out. */
static double signed_rank_p(const double *v, size_t n, const size_t *ranks2, double ties)
{
	unsigned kept[STATS_EXACT];
	size_t m = 0;
	double plus2 = 0, all2 = 0, zeros, variance, p[SIGNED_RANK_WIDTH];

	for (size_t i = 0; i < n; i++) {
		if (v[i] == 0)
			continue;
		if (m < STATS_EXACT)
			kept[m] = (unsigned)ranks2[i];
		m++;
		all2 += (double)ranks2[i];
		plus2 += v[i] > 0 ? (double)ranks2[i] : 0;
	}
	if (n <= STATS_EXACT) {
		signed_rank_distribution(kept, m, p);
		return two_sided_exact(p, SIGNED_RANK_WIDTH, (size_t)plus2);
	}
	/* variance of W+: sum of squared ranks / 4; the zeros' own group of ties is not in it */
	zeros = (double)(n - m);
	variance = ((double)n * ((double)n + 1) * (2 * (double)n + 1) -
	            zeros * (zeros + 1) * (2 * zeros + 1)) /
	                   24 -
	           (ties - (zeros * zeros * zeros - zeros)) / 48;
	return two_sided_normal((plus2 - all2 / 2) / 2, variance);
}

int stats_signed_rank(const double *v, size_t n, double *p)
{
	double *size = NULL, ties;
	size_t *ranks2 = NULL;
	int rc = -1;

	if (!n || !all_finite(v, n))
		return -1;
	size = malloc(n * sizeof(*size));
	ranks2 = malloc(n * sizeof(*ranks2));
	if (!size || !ranks2)
		goto out;
	for (size_t i = 0; i < n; i++)
		size[i] = fabs(v[i]);
	if (mid_ranks(size, n, ranks2, &ties))
		goto out;
	*p = signed_rank_p(v, n, ranks2, ties);
	rc = 0;
out:
	free(size);
	free(ranks2);
	return rc;
}

int stats_paired_ratio(const double *log_ratios, size_t n, double level, struct stats_interval *out,
                       double *p)
{
	struct stats_interval ci;
	int rc = stats_hodges_lehmann(log_ratios, n, level, &ci);

	if (rc < 0 || stats_signed_rank(log_ratios, n, p))
		return -1;
	*out = ci;
	out->estimate = exp(ci.estimate);
	out->lo = exp(ci.lo);
	out->hi = exp(ci.hi);
	return rc;
}

/* p from the doubled ranks of a and b together; the first na are a's. */
static int mann_whitney_p(size_t na, size_t nb, const size_t *ranks2, double ties, double *p)
{
	unsigned small[2 * STATS_EXACT];
	double sum2 = 0, da = (double)na, db = (double)nb, n = da + db, *exact;

	for (size_t i = 0; i < na; i++)
		sum2 += (double)ranks2[i];
	if (na > STATS_EXACT || nb > STATS_EXACT) {
		double variance = da * db / 12 * (n + 1 - ties / (n * (n - 1)));

		*p = two_sided_normal(sum2 / 2 - da * (n + 1) / 2, variance);
		return 0;
	}
	for (size_t i = 0; i < na + nb; i++)
		small[i] = (unsigned)ranks2[i];
	exact = rank_sum_distribution(small, na + nb, na);
	if (!exact)
		return -1;
	*p = two_sided_exact(exact, (na + nb) * (na + nb + 1) + 1, (size_t)sum2);
	free(exact);
	return 0;
}

int stats_mann_whitney(const double *a, size_t na, const double *b, size_t nb, double *p)
{
	double *both = NULL, ties;
	size_t *ranks2 = NULL;
	int rc = -1;

	if (!na || !nb || !all_finite(a, na) || !all_finite(b, nb))
		return -1;
	both = malloc((na + nb) * sizeof(*both));
	ranks2 = malloc((na + nb) * sizeof(*ranks2));
	if (!both || !ranks2)
		goto out;
	memcpy(both, a, na * sizeof(*a));
	memcpy(both + na, b, nb * sizeof(*b));
	if (mid_ranks(both, na + nb, ranks2, &ties))
		goto out;
	rc = mann_whitney_p(na, nb, ranks2, ties, p);
out:
	free(both);
	free(ranks2);
	return rc;
}

int stats_holm(const double *p, size_t m, double *adjusted)
{
	struct ranked *r = malloc((m ? m : 1) * sizeof(*r));
	size_t tests = 0;
	double worst = 0;

	if (!r)
		return -1;
	for (size_t i = 0; i < m; i++) {
		adjusted[i] = NAN;
		if (!isnan(p[i]))
			r[tests++] = (struct ranked){p[i], i};
	}
	qsort(r, tests, sizeof(*r), compare_ranked);
	for (size_t i = 0; i < tests; i++) {
		worst = fmax(worst, fmin(1, (double)(tests - i) * r[i].key));
		adjusted[r[i].from] = worst;
	}
	free(r);
	return 0;
}

double stats_detectable(const struct stats_interval *ci)
{
	if (!isfinite(ci->lo) || !isfinite(ci->hi))
		return NAN;
	return (ci->hi - ci->lo) / 2 * (1.960 + 0.842) / 1.960;
}

int stats_next_below(const double *v, size_t n, double level, double *out, double *coverage)
{
	double *s = sorted_copy(v, n), rank = ceil(level * (double)(n + 1) * (1 - 1e-12));

	if (!s)
		return -1;
	rank = fmin(rank, (double)n);
	*out = s[(size_t)rank - 1];
	*coverage = rank / (double)(n + 1);
	free(s);
	return 0;
}

/* ---- flags ---- */

int stats_outliers(const double *v, size_t n, unsigned char *flags, size_t *count)
{
	double median, mad, limit;
	size_t found = 0;

	if (stats_median(v, n, &median) || stats_mad(v, n, &mad))
		return -1;
	limit = fmax(5 * mad, 0.01 * fabs(median));
	for (size_t i = 0; i < n; i++) {
		flags[i] = fabs(v[i] - median) > limit;
		found += flags[i];
	}
	*count = found;
	return 0;
}

int stats_not_steady(const double *v, size_t n)
{
	struct stats_interval ci;
	double first, last, slope, *level;
	int rc = -1;

	if (n < 6 || stats_median(v, n / 3, &first) || stats_median(v + n - n / 3, n / 3, &last))
		return -1;
	level = malloc(n * sizeof(*level));
	if (!level)
		return -1;
	slope = (last - first) / (double)(n - n / 3);
	for (size_t i = 0; i < n; i++)
		level[i] = v[i] - slope * (double)i;
	if (!stats_median_ci(level, n, 0.95, &ci))
		rc = fabs(last - first) > fmax(ci.hi - ci.lo, 0.005 * fabs(first));
	free(level);
	return rc;
}

int stats_bad_clock(double ns, double tick_ns)
{
	return !(ns > 0 && isfinite(ns) && ns >= 10 * tick_ns);
}

int stats_clock_state(double mhz, double max_mhz)
{
	if (!(mhz > 0) || !(max_mhz > 0))
		return -1;
	return mhz < 0.75 * max_mhz ? 2 : mhz < 0.9 * max_mhz;
}
