/* SPDX-License-Identifier: MIT
 *
 * table.h - a table of texts for people: columns line up, it fits the given
 * width, and what is cut is marked.  Where there is no width, nothing is cut.
 */
#ifndef PKRUN_TABLE_H
#define PKRUN_TABLE_H

#include <stddef.h>
#include <stdio.h>

#define TABLE_COLUMNS 64
#define TABLE_CELL 160		/* a column is not padded beyond this, though one cell may be longer */

struct table_column {
	const char *name;
	int right;		/* numbers */
	int drop;		/* 0: always shown; else the higher, the sooner it goes when room is short */
	int hidden;		/* nobody needs it here */
	int wrap;		/* what tells rows apart: goes on in the next line before it is cut */
};

struct table {
	int n_columns;
	struct table_column columns[TABLE_COLUMNS];
	size_t n_cells, room;
	char **cells;		/* row by row; NULL: unknown */
	int failed;		/* out of memory on the way */
};

void table_init(struct table *t);
void table_column(struct table *t, const char *name, int right, int drop);
/* The next cell, row by row; copied. */
void table_add(struct table *t, const char *text);
void table_addf(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Hide columns in which every cell is NULL or empty. */
void table_hide_empty(struct table *t);
/* Rows first..last-1; width 0: as wide as it gets.  Returns how many columns went for lack of room. */
int table_print(const struct table *t, size_t first, size_t last, int width, FILE *out);
/* One text as Markdown: whole, and what it would take for markup is escaped. */
void table_markdown_text(const char *text, FILE *out);
void table_print_markdown(const struct table *t, size_t first, size_t last, FILE *out);
size_t table_rows(const struct table *t);
void table_free(struct table *t);

#endif
