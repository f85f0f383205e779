/* SPDX-License-Identifier: MIT
 *
 * calibrate.c - `iterations = auto`: as many that the fastest cell of a problem
 * runs for 10 ms, rounded up to a power of two, the same for all cells of the
 * problem (workload, its options, target), so that they can be compared.
 *
 * When the slowest cell would then run for longer than half a second, fewer, but
 * never fewer than the clock needs: 1000 ticks for the fastest.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "runner.h"
#include "say.h"
#include "verify.h"

#define WANT_NS   10e6
#define MOST_NS   500e6
#define MIN_TICKS 1000

struct timed {
	uint64_t problem, number;
	double per_iteration, tick;
};

static void mix(void *user, const char *owner, const char *name, const char *value, int is_default)
{
	uint64_t *hash = user;

	(void)is_default;
	if (strcmp(owner, "workload"))
		return;
	*hash = verify_text_hash(*hash, name);
	*hash = verify_text_hash(*hash, value);
}

static uint64_t problem_of(const struct cell *cell)
{
	uint64_t hash = verify_text_hash(cell->target, cell->workload->name);

	cell_params(cell, mix, &hash);
	return hash;
}

static int by_problem(const void *a, const void *b)
{
	const struct timed *x = a, *y = b;

	return x->problem < y->problem ? -1 : x->problem > y->problem;
}

static uint64_t power_of_two(double least)
{
	uint64_t n = 1;

	while ((double)n < least && n < UINT64_C(1) << 40)
		n *= 2;
	return n;
}

/* For one problem: t[0..n), none of them without a time. */
static uint64_t choose(const struct timed *t, size_t n)
{
	double fastest = t[0].per_iteration, slowest = fastest, tick = t[0].tick, want;
	size_t i;

	for (i = 1; i < n; i++) {
		fastest = fmin(fastest, t[i].per_iteration);
		slowest = fmax(slowest, t[i].per_iteration);
		tick = fmax(tick, t[i].tick);
	}
	want = WANT_NS / fastest;
	if (want * slowest > MOST_NS)
		want = MOST_NS / slowest;
	return power_of_two(fmax(want, MIN_TICKS * tick / fastest));
}

/* 0 timed, 1 interrupted, 2 the cell has ended otherwise, -1 the database failed. */
static int time_cell(struct runner *r, const struct cell *cell, struct timed *t)
{
	static struct block_result result;
	struct cell_state *state = &r->cells[t->number];
	int rc;

	if (interrupt_signal())
		return 1;
	if (r->lost[cell->target][0])
		return runner_end_cell(r, t->number, CELL_SKIPPED, r->lost[cell->target]) ? -1 : 2;
	if (block_calibrate(r, cell, state, &t->per_iteration, &t->tick, &result))
		return -1;
	if (result.status == CELL_INTERRUPTED)
		return 1;
	rc = runner_retry(r, state, &result);
	if (rc)
		return rc < 0 ? -1 : time_cell(r, cell, t);
	state->retried = 0;
	if (result.status == CELL_OK && t->per_iteration > 0)
		return 0;
	if (result.status == CELL_OK)
		result.status = CELL_ERROR;
	return runner_end_cell(r, t->number, result.status,
			       *result.reason ? result.reason : "no time while calibrating") ? -1 : 2;
}

/* All at once: were half of them known after a power cut, --resume could not tell from what. */
static int set_iterations(struct runner *r, struct timed *t, size_t n)
{
	uint64_t iterations;
	size_t from, to, i;
	int rc = store_begin(r->store);

	qsort(t, n, sizeof(*t), by_problem);
	for (from = 0; from < n; from = to) {
		for (to = from; to < n && t[to].problem == t[from].problem; to++)
			;
		iterations = choose(t + from, to - from);
		for (i = from; i < to; i++)
			r->cells[t[i].number].iterations = iterations;
		for (i = from; i < to && !rc; i++)
			rc = store_cell_iterations(r->store, r->cells[t[i].number].id, (int64_t)iterations);
	}
	return rc || store_commit(r->store) ? -1 : 0;
}

int calibrate_cells(struct runner *r)
{
	static struct cell cell;
	struct timed *t = NULL, *more;
	size_t n = 0;
	uint64_t i;
	int rc = 0;

	for (i = 0; i < r->n_cells && (rc == 0 || rc == 2); i++) {
		if (r->cells[i].status != CELL_PENDING)
			continue;
		rc = matrix_cell(r->matrix, i, &cell);
		if (rc || cell.iterations || r->cells[i].iterations)
			continue;
		if ((n & (n - 1)) == 0) {
			more = realloc(t, (n ? 2 * n : 1) * sizeof(*t));
			if (!more) {
				rc = -1;
				break;
			}
			t = more;
		}
		say_progress("calibrating %s n=%lld", cell.series, (long long)cell.n);
		t[n].number = i;
		t[n].problem = problem_of(&cell);
		rc = time_cell(r, &cell, &t[n]);
		n += rc == 0;
	}
	block_end_worker(r);
	rc = rc == 2 ? 0 : rc;
	if (rc == 0 && n && set_iterations(r, t, n))
		rc = -1;
	free(t);
	return rc;
}
