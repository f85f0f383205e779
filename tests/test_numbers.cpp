// SPDX-License-Identifier: MIT
// What variants make of the times they saw: quantiles, histograms, lines.
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cmath>
#include <csetjmp>
#include <map>
#include <string>
extern "C" {
#include <cmocka.h>
}
#include "kernels/fit.h"
#include "kernels/mix.h"
#include "kernels/latency.h"

static std::map<std::string, double> told;

static int tell(struct pkrun_run *, const char *name, double value, const char *)
{
	assert_true(told.count(name) == 0);
	told[name] = value;
	return PKRUN_OK;
}

static void quantiles_are_values_that_were_seen(void **)
{
	struct pkrun_host host = {};
	struct pkrun_run run = {};
	struct pk_samples s = {};

	host.metric = tell;
	run.host = &host;
	told.clear();
	assert_int_equal(pk_samples_begin(&run, &s, 1001), PKRUN_OK);
	for (uint64_t i = 0; i < 1001; i++) /* 1 .. 1000 in another order, and one far away */
		pk_samples_add(&s, i == 500 ? 20000000000ull : i * 2 % 1001 ? i * 2 % 1001 : 1);
	pk_samples_report(&run, &s, "t");
	assert_true(told["t_min"] == 1);
	assert_true(told["t_p50"] == 500);
	assert_true(told["t_p999"] == 999);
	assert_true(told["t_max"] == 20000000000.0);
	assert_true(told["t_samples"] == 1001);
	assert_true(told["t_hist_ns_le_inf"] == 1);
	double sum = 0;
	for (auto &m : told)
		if (m.first.find("hist") != std::string::npos)
			sum += m.second;
	assert_true(sum == 1001);
	pk_samples_free(&s);
}

static void one_sample_is_every_quantile(void **)
{
	uint64_t one[] = {42}, two[] = {1, 2};

	assert_int_equal(pk_quantile(one, 1, 500), 42);
	assert_int_equal(pk_quantile(one, 1, 999), 42);
	assert_int_equal(pk_quantile(two, 2, 500), 1);
	assert_int_equal(pk_quantile(two, 2, 501), 2);
}

/* The 5 % points of the chi-squared tables. */
static void chances_are_those_of_the_tables(void **)
{
	const struct {
		int freedom;
		double chi2;
	} table[] = {{1, 3.841}, {2, 5.991}, {3, 7.815}, {4, 9.488}, {5, 11.070}, {10, 18.307}};

	for (auto &t : table)
		assert_true(fabs(fit_chance(t.chi2, t.freedom) - 0.05) < 5e-5);
	assert_true(fit_chance(0, 5) == 1);
	assert_true(fit_chance(1e4, 5) >= 0 && fit_chance(1e4, 5) < 1e-9);
}

static void a_line_is_found_and_a_bend_is_noticed(void **)
{
	struct fit_point p[7];
	struct fit f = {};

	for (int i = 0; i < 7; i++)
		p[i] = {(double)(1 << i), 100 + 2.5 * (1 << i), 1};
	assert_int_equal(fit_line(p, 7, &f), 0);
	assert_true(fabs(f.slope - 2.5) < 1e-9 && fabs(f.intercept - 100) < 1e-9);
	assert_int_equal(f.freedom, 5);
	assert_true(f.p > 0.999);
	p[6].y += 200; /* a queue that fills up */
	assert_int_equal(fit_line(p, 7, &f), 0);
	assert_true(f.p < 1e-6);
	assert_int_equal(fit_line(p, 1, &f), -1);
}

/* The 5 % points of the tables of F; 1e9 stands for chi-squared over its freedom. */
static void chances_of_F_are_those_of_the_tables(void **)
{
	const struct {
		double of, under, f;
	} table[] = {{1, 1, 161.448}, {1, 10, 4.965}, {2, 4, 6.944}, {5, 2, 19.296}, {5, 10, 3.326},
		     {5, 120, 2.290}, {10, 5, 4.735}, {5, 1e9, 11.070 / 5}};

	for (auto &t : table)
		assert_true(fabs(fit_chance_f(t.f, t.of, t.under) - 0.05) < 5e-5);
	assert_true(fit_chance_f(0, 5, 3) == 1);
	assert_true(fit_chance_f(1e9, 5, 3) > 0 && fit_chance_f(1e9, 5, 3) < 1e-12);
}

/* Of 2000 true lines through medians of so many rounds, how many are rejected at 5 %? */
static int rejected(int rounds, int known)
{
	uint64_t state = 5;
	int count = 0;

	for (int k = 0; k < 2000; k++) {
		struct fit_point p[7] = {};
		struct fit f = {};
		double v[100];

		for (int i = 0; i < 7; i++) {
			for (int r = 0; r < rounds; r++) {
				double sum = 0; /* of twelve: as good as normal */

				for (int u = 0; u < 12; u++)
					sum += (double)(pk_mix64(state += PK_GOLDEN) >> 11) * 0x1p-53 - 0.5;
				v[r] = 5000 + 3000.0 * (1 << i) + 2000 * sum;
			}
			p[i].x = 1 << i;
			p[i].y = fit_median(v, rounds, 30, &p[i].se);
			p[i].freedom = known ? 0 : fit_median_freedom(rounds);
		}
		assert_int_equal(fit_line(p, 7, &f), 0);
		count += f.p < 0.05;
	}
	return count;
}

static void a_true_line_is_seldom_rejected_however_few_the_rounds(void **)
{
	for (int rounds : {4, 5, 8, 16, 100})
		assert_in_range(rejected(rounds, 0), 4, 100);
	/* as if five rounds told the error exactly */
	assert_in_range(rejected(5, 1), 500, 1000);
}

static void a_median_ignores_the_interrupted(void **)
{
	double v[] = {10, 11, 9, 10, 1e9}, se;

	assert_true(fit_median(v, 5, 0.5, &se) == 10);
	assert_true(se >= 0.5 && se < 2);
}

int main()
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_values_that_were_seen),
		cmocka_unit_test(one_sample_is_every_quantile),
		cmocka_unit_test(chances_are_those_of_the_tables),
		cmocka_unit_test(a_line_is_found_and_a_bend_is_noticed),
		cmocka_unit_test(chances_of_F_are_those_of_the_tables),
		cmocka_unit_test(a_true_line_is_seldom_rejected_however_few_the_rounds),
		cmocka_unit_test(a_median_ignores_the_interrupted),
	};

	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
