/* SPDX-License-Identifier: MIT
 *
 * resume.c - what a run that was cut short has already measured.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "resume.h"

#define STOP 7	/* a row was enough */

static void copy(char *out, size_t size, const char *text)
{
	snprintf(out, size, "%s", text ? text : "");
}

static int take_run(void *user, const struct store_row *row)
{
	struct resume_run *r = user;

	r->id = row->integer[0];
	r->cells = row->integer[1];
	r->seed = strtoull(row->text[2], NULL, 10);
	r->quick = (int)row->integer[3];
	copy(r->status, sizeof(r->status), row->text[4]);
	copy(r->pkrun_version, sizeof(r->pkrun_version), row->text[5]);
	copy(r->git_state, sizeof(r->git_state), row->text[6]);
	r->instrumented = strdup(row->text[7] ? row->text[7] : "");
	copy(r->settings, sizeof(r->settings), row->text[8]);
	copy(r->process, sizeof(r->process), row->text[9]);
	return r->instrumented ? STOP : -1;
}

int resume_find(struct store *s, const char *matrix_text, struct resume_run *out)
{
	static const char sql[] =
		"SELECT id, cells, seed, quick, status, pkrun_version, git_state, instrumented,"
		" (SELECT value FROM environment WHERE run_id = run.id AND key = 'settings'),"
		" (SELECT value FROM environment WHERE run_id = run.id AND key = 'process')"
		" FROM run WHERE matrix_text = ?1 ORDER BY id DESC LIMIT 1";
	int rc = store_query(s, sql, &matrix_text, 1, take_run, out);

	return rc == STOP ? 1 : rc;
}

struct cells {
	int (*fn)(void *user, const struct resume_cell *c);
	void *user;
};

static int64_t integer(const struct store_row *row, int column)
{
	return row->text[column] ? row->integer[column] : STORE_NULL;
}

static int take_cell(void *user, const struct store_row *row)
{
	struct cells *to = user;
	const struct resume_cell c = {
		.number = row->integer[0], .id = row->integer[1], .plugin = integer(row, 2),
		.device = integer(row, 3), .iterations = integer(row, 4), .series = row->text[5],
		.status = row->text[6], .key = row->text[7],
	};

	return to->fn(to->user, &c);
}

int resume_cells(struct store *s, int64_t run, int (*fn)(void *user, const struct resume_cell *c),
		 void *user)
{
	struct cells to = { fn, user };
	char id[32];
	const char *params[] = { id };

	snprintf(id, sizeof(id), "%" PRId64, run);
	return store_query(s, "SELECT number, id, plugin_id, device_id, iterations, series, status, key"
			   " FROM cell WHERE run_id = CAST(?1 AS INTEGER) ORDER BY number",
			   params, 1, take_cell, &to);
}

struct blocks {
	int (*fn)(void *user, const struct resume_block *b);
	void *user;
};

static int take_block(void *user, const struct store_row *row)
{
	struct blocks *to = user;
	const struct resume_block b = {
		.cell = row->integer[0], .number = row->integer[1], .attempt = row->integer[2],
		.done = row->integer[3] == 1, .median = row->text[4] ? row->real[4] : NAN,
		.seconds = row->real[5],
	};

	return to->fn(to->user, &b);
}

int resume_blocks(struct store *s, int64_t run, int (*fn)(void *user, const struct resume_block *b),
		  void *user)
{
	static const char sql[] =
		"SELECT c.number, b.number, b.attempt, b.status = 'ok', t.median_ns, w.ns / 1e9"
		" FROM block b JOIN cell c ON c.id = b.cell_id LEFT JOIN block_time t ON t.block_id = b.id"
		" LEFT JOIN (SELECT block_id, total(wall_ns) AS ns FROM trial GROUP BY block_id) w ON w.block_id = b.id"
		" WHERE c.run_id = CAST(?1 AS INTEGER) ORDER BY c.number, b.number, b.attempt";
	struct blocks to = { fn, user };
	char id[32];
	const char *params[] = { id };

	snprintf(id, sizeof(id), "%" PRId64, run);
	return store_query(s, sql, params, 1, take_block, &to);
}

static int take_position(void *user, const struct store_row *row)
{
	*(int64_t *)user = row->integer[0];
	return STOP;
}

int resume_position(struct store *s, int64_t run, int64_t *out)
{
	char id[32];
	const char *params[] = { id };
	int rc;

	snprintf(id, sizeof(id), "%" PRId64, run);
	rc = store_query(s, "SELECT coalesce(max(b.position) + 1, 0) FROM block b JOIN cell c ON c.id = b.cell_id"
			 " WHERE c.run_id = CAST(?1 AS INTEGER)", params, 1, take_position, out);
	return rc == STOP ? 0 : -1;
}
