/* SPDX-License-Identifier: MIT
 *
 * judge.c - is the result of a trial right?
 *
 * An exact variant is right when the hash of its state, computed on the device,
 * is the reference's; when it is not, the arrays are fetched and compared word
 * by word.  A variant that only converges is right when its result is at least
 * as near to the fixed point as the reference after an eighth of the
 * iterations; a workload without a fixed point demands the bits of it too.  In
 * both cases every block must have done its steps, guard zones and inputs must
 * be untouched, and a norm that was asked for (check) must be a number; the
 * norm of an exact result itself, reported where `check` divides the run, must
 * be that result's.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"
#include "verify.h"
#include "worker.h"

#define DIFF_MAX 700
#define JUDGE_PART 8		/* stale data may cost a converging variant this factor */
#define JUDGE_REST 1e-12	/* of the largest value: rounding, and what solve() leaves */
#define JUDGE_NORM 1e-9		/* of a norm: its terms are added up in any order */

static enum bench_status say_error_status(struct bench *b, const char *text)
{
	snprintf(b->reason, sizeof(b->reason), "%s", text);
	return BENCH_ERROR;
}

static enum bench_status hash_role(struct bench *b, uint32_t role, uint64_t *out)
{
	uint64_t next;
	int i, seen = 0;

	*out = 0;
	for (i = 0; i < b->initial.n; i++) {
		if (b->initial.info[i].role != role)
			continue;
		if (b->dev->hash(b->array[i], b->initial.info[i].count, &next))
			return bench_device_error(b, "hash");
		*out = seen++ ? verify_join(*out, next) : next;
	}
	return BENCH_OK;
}

static enum bench_status say_wrong(struct bench *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static enum bench_status say_wrong(struct bench *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(b->reason, sizeof(b->reason), fmt, ap);
	va_end(ap);
	return BENCH_WRONG;
}

/* The arrays as the CPU has them, computed here and now: a wrong result is rare. */
static enum bench_status explain(struct bench *b, uint64_t iterations, char *text, size_t size)
{
	enum bench_status s = BENCH_OK;
	struct verify_diff diff;
	struct reference r;
	uint64_t *got;
	int i;

	worker_phase("diff", PROTOCOL_LIMIT_NONE, 0, 0);
	snprintf(text, size, "the hash differs, the arrays do not");
	if (reference_open(&r, b->workload, &b->problem, b->grid.blocks))
		return BENCH_OK;
	b->workload->advance(&b->problem, b->grid.blocks, r.data, iterations, reference_threads());
	for (i = 0; i < r.n && !s; i++) {
		if (r.info[i].role != WORKLOAD_STATE)
			continue;
		got = malloc(r.info[i].count * 8 + 1);
		if (!got)
			break;
		if (b->dev->to_host(got, b->array[i], r.info[i].count * 8))
			s = bench_device_error(b, "diff");
		else if (verify_compare(&r.info[i], got, r.data[i], &diff)) {
			verify_text(&r.info[i], &diff, text, size);
			i = r.n;
		}
		free(got);
	}
	reference_close(&r);
	return s;
}

static enum bench_status check_steps(struct bench *b, const char *kind, uint64_t iterations)
{
	uint64_t want = iterations * b->work.steps_per_iteration, count, first, got = 0;

	if (b->dev->differ(b->run.steps, b->grid.blocks, want, &count, &first))
		return bench_device_error(b, "step counters");
	if (!count)
		return BENCH_OK;
	if (b->dev->to_host(&got, b->run.steps + first, 8))
		return bench_device_error(b, "step counters");
	return say_wrong(b, "%s run of %" PRIu64 " iterations: %" PRIu64 " of %u blocks did not do their %"
			 PRIu64 " steps, the first is block %" PRIu64 " with %" PRIu64,
			 kind, iterations, count, b->grid.blocks, want, first, got);
}

static enum bench_status check_hash(struct bench *b, const char *kind, uint64_t iterations,
				    uint64_t expected, uint64_t *hash)
{
	enum bench_status s = hash_role(b, WORKLOAD_STATE, hash);
	char text[DIFF_MAX];

	if (s || *hash == expected)
		return s;
	s = explain(b, iterations, text, sizeof(text));
	return s ? s : say_wrong(b, "%s run of %" PRIu64 " iterations: %s", kind, iterations, text);
}

/* ---- converges: not the bits, the distance to the fixed point ---- */

static enum bench_status check_error(struct bench *b, const char *kind, uint64_t iterations,
				     double allowed, uint64_t *hash)
{
	enum bench_status s = hash_role(b, WORKLOAD_STATE, hash);
	double error = 0, one;
	void *got;
	int i;

	for (i = 0; i < b->initial.n && !s; i++) {
		const struct workload_array *a = &b->initial.info[i];

		if (a->role != WORKLOAD_STATE)
			continue;
		got = malloc(a->count * 8 + 1);
		if (!got)
			return say_error_status(b, "out of memory for a result");
		if (b->dev->to_host(got, b->array[i], a->count * 8))
			s = bench_device_error(b, "result");
		one = verify_distance(a, got, b->judge.fixed.data[i]);
		error = one <= error ? error : one;
		free(got);
	}
	if (s)
		return s;
	bench_metric(b, "error", error, "");
	if (error <= allowed)
		return BENCH_OK;
	return say_wrong(b, "%s run of %" PRIu64 " iterations: %.3g from the fixed point, the reference is %.3g"
			 " from it after %" PRIu64 " iterations (an eighth)",
			 kind, iterations, error, allowed, iterations / JUDGE_PART);
}

/* How far the reference is from the fixed point after so many iterations. */
static double reference_error(const struct bench *b, struct reference *r, uint64_t from, uint64_t to)
{
	double error = 0, one;
	int i;

	if (to > from)
		b->workload->advance(&b->problem, b->grid.blocks, r->data, to - from,
				     reference_threads());
	for (i = 0; i < r->n; i++) {
		if (r->info[i].role != WORKLOAD_STATE)
			continue;
		one = verify_distance(&r->info[i], r->data[i], b->judge.fixed.data[i]);
		error = one <= error ? error : one;
	}
	return error;
}

/* Rounding: what is as near as this is at the fixed point. */
static double at_rest(const struct bench *b)
{
	double largest = 0, one;
	int i;

	for (i = 0; i < b->judge.fixed.n; i++) {
		if (b->judge.fixed.info[i].role != WORKLOAD_STATE)
			continue;
		one = verify_largest(&b->judge.fixed.info[i], b->judge.fixed.data[i]);
		largest = one > largest ? one : largest;
	}
	return largest * JUDGE_REST;
}

static enum bench_status open_converges(struct bench *b)
{
	const uint64_t all = b->run.iterations / JUDGE_PART, odd = b->reference.k / JUDGE_PART;
	struct reference r;
	double rest;

	worker_phase("fixed point", PROTOCOL_LIMIT_NONE, 0, 0);
	if (reference_open(&b->judge.fixed, b->workload, &b->problem, b->grid.blocks) ||
	    reference_open(&r, b->workload, &b->problem, b->grid.blocks))
		return say_error_status(b, "out of memory for the fixed point");
	if (b->workload->solve(&b->problem, b->grid.blocks, b->judge.fixed.data)) {
		snprintf(b->reason, sizeof(b->reason),
			 "converges, and the fixed point of so large a problem is not computed here");
		reference_close(&r);
		return BENCH_SKIPPED;
	}
	rest = at_rest(b);
	b->judge.one.error = reference_error(b, &r, 0, 0) + rest;
	b->judge.odd.error = reference_error(b, &r, 0, odd) + rest;
	b->judge.all.error = reference_error(b, &r, odd, all) + rest;
	reference_close(&r);
	return BENCH_OK;
}

enum bench_status judge_open(struct bench *b)
{
	b->judge.converges = b->plugin->result == PKRUN_CONVERGES && b->workload->solve;
	b->judge.one.hash = b->reference.one;
	b->judge.odd.hash = b->reference.odd;
	b->judge.all.hash = b->reference.all;
	b->judge.one.norm = b->judge.odd.norm = b->judge.all.norm = NAN;
	return b->judge.converges ? open_converges(b) : BENCH_OK;
}

void judge_close(struct bench *b)
{
	reference_close(&b->judge.fixed);
}

static enum bench_status check_rest(struct bench *b, const char *kind)
{
	enum bench_status s;
	uint64_t inputs;
	char why[256];
	int rc = arena_check(&b->arena, why, sizeof(why));

	if (rc < 0)
		return bench_device_error(b, "guard zones");
	if (rc)
		return say_wrong(b, "%s run: %s", kind, why);
	s = hash_role(b, WORKLOAD_INPUT, &inputs);
	if (s || inputs == b->input_hash)
		return s;
	return say_wrong(b, "%s run: an input array was changed", kind);
}

/* ---- the residual norm ---- */

/* Of the arrays on the device, by the CPU. */
static enum bench_status norm_of_state(struct bench *b, double *norm)
{
	enum bench_status s = BENCH_OK;
	struct reference r = b->initial;	/* what the arrays are: their data was given back */
	int i;

	worker_phase("norm", PROTOCOL_LIMIT_NONE, 0, 0);
	for (i = 0; i < r.n && !s; i++) {
		r.data[i] = malloc(r.info[i].count * 8 + 1);
		if (!r.data[i])
			s = say_error_status(b, "out of memory for the residual norm");
		else if (b->dev->to_host(r.data[i], b->array[i], r.info[i].count * 8))
			s = bench_device_error(b, "residual norm");
	}
	if (!s)
		*norm = b->workload->norm(&b->problem, r.data);
	reference_close(&r);
	return s;
}

/* The state was found right: so must be what the variant says of it. */
static enum bench_status check_norm_value(struct bench *b, const char *kind, uint64_t iterations,
					  double got, struct judge_expected *expected)
{
	enum bench_status s = BENCH_OK;

	if (!b->workload->norm || b->judge.converges || iterations % (uint64_t)b->common.check)
		return BENCH_OK;
	if (isnan(expected->norm))
		s = norm_of_state(b, &expected->norm);
	if (s || fabs(got - expected->norm) <= JUDGE_NORM * expected->norm)
		return s;
	return say_wrong(b, "%s run of %" PRIu64 " iterations: residual norm %.17g, of the (right) result it is %.17g",
			 kind, iterations, got, expected->norm);
}

/* The last norm of the run: one that was never written is poison, or not there. */
static enum bench_status check_norm(struct bench *b, const char *kind, uint64_t iterations,
				    struct judge_expected *expected)
{
	const uint64_t check = (uint64_t)b->common.check;	/* run.check is in the plugin's hands */
	const struct protocol_metric *last = NULL;
	size_t i;

	if (!check || iterations < check)
		return BENCH_OK;
	for (i = 0; i < b->n_metrics; i++) {
		if (strcmp(b->metrics[i].name, BENCH_NORM))
			continue;
		last = &b->metrics[i];
		if (!verify_is_finite(last->value))
			return say_wrong(b, "%s run: the residual norm is not a finite number", kind);
	}
	if (last)
		return check_norm_value(b, kind, iterations, last->value, expected);
	return say_wrong(b, "%s run of %" PRIu64 " iterations: no residual_norm, though check = %" PRIu64,
			 kind, iterations, check);
}

enum bench_status judge_result(struct bench *b, const char *kind, uint64_t iterations,
			       struct judge_expected *expected, uint64_t *hash)
{
	enum bench_status s;

	worker_own_ways();
	s = b->judge.converges ? check_error(b, kind, iterations, expected->error, hash)
			       : check_hash(b, kind, iterations, expected->hash, hash);
	if (!s)
		s = check_steps(b, kind, iterations);
	if (!s)
		s = check_rest(b, kind);
	return s ? s : check_norm(b, kind, iterations, expected);
}
