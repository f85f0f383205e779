/* SPDX-License-Identifier: MIT
 *
 * merge.c - rows of one database into another, with their numbers translated.
 *
 * A table is copied by the columns that its source has, so that an older
 * schema leaves the newer columns at their defaults.  References go through a
 * map from the old number to the new one, for each table that is referred to.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "merge.h"
#include "store_db.h"

enum map_of { MAP_RUN, MAP_DEVICE, MAP_PLUGIN, MAP_CELL, MAP_BLOCK, MAP_TRIAL, MAPS, MAP_NONE };

struct pair {
	int64_t from, to;
};

/* Filled in rising order of `from`. */
struct map {
	struct pair *pairs;
	size_t n;
};

struct table {
	const char *name;
	enum map_of own;		/* whose numbers these rows define */
	const char *rows;		/* which: WHERE ..., ?1 is the run */
	const char *same;		/* columns that make two rows one; NULL: rows are always new */
};

#define OF_CELLS "cell_id IN (SELECT id FROM cell WHERE run_id = ?1)"
#define DEVICE_SAME "target, name, arch, uuid, pci, driver, runtime"
static const struct table run_tables[] = {
	{ "run", MAP_RUN, "id = ?1", NULL },
	{ "environment", MAP_NONE, "run_id = ?1", NULL },
	{ "device", MAP_DEVICE, "id IN (SELECT device_id FROM cell WHERE run_id = ?1)", DEVICE_SAME },
	{ "plugin", MAP_PLUGIN, "id IN (SELECT plugin_id FROM cell WHERE run_id = ?1)", "path, sha256" },
	{ "cell", MAP_CELL, "run_id = ?1", NULL },
	{ "param", MAP_NONE, OF_CELLS, NULL },
	{ "block", MAP_BLOCK, OF_CELLS, NULL },
	{ "trial", MAP_TRIAL, OF_CELLS, NULL },
	{ "metric", MAP_NONE, OF_CELLS, NULL },
	{ "event", MAP_NONE, "run_id = ?1 OR " OF_CELLS, NULL },
};
/* what belongs to no run */
static const struct table file_tables[] = {
	{ "device", MAP_DEVICE, "id IN (SELECT device_id FROM floor) AND ?1", DEVICE_SAME },
	{ "floor", MAP_NONE, "?1", "at_utc, host, variant, workload, n, pairs, floor" },
	{ "reference", MAP_NONE, "?1", "workload, input, iterations" },
};

static const struct {
	const char *column;
	enum map_of map;
} references[] = {
	{ "run_id", MAP_RUN },	   { "device_id", MAP_DEVICE }, { "plugin_id", MAP_PLUGIN },
	{ "cell_id", MAP_CELL },   { "block_id", MAP_BLOCK },	{ "trial_id", MAP_TRIAL },
};

struct merging {
	sqlite3 *to, *from;
	struct map maps[MAPS];
	char *why;
	size_t why_size;
};

static int merge_fail(struct merging *m, sqlite3 *db, const char *doing)
{
	snprintf(m->why, m->why_size, "%s: %s", doing, sqlite3_errmsg(db));
	return -1;
}

static int map_add(struct map *map, int64_t from, int64_t to)
{
	/* doubles at powers of two */
	if (!(map->n & (map->n - 1))) {
		size_t room = map->n ? 2 * map->n : 1;
		struct pair *more = realloc(map->pairs, room * sizeof(*more));

		if (!more)
			return -1;
		map->pairs = more;
	}
	map->pairs[map->n++] = (struct pair){ from, to };
	return 0;
}

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *p = a, *q = b;

	return p->from < q->from ? -1 : p->from > q->from;
}

static const struct pair *map_find(const struct map *map, int64_t from)
{
	struct pair key = { from, 0 };

	return map->n ? bsearch(&key, map->pairs, map->n, sizeof(key), compare_pairs) : NULL;
}

/* ---- one table ---- */

struct copy {
	const struct table *table;
	sqlite3_stmt *select, *insert, *find;
	int columns;
	int id;				/* column that is the row's own number, or -1 */
	enum map_of refers[64];
};

static int prepare(struct merging *m, sqlite3 *db, sqlite3_stmt **out, const char *sql)
{
	return sqlite3_prepare_v2(db, sql, -1, out, NULL) == SQLITE_OK ? 0 : merge_fail(m, db, sql);
}

static int has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; at && (at = strstr(at, word)); at += length)
		if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ','))
			return 1;
	return 0;
}

/* INSERT with the columns of the source, without its number; SELECT of the row that is the same. */
static int prepare_insert(struct merging *m, struct copy *c)
{
	sqlite3_str *insert = sqlite3_str_new(NULL), *find = sqlite3_str_new(NULL);
	const char *comma = "", *and = "";
	char *sql;
	int rc = 0;

	sqlite3_str_appendf(insert, "INSERT INTO \"%w\" (", c->table->name);
	sqlite3_str_appendf(find, "SELECT %s FROM \"%w\" WHERE ", c->id < 0 ? "1" : "id", c->table->name);
	for (int i = 0; i < c->columns; i++) {
		const char *name = sqlite3_column_name(c->select, i);

		if (i != c->id) {
			sqlite3_str_appendf(insert, "%s\"%w\"", comma, name);
			comma = ", ";
		}
		if (c->table->same && has_word(c->table->same, name)) {
			sqlite3_str_appendf(find, "%s\"%w\" IS ?%d", and, name, i + 1);
			and = " AND ";
		}
	}
	sqlite3_str_appendall(insert, ") VALUES (");
	comma = "";
	for (int i = 0; i < c->columns; i++) {
		if (i == c->id)
			continue;
		sqlite3_str_appendf(insert, "%s?%d", comma, i + 1);
		comma = ", ";
	}
	sqlite3_str_appendall(insert, ")");
	sql = sqlite3_str_finish(insert);
	rc = !sql || prepare(m, m->to, &c->insert, sql) ? -1 : 0;
	sqlite3_free(sql);
	sql = sqlite3_str_finish(find);
	if (!rc && c->table->same)
		rc = !sql || prepare(m, m->to, &c->find, sql) ? -1 : 0;
	sqlite3_free(sql);
	return rc;
}

static int prepare_copy(struct merging *m, struct copy *c, int64_t run)
{
	char sql[300];
	const char *order = c->table->own == MAP_NONE ? "" : " ORDER BY id";

	snprintf(sql, sizeof(sql), "SELECT * FROM \"%s\" WHERE %s%s", c->table->name, c->table->rows,
		 order);
	if (prepare(m, m->from, &c->select, sql))
		return -1;
	sqlite3_bind_int64(c->select, 1, run);
	c->columns = sqlite3_column_count(c->select);
	c->id = -1;
	if (c->columns > (int)(sizeof(c->refers) / sizeof(c->refers[0])))
		return merge_fail(m, m->from, c->table->name);
	for (int i = 0; i < c->columns; i++) {
		const char *name = sqlite3_column_name(c->select, i);

		c->refers[i] = MAP_NONE;
		if (!strcmp(name, "id"))
			c->id = i;
		for (size_t k = 0; k < sizeof(references) / sizeof(references[0]); k++)
			if (!strcmp(name, references[k].column))
				c->refers[i] = references[k].map;
	}
	return prepare_insert(m, c);
}

/* The row's values, references translated. */
static int bind_row(struct merging *m, const struct copy *c, sqlite3_stmt *to)
{
	sqlite3_clear_bindings(to);
	for (int i = 0; i < c->columns; i++) {
		sqlite3_value *v = sqlite3_column_value(c->select, i);
		const struct pair *p;

		if (i + 1 > sqlite3_bind_parameter_count(to))
			break;
		if (c->refers[i] == MAP_NONE || sqlite3_value_type(v) == SQLITE_NULL) {
			sqlite3_bind_value(to, i + 1, v);
			continue;
		}
		p = map_find(&m->maps[c->refers[i]], sqlite3_value_int64(v));
		if (!p) {
			snprintf(m->why, m->why_size, "%s: a row refers to %s %lld, which is not there",
				 c->table->name, sqlite3_column_name(c->select, i),
				 (long long)sqlite3_value_int64(v));
			return -1;
		}
		sqlite3_bind_int64(to, i + 1, p->to);
	}
	return 0;
}

static int copy_row(struct merging *m, const struct copy *c)
{
	int64_t id = 0;
	int rc, found = 0;

	if (c->find) {
		if (bind_row(m, c, c->find))
			return -1;
		found = sqlite3_step(c->find) == SQLITE_ROW;
		id = found ? sqlite3_column_int64(c->find, 0) : 0;
		sqlite3_reset(c->find);
	}
	if (!found) {
		if (bind_row(m, c, c->insert))
			return -1;
		rc = sqlite3_step(c->insert);
		sqlite3_reset(c->insert);
		if (rc != SQLITE_DONE)
			return merge_fail(m, m->to, c->table->name);
		id = sqlite3_last_insert_rowid(m->to);
	}
	if (c->table->own != MAP_NONE &&
	    map_add(&m->maps[c->table->own], sqlite3_column_int64(c->select, c->id), id)) {
		snprintf(m->why, m->why_size, "out of memory");
		return -1;
	}
	return 0;
}

static int copy_table(struct merging *m, const struct table *table, int64_t run)
{
	struct copy c = { .table = table };
	int rc = prepare_copy(m, &c, run), step = SQLITE_DONE;

	if (table->own != MAP_NONE)
		m->maps[table->own].n = 0;
	while (!rc && (step = sqlite3_step(c.select)) == SQLITE_ROW)
		rc = copy_row(m, &c);
	if (!rc && step != SQLITE_DONE)
		rc = merge_fail(m, m->from, table->name);
	sqlite3_finalize(c.select);
	sqlite3_finalize(c.insert);
	sqlite3_finalize(c.find);
	return rc;
}

/* ---- runs ---- */

/* One start of pkrun, wherever it was copied to: when, with which seed, by what
 * command, on which host; and the first process that it started, once there is one. */
#define FIRST_PID "(SELECT b.pid FROM block b JOIN cell c ON c.id = b.cell_id WHERE c.run_id = run.id" \
	" ORDER BY b.position, b.id LIMIT 1)"
#define IDENTITY "started_utc, seed, argv, matrix_text, pkrun_version," \
	" coalesce((SELECT value FROM environment e WHERE e.run_id = run.id AND e.key = 'host'), '')"
#define EXTENT "(SELECT count(*) FROM trial t JOIN cell c ON c.id = t.cell_id WHERE c.run_id = run.id)," \
	" (SELECT count(*) FROM block b JOIN cell c ON c.id = b.cell_id WHERE c.run_id = run.id)," \
	" status = 'complete'"

static const char look_at[] = "SELECT " IDENTITY ", " FIRST_PID ", " EXTENT " FROM run WHERE id = ?1";
static const char look_for[] = "SELECT id, " EXTENT " FROM run WHERE (" IDENTITY ") = (?1,?2,?3,?4,?5,?6)"
	" AND coalesce(" FIRST_PID " = ?7, 1)";

static int delete_run(struct merging *m, int64_t run)
{
	static const char *const statements[] = {
		"DELETE FROM metric WHERE " OF_CELLS, "DELETE FROM trial WHERE " OF_CELLS,
		"DELETE FROM block WHERE " OF_CELLS, "DELETE FROM param WHERE " OF_CELLS,
		"DELETE FROM event WHERE run_id = ?1 OR " OF_CELLS, "DELETE FROM cell WHERE run_id = ?1",
		"DELETE FROM environment WHERE run_id = ?1", "DELETE FROM run WHERE id = ?1",
	};

	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
		sqlite3_stmt *st = NULL;
		int rc = prepare(m, m->to, &st, statements[i]);

		if (!rc) {
			sqlite3_bind_int64(st, 1, run);
			if (sqlite3_step(st) != SQLITE_DONE)
				rc = merge_fail(m, m->to, statements[i]);
		}
		sqlite3_finalize(st);
		if (rc)
			return -1;
	}
	return 0;
}

/* *old: the number of this run in the target, 0 if it is not there; *more: the source has more of it. */
static int find_run(struct merging *m, int64_t run, int64_t *old, int *more)
{
	sqlite3_stmt *at = NULL, *of = NULL;
	int rc = prepare(m, m->from, &at, look_at) || prepare(m, m->to, &of, look_for) ? -1 : 0;

	*old = 0;
	*more = 0;
	if (!rc) {
		sqlite3_bind_int64(at, 1, run);
		if (sqlite3_step(at) != SQLITE_ROW)
			rc = merge_fail(m, m->from, "run");
	}
	if (!rc) {
		for (int i = 0; i < 7; i++)
			sqlite3_bind_value(of, i + 1, sqlite3_column_value(at, i));
		rc = sqlite3_step(of);
		if (rc == SQLITE_ROW) {
			*old = sqlite3_column_int64(of, 0);
			/* trials, blocks, complete */
			for (int i = 0; i < 3; i++)
				*more |= sqlite3_column_int64(at, 7 + i) > sqlite3_column_int64(of, 1 + i);
		}
		rc = rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : merge_fail(m, m->to, "run");
	}
	sqlite3_finalize(at);
	sqlite3_finalize(of);
	return rc;
}

static int merge_run(struct merging *m, int64_t run, struct merge_count *count)
{
	int64_t old;
	int more;

	if (find_run(m, run, &old, &more))
		return -1;
	if (old && !more) {
		count->present++;
		return 0;
	}
	if (old && delete_run(m, old))
		return -1;
	for (size_t i = 0; i < sizeof(run_tables) / sizeof(run_tables[0]); i++)
		if (copy_table(m, &run_tables[i], run))
			return -1;
	if (old)
		count->updated++;
	else
		count->added++;
	return 0;
}

static int merge_all(struct merging *m, struct merge_count *count)
{
	sqlite3_stmt *runs = NULL;
	int rc = prepare(m, m->from, &runs, "SELECT id FROM run ORDER BY id"), step = SQLITE_DONE;

	while (!rc && (step = sqlite3_step(runs)) == SQLITE_ROW)
		rc = merge_run(m, sqlite3_column_int64(runs, 0), count);
	if (!rc && step != SQLITE_DONE)
		rc = merge_fail(m, m->from, "run");
	sqlite3_finalize(runs);
	for (size_t i = 0; !rc && i < sizeof(file_tables) / sizeof(file_tables[0]); i++)
		rc = copy_table(m, &file_tables[i], 1);
	return rc;
}

int merge(struct store *to, struct store *from, struct merge_count *count, char *why, size_t why_size)
{
	struct merging m = { .to = store_db(to), .from = store_db(from), .why = why,
			     .why_size = why_size };
	struct merge_count got = { 0, 0, 0 };
	int rc = -1;

	if (store_begin(to)) {
		snprintf(why, why_size, "%s", store_error(to));
		return -1;
	}
	if (merge_all(&m, &got)) {
		store_rollback(to);
	} else if (store_commit(to)) {
		snprintf(why, why_size, "%s", store_error(to));
	} else {
		*count = got;
		rc = 0;
	}
	for (int i = 0; i < MAPS; i++)
		free(m.maps[i].pairs);
	return rc;
}
