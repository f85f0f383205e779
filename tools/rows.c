/* SPDX-License-Identifier: MIT
 *
 * rows.c - values to csv, json, tables and markdown.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sqlite3.h>
#include "rows.h"

int show_format_parse(const char *text, enum show_format *out)
{
	static const char *const names[] = { "table", "json", "csv", "markdown" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(text, names[i])) {
			*out = (enum show_format)i;
			return 0;
		}
	return -1;
}

const char *rows_real_text(double value, char buf[32])
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(buf, 32, "%.*g", digits, value);
		if (strtod(buf, NULL) == value)
			break;
	}
	return buf;
}

/* Length of the UTF-8 character at s, 0 if it is none. */
static int utf8_length(const unsigned char *s)
{
	int n = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;

	for (int i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

void rows_json_text(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	fputc('"', out);
	while (*s) {
		int n = utf8_length(s);

		if (!n)
			fputs("\\ufffd", out);
		else if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (*s < 0x20 || *s == 0x7f)
			fprintf(out, "\\u%04x", *s);
		else
			fwrite(s, 1, (size_t)n, out);
		s += n ? n : 1;
	}
	fputc('"', out);
}

static void rows_csv_text(FILE *out, const char *text)
{
	if (*text && !strpbrk(text, ",\"\r\n") && *text != ' ' && text[strlen(text) - 1] != ' ') {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

void rows_begin(struct rows *r, FILE *out, enum show_format format, const char *const *names, int n)
{
	memset(r, 0, sizeof(*r));
	r->out = out;
	r->format = format;
	r->names = names;
	r->columns = n;
	table_init(&r->table);
	for (int i = 0; i < n && i < TABLE_COLUMNS; i++)
		table_column(&r->table, names[i], 0, 0);
	for (int i = 0; i < n && format == SHOW_CSV; i++) {
		rows_csv_text(out, names[i]);
		fputs(i + 1 < n ? "," : "\r\n", out);
	}
	if (format == SHOW_JSON)
		fputc('[', out);
}

/* What stands before a value and after it. */
static void rows_before(struct rows *r)
{
	if (r->format != SHOW_JSON)
		return;
	if (r->at == 0)
		fputs(r->count ? ",\n {" : "\n {", r->out);
	rows_json_text(r->out, r->names[r->at]);
	fputs(": ", r->out);
}

static void rows_after(struct rows *r)
{
	int last = ++r->at == r->columns;

	if (r->format == SHOW_JSON)
		fputs(last ? "}" : ", ", r->out);
	else if (r->format == SHOW_CSV)
		fputs(last ? "\r\n" : ",", r->out);
	if (last)
		r->count++, r->at = 0;
}

static void rows_put(struct rows *r, const char *text, int is_number)
{
	int people = r->format == SHOW_TABLE || r->format == SHOW_MARKDOWN;

	rows_before(r);
	if (people && r->at < TABLE_COLUMNS)
		table_add(&r->table, text);
	else if (r->format == SHOW_JSON && (!text || is_number))
		fputs(text ? text : "null", r->out);
	else if (r->format == SHOW_JSON)
		rows_json_text(r->out, text);
	else if (r->format == SHOW_CSV && text && !is_number)
		rows_csv_text(r->out, text);
	else if (r->format == SHOW_CSV && text)
		fputs(text, r->out);
	if (is_number && r->at < TABLE_COLUMNS)
		r->table.columns[r->at].right = 1;
	rows_after(r);
}

void rows_text(struct rows *r, const char *text)
{
	rows_put(r, text, 0);
}

void rows_real(struct rows *r, double value)
{
	char buf[32];

	if (r->format == SHOW_TABLE && isinf(value))
		rows_put(r, value > 0 ? "Inf" : "-Inf", 1);
	else
		rows_put(r, isfinite(value) ? rows_real_text(value, buf) : NULL, 1);
}

void rows_int(struct rows *r, int64_t value)
{
	char buf[32];

	snprintf(buf, sizeof(buf), "%lld", (long long)value);
	rows_put(r, value == STORE_NULL ? NULL : buf, 1);
}

void rows_list(struct rows *r, const char *words)
{
	int n = 0;

	if (r->format != SHOW_JSON || !words) {
		rows_put(r, words, 0);
		return;
	}
	rows_before(r);
	fputc('[', r->out);
	while (*(words += strspn(words, ", "))) {
		char word[128];
		size_t length = strcspn(words, ", ");

		snprintf(word, sizeof(word), "%.*s", (int)length, words);
		fputs(n++ ? ", " : "", r->out);
		rows_json_text(r->out, word);
		words += length;
	}
	fputc(']', r->out);
	rows_after(r);
}

int rows_end(struct rows *r, int width)
{
	size_t rows = table_rows(&r->table);
	int failed = r->table.failed;

	if (r->format == SHOW_JSON)
		fputs(r->count ? "\n]\n" : "]\n", r->out);
	else if (r->format == SHOW_TABLE)
		table_print(&r->table, 0, rows, width, r->out);
	else if (r->format == SHOW_MARKDOWN)
		table_print_markdown(&r->table, 0, rows, r->out);
	table_free(&r->table);
	return fflush(r->out) || ferror(r->out) || failed ? -1 : 0;
}

/* ---- a query ---- */

struct rows_of_query {
	struct rows rows;
	FILE *out;
	enum show_format format;
	char **names;
	int n, begun;
};

/* Column names belong to the statement, which is gone when the table is printed. */
static int rows_head(void *user, const struct store_row *row)
{
	struct rows_of_query *q = user;
	int n = row->columns;

	q->names = calloc((size_t)n + 1, sizeof(*q->names));
	for (int i = 0; q->names && i < n; i++)
		q->names[i] = strdup(row->names[i] ? row->names[i] : "");
	q->n = n;
	for (int i = 0; i < n; i++)
		if (!q->names || !q->names[i])
			return 1;
	rows_begin(&q->rows, q->out, q->format, (const char *const *)q->names, n);
	q->begun = 1;
	return 0;
}

static int rows_one(void *user, const struct store_row *row)
{
	struct rows_of_query *q = user;

	for (int i = 0; i < row->columns; i++)
		if (row->types[i] == SQLITE_INTEGER)
			rows_put(&q->rows, row->text[i], 1);
		else if (row->types[i] == SQLITE_FLOAT)
			rows_real(&q->rows, row->real[i]);
		else
			rows_text(&q->rows, row->text[i]);
	return ferror(q->out) || q->rows.table.failed;
}

int rows_query(struct store *s, const char *sql, const char *const *params, int n_params,
	       enum show_format format, int width, FILE *out, int *failed)
{
	struct rows_of_query q = { .out = out, .format = format };
	int rc = store_select(s, sql, params, n_params, rows_head, rows_one, &q);

	*failed = rc > 0;
	if (q.begun && rows_end(&q.rows, width))
		*failed = 1;
	for (int i = 0; i < q.n; i++)
		free(q.names[i]);
	free(q.names);
	return rc < 0 || *failed ? -1 : 0;
}
