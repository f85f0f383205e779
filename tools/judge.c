/* SPDX-License-Identifier: MIT
 *
 * judge.c - see judge.h.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "judge.h"

const char *const verdict_names[VERDICTS] = {
        [FASTER] = "FASTER",   [SLOWER] = "SLOWER",           [SAME] = "SAME",
        [UNCLEAR] = "UNCLEAR", [UNTESTABLE] = "not testable", [DNF] = "DNF",
        [MISSING] = "MISSING",
};

int judge_good(const char *status)
{
	return !strcmp(status, "ok") || !strcmp(status, "imprecise") || !strcmp(status, "pending");
}

/* One value a session: the median of its blocks.  -1: no memory. */
static int sessions_of(const struct pair_cell *c, size_t n, double **out, size_t *sessions,
                       size_t *blocks)
{
	double *v = malloc(n * sizeof(*v));

	*sessions = *blocks = 0;
	for (size_t i = 0; v && i < n; i++) {
		if (i && c[i].run == c[i - 1].run)
			continue; /* the matrix has the cell twice: the first counts */
		*blocks += c[i].n_blocks;
		if (c[i].n_blocks && !stats_median(c[i].ns, c[i].n_blocks, &v[*sessions]))
			++*sessions;
	}
	*out = v;
	return v ? 0 : -1;
}

/* Why the cells of one side may not enter a ratio, appended to `why`: their status, or that they
 * have no time. */
static int unfit(const char *side, const struct pair_cell *c, size_t n, char *why, size_t size)
{
	size_t bad = 0, used = strlen(why);
	const char *status = NULL;

	for (size_t i = 0; i < n; i++) {
		int is_bad = !judge_good(c[i].status) || !c[i].n_blocks;

		bad += is_bad;
		if (is_bad && !status)
			status = !judge_good(c[i].status)         ? c[i].status
			         : strcmp(c[i].status, "pending") ? "no valid time"
			                                          : "not run";
	}
	if (!bad)
		return 0;
	snprintf(why + used, size - used, n > 1 ? "%s%s: %s in %zu of %zu sessions" : "%s%s: %s",
	         used ? "; " : "", side, status, bad, n);
	return 1;
}

static void to_logs(double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		v[i] = log(v[i]);
}

static int judge_sessions(struct judgement *j, double *a, double *b)
{
	struct stats_interval shift;

	if (stats_median(a, j->units_a, &j->a_ns) || stats_median(b, j->units_b, &j->b_ns))
		return -1;
	to_logs(a, j->units_a);
	to_logs(b, j->units_b);
	if (stats_shift(a, j->units_a, b, j->units_b, JUDGE_LEVEL, &shift) < 0 ||
	    stats_mann_whitney(a, j->units_a, b, j->units_b, &j->p))
		return -1;
	j->detectable = stats_detectable(&shift);
	j->ratio = shift;
	j->ratio.estimate = exp(shift.estimate);
	j->ratio.lo = exp(shift.lo);
	j->ratio.hi = exp(shift.hi);
	if (j->units_a < JUDGE_SESSIONS_MIN || j->units_b < JUDGE_SESSIONS_MIN)
		snprintf(j->reason, sizeof(j->reason), "%zu and %zu sessions, %d a side are needed",
		         j->units_a, j->units_b, JUDGE_SESSIONS_MIN);
	return 0;
}

/* Blocks that both cells have, in the order of their numbers. */
static int judge_blocks(struct judgement *j, const struct pair_cell *a, const struct pair_cell *b)
{
	double *ratios = malloc((a->n_blocks + 1) * sizeof(*ratios));
	size_t n = 0;
	int rc = -1;

	if (!ratios || stats_median(a->ns, a->n_blocks, &j->a_ns) ||
	    stats_median(b->ns, b->n_blocks, &j->b_ns))
		goto out;
	for (size_t i = 0, k = 0; i < a->n_blocks && k < b->n_blocks;) {
		if (a->block[i] == b->block[k])
			ratios[n++] = log(b->ns[k++] / a->ns[i++]);
		else if (a->block[i] < b->block[k])
			i++;
		else
			k++;
	}
	j->units_a = j->units_b = n;
	if (n && stats_paired_ratio(ratios, n, JUDGE_LEVEL, &j->ratio, &j->p) < 0)
		goto out;
	if (n && isfinite(j->ratio.hi))
		j->detectable = stats_detectable(
		        &(struct stats_interval){.lo = log(j->ratio.lo), .hi = log(j->ratio.hi)});
	if (n < JUDGE_BLOCKS_MIN)
		snprintf(j->reason, sizeof(j->reason), "%zu paired blocks, %d are needed", n,
		         JUDGE_BLOCKS_MIN);
	rc = 0;
out:
	free(ratios);
	return rc;
}

int judge_pair(const struct pair *pair, int paired, const char *why_not, struct judgement *out)
{
	struct judgement j = {.pair = pair,
	                      .verdict = UNCLEAR,
	                      .a_ns = NAN,
	                      .b_ns = NAN,
	                      .p = NAN,
	                      .p_holm = NAN,
	                      .p_least = NAN,
	                      .detectable = NAN,
	                      .ratio = {.estimate = NAN, .lo = NAN, .hi = NAN}};
	double *a = NULL, *b = NULL;
	int rc = -1, bad_a, bad_b;

	if (sessions_of(pair->a, pair->n_a, &a, &j.units_a, &j.blocks_a) ||
	    sessions_of(pair->b, pair->n_b, &b, &j.units_b, &j.blocks_b))
		goto out;
	bad_a = unfit("A", pair->a, pair->n_a, j.reason, sizeof(j.reason));
	bad_b = unfit("B", pair->b, pair->n_b, j.reason, sizeof(j.reason));
	if (!pair->n_a || !pair->n_b) {
		j.verdict = MISSING;
		snprintf(j.reason, sizeof(j.reason), "only in %s", pair->n_a ? "A" : "B");
	} else if (bad_a || bad_b) {
		j.verdict = DNF;
		if (!bad_a) /* the other side's time is one all the same */
			stats_median(a, j.units_a, &j.a_ns);
		if (!bad_b)
			stats_median(b, j.units_b, &j.b_ns);
	} else if (paired ? judge_blocks(&j, pair->a, pair->b) : judge_sessions(&j, a, b)) {
		goto out;
	}
	if (j.verdict == UNCLEAR && (*j.reason || why_not)) {
		j.verdict = UNTESTABLE;
		j.ratio.lo = j.ratio.hi = j.p = j.detectable = NAN;
		if (why_not)
			snprintf(j.reason, sizeof(j.reason), "%s", why_not);
	}
	if (j.verdict == UNCLEAR)
		j.p_least = judge_least_p(j.units_a, j.units_b, paired);
	*out = j;
	rc = 0;
out:
	free(a);
	free(b);
	return rc;
}

enum verdict judge_interval(const struct stats_interval *ratio, double p_holm, double threshold)
{
	double slower = 1 + threshold, faster = 1 / slower;

	if (ratio->lo >= faster && ratio->hi <= slower)
		return SAME;
	if (ratio->hi < faster && p_holm < 1 - JUDGE_LEVEL)
		return FASTER;
	if (ratio->lo > slower && p_holm < 1 - JUDGE_LEVEL)
		return SLOWER;
	return UNCLEAR;
}

/* Holm's adjustment of p and of p_least, in place: q has room for n, twice. */
static int adjust(struct judgement *j, size_t n, double *q, size_t *tests)
{
	double *p = q + n;

	for (int least = 0; least < 2; least++) {
		for (size_t i = 0; i < n; i++)
			p[i] = j[i].verdict != UNCLEAR ? NAN : least ? j[i].p_least : j[i].p;
		if (stats_holm(p, n, q))
			return -1;
		for (size_t i = 0; i < n; i++)
			*(least ? &j[i].p_least : &j[i].p_holm) = q[i];
	}
	*tests = 0;
	for (size_t i = 0; i < n; i++)
		*tests += !isnan(p[i]);
	return 0;
}

int judge_all(struct judgement *j, size_t n, double threshold, size_t *tests)
{
	double *q = calloc(2 * n + 1, sizeof(*q)), slower = 1 + threshold;
	int rc = q ? adjust(j, n, q, tests) : -1;

	for (size_t i = 0; !rc && i < n; i++) {
		if (j[i].verdict != UNCLEAR)
			continue;
		j[i].detectable = judge_can_differ(&j[i]) ? slower * exp(j[i].detectable) - 1 : NAN;
		j[i].verdict = judge_interval(&j[i].ratio, j[i].p_holm, threshold);
		if (j[i].verdict == UNCLEAR &&
		    (j[i].ratio.lo > slower || j[i].ratio.hi < 1 / slower))
			snprintf(j[i].reason, sizeof(j[i].reason), "p %.2g among %zu cells (Holm)",
			         j[i].p_holm, *tests);
	}
	free(q);
	return rc;
}

int judge_can_differ(const struct judgement *j)
{
	return j->p_least < 1 - JUDGE_LEVEL;
}

double judge_least_p(size_t units_a, size_t units_b, int paired)
{
	double a = (double)units_a, b = (double)units_b, ways = a * M_LN2;
	int sign;

	/* 2 / 2^a, or 2 / (a + b over a) */
	if (!paired)
		ways = lgamma_r(a + b + 1, &sign) - lgamma_r(a + 1, &sign) - lgamma_r(b + 1, &sign);
	return fmin(1, 2 * exp(-ways));
}

size_t judge_units_needed(size_t tests, int paired)
{
	size_t n = paired ? JUDGE_BLOCKS_MIN : JUDGE_SESSIONS_MIN;

	while (judge_least_p(n, n, paired) * (double)(tests ? tests : 1) >= 1 - JUDGE_LEVEL)
		n++;
	return n;
}
