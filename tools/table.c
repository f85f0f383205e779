/* SPDX-License-Identifier: MIT
 *
 * table.c - tables for people.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "../core/say.h"
#include "table.h"

#define GAP 2
#define WORD 24		/* a longer word than this may be cut when room is short */

/* How a table gets narrower, step by step: texts shrink to `cut`, those that wrap to `wrap` (and not
 * below their longest word while `words`), then the columns of at least `drop` go. */
static const struct step { int cut, wrap, words, drop; } steps[] = {
	{ 24, 48, 1, 5 }, { 16, 24, 1, 4 }, { 8, 16, 1, 2 }, { 8, 8, 0, 1 },
};

void table_init(struct table *t)
{
	memset(t, 0, sizeof(*t));
}

void table_column(struct table *t, const char *name, int right, int drop)
{
	if (t->n_columns < TABLE_COLUMNS)
		t->columns[t->n_columns++] = (struct table_column){ name, right, drop, 0, 0 };
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

/* Bytes to the end of the first word of a text, its space with it. */
static size_t table_word(const char *text)
{
	size_t n = strcspn(text, " ");

	return n + strspn(text + n, " ");
}

static int table_longest_word(const struct table *t, int column)
{
	size_t rows = table_rows(t);
	int longest = 0;

	for (size_t r = 0; r < rows; r++) {
		const char *text = table_cell(t, r, column);

		for (size_t n; *text; text += n) {
			char word[WORD + 1];

			n = table_word(text);
			snprintf(word, sizeof(word), "%.*s", (int)strcspn(text, " "), text);
			if (say_columns(word) > longest)
				longest = say_columns(word);
		}
	}
	return longest;
}

/* Take from the widest text until it fits or each is at its floor. */
static int table_shrink(const struct table *t, int width, int total, const int *floors, int *w)
{
	int most = 0;

	while (total > width && most >= 0) {
		most = -1;
		for (int c = 0; c < t->n_columns; c++)
			if (!t->columns[c].right && w[c] > floors[c] && (most < 0 || w[c] > w[most]))
				most = c;
		if (most >= 0)
			w[most]--, total--;
	}
	return total;
}

/* The shown column that is missed least and may go now, -1 if there is none. */
static int table_least(const struct table *t, int drop, const int *w)
{
	int least = -1;

	for (int c = 0; c < t->n_columns; c++)
		if (w[c] && t->columns[c].drop >= drop &&
		    (least < 0 || t->columns[c].drop > t->columns[least].drop))
			least = c;
	return least;
}

/* What is left over after a column went, to those that shrank; the narrowest first. */
static void table_grow(const struct table *t, int room, const int *natural, int *w)
{
	for (int least = 0; room > 0 && least >= 0; room--) {
		least = -1;
		for (int c = 0; c < t->n_columns; c++)
			if (w[c] && w[c] < natural[c] && (least < 0 || w[c] < w[least]))
				least = c;
		if (least >= 0)
			w[least]++;
	}
}

/* Make it fit `width`; returns how many columns went for that. */
static int table_fit(const struct table *t, int width, int total, int *w)
{
	int floors[TABLE_COLUMNS], words[TABLE_COLUMNS], natural[TABLE_COLUMNS], dropped = 0, least;

	memcpy(natural, w, (size_t)t->n_columns * sizeof(*w));
	for (int c = 0; c < t->n_columns; c++)
		words[c] = t->columns[c].wrap && total > width ? table_longest_word(t, c) : 0;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && total > width; i++) {
		const struct step *s = &steps[i];

		for (int c = 0; c < t->n_columns; c++) {
			floors[c] = t->columns[c].wrap ? s->wrap : s->cut;
			if (s->words && words[c] > floors[c])
				floors[c] = words[c];
		}
		total = table_shrink(t, width, total, floors, w);
		while (total > width && (least = table_least(t, s->drop, w)) >= 0) {
			total -= w[least] + GAP;
			w[least] = 0;
			dropped++;
		}
	}
	table_grow(t, width - total, natural, w);
	return dropped;
}

/* Of all rows, so that parts of a table line up: natural widths, less where that is too wide. */
static int table_widths(const struct table *t, int width, int *w)
{
	size_t rows = table_rows(t);
	int total = -GAP;

	for (int c = 0; c < t->n_columns; c++) {
		w[c] = t->columns[c].hidden ? 0 : say_columns(t->columns[c].name);
		for (size_t r = 0; r < rows && !t->columns[c].hidden; r++) {
			int n = say_columns(table_cell(t, r, c));

			if (n > w[c])
				w[c] = n > TABLE_CELL ? TABLE_CELL : n;
		}
		total += w[c] ? w[c] + GAP : 0;
	}
	return width ? table_fit(t, width, total, w) : 0;
}

/* `length` bytes of a text, cut at `cut` columns (0: never) and padded to `width`. */
static void table_put(const char *text, size_t length, int cut, int width, int right, int is_last,
		      FILE *out)
{
	char *piece = strndup(text, length), *safe = malloc(8 * length + 8);
	int pad;

	if (piece && safe) {
		say_text(piece, cut, safe, 8 * length + 8);
		pad = width > say_columns(safe) ? width - say_columns(safe) : 0;
		if (right)
			fprintf(out, "%*s%s", pad, "", safe);
		else
			fprintf(out, "%s%*s", safe, is_last ? 0 : pad, "");
		if (!is_last)
			fprintf(out, "%*s", GAP, "");
	}
	free(piece);
	free(safe);
}

/* Bytes of the words, or of the parts of one that '_' ends, that fit `width`; 0: not even one. */
static size_t table_fitting(const char *text, int width, const char *ends)
{
	size_t fits = 0, n;
	char piece[8 * TABLE_CELL];

	for (size_t i = strcspn(text, ends); text[i]; i += 1 + strcspn(text + i + 1, ends)) {
		n = text[i] == ' ' ? i : i + 1;
		if (n >= sizeof(piece))
			break;
		snprintf(piece, sizeof(piece), "%.*s", (int)n, text);
		if (say_columns(piece) > width)
			break;
		fits = i + 1;
	}
	return fits;
}

/* Bytes of a text for one line of a column that wraps. */
static size_t table_line(const char *text, int width)
{
	size_t n;

	if (say_columns(text) <= width)
		return strlen(text);
	n = table_fitting(text, width, " ");
	if (!n)
		n = table_fitting(text, width, "_ ");
	return n ? n : table_word(text);
}

/* A row takes as many lines as its longest wrapped text. */
static void table_put_row(const struct table *t, size_t row, const int *w, int end, int width, FILE *out)
{
	const char *rest[TABLE_COLUMNS];
	int more = 1, last = end;

	for (int c = 0; c <= end; c++)
		rest[c] = table_cell(t, row, c);
	while (more) {
		more = 0;
		for (int c = 0; c <= last; c++) {
			int wraps = width && t->columns[c].wrap;
			size_t n = wraps ? table_line(rest[c], w[c]) : strlen(rest[c]);

			if (!w[c])
				continue;
			table_put(rest[c], wraps && n && rest[c][n - 1] == ' ' ? n - 1 : n, width ? w[c] : 0,
				  w[c], t->columns[c].right, c == last, out);
			rest[c] += n;
			more |= *rest[c] != 0;
		}
		fputc('\n', out);
		while (more && last > 0 && (!w[last] || !*rest[last]))
			last--;
	}
}

int table_print(const struct table *t, size_t first, size_t last, int width, FILE *out)
{
	int w[TABLE_COLUMNS], dropped = table_widths(t, width, w), end = -1;

	for (int c = 0; c < t->n_columns; c++)
		if (w[c])
			end = c;
	for (int c = 0; c <= end; c++)
		if (w[c])
			table_put(t->columns[c].name, strlen(t->columns[c].name), w[c], w[c],
				  t->columns[c].right, c == end, out);
	fputc('\n', out);
	for (int c = 0; c <= end; c++) {
		for (int i = 0; i < w[c]; i++)
			fputc('-', out);
		if (w[c])
			fprintf(out, "%*s", c == end ? 0 : GAP, "");
	}
	fputc('\n', out);
	for (size_t r = first; r < last; r++)
		table_put_row(t, r, w, end, width, out);
	return dropped;
}

void table_markdown_text(const char *text, FILE *out)
{
	char *safe = malloc(8 * strlen(text) + 8);

	if (safe) {
		say_text(text, 0, safe, 8 * strlen(text) + 8);
		for (const char *p = safe; *p; p++) {
			if (strchr("|\\`*_<>[]", *p))
				fputc('\\', out);
			fputc(*p, out);
		}
	}
	free(safe);
}

static void table_put_markdown(const char *text, FILE *out)
{
	fputs("| ", out);
	table_markdown_text(text, out);
	fputc(' ', out);
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
