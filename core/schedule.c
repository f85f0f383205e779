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

enum schedule_verdict schedule_judge(const struct matrix_settings *set, const double *medians,
				     size_t n, double seconds, double *width)
{
	const size_t least = set->blocks_min > 0 ? (size_t)set->blocks_min : 1;
	const size_t most = set->blocks_max > 0 ? (size_t)set->blocks_max : least;
	const int late = set->cell_limit_s > 0 && seconds >= set->cell_limit_s;
	struct stats_interval ci;

	*width = NAN;
	if (n && stats_median_ci(medians, n, 0.95, &ci) == 0 && ci.estimate > 0)
		*width = (ci.hi - ci.lo) / 2 / ci.estimate;
	if (set->ci <= 0)
		return n >= least ? SCHEDULE_ENOUGH : late && n ? SCHEDULE_IMPRECISE : SCHEDULE_MORE;
	if (n >= least && (n - least) % 2 == 0 && *width <= set->ci)
		return SCHEDULE_ENOUGH;
	return n >= most || (late && n) ? SCHEDULE_IMPRECISE : SCHEDULE_MORE;
}
