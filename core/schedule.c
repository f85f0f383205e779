/* SPDX-License-Identifier: MIT
 *
 * schedule.c - randomised blocks, stopped by interval width.
 *
 * All of A and then all of B would hand any drift of the machine to the
 * comparison, so each block visits every cell in a new random order.  Stopping
 * on the width of the interval, looked at after the least number of blocks and
 * then every second one, hardly disturbs its coverage; stopping on significance
 * would.
 */
#include <math.h>
#include <stdlib.h>
#include "schedule.h"
#include "stats.h"
#include "verify.h"

static uint64_t next(uint64_t *state)
{
	*state += UINT64_C(0x9E3779B97F4A7C15);	/* splitmix64 (Steele, Lea, Flood 2014) */
	return verify_mix(*state);
}

/* Uniform in [0, n), n > 0, without the bias of a bare remainder. */
static uint64_t below(uint64_t *state, uint64_t n)
{
	uint64_t x, limit = UINT64_MAX - UINT64_MAX % n;

	do {
		x = next(state);
	} while (x >= limit);
	return x % n;
}

void schedule_shuffle(uint32_t *list, size_t n, uint64_t seed, uint64_t block)
{
	uint64_t state = verify_mix(seed) ^ verify_mix(block + 1);
	uint32_t swap;
	size_t i, j;

	for (i = n; i > 1; i--) {
		j = (size_t)below(&state, i);
		swap = list[i - 1];
		list[i - 1] = list[j];
		list[j] = swap;
	}
}

static size_t least_blocks(const struct matrix_settings *set)
{
	return set->blocks_min > 0 ? (size_t)set->blocks_min : 1;
}

int schedule_is_over(const struct matrix_settings *set, size_t n, double seconds)
{
	const size_t least = least_blocks(set);
	const size_t most = set->blocks_max > 0 ? (size_t)set->blocks_max : least;

	return n >= most || (n && set->cell_limit_s > 0 && seconds >= set->cell_limit_s);
}

enum schedule_verdict schedule_judge(const struct matrix_settings *set, const double *medians,
				     size_t n, double seconds, double *width)
{
	const size_t least = least_blocks(set);
	const int over = schedule_is_over(set, n, seconds);
	struct stats_interval ci;

	*width = NAN;
	if (n && stats_median_ci(medians, n, 0.95, &ci) == 0 && ci.estimate > 0)
		*width = (ci.hi - ci.lo) / 2 / ci.estimate;
	if (set->ci <= 0)
		return n >= least ? SCHEDULE_ENOUGH : over ? SCHEDULE_IMPRECISE : SCHEDULE_MORE;
	if (n >= least && ((n - least) % 2 == 0 || over) && *width <= set->ci)
		return SCHEDULE_ENOUGH;
	return over ? SCHEDULE_IMPRECISE : SCHEDULE_MORE;
}

double schedule_ratio_width(const double *a, size_t na, const double *b, size_t nb)
{
	const size_t n = na < nb ? na : nb;
	struct stats_interval ci;
	double *ratios;
	size_t i;
	int rc;

	if (!n)
		return INFINITY;
	ratios = malloc(n * sizeof(*ratios));
	if (!ratios)
		return NAN;
	for (i = 0; i < n; i++)
		ratios[i] = log(b[i] / a[i]);
	rc = stats_hodges_lehmann(ratios, n, 0.95, &ci);
	free(ratios);
	return rc < 0 ? NAN : rc ? INFINITY : (ci.hi - ci.lo) / 2;
}
