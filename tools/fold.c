/* SPDX-License-Identifier: MIT
 *
 * fold.c - say once what many cells have to say, and of which cells.
 *
 * A line names of a cell what tells it from the others of its series: the
 * variant if there are several, and the parameters that are not the same in all.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../core/say.h"
#include "fold.h"
#include "params.h"

#define NAMED 6		/* so many variants or sizes are named; more are counted, or bounded */

int fold_begin(struct fold *f, const struct results *res,
	       int (*wanted)(const struct result_cell *c, const void *user), const void *user)
{
	*f = (struct fold){ .res = res, .wanted = wanted, .user = user };
	f->done = calloc(res->n_cells + 1, 1);
	return f->done ? 0 : -1;
}

void fold_end(struct fold *f)
{
	free(f->done);
}

static int same_series(const struct result_cell *a, const struct result_cell *b)
{
	return !strcmp(a->series, b->series) && result_same_place(a, b);
}

static int same_words(const struct fold *f, const struct result_cell *a, const struct result_cell *b)
{
	if (f->alike)
		return f->alike(a, b);
	return !strcmp(a->status, b->status) &&
	       (a->reason && b->reason ? !strcmp(a->reason, b->reason) : a->reason == b->reason);
}

/* What must be said of `c`, for other cells of the same series differ in it. */
struct apart {
	int place, variant, iterations;
	char *shared;		/* parameters of all of them */
};

static int fold_apart(const struct fold *f, const struct result_cell *c, struct apart *a)
{
	*a = (struct apart){ .shared = strdup(c->told) };
	if (!a->shared)
		return -1;
	for (size_t i = 0; i < f->res->n_cells; i++) {
		const struct result_cell *o = &f->res->cells[i];

		if (strcmp(o->series, c->series))
			continue;
		a->place |= !f->group_known && !result_same_place(o, c);
		if (!result_same_place(o, c))
			continue;
		a->variant |= strcmp(o->variant, c->variant) != 0;
		a->iterations |= o->iterations != c->iterations && o->n == c->n &&
				 !strcmp(o->variant, c->variant) && !strcmp(o->params, c->params);
		if (*a->shared)
			params_keep(a->shared, o->told);
	}
	return 0;
}

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* "n=64", "n=11, 21", "n=11..101" */
static void put_sizes(const struct result_cell *const *cells, size_t n, int64_t *sizes, FILE *out)
{
	size_t kinds = 0;

	for (size_t i = 0; i < n; i++)
		sizes[i] = cells[i]->n;
	qsort(sizes, n, sizeof(*sizes), by_number);
	for (size_t i = 0; i < n; i++)
		if (!kinds || sizes[kinds - 1] != sizes[i])
			sizes[kinds++] = sizes[i];
	fprintf(out, "n=%lld", (long long)sizes[0]);
	if (kinds > NAMED)
		fprintf(out, "..%lld", (long long)sizes[kinds - 1]);
	for (size_t i = 1; i < kinds && kinds <= NAMED; i++)
		fprintf(out, ", %lld", (long long)sizes[i]);
}

static int is_first_of_variant(const struct result_cell *const *cells, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(cells[k]->variant, cells[i]->variant))
			return 0;
	return 1;
}

static size_t count_variants(const struct result_cell *const *cells, size_t n)
{
	size_t kinds = 0;

	for (size_t i = 0; i < n; i++)
		kinds += is_first_of_variant(cells, i);
	return kinds;
}

/* " of persistent_halo, persistent_naive", " of 12 variants" */
static void put_variants(const struct result_cell *const *cells, size_t n, size_t kinds, FILE *out)
{
	const char *before = " of ";

	if (kinds > NAMED) {
		fprintf(out, " of %zu variants", kinds);
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (is_first_of_variant(cells, i)) {
			fprintf(out, "%s%s", before, cells[i]->variant);
			before = ", ";
		}
}

/* What all of the line have and the rest of the series has not. */
static char *line_params(const struct result_cell *const *cells, size_t n, const char *shared)
{
	char *params = strdup(cells[0]->told);

	if (!params)
		return NULL;
	params_drop(params, shared);
	for (size_t i = 1; i < n && *params; i++)
		params_keep(params, cells[i]->told);
	return params;
}

static void put_cells(const struct fold *f, const struct result_cell *const *cells, size_t n,
		      const struct apart *a, const char *params, int64_t *sizes, FILE *out)
{
	size_t kinds = a->variant ? count_variants(cells, n) : 1;
	char name[1024];

	if (f->name_width)
		fputs(say_text(cells[0]->series, f->name_width, name, sizeof(name)), out);
	else
		fputs(cells[0]->series, out);
	if (a->place)
		fprintf(out, " (%s on %s)", cells[0]->workload, cells[0]->target);
	if (a->variant && kinds == 1)
		fprintf(out, " %s", cells[0]->variant);
	if (n > 1)
		fprintf(out, ", %zu cells", n);
	if (kinds > 1)
		put_variants(cells, n, kinds, out);
	fputs(n > 1 ? ", " : " ", out);
	put_sizes(cells, n, sizes, out);
	if (*params)
		fprintf(out, " %s", params);
	if (n == 1 && a->iterations)
		fprintf(out, " iterations=%lld", (long long)cells[0]->iterations);
}

static char *fold_text(const struct fold *f, const struct result_cell *const *cells, size_t n)
{
	int64_t *sizes = calloc(n, sizeof(*sizes));
	struct apart a = { 0 };
	char *text = NULL, *params = NULL;
	size_t size;
	FILE *out = NULL;

	if (sizes && !fold_apart(f, cells[0], &a))
		params = line_params(cells, n, a.shared);
	if (params)
		out = open_memstream(&text, &size);
	if (out) {
		put_cells(f, cells, n, &a, params, sizes, out);
		if (fclose(out)) {
			free(text);
			text = NULL;
		}
	}
	free(a.shared);
	free(params);
	free(sizes);
	return text;
}

int fold_next(struct fold *f, const struct result_cell **first, char **text)
{
	const struct results *res = f->res;
	const struct result_cell **cells, *c;
	size_t n = 0;

	while (f->at < res->n_cells && (f->done[f->at] || !f->wanted(&res->cells[f->at], f->user)))
		f->at++;
	if (f->at == res->n_cells)
		return 0;
	cells = calloc(res->n_cells, sizeof(*cells));
	if (!cells)
		return -1;
	c = &res->cells[f->at];
	for (size_t i = f->at; i < res->n_cells; i++) {
		const struct result_cell *o = &res->cells[i];

		if (f->done[i] || !same_series(c, o) || !same_words(f, c, o) || !f->wanted(o, f->user))
			continue;
		f->done[i] = 1;
		cells[n++] = o;
	}
	*text = fold_text(f, cells, n);
	*first = c;
	free(cells);
	return *text ? 1 : -1;
}
