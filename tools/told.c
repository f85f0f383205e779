/* SPDX-License-Identifier: MIT
 *
 * told.c - see told.h.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "params.h"
#include "told.h"

/* A parameter that some cell of a variant has otherwise than by default. */
struct name {
	const char *text;	/* "name=..." in a cell's params */
	size_t length;		/* of the name */
	const char *variant;
	int first;		/* the first of this name, whatever the variant */
};

struct told {
	struct results *r;
	char **common, **own;	/* of each cell its defaults, spelled as params are: common and workload's; the variant's */
	size_t at;		/* cell of the default at hand */
	struct name *names;	/* of one workload and target, in the order in which they come */
	size_t n_names, room;
};

static int add_default(void *user, const struct store_row *row)
{
	struct told *t = user;
	char **to, *longer = NULL;

	while (t->at < t->r->n_cells && t->r->cells[t->at].id != row->integer[0])
		t->at++;
	if (t->at == t->r->n_cells)
		return 0;
	to = row->integer[1] ? &t->own[t->at] : &t->common[t->at];
	if (asprintf(&longer, "%s%s%s=%s", *to ? *to : "", *to ? " " : "", row->text[2], row->text[3]) < 0)
		return 1;
	free(*to);
	*to = longer;
	return 0;
}

static int same_name(const struct name *a, const char *text, size_t length)
{
	return a->length == length && !memcmp(a->text, text, length);
}

static int add_name(struct told *t, const char *text, size_t length, const char *variant)
{
	int first = 1;

	for (size_t i = 0; i < t->n_names; i++)
		if (same_name(&t->names[i], text, length)) {
			first = 0;
			if (!strcmp(t->names[i].variant, variant))
				return 0;
		}
	if (t->n_names == t->room) {
		size_t room = t->room ? 2 * t->room : 16;
		struct name *names = realloc(t->names, room * sizeof(*names));

		if (!names)
			return -1;
		t->names = names;
		t->room = room;
	}
	t->names[t->n_names++] = (struct name){ text, length, variant, first };
	return 0;
}

static int collect_names(struct told *t, const struct result_cell *like)
{
	t->n_names = 0;
	for (size_t i = 0; i < t->r->n_cells; i++) {
		const struct result_cell *c = &t->r->cells[i];
		size_t n;

		for (const char *at = c->params; result_same_place(c, like) && *at; at += n + (at[n] == ' ')) {
			n = params_length(at);
			if (add_name(t, at, strcspn(at, "="), c->variant))
				return -1;
		}
	}
	return 0;
}

static int has_name(const struct told *t, const struct name *name, const char *variant)
{
	for (size_t i = 0; i < t->n_names; i++)
		if (same_name(&t->names[i], name->text, name->length) && !strcmp(t->names[i].variant, variant))
			return 1;
	return 0;
}

/* Where a text of parameters has this one, NULL if it has not. */
static const char *find(const char *params, const struct name *name)
{
	size_t n;

	for (const char *at = params; at && *at; at += n + (at[n] == ' ')) {
		n = params_length(at);
		if (same_name(name, at, strcspn(at, "=")))
			return at;
	}
	return NULL;
}

static char *tell(const struct told *t, size_t cell)
{
	const struct result_cell *c = &t->r->cells[cell];
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; out && i < t->n_names; i++) {
		const struct name *name = &t->names[i];
		const char *at = NULL;

		if (!name->first)
			continue;
		at = find(c->params, name);
		if (!at)
			at = find(t->common[cell], name);
		if (!at && has_name(t, name, c->variant))
			at = find(t->own[cell], name);
		if (at)
			fprintf(out, "%s%.*s", ftell(out) ? " " : "", (int)params_length(at), at);
	}
	if (out && fclose(out)) {
		free(text);
		text = NULL;
	}
	return out ? text : NULL;
}

static int tell_all(struct told *t)
{
	struct results *r = t->r;

	for (size_t i = 0; i < r->n_cells; i++) {
		if (r->cells[i].told)
			continue;
		if (collect_names(t, &r->cells[i]))
			return -1;
		for (size_t k = i; k < r->n_cells; k++)
			if (result_same_place(&r->cells[k], &r->cells[i])) {
				r->cells[k].told = tell(t, k);
				if (!r->cells[k].told)
					return -1;
			}
	}
	return 0;
}

int told_load(struct store *s, struct results *r)
{
	static const char sql[] =
		"SELECT p.cell_id, p.owner = 'variant', p.name, p.value FROM cell c JOIN param p ON p.cell_id = c.id"
		" WHERE c.run_id = CAST(?1 AS INTEGER) AND p.is_default AND p.name <> 'n' ORDER BY c.number";
	struct told t = {
		.r = r, .common = calloc(r->n_cells + 1, sizeof(char *)), .own = calloc(r->n_cells + 1, sizeof(char *)),
	};
	char id[24];
	const char *param = id;
	int rc = -1;

	snprintf(id, sizeof(id), "%lld", (long long)r->run);
	if (t.common && t.own && !store_query(s, sql, &param, 1, add_default, &t))
		rc = tell_all(&t);
	for (size_t i = 0; i < r->n_cells; i++) {
		if (t.common)
			free(t.common[i]);
		if (t.own)
			free(t.own[i]);
	}
	free(t.common);
	free(t.own);
	free(t.names);
	return rc;
}
