/* SPDX-License-Identifier: MIT
 *
 * rows.h - rows of values for programs (json, csv) or for people (table,
 * markdown), from one set of calls.
 *
 * csv after RFC 4180: NULL is an empty field, an empty text is "".  json: an
 * array of objects, one a line; what is no number is null.  Numbers are spelled
 * with as many digits as read back to the same value.
 */
#ifndef PKRUN_ROWS_H
#define PKRUN_ROWS_H

#include <stdint.h>
#include <stdio.h>
#include "../db/store.h"
#include "table.h"

enum show_format { SHOW_TABLE, SHOW_JSON, SHOW_CSV, SHOW_MARKDOWN };

/* "table", "json", "csv" or "markdown": 0, or -1 for any other word. */
int show_format_parse(const char *text, enum show_format *out);

struct rows {
	FILE *out;
	enum show_format format;
	int columns, at;		/* next column */
	const char *const *names;	/* lent until rows_end */
	int64_t count;			/* rows so far */
	struct table table;
};

void rows_begin(struct rows *r, FILE *out, enum show_format format, const char *const *names, int n);
void rows_text(struct rows *r, const char *text);	/* NULL: unknown */
void rows_real(struct rows *r, double value);		/* NAN: unknown */
void rows_int(struct rows *r, int64_t value);		/* STORE_NULL: unknown */
void rows_list(struct rows *r, const char *words);	/* "a,b": an array in json, else as it is */
/* Ends the output: 0, or -1 when something could not be written (errno) or kept. */
int rows_end(struct rows *r, int width);

/* Every row of a query: 0, or -1 with store_error(); *failed is set when the output broke instead. */
int rows_query(struct store *s, const char *sql, const char *const *params, int n_params,
	       enum show_format format, int width, FILE *out, int *failed);

/* One text with its quotes, as JSON wants it (bytes that are no UTF-8 become U+FFFD). */
void rows_json_text(FILE *out, const char *text);
/* The shortest decimal that reads back to the same number. */
const char *rows_real_text(double value, char buf[32]);

#endif
