/* SPDX-License-Identifier: MIT
 *
 * test_schedule.c - when a cell has been measured enough, and in which order
 * cells run.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../core/schedule.h"

static const struct matrix_settings set = {
	.blocks_min = 10, .blocks_max = 41, .ci = 0.01, .cell_limit_s = 60,
};

/* n values around 100: half of them below by `away`, half above. */
static void spread(double *v, size_t n, double away)
{
	for (size_t i = 0; i < n; i++)
		v[i] = i % 2 ? 100 + away : 100 - away;
}

static void test_width(void **state)
{
	double v[41], width;

	(void)state;
	spread(v, 41, 0.5);
	assert_int_equal(schedule_judge(&set, v, 9, 0, &width), SCHEDULE_MORE);
	assert_int_equal(schedule_judge(&set, v, 10, 0, &width), SCHEDULE_ENOUGH);
	assert_true(fabs(width - 0.005) < 1e-12);
	/* looked at after block 10, then every second one, and at the end */
	assert_int_equal(schedule_judge(&set, v, 11, 0, &width), SCHEDULE_MORE);
	assert_int_equal(schedule_judge(&set, v, 41, 0, &width), SCHEDULE_ENOUGH);
	assert_int_equal(schedule_judge(&set, v, 11, 60, &width), SCHEDULE_ENOUGH);
	spread(v, 41, 2);
	assert_int_equal(schedule_judge(&set, v, 40, 0, &width), SCHEDULE_MORE);
	assert_int_equal(schedule_judge(&set, v, 41, 0, &width), SCHEDULE_IMPRECISE);
	assert_int_equal(schedule_judge(&set, v, 7, 60, &width), SCHEDULE_IMPRECISE);
	assert_int_equal(schedule_judge(&set, v, 3, 60, &width), SCHEDULE_IMPRECISE);
	assert_true(isnan(width));
	assert_int_equal(schedule_judge(&set, v, 0, 60, &width), SCHEDULE_MORE);
}

static void test_no_width_wanted(void **state)
{
	struct matrix_settings quick = {.blocks_min = 3, .blocks_max = 3, .cell_limit_s = 60};
	double v[3] = {1, 2, 3}, width;

	(void)state;
	assert_int_equal(schedule_judge(&quick, v, 2, 0, &width), SCHEDULE_MORE);
	assert_int_equal(schedule_judge(&quick, v, 3, 0, &width), SCHEDULE_ENOUGH);
	assert_int_equal(schedule_judge(&quick, v, 2, 60, &width), SCHEDULE_IMPRECISE);
}

static void test_ratio_width(void **state)
{
	double a[10], b[10];

	(void)state;
	spread(a, 10, 50);
	for (int i = 0; i < 10; i++)
		b[i] = 3 * a[i];	/* what both share cancels */
	assert_true(schedule_ratio_width(a, 10, b, 10) < 1e-12);
	assert_true(isinf(schedule_ratio_width(a, 5, b, 10)));
	assert_true(isinf(schedule_ratio_width(a, 0, b, 10)));
	b[0] *= 1.1;
	b[1] *= 1.1;
	b[2] /= 1.1;
	b[3] /= 1.1;
	/* extremes of the Walsh averages beyond rank 8: +-log 1.1 / 2 */
	assert_true(fabs(schedule_ratio_width(a, 10, b, 10) - log(1.1) / 2) < 1e-12);
}

static void test_shuffle(void **state)
{
	uint32_t first[100], again[100], other[100];
	int seen[100] = {0}, same = 0;

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		first[i] = again[i] = other[i] = i;
	schedule_shuffle(first, 100, 42, 3);
	schedule_shuffle(again, 100, 42, 3);
	schedule_shuffle(other, 100, 42, 4);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(first[i], again[i]);
		same += first[i] == other[i];
		assert_int_equal(seen[first[i]]++, 0);
	}
	assert_true(same < 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_width),
		cmocka_unit_test(test_no_width_wanted),
		cmocka_unit_test(test_ratio_width),
		cmocka_unit_test(test_shuffle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
