/* SPDX-License-Identifier: MIT
 *
 * stamps.c - stamps from metrics to a table of block, step and event.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "stamps.h"

#define BLOCKS_MAX 65536
#define STEPS_MAX 4096

struct loading {
	const struct results *r;
	struct stamps *out;
	struct stamp_cell *cell;
	int failed;
};

static int take_cell(void *user, const struct store_row *row)
{
	struct loading *l = user;
	struct stamp_cell *more = realloc(l->out->cells, (l->out->n + 1) * sizeof(*more));

	if (!more)
		return l->failed = 1;
	l->out->cells = more;
	for (size_t i = 0; i < l->r->n_cells; i++)
		if (l->r->cells[i].id == row->integer[0])
			more[l->out->n++] = (struct stamp_cell){
				.cell = &l->r->cells[i], .trial = row->integer[1], .tick = NAN, .skew = NAN,
				.over_plain = row->text[2] ? row->real[2] : NAN,
			};
	return 0;
}

static int parse(const char *name, unsigned *event, unsigned *block, unsigned *step)
{
	static const char *const names[] = { "receive", "start", "end", "done" };
	char word[16];

	if (sscanf(name, "stamp_%15[a-z]_b%u_s%u", word, block, step) != 3 || *block >= BLOCKS_MAX ||
	    *step >= STEPS_MAX)
		return -1;
	for (*event = 0; *event < STAMP_EVENTS; ++*event)
		if (!strcmp(word, names[*event]))
			return 0;
	return -1;
}

/* First how large, then what. */
static int take_size(void *user, const struct store_row *row)
{
	struct stamp_cell *c = ((struct loading *)user)->cell;
	unsigned event, block, step;

	if (!parse(row->text[0], &event, &block, &step)) {
		c->blocks = block >= c->blocks ? block + 1 : c->blocks;
		c->steps = step >= c->steps ? step + 1 : c->steps;
	} else if (!strcmp(row->text[0], "stamp_tick")) {
		c->tick = row->real[1];
	} else if (!strcmp(row->text[0], "stamp_skew")) {
		c->skew = row->real[1];
	}
	return 0;
}

static int take_stamp(void *user, const struct store_row *row)
{
	struct stamp_cell *c = ((struct loading *)user)->cell;
	unsigned event, block, step;

	/* a database that is being written may have grown since its size was asked */
	if (parse(row->text[0], &event, &block, &step) || block >= c->blocks || step >= c->steps)
		return 0;
	c->ns[((size_t)block * c->steps + step) * STAMP_EVENTS + event] = row->real[1];
	c->last = fmax(c->last, row->real[1]);
	return 0;
}

static int load_cell(struct store *s, struct loading *l)
{
	static const char sql[] = "SELECT name, value FROM metric WHERE cell_id = CAST(?1 AS INTEGER)"
				  " AND trial_id = CAST(?2 AS INTEGER) AND name GLOB 'stamp_*'";
	char cell[24], trial[24];
	const char *params[] = { cell, trial };
	size_t n;

	snprintf(cell, sizeof(cell), "%lld", (long long)l->cell->cell->id);
	snprintf(trial, sizeof(trial), "%lld", (long long)l->cell->trial);
	if (store_query(s, sql, params, 2, take_size, l))
		return -1;
	n = (size_t)l->cell->blocks * l->cell->steps * STAMP_EVENTS;
	l->cell->ns = calloc(n + 1, sizeof(double));
	if (!l->cell->ns)
		return -1;
	for (size_t i = 0; i < n; i++)
		l->cell->ns[i] = NAN;
	return store_query(s, sql, params, 2, take_stamp, l);
}

int stamps_load(struct store *s, const struct results *r, struct stamps *out)
{
	static const char sql[] =
		"SELECT d.cell, max(t.id), d.over_plain FROM stamped d JOIN trial t ON t.cell_id = d.cell"
		" JOIN cell c ON c.id = d.cell WHERE d.run = CAST(?1 AS INTEGER) AND t.kind = 'timed'"
		" AND t.verified = 1 AND d.median_ns IS NOT NULL GROUP BY d.cell ORDER BY c.number";
	struct loading l = { .r = r, .out = out };
	char run[24];
	const char *param = run;

	memset(out, 0, sizeof(*out));
	snprintf(run, sizeof(run), "%lld", (long long)r->run);
	if (store_query(s, sql, &param, 1, take_cell, &l))
		goto fail;
	for (size_t i = 0; i < out->n; i++) {
		l.cell = &out->cells[i];
		if (load_cell(s, &l))
			goto fail;
	}
	return 0;
fail:
	stamps_free(out);
	return -1;
}

double stamp_at(const struct stamp_cell *c, uint32_t block, uint32_t step, enum stamp_event event)
{
	return c->ns[((size_t)block * c->steps + step) * STAMP_EVENTS + event];
}

void stamps_free(struct stamps *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->cells[i].ns);
	free(s->cells);
	memset(s, 0, sizeof(*s));
}
