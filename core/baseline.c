/* SPDX-License-Identifier: MIT
 *
 * baseline.c - see baseline.h.  Cells of one problem lie side by side in
 * `members`; which problem a cell has is computed once.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "baseline.h"
#include "schedule.h"
#include "stats.h"
#include "verify.h"

struct member {
	uint64_t problem;	/* hash of workload, all that it was told, target, iterations */
	uint32_t number;
	uint8_t is_baseline;
};

struct baseline {
	uint64_t n;
	struct member *members;	/* by problem, then number */
	uint32_t *place;	/* of each cell in members */
};

static int compare_members(const void *x, const void *y)
{
	const struct member *a = x, *b = y;

	if (a->problem != b->problem)
		return a->problem < b->problem ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

/* Sizes too are among them. */
static void add_option(void *user, const char *owner, const char *name, const char *value, int is_default)
{
	uint64_t *hash = user;

	(void)is_default;
	if (!strcmp(owner, "workload"))
		*hash = verify_text_hash(verify_text_hash(*hash, name), value);
}

static int fill(struct baseline *b, const struct runner *r)
{
	static struct cell cell;
	uint64_t found = 0;

	for (uint64_t i = 0; i < b->n; i++) {
		uint64_t hash;

		if (matrix_cell(r->matrix, i, &cell))
			return -1;
		hash = verify_text_hash(cell.target, cell.workload->name);
		hash = verify_mix(hash ^ verify_mix(cell.iterations ? cell.iterations : r->cells[i].iterations));
		cell_params(&cell, add_option, &hash);
		b->members[i].problem = hash;
		b->members[i].number = (uint32_t)i;
		b->members[i].is_baseline = !strcmp(cell.series, r->settings.baseline);
		found += b->members[i].is_baseline;
	}
	qsort(b->members, b->n, sizeof(*b->members), compare_members);
	for (uint64_t i = 0; i < b->n; i++)
		b->place[b->members[i].number] = (uint32_t)i;
	return found ? 0 : 1;
}

int baseline_open(struct baseline **out, const struct runner *r)
{
	struct baseline *b;
	int rc;

	*out = NULL;
	if (!r->settings.baseline || r->settings.ci <= 0 || r->settings.schedule_sequential || !r->n_cells)
		return 0;
	b = calloc(1, sizeof(*b));
	if (!b)
		return -1;
	b->n = r->n_cells;
	b->members = malloc(b->n * sizeof(*b->members));
	b->place = malloc(b->n * sizeof(*b->place));
	rc = b->members && b->place ? fill(b, r) : -1;
	if (rc) {
		baseline_free(b);
		return rc < 0 ? -1 : 0;
	}
	*out = b;
	return 0;
}

/* The members of a cell's problem: from *first to before *end. */
static void problem_of(const struct baseline *b, uint64_t number, uint64_t *first, uint64_t *end)
{
	uint64_t problem = b->members[b->place[number]].problem;

	*first = *end = b->place[number];
	while (*first > 0 && b->members[*first - 1].problem == problem)
		--*first;
	while (*end < b->n && b->members[*end].problem == problem)
		++*end;
}

int baseline_is(const struct baseline *b, uint64_t number)
{
	return b && b->members[b->place[number]].is_baseline;
}

double baseline_width(const struct baseline *b, const struct runner *r, uint64_t number, int *is_final)
{
	const struct cell_state *own = &r->cells[number], *fastest = NULL;
	uint64_t first, end;
	double least = INFINITY, median;

	*is_final = 1;
	if (!b || baseline_is(b, number))
		return NAN;
	problem_of(b, number, &first, &end);
	for (uint64_t i = first; i < end; i++) {
		const struct cell_state *c = &r->cells[b->members[i].number];

		if (!b->members[i].is_baseline || !c->medians || c->status > CELL_IMPRECISE ||
		    stats_median(c->medians, c->n_medians, &median) || median >= least)
			continue;
		least = median;
		fastest = c;
	}
	if (!fastest)
		return NAN;
	*is_final = fastest->status != CELL_PENDING && own->n_medians >= fastest->n_medians;
	return schedule_ratio_width(fastest->medians, fastest->n_medians, own->medians, own->n_medians);
}

int baseline_is_wanted(const struct baseline *b, const struct runner *r, uint64_t number)
{
	uint64_t first, end;

	if (!baseline_is(b, number))
		return 0;
	problem_of(b, number, &first, &end);
	for (uint64_t i = first; i < end; i++)
		if (!b->members[i].is_baseline && r->cells[b->members[i].number].status == CELL_PENDING)
			return 1;
	return 0;
}

void baseline_free(struct baseline *b)
{
	if (!b)
		return;
	free(b->members);
	free(b->place);
	free(b);
}
