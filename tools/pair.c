/* SPDX-License-Identifier: MIT
 *
 * pair.c - see pair.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pair.h"
#include "results.h"

/* ---- reading ---- */

struct reading {
	struct pair_side *side;
	size_t room, at; /* of cells; where blocks are being added */
	int failed;      /* out of memory */
};

static char *copy(struct reading *r, const char *text)
{
	char *s = text ? strdup(text) : NULL;

	r->failed |= text && !s;
	return s;
}

/* Room for one more of `size` bytes after n; grows by powers of two. */
static void *grown(struct reading *r, void *array, size_t n, size_t size)
{
	void *more = array;

	if (n == 0 || (n & (n - 1)) == 0)
		more = realloc(array, (n ? 2 * n : 1) * size);
	r->failed |= !more;
	return more ? more : array;
}

static int read_run(void *user, const struct store_row *row)
{
	struct reading *r = user;
	struct pair_side *side = r->side;

	side->runs = grown(r, side->runs, side->n_runs, sizeof(*side->runs));
	if (r->failed)
		return 1;
	side->runs[side->n_runs++] = (struct pair_run){
	        .id = row->integer[0],
	        .status = copy(r, row->text[1]),
	        .schedule = copy(r, row->text[2]),
	        .instrumented = copy(r, row->text[3]),
	        .quick = row->integer[4] != 0,
	        .cold = row->integer[7] != 0,
	        .started = copy(r, row->text[5]),
	        .cells = row->integer[6],
	};
	return r->failed;
}

static int read_cell(void *user, const struct store_row *row)
{
	struct reading *r = user;
	struct pair_side *side = r->side;

	side->cells = grown(r, side->cells, side->n_cells, sizeof(*side->cells));
	if (r->failed)
		return 1;
	side->cells[side->n_cells++] = (struct pair_cell){
	        .id = row->integer[0],
	        .run = row->integer[1],
	        .key = copy(r, row->text[2]),
	        .series = copy(r, row->text[3]),
	        .variant = copy(r, row->text[4]),
	        .workload = copy(r, row->text[5]),
	        .target = copy(r, row->text[6]),
	        .n = row->integer[7],
	        .iterations = row->text[8] ? row->integer[8] : STORE_NULL,
	        .params = copy(r, row->text[9]),
	        .status = copy(r, row->text[10]),
	        .reason = copy(r, row->text[11]),
	        .device = copy(r, row->text[12]),
	};
	return r->failed;
}

/* Cells are in the order of their ids here, and so are the blocks. */
static int read_block(void *user, const struct store_row *row)
{
	struct reading *r = user;
	struct pair_side *side = r->side;
	struct pair_cell *c;

	while (r->at < side->n_cells && side->cells[r->at].id < row->integer[0])
		r->at++;
	if (r->at == side->n_cells || side->cells[r->at].id != row->integer[0])
		return 0;
	c = &side->cells[r->at];
	if (c->n_blocks && c->block[c->n_blocks - 1] == row->integer[1])
		return 0; /* a second attempt at this block: the first that ended well counts */
	if (!(row->text[2] && row->real[2] > 0))
		return 0; /* no time */
	c->block = grown(r, c->block, c->n_blocks, sizeof(*c->block));
	c->ns = grown(r, c->ns, c->n_blocks, sizeof(*c->ns));
	if (r->failed)
		return 1;
	c->block[c->n_blocks] = row->integer[1];
	c->ns[c->n_blocks++] = row->real[2];
	return 0;
}

static int compare_cells(const void *x, const void *y)
{
	const struct pair_cell *a = x, *b = y;
	int by_key = strcmp(a->key, b->key), by_series = strcmp(a->series, b->series);

	if (by_key || by_series)
		return by_key ? by_key : by_series;
	return a->run != b->run ? (a->run > b->run) - (a->run < b->run)
	                        : (a->id > b->id) - (a->id < b->id);
}

/* ",1,2,3," of the run ids, "" for none; the caller frees it. */
static char *list_of(const int64_t *ids, size_t n)
{
	char *text = malloc(24 * n + 3), *end = text;

	if (!text)
		return NULL;
	*end = 0;
	for (size_t i = 0; i < n; i++)
		end += sprintf(end, "%s%" PRId64 ",", i ? "" : ",", ids[i]);
	return text;
}

static int every_run_found(const struct pair_side *side, const int64_t *ids, size_t n_ids,
                           char *why, size_t why_size)
{
	if (!side->n_runs && !n_ids) {
		snprintf(why, why_size, "%s: holds no run", side->name);
		return -1;
	}
	for (size_t i = 0; i < n_ids; i++) {
		size_t found = 0;

		while (found < side->n_runs && side->runs[found].id != ids[i])
			found++;
		if (found < side->n_runs)
			continue;
		snprintf(why, why_size, "%s: has no run %" PRId64, side->name, ids[i]);
		return -1;
	}
	return 0;
}

static const char runs_sql[] =
        "SELECT id, status, schedule, instrumented, quick, started_utc, cells,"
        " (SELECT max(instr(value, 'cache=cold')) FROM environment WHERE run_id = run.id AND key = 'settings')"
        " FROM run"
        " WHERE ?1 = '' OR instr(?1, ',' || id || ',') ORDER BY id";
static const char cells_sql[] =
        "SELECT c.id, c.run_id, c.key, c.series, c.variant, c.workload, c.target, c.n, "
        "c.iterations,"
        " c.params, c.status, c.reason, d.name || ', ' || d.arch || ', driver ' || d.driver"
        " FROM cell c LEFT JOIN device d ON d.id = c.device_id"
        " WHERE (?1 = '' OR instr(?1, ',' || c.run_id || ','))"
        " AND (?2 IS NULL OR c.series = ?2) ORDER BY c.id";
static const char blocks_sql[] =
        "SELECT b.cell_id, b.number, t.median_ns"
        " FROM block_time t JOIN block b ON b.id = t.block_id JOIN cell c ON c.id = b.cell_id"
        " WHERE b.status = 'ok' AND (?1 = '' OR instr(?1, ',' || c.run_id || ','))"
        " AND (?2 IS NULL OR c.series = ?2) ORDER BY b.cell_id, b.number, b.attempt";

int pair_read(struct pair_side *out, struct store *store, const char *path, const int64_t *ids,
              size_t n_ids, const char *series, char *why, size_t why_size)
{
	struct pair_side side = {.name = path, .store = store};
	struct reading r = {.side = &side};
	char *list = list_of(ids, n_ids);
	const char *params[] = {list, series};

	if (!list) {
		snprintf(why, why_size, "out of memory");
		return -1;
	}
	if (store_query(store, runs_sql, params, 1, read_run, &r) ||
	    store_query(store, cells_sql, params, 2, read_cell, &r) ||
	    store_query(store, blocks_sql, params, 2, read_block, &r))
		snprintf(why, why_size, "%s", r.failed ? "out of memory" : store_error(store));
	else if (!every_run_found(&side, ids, n_ids, why, why_size))
		goto good;
	free(list);
	pair_free(&side);
	return -1;
good:
	free(list);
	if (side.n_cells)
		qsort(side.cells, side.n_cells, sizeof(*side.cells), compare_cells);
	*out = side;
	return 0;
}

struct reading_options {
	struct pair_side *side;
	struct pair_cell **by_id;
	int failed;
};

static int append(char **text, const char *name, const char *value)
{
	char *more = NULL;

	if (asprintf(&more, "%s%s=%s\n", *text ? *text : "", name, value) < 0)
		return -1;
	free(*text);
	*text = more;
	return 0;
}

static int compare_id(const void *key, const void *entry)
{
	int64_t a = *(const int64_t *)key, b = (*(struct pair_cell *const *)entry)->id;

	return (a > b) - (a < b);
}

static int compare_ids(const void *x, const void *y)
{
	return compare_id(&(*(struct pair_cell *const *)x)->id, y);
}

static int read_option(void *user, const struct store_row *row)
{
	struct reading_options *r = user;
	struct pair_cell **c = bsearch(&row->integer[0], r->by_id, r->side->n_cells,
	                               sizeof(*r->by_id), compare_id);
	int workload = row->text[1] && !strcmp(row->text[1], "workload");

	if (c)
		r->failed |= append(workload ? &(*c)->group : &(*c)->options, row->text[2],
		                    row->text[3]);
	return r->failed;
}

int pair_options(struct pair_side *side, char *why, size_t why_size)
{
	struct reading_options r = {.side = side,
	                            .by_id = calloc(side->n_cells + 1, sizeof(*r.by_id))};
	int rc = -1;

	r.failed = !r.by_id;
	for (size_t i = 0; i < side->n_cells && !r.failed; i++) {
		struct pair_cell *c = &side->cells[i];

		r.by_id[i] = c;
		if (asprintf(&c->group, "%s %s n=%" PRId64 " iterations=%" PRId64 "\n", c->workload,
		             c->target, c->n, c->iterations) < 0)
			r.failed = 1;
	}
	if (r.failed)
		goto out;
	qsort(r.by_id, side->n_cells, sizeof(*r.by_id), compare_ids);
	rc = store_query(side->store,
	                 "SELECT cell_id, owner, name, value FROM param"
	                 " ORDER BY cell_id, owner, name",
	                 NULL, 0, read_option, &r);
out:
	if (rc)
		snprintf(why, why_size, "%s",
		         r.failed ? "out of memory" : store_error(side->store));
	free(r.by_id);
	return rc;
}

static void free_cell(struct pair_cell *c)
{
	char *texts[] = {c->key,    c->series, c->variant, c->workload, c->target, c->params,
	                 c->status, c->reason, c->device,  c->group,    c->options};

	for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++)
		free(texts[t]);
	free(c->block);
	free(c->ns);
}

void pair_only(struct pair_side *side, const char *glob)
{
	size_t n = 0;

	for (size_t i = 0; i < side->n_cells; i++) {
		struct pair_cell *c = &side->cells[i];

		if (result_matches(glob, c->series, c->variant, c->workload, c->n))
			side->cells[n++] = *c;
		else
			free_cell(c);
	}
	side->n_cells = n;
}

void pair_free(struct pair_side *side)
{
	for (size_t i = 0; i < side->n_runs; i++) {
		struct pair_run *r = &side->runs[i];
		char *texts[] = {r->status, r->schedule, r->instrumented, r->started};

		for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++)
			free(texts[t]);
	}
	for (size_t i = 0; i < side->n_cells; i++)
		free_cell(&side->cells[i]);
	free(side->runs);
	free(side->cells);
	memset(side, 0, sizeof(*side));
}

/* ---- options that a variant had not yet ---- */

/* Is name=... (`length` bytes of name) among the words of this text? */
static int has_option(const char *words, const char *name, size_t length)
{
	for (const char *word = words; *word; word += strspn(word, " ")) {
		if (!strncmp(word, name, length) && word[length] == '=')
			return 1;
		word += strcspn(word, " ");
	}
	return 0;
}

/* "WORKLOAD/VARIANT/TARGET", with which a key begins. */
static int same_variant(const char *key, const char *other)
{
	size_t length = strcspn(key, " ");

	return length == strcspn(other, " ") && !strncmp(key, other, length);
}

/* Does every cell of this variant, on both sides, know the option? */
static int all_know(const struct pair_side *const sides[2], const char *key, const char *name, size_t length)
{
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < sides[s]->n_cells; i++)
			if (same_variant(key, sides[s]->cells[i].key) &&
			    !has_option(sides[s]->cells[i].key, name, length))
				return 0;
	return 1;
}

/* Every option of the key that is at its default and that some cell of the variant lacks: out,
 * for that cell is from before the option, and did what the default does. */
static void forget_options(const struct pair_side *const sides[2], const struct pair_cell *c, char *out)
{
	const char *word = c->key;
	size_t used = strcspn(word, " ");

	memcpy(out, word, used);
	for (word += used; *word; ) {
		size_t length = strcspn(word + 1, " ") + 1, name = strcspn(word + 1, "= ");

		if (word[1 + name] != '=' || has_option(c->params, word + 1, name) ||
		    all_know(sides, c->key, word + 1, name)) {
			memcpy(out + used, word, length);
			used += length;
		}
		word += length;
	}
	out[used] = 0;
}

static int knows_alike(const char *key, const char *other)
{
	for (; *key && *other; key += strcspn(key, " "), other += strcspn(other, " ")) {
		size_t a, b;

		key += strspn(key, " ");
		other += strspn(other, " ");
		a = strcspn(key, "= ");
		b = strcspn(other, "= ");
		if (a != b || strncmp(key, other, a))
			return 0;
	}
	return !*key && !*other;
}

/* The usual case, told in one pass: cells of one variant are adjacent and know the same options. */
static int all_alike(const struct pair_side *const sides[2])
{
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < sides[s]->n_cells; i++) {
			const char *key = sides[s]->cells[i].key;
			size_t k = 0;

			while (k < sides[!s]->n_cells && !same_variant(key, sides[!s]->cells[k].key))
				k++;
			if ((k < sides[!s]->n_cells && !knows_alike(key, sides[!s]->cells[k].key)) ||
			    (i && same_variant(key, sides[s]->cells[i - 1].key) &&
			     !knows_alike(key, sides[s]->cells[i - 1].key)))
				return 0;
		}
	return 1;
}

int pair_forget_options(struct pair_side *a, struct pair_side *b)
{
	struct pair_side *sides[2] = {a, b};
	const struct pair_side *const both[2] = {a, b};
	char **keys;
	size_t n = 0;

	if (all_alike(both))
		return 0;
	keys = calloc(a->n_cells + b->n_cells + 1, sizeof(*keys));
	for (int s = 0; keys && s < 2; s++)
		for (size_t i = 0; i < sides[s]->n_cells; i++, n++) {
			keys[n] = malloc(strlen(sides[s]->cells[i].key) + 1);
			if (keys[n])
				forget_options(both, &sides[s]->cells[i], keys[n]);
		}
	n = 0;
	for (int s = 0; keys && s < 2; s++) {
		for (size_t i = 0; i < sides[s]->n_cells; i++, n++) {
			if (!keys[n])
				continue;
			free(sides[s]->cells[i].key);
			sides[s]->cells[i].key = keys[n];
		}
		if (sides[s]->n_cells)
			qsort(sides[s]->cells, sides[s]->n_cells, sizeof(*sides[s]->cells), compare_cells);
	}
	free(keys);
	return keys ? 0 : -1;
}

/* ---- pairing by key ---- */

/* How many cells from i on are the same cell (key and series) in other runs. */
static size_t same_cell(const struct pair_side *s, size_t i)
{
	size_t end = i + 1;

	while (end < s->n_cells && !strcmp(s->cells[end].key, s->cells[i].key) &&
	       !strcmp(s->cells[end].series, s->cells[i].series))
		end++;
	return end - i;
}

static int order_of(const struct pair_side *a, size_t i, const struct pair_side *b, size_t j)
{
	int by_key;

	if (i == a->n_cells || j == b->n_cells)
		return (i == a->n_cells) - (j == b->n_cells);
	by_key = strcmp(a->cells[i].key, b->cells[j].key);
	return by_key ? by_key : strcmp(a->cells[i].series, b->cells[j].series);
}

/* A section was given another name: where exactly one lone cell of each side
 * has a key, they are one pair after all. */
static size_t join_renamed(struct pair *p, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0, end; i < n; i = end) {
		const char *key = p[i].a ? p[i].a->key : p[i].b->key;
		size_t lone_a = n, lone_b = n, lone = 0;

		for (end = i; end < n && !strcmp(p[end].a ? p[end].a->key : p[end].b->key, key);
		     end++) {
			lone += !p[end].a + !p[end].b;
			lone_a = p[end].b ? lone_a : end;
			lone_b = p[end].a ? lone_b : end;
		}
		if (lone == 2 && lone_a < n && lone_b < n) {
			p[lone_a].b = p[lone_b].b;
			p[lone_a].n_b = p[lone_b].n_b;
		} else {
			lone_b = n;
		}
		for (size_t k = i; k < end; k++)
			if (k != lone_b)
				p[kept++] = p[k];
	}
	return kept;
}

int pair_keys(const struct pair_side *a, const struct pair_side *b, struct pair **out, size_t *n)
{
	struct pair *p = calloc(a->n_cells + b->n_cells + 1, sizeof(*p));
	size_t found = 0, i = 0, j = 0;

	if (!p)
		return -1;
	while (i < a->n_cells || j < b->n_cells) {
		int order = order_of(a, i, b, j);
		struct pair *next = &p[found++];

		if (order <= 0) {
			next->a = &a->cells[i];
			next->n_a = same_cell(a, i);
			i += next->n_a;
		}
		if (order >= 0) {
			next->b = &b->cells[j];
			next->n_b = same_cell(b, j);
			j += next->n_b;
		}
	}
	*n = join_renamed(p, found);
	*out = p;
	return 0;
}

/* ---- pairing two series of one run ---- */

/* The value of option `name` (`length` bytes) in "name=value\n" lines, or NULL. */
static const char *option_of(const char *options, const char *name, size_t length)
{
	for (const char *line = options; line && *line; line = strchr(line, '\n') + 1)
		if (!strncmp(line, name, length) && line[length] == '=')
			return line + length + 1;
	return NULL;
}

/* Every option that both know has the same value. */
static int options_agree(const struct pair_cell *a, const struct pair_cell *b)
{
	for (const char *line = a->options; line && *line; line = strchr(line, '\n') + 1) {
		const char *value = strchr(line, '=') + 1;
		const char *other = option_of(b->options, line, (size_t)(value - 1 - line));
		size_t length = (size_t)(strchr(value, '\n') + 1 - value);

		if (other && strncmp(value, other, length))
			return 0;
	}
	return 1;
}

/* The one cell of `side` that c may be set against, or NULL. */
static const struct pair_cell *partner(const struct pair_cell *c, const struct pair_side *side,
                                       const struct pair_side *own)
{
	const struct pair_cell *only = NULL, *agreeing = NULL;
	size_t in_group = 0, in_own = 0, agree = 0;

	for (size_t i = 0; i < own->n_cells; i++)
		in_own += !strcmp(own->cells[i].group, c->group);
	for (size_t i = 0; i < side->n_cells; i++) {
		if (strcmp(side->cells[i].group, c->group))
			continue;
		in_group++;
		only = &side->cells[i];
		if (options_agree(c, only)) {
			agree++;
			agreeing = only;
		}
	}
	if (in_group == 1 && in_own == 1)
		return only;
	return agree == 1 ? agreeing : NULL;
}

int pair_series(const struct pair_side *a, const struct pair_side *b, struct pair **out, size_t *n)
{
	struct pair *p = calloc(a->n_cells + b->n_cells + 1, sizeof(*p));
	size_t found = 0;

	if (!p)
		return -1;
	for (size_t i = 0; i < a->n_cells; i++) {
		const struct pair_cell *c = &a->cells[i], *other = partner(c, b, a);

		if (other && partner(other, a, b) != c)
			other = NULL;
		p[found++] = (struct pair){c, other, 1, other != NULL};
	}
	for (size_t j = 0; j < b->n_cells; j++) {
		const struct pair_cell *c = &b->cells[j], *other = partner(c, a, b);

		if (!other || partner(other, b, a) != c)
			p[found++] = (struct pair){NULL, c, 0, 1};
	}
	*out = p;
	*n = found;
	return 0;
}
