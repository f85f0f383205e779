/* SPDX-License-Identifier: MIT
 *
 * test_workloads.c - the CPU references: exact with any number of threads,
 * converging to the fixed point and to the equation's solution, and still when
 * they say so.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/options.h"
#include "kernels/queue.h"
#include "kernels/workload.h"

struct problem {
	const struct workload *w;
	union { unsigned char bytes[256]; int64_t align; } options;
	struct workload_array info[WORKLOAD_ARRAYS_MAX];
	void *data[WORKLOAD_ARRAYS_MAX];
	int n;
};

static void set(struct problem *p, const char *name, const char *value)
{
	char why[256];

	assert_int_equal(option_parse(option_find(p->w->options, name), value, &p->options, why,
				      sizeof(why)), 0);
}

static void problem_open(struct problem *p, const char *workload, const char *n, const char *cols,
			 const char *f_scale)
{
	char why[256];

	memset(p, 0, sizeof(*p));
	p->w = workload_find(workload);
	assert_non_null(p->w);
	assert_true(p->w->options_size <= sizeof(p->options));
	assert_int_equal(option_defaults(p->w->options, &p->options, why, sizeof(why)), 0);
	set(p, "n", n);
	if (cols)
		set(p, "cols", cols);
	if (f_scale)
		set(p, "f_scale", f_scale);
	p->n = p->w->arrays(&p->options, 3, p->info);
	for (int i = 0; i < p->n; i++) {
		p->data[i] = calloc(p->info[i].count, 8);
		assert_non_null(p->data[i]);
		p->w->fill(&p->options, 3, i, p->data[i]);
	}
}

static void problem_close(struct problem *p)
{
	for (int i = 0; i < p->n; i++)
		free(p->data[i]);
}

static uint64_t advance(struct problem *p, uint64_t iterations, int threads)
{
	return p->w->advance(&p->options, 3, p->data, iterations, threads);
}

/* The largest distance from what solve() says. */
static double error(struct problem *p)
{
	double *fixed = calloc(p->info[0].count, 8), *u = p->data[0], largest = 0;
	void *data[WORKLOAD_ARRAYS_MAX] = {fixed, p->data[1]};

	assert_non_null(fixed);
	p->w->fill(&p->options, 3, 0, fixed);
	assert_int_equal(p->w->solve(&p->options, 3, data), 0);
	for (uint64_t k = 0; k < p->info[0].count; k++)
		largest = fmax(largest, fabs(u[k] - fixed[k]));
	free(fixed);
	return largest;
}

static void the_same_bits_with_any_number_of_threads(void **state)
{
	static const char *const sizes[][2] = {
		{"3", "3"}, {"3", "4000"}, {"4000", "3"}, {"200", "0"}, {"201", "333"}, {"501", "0"},
	};

	(void)state;
	for (size_t q = 0; q < sizeof(sizes) / sizeof(sizes[0]); q++)
		for (int threads = 2; threads <= 9; threads += 7) {
			struct problem a, b;

			problem_open(&a, "poisson2d", sizes[q][0], sizes[q][1], NULL);
			problem_open(&b, "poisson2d", sizes[q][0], sizes[q][1], NULL);
			advance(&a, 9, 1);
			advance(&b, 9, threads);
			assert_memory_equal(a.data[0], b.data[0], a.info[0].count * 8);
			problem_close(&a);
			problem_close(&b);
		}
}

/* g09, g10 */
static void converges_to_the_fixed_point_in_every_scale(void **state)
{
	static const char *const scales[] = {"1", "1e-12", "1e12", "-1"};
	static const char *const sizes[][2] = {{"3", "0"}, {"4", "0"}, {"11", "0"}, {"30", "0"}, {"33", "70"}, {"70", "33"}};

	(void)state;
	for (size_t q = 0; q < 4 * 6; q++) {
		double begin, scale = fabs(strtod(scales[q % 4], NULL));
		struct problem p;

		problem_open(&p, "poisson2d", sizes[q / 4][0], sizes[q / 4][1], scales[q % 4]);
		begin = error(&p);
		assert_true(q / 4 == 0 || begin > 0.1 * scale);
		assert_true(advance(&p, 20000, 1) > 0);
		assert_true(error(&p) < 1e-12 * scale);
		problem_close(&p);
	}
}

static void is_still_when_it_says_so(void **state)
{
	struct problem p;
	double *before;
	uint64_t at;

	(void)state;
	problem_open(&p, "poisson2d", "21", NULL, NULL);
	at = advance(&p, 20000, 1);
	assert_in_range(at, 500, 700);
	problem_close(&p);

	problem_open(&p, "poisson2d", "21", NULL, NULL);
	before = malloc(p.info[0].count * 8);
	assert_int_equal(advance(&p, at - 1, 1), 0);
	memcpy(before, p.data[0], p.info[0].count * 8);
	assert_int_equal(advance(&p, 1, 1), 0);
	assert_memory_not_equal(before, p.data[0], p.info[0].count * 8);
	memcpy(before, p.data[0], p.info[0].count * 8);
	assert_int_equal(advance(&p, 3, 1), 1);
	assert_memory_equal(before, p.data[0], p.info[0].count * 8);
	free(before);
	problem_close(&p);

	problem_open(&p, "poisson2d", "33", "70", "0"); /* the solution is 0 from the start */
	assert_int_equal(advance(&p, 5, 2), 1);
	problem_close(&p);
}

/* max |u - sin(2 pi x) cos(2 pi y)| when nothing moves any more */
static double discretisation_error(const char *n, int side)
{
	const double pi = 3.14159265358979323846;
	double largest = 0;
	struct problem p;

	problem_open(&p, "poisson2d", n, NULL, NULL);
	assert_true(advance(&p, 100000, 1) > 0);
	for (int i = 0; i < side; i++)
		for (int j = 0; j < side; j++) {
			double exact = sin(2 * pi * i / (side - 1)) * cos(2 * pi * j / (side - 1));

			largest = fmax(largest, fabs(((double *)p.data[0])[i * side + j] - exact));
		}
	problem_close(&p);
	return largest;
}

static void discretisation_error_falls_as_h_squared(void **state)
{
	double coarse = discretisation_error("9", 9), middle = discretisation_error("17", 17),
	       fine = discretisation_error("33", 33);

	(void)state;
	assert_true(coarse / middle > 3.5 && coarse / middle < 4.6);
	assert_true(middle / fine > 3.8 && middle / fine < 4.2);
}

/* g09 */
static void rows_and_columns_are_not_the_same(void **state)
{
	struct problem a;
	double *u;

	(void)state;
	problem_open(&a, "poisson2d", "33", NULL, NULL);
	advance(&a, 11, 1);
	u = a.data[0];
	assert_true(u[5 * 33 + 9] != u[9 * 33 + 5]); /* swapped indices cannot pass */
	problem_close(&a);
}

static void counters_count(void **state)
{
	struct problem p;

	(void)state;
	problem_open(&p, "null", "3", NULL, NULL);
	advance(&p, 21, 1);
	for (int b = 0; b < 3; b++)
		assert_int_equal(((uint64_t *)p.data[0])[b], 42);
	assert_null(p.w->solve);
	problem_close(&p);

	problem_open(&p, "busy", "3", NULL, NULL);
	set(&p, "bytes", "24");
	problem_close(&p);
	p.n = p.w->arrays(&p.options, 3, p.info);
	assert_int_equal(p.n, 2);
	assert_int_equal(p.info[1].count, 9);
	for (int i = 0; i < p.n; i++) {
		p.data[i] = calloc(p.info[i].count, 8);
		p.w->fill(&p.options, 3, i, p.data[i]);
	}
	advance(&p, 4, 1);
	assert_int_equal(((uint64_t *)p.data[0])[2], 8);
	assert_int_equal(((uint64_t *)p.data[1])[8], 8);
	problem_close(&p);
}

static void scale_is_done_after_one(void **state)
{
	struct problem p;

	(void)state;
	problem_open(&p, "scale", "7", NULL, NULL);
	assert_int_equal(advance(&p, 0, 1), 0);
	assert_true(((double *)p.data[0])[6] == 0);
	assert_int_equal(advance(&p, 2, 1), 1);
	assert_true(((double *)p.data[0])[6] == 1.625);
	problem_close(&p);
}

/* Against the plain loop, whatever the vectors and threads; and it never stands still. */
static void fma_is_the_map(void **state)
{
	struct problem p;
	double want[37];

	(void)state;
	problem_open(&p, "fma", "37", NULL, NULL);
	memcpy(want, p.data[0], sizeof(want));
	for (int i = 0; i < 37; i++)
		for (int k = 0; k < 3 * 512; k++)
			want[i] = fma(want[i], want[i], -1.9);
	assert_int_equal(advance(&p, 3, 4), 0);
	assert_memory_equal(want, p.data[0], sizeof(want));
	for (int i = 0; i < 37; i++)
		assert_true(fabs(want[i]) < 2);
	assert_int_equal(advance(&p, 1, 1), 0);
	assert_memory_not_equal(want, p.data[0], sizeof(want));
	problem_close(&p);
}

static void units_are_those_of_the_shapes(void **state)
{
	static const int64_t none[2] = {0, 0}, odd[2] = {4, 7}, large[2] = {1000, 1000};
	struct problem p;

	(void)state;
	problem_open(&p, "poisson2d", "1001", NULL, NULL);
	assert_int_equal(p.w->units(&p.options, PKRUN_SWEEP_ROWS, none), 999);
	assert_int_equal(p.w->units(&p.options, PKRUN_SWEEP_BANDS, none), 999);
	assert_int_equal(p.w->units(&p.options, PKRUN_SWEEP_TILES, none), 27 * 37);
	assert_int_equal(p.w->units(&p.options, PKRUN_SWEEP_TILES, odd), 250 * 143);
	assert_int_equal(p.w->units(&p.options, PKRUN_SWEEP_TILES, large), 1);
	problem_close(&p);
}

/* The reference of queue does not walk the chains: it must end where they do. */
static void queue_ends_where_the_chains_do(void **state)
{
	struct problem p;
	uint64_t *results, *times, *lengths;

	(void)state;
	problem_open(&p, "queue", "23", NULL, NULL); /* 32 chains a task */
	results = p.data[0];
	times = p.data[1];
	lengths = p.data[2];
	p.w->advance(&p.options, 1, p.data, 2, 1);
	for (uint64_t t = 0; t < 23; t++) {
		assert_int_equal(times[t], 2);
		for (uint64_t j = 0; j < 32; j++)
			assert_true(results[t * 32 + j] ==
				    2 * pk_chain_work(queue_seed(t, j), lengths[t]));
	}
	problem_close(&p);
}

/* Against sums of higher precision: n additions and products, each rounded once. */
static void product_is_right_to_rounding(void **state)
{
	enum { N = 37 };
	struct problem p;
	double *a, *b, *c;

	(void)state;
	problem_open(&p, "progress", "37", NULL, NULL);
	c = p.data[0];
	a = p.data[1];
	b = p.data[2];
	p.w->advance(&p.options, 1, p.data, 1, 1);
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			long double sum = 0, size = 0;

			for (int k = 0; k < N; k++) {
				sum += (long double)a[i * N + k] * b[k * N + j];
				size += fabsl((long double)a[i * N + k] * b[k * N + j]);
			}
			assert_true(fabsl(sum - c[i * N + j]) <= (N + 1) * 0x1p-53L * size);
		}
	problem_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_bits_with_any_number_of_threads),
		cmocka_unit_test(converges_to_the_fixed_point_in_every_scale),
		cmocka_unit_test(is_still_when_it_says_so),
		cmocka_unit_test(discretisation_error_falls_as_h_squared),
		cmocka_unit_test(rows_and_columns_are_not_the_same),
		cmocka_unit_test(counters_count),
		cmocka_unit_test(scale_is_done_after_one),
		cmocka_unit_test(fma_is_the_map),
		cmocka_unit_test(units_are_those_of_the_shapes),
		cmocka_unit_test(queue_ends_where_the_chains_do),
		cmocka_unit_test(product_is_right_to_rounding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
