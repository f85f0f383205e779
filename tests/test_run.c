/* SPDX-License-Identifier: MIT
 *
 * test_run.c - the pure parts of running cells: hashes, differences, references,
 * messages, jobs, wrappers, the order of cells.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "core/job.h"
#include "core/message.h"
#include "core/reference.h"
#include "core/schedule.h"
#include "core/verify.h"
#include "core/wrap.h"

static const struct workload *poisson(int64_t n, void *opt)
{
	const struct workload *w = workload_find("poisson2d");
	char why[128], text[32];

	assert_int_equal(option_defaults(w->options, opt, why, sizeof(why)), 0);
	snprintf(text, sizeof(text), "%d", (int)n);
	assert_int_equal(option_parse(option_find(w->options, "n"), text, opt, why, sizeof(why)), 0);
	return w;
}

static void hash_sees_values_and_places(void **state)
{
	uint64_t a[3] = { 1, 2, 3 }, b[3] = { 2, 1, 3 }, zero[2] = { 0, 0 };

	(void)state;
	/* fmix64(1 * golden) + fmix64(2 * golden), from the definition, computed apart */
	assert_true(verify_hash(zero, 2) == verify_mix(UINT64_C(0x9E3779B97F4A7C15)) +
		    verify_mix(UINT64_C(0x3C6EF372FE94F82A)));
	assert_true(verify_hash(a, 3) != verify_hash(b, 3));
	assert_true(verify_hash(a, 0) == 0);
	assert_true(verify_mix(0) == 0);
	assert_true(verify_mix(1) == UINT64_C(0xb456bcfc34c2cb2c));	/* MurmurHash3's fmix64 */
	assert_true(verify_join(1, 2) != verify_join(2, 1));
}

static void differences_are_counted_and_placed(void **state)
{
	struct workload_array a = { "u", WORKLOAD_STATE, 1, 6, 3 };
	double expected[6] = { 0, 1, 2, 3, 4, 5 }, got[6];
	struct verify_diff d;
	char text[300];

	(void)state;
	memcpy(got, expected, sizeof(got));
	assert_int_equal(verify_compare(&a, (uint64_t *)got, (uint64_t *)expected, &d), 0);
	got[4] = NAN;
	got[5] = 5.5;
	assert_int_equal(verify_compare(&a, (uint64_t *)got, (uint64_t *)expected, &d), 2);
	assert_int_equal(d.first, 4);
	assert_int_equal(d.not_finite, 1);
	assert_true(d.largest == 0.5);
	verify_text(&a, &d, text, sizeof(text));
	assert_string_equal(text, "u: 2 of 6 words are wrong, first at (1, 1): got nan, expected 4; "
			    "largest error 0.5 at (1, 2); 1 are not finite");
	/* -0 and 0 differ in their bits, and a NaN that is expected is wrong all the same */
	memcpy(got, expected, sizeof(got));
	got[0] = -0.0;
	assert_int_equal(verify_compare(&a, (uint64_t *)got, (uint64_t *)expected, &d), 1);
	got[0] = expected[0] = NAN;
	assert_int_equal(verify_compare(&a, (uint64_t *)got, (uint64_t *)expected, &d), 1);
	assert_true(isinf(verify_distance(&a, (uint64_t *)got, (uint64_t *)expected)));
}

static void the_odd_run_lies_before_the_fixed_point(void **state)
{
	uint64_t i, s, k;

	(void)state;
	for (i = 1; i < 2000; i++)
		for (s = 0; s <= i; s += 1 + s / 3) {
			k = reference_odd(i, s);
			assert_int_equal(k % 2, 1);
			assert_true(k <= i && k <= 255);
			assert_true(k == 1 || k <= (s ? s : i) / 2);
		}
}

static void references_agree_with_themselves(void **state)
{
	int64_t opt[16];
	const struct workload *w = poisson(11, opt);
	struct protocol_reference a, b;
	struct reference r;

	(void)state;
	assert_int_equal(reference_compute(w, opt, 1, 400, &a), 0);
	assert_int_equal(a.stationary_at, 166);	/* the 167th changes nothing */
	assert_int_equal(a.k, 83);
	assert_int_equal(reference_compute(w, opt, 1, 1000, &b), 0);
	assert_true(a.all == b.all && a.odd == b.odd && a.one == b.one);
	assert_int_equal(reference_open(&r, w, opt, 1), 0);
	w->advance(opt, 1, r.data, 83, 3);
	assert_true(reference_hash(&r, WORKLOAD_STATE) == a.odd);
	reference_close(&r);
}

static void the_fixed_point_is_what_iteration_reaches(void **state)
{
	static const int64_t n[] = { 3, 4, 11, 31 };
	struct reference solved, reached;
	int64_t opt[16];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(n) / sizeof(n[0]); i++) {
		const struct workload *w = poisson(n[i], opt);

		assert_int_equal(reference_open(&solved, w, opt, 1), 0);
		assert_int_equal(reference_open(&reached, w, opt, 1), 0);
		assert_int_equal(w->solve(opt, 1, solved.data), 0);
		w->advance(opt, 1, reached.data, 2000, 1);
		assert_true(verify_distance(&solved.info[0], solved.data[0], reached.data[0]) < 1e-13);
		reference_close(&solved);
		reference_close(&reached);
	}
}

/* Of the first state, u = 0 inside: boundary values of the neighbours less rhs; then of the fixed point. */
static void the_norm_is_that_of_the_residual(void **state)
{
	const double pi = acos(-1), h = 1.0 / 6;
	struct reference r;
	int64_t opt[16];
	const struct workload *w = poisson(7, opt);
	double sum = 0, of[7][7];
	int i, j;

	(void)state;
	for (i = 0; i < 7; i++)
		for (j = 0; j < 7; j++)
			of[i][j] = sin(2 * pi * i * h) * cos(2 * pi * j * h);
	for (i = 1; i < 6; i++)
		for (j = 1; j < 6; j++) {
			double around = (j == 1) * of[i][0] + (j == 5) * of[i][6];

			sum += pow(around + 8 * pi * pi * h * h * of[i][j], 2);
		}
	assert_int_equal(reference_open(&r, w, opt, 1), 0);
	assert_true(fabs(w->norm(opt, r.data) / sqrt(sum) - 1) < 1e-13);
	assert_int_equal(w->solve(opt, 1, r.data), 0);
	assert_true(w->norm(opt, r.data) < 1e-14);
	reference_close(&r);
}

static void messages_survive_a_pipe(void **state)
{
	static struct message_reader r;
	static char big[MESSAGE_MAX];
	struct message m;
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	r.fd = fd[0];
	assert_int_equal(message_send(fd[1], 7, "abc", 3), 0);
	assert_int_equal(message_send(fd[1], 8, NULL, 0), 0);
	assert_int_equal(message_wait(&r, &m), 1);
	assert_int_equal(m.type, 7);
	assert_memory_equal(m.data, "abc", 3);
	assert_int_equal(message_wait(&r, &m), 1);
	assert_int_equal(m.type, 8);
	assert_int_equal(m.size, 0);
	assert_int_equal(message_send(fd[1], 9, big, MESSAGE_MAX + 1), -1);
	assert_int_equal(write(fd[1], "this is no message", 18), 18);
	assert_int_equal(message_wait(&r, &m), -2);
	close(fd[1]);
	close(fd[0]);
	/* half a message, then the end */
	memset(&r, 0, sizeof(r));
	assert_int_equal(pipe(fd), 0);
	r.fd = fd[0];
	assert_int_equal(write(fd[1], "Pmsg\1\0\0\0\100\0\0\0half", 16), 16);
	close(fd[1]);
	assert_int_equal(message_wait(&r, &m), -1);
	close(fd[0]);
}

static void texts_of_a_worker_end(void **state)
{
	static unsigned char bytes[sizeof(union protocol_payload)];
	struct message m = { PROTOCOL_METRIC, sizeof(struct protocol_metric), bytes };
	struct protocol_trial t = { .kind = "odd" };
	union protocol_payload u;

	(void)state;
	memset(bytes, 'A', sizeof(bytes));
	assert_int_equal(protocol_take(&m, &u), 0);
	assert_int_equal(strlen(u.metric.name), sizeof(u.metric.name) - 1);
	assert_int_equal(strlen(u.metric.unit), sizeof(u.metric.unit) - 1);
	m.size--;
	assert_int_equal(protocol_take(&m, &u), -1);
	m = (struct message){ PROTOCOL_END, sizeof(struct protocol_end), bytes };
	assert_int_equal(protocol_take(&m, &u), 0);
	assert_int_equal(strlen(u.end.reason), sizeof(u.end.reason) - 1);
	m = (struct message){ PROTOCOL_TRIAL, sizeof(struct protocol_trial), bytes };
	assert_int_equal(protocol_take(&m, &u), -1);	/* of the kind AAA... */
	memset(t.flags, 'A', sizeof(t.flags));
	m.data = &t;
	assert_int_equal(protocol_take(&m, &u), 0);
	assert_string_equal(u.trial.kind, "odd");
	assert_int_equal(strlen(u.trial.flags), sizeof(u.trial.flags) - 1);
}

static void jobs_keep_their_pairs(void **state)
{
	static struct job a, b;
	static char big[MESSAGE_MAX];
	struct message m;

	(void)state;
	job_clear(&a);
	assert_int_equal(job_add(&a, "plugin", "/a b/c.so"), 0);
	assert_int_equal(job_add_int(&a, "least", INT64_MIN), 0);
	assert_int_equal(job_add_real(&a, "third", 1.0 / 3), 0);
	assert_int_equal(job_add(&a, "empty", ""), 0);
	memset(big, 'x', sizeof(big) - 1);
	assert_int_equal(job_add(&a, "big", big), -1);
	m.data = a.text;
	m.size = (uint32_t)a.size;
	assert_int_equal(job_take(&b, &m), 0);
	assert_string_equal(job_get(&b, "plugin"), "/a b/c.so");
	assert_string_equal(job_get(&b, "empty"), "");
	assert_null(job_get(&b, "big"));
	assert_true(job_int(&b, "least", 0) == INT64_MIN);
	assert_true(job_real(&b, "third", 0) == 1.0 / 3);
	assert_int_equal(job_int(&b, "missing", 5), 5);
	m.size--;
	assert_int_equal(job_take(&b, &m), -1);
}

static void wrappers_are_split_as_a_shell_would(void **state)
{
	struct wrap w, c;
	static struct cell cell;
	char why[100];

	(void)state;
	assert_int_equal(wrap_parse(&w, " ncu  -o 'a b'\"c d\" e\\ f \"\" x{cell}y{cell}", why, sizeof(why)), 0);
	assert_string_equal(w.words[2], "a bc d");
	assert_string_equal(w.words[3], "e f");
	assert_string_equal(w.words[4], "");
	cell.number = 7;
	cell.series = "a/../b c";
	cell.variant_name = "v";
	cell.workload = workload_find("null");
	cell.n = 3;
	assert_int_equal(wrap_for_cell(&c, &w, &cell), 0);
	assert_string_equal(c.words[5], "x00007-a____b_c-v-null-n3y00007-a____b_c-v-null-n3");
	assert_null(c.words[6]);
	wrap_free(&c);
	wrap_free(&w);
	assert_int_equal(wrap_parse(&w, "a \"b", why, sizeof(why)), -1);
}

static void shuffles_are_permutations(void **state)
{
	uint32_t a[100], b[100], seen[100] = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < 100; i++)
		a[i] = b[i] = (uint32_t)i;
	schedule_shuffle(a, 100, 5, 0);
	schedule_shuffle(b, 100, 5, 0);
	assert_memory_equal(a, b, sizeof(a));
	schedule_shuffle(b, 100, 5, 1);
	assert_memory_not_equal(a, b, sizeof(a));
	for (i = 0; i < 100; i++)
		seen[a[i]]++;
	for (i = 0; i < 100; i++)
		assert_int_equal(seen[i], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hash_sees_values_and_places),
		cmocka_unit_test(differences_are_counted_and_placed),
		cmocka_unit_test(the_odd_run_lies_before_the_fixed_point),
		cmocka_unit_test(references_agree_with_themselves),
		cmocka_unit_test(the_fixed_point_is_what_iteration_reaches),
		cmocka_unit_test(the_norm_is_that_of_the_residual),
		cmocka_unit_test(messages_survive_a_pipe),
		cmocka_unit_test(texts_of_a_worker_end),
		cmocka_unit_test(jobs_keep_their_pairs),
		cmocka_unit_test(wrappers_are_split_as_a_shell_would),
		cmocka_unit_test(shuffles_are_permutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
