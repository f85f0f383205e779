/* SPDX-License-Identifier: MIT
 *
 * table.c - tables for people.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "../core/say.h"
#include "table.h"

#define GAP 2
#define COMFORTABLE 16	/* a text column shrinks to this before a column goes */
#define NARROWEST 8	/* and to this when none can go */

void table_init(struct table *t)
{
	memset(t, 0, sizeof(*t));
}

void table_column(struct table *t, const char *name, int right, int drop)
{
	if (t->n_columns < TABLE_COLUMNS)
		t->columns[t->n_columns++] = (struct table_column){ name, right, drop, 0 };
}

void table_add(struct table *t, const char *text)
{
	if (t->n_cells == t->room) {
		size_t room = t->room ? 2 * t->room : 64;
		char **cells = realloc(t->cells, room * sizeof(*cells));

		if (!cells) {
			t->failed = 1;
			return;
		}
		t->cells = cells;
		t->room = room;
	}
	t->cells[t->n_cells] = text ? strdup(text) : NULL;
	if (text && !t->cells[t->n_cells])
		t->failed = 1;
	t->n_cells++;
}

void table_addf(struct table *t, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	table_add(t, text);
}

size_t table_rows(const struct table *t)
{
	return t->n_columns ? t->n_cells / (size_t)t->n_columns : 0;
}

static const char *table_cell(const struct table *t, size_t row, int column)
{
	const char *text = t->cells[row * (size_t)t->n_columns + (size_t)column];

	return text ? text : "";
}

void table_hide_empty(struct table *t)
{
	size_t rows = table_rows(t), r;

	for (int c = 0; c < t->n_columns; c++) {
		for (r = 0; r < rows && !*table_cell(t, r, c); r++)
			;
		if (r == rows)
			t->columns[c].hidden = 1;
	}
}

/* Take from the widest text until it fits or all are as narrow as `floor`. */
static int table_shrink(const struct table *t, int width, int total, int floor, int *w)
{
	int most = 0;

	while (total > width && most >= 0) {
		most = -1;
		for (int c = 0; c < t->n_columns; c++)
			if (!t->columns[c].right && w[c] > floor && (most < 0 || w[c] > w[most]))
				most = c;
		if (most >= 0)
			w[most]--, total--;
	}
	return total;
}

/* The shown column that is missed least, -1 if all must stay. */
static int table_least(const struct table *t, const int *w)
{
	int least = -1;

	for (int c = 0; c < t->n_columns; c++)
		if (w[c] && t->columns[c].drop &&
		    (least < 0 || t->columns[c].drop > t->columns[least].drop))
			least = c;
	return least;
}

/* Of all rows, so that parts of a table line up.  Natural widths, then shrink the widest texts, then leave columns out. */
static int table_widths(const struct table *t, int width, int *w)
{
	size_t rows = table_rows(t);
	int total = -GAP, dropped = 0, c, most;

	for (c = 0; c < t->n_columns; c++) {
		int limit = t->columns[c].prose ? TABLE_PROSE : TABLE_CELL;

		w[c] = t->columns[c].hidden ? 0 : say_columns(t->columns[c].name);
		for (size_t r = 0; r < rows && !t->columns[c].hidden; r++) {
			int n = say_columns(table_cell(t, r, c));

			if (n > w[c])
				w[c] = n > limit ? limit : n;
		}
		total += w[c] ? w[c] + GAP : 0;
	}
	for (int floor = COMFORTABLE; width && total > width; floor = NARROWEST) {
		total = table_shrink(t, width, total, floor, w);
		while (total > width && (most = table_least(t, w)) >= 0) {
			total -= w[most] + GAP;
			w[most] = 0;
			dropped++;
		}
		if (floor == NARROWEST)
			break;
	}
	return dropped;
}

static void table_put(const char *text, int width, int right, int is_last, FILE *out)
{
	char safe[8 * TABLE_PROSE];
	int pad;

	say_text(text, width, safe, sizeof(safe));
	pad = width - say_columns(safe);
	if (right)
		fprintf(out, "%*s%s", pad, "", safe);
	else
		fprintf(out, "%s%*s", safe, is_last ? 0 : pad, "");
	if (!is_last)
		fprintf(out, "%*s", GAP, "");
}

int table_print(const struct table *t, size_t first, size_t last, int width, FILE *out)
{
	int w[TABLE_COLUMNS], dropped = table_widths(t, width, w), end = -1;

	for (int c = 0; c < t->n_columns; c++)
		if (w[c])
			end = c;
	for (int c = 0; c <= end; c++)
		if (w[c])
			table_put(t->columns[c].name, w[c], t->columns[c].right, c == end, out);
	fputc('\n', out);
	for (int c = 0; c <= end; c++) {
		for (int i = 0; i < w[c]; i++)
			fputc('-', out);
		if (w[c])
			fprintf(out, "%*s", c == end ? 0 : GAP, "");
	}
	fputc('\n', out);
	for (size_t r = first; r < last; r++) {
		for (int c = 0; c <= end; c++)
			if (w[c])
				table_put(table_cell(t, r, c), w[c], t->columns[c].right, c == end, out);
		fputc('\n', out);
	}
	return dropped;
}

/* Whole texts; what Markdown would take for markup is escaped. */
static void table_put_markdown(const char *text, FILE *out)
{
	char *safe = malloc(8 * strlen(text) + 8);

	fputs("| ", out);
	if (safe) {
		say_text(text, 0, safe, 8 * strlen(text) + 8);
		for (const char *p = safe; *p; p++) {
			if (strchr("|\\`*_<>[]", *p))
				fputc('\\', out);
			fputc(*p, out);
		}
	}
	fputc(' ', out);
	free(safe);
}

void table_print_markdown(const struct table *t, size_t first, size_t last, FILE *out)
{
	for (int c = 0; c < t->n_columns; c++)
		if (!t->columns[c].hidden)
			table_put_markdown(t->columns[c].name, out);
	fputs("|\n", out);
	for (int c = 0; c < t->n_columns; c++)
		if (!t->columns[c].hidden)
			fputs(t->columns[c].right ? "| ---: " : "| --- ", out);
	fputs("|\n", out);
	for (size_t r = first; r < last; r++) {
		for (int c = 0; c < t->n_columns; c++)
			if (!t->columns[c].hidden)
				table_put_markdown(table_cell(t, r, c), out);
		fputs("|\n", out);
	}
}

void table_free(struct table *t)
{
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cells[i]);
	free(t->cells);
	table_init(t);
}
