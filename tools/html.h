/* SPDX-License-Identifier: MIT
 *
 * html.h - pieces of a page: text that cannot become markup, tables that sort,
 * figures drawn into the page.
 */
#ifndef PKRUN_HTML_H
#define PKRUN_HTML_H

#include <stdio.h>
#include "../db/store.h"

/* Whole text, escaped; control characters are shown as such. */
void html_text(FILE *out, const char *text);
/* A <pre> of text as it is, lines and all. */
void html_pre(FILE *out, const char *text);

/* A table row by row.  Cells are written in the order of the columns; with
 * `number` a column is right-aligned and sorts by value. */
struct html_column { const char *name; int number; };
void html_table_begin(FILE *out, const char *id, const struct html_column *columns, size_t n, int filter);
void html_row_begin(FILE *out, const char *class);	/* class: NULL or one word */
void html_cell_text(FILE *out, const char *text, const char *class);
/* shown: what to print; value: what to sort by, NAN for unknown. */
void html_cell_number(FILE *out, const char *shown, double value);
void html_row_end(FILE *out);
void html_table_end(FILE *out);

/* The rows of a query as a sortable table, and below it the query itself.  Columns that end in
 * _ns are shown with a unit.  Returns the number of rows, or -1 with store_error(). */
int html_query(FILE *out, struct store *s, const char *id, const char *sql, int filter);
void html_sql(FILE *out, const char *sql, const char *note);

/* A figure's script drawn by gnuplot, as <svg> in the page; prefix keeps its ids apart.
 * 0, or -1 and the reason. */
int html_figure(FILE *out, const char *script, int width, int height, const char *prefix,
		const char *caption, char *why, size_t why_size);

#endif
