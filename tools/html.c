/* SPDX-License-Identifier: MIT
 *
 * html.c - pieces of a page.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sqlite3.h>
#include "../core/say.h"
#include "draw.h"
#include "html.h"
#include "rows.h"

static void html_escaped(FILE *out, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*text, out);
		}
}

void html_text(FILE *out, const char *text)
{
	size_t size = 8 * strlen(text) + 8;
	char *safe = malloc(size);

	if (safe)
		html_escaped(out, say_text(text, 0, safe, size));
	free(safe);
}

void html_pre(FILE *out, const char *text)
{
	const char *end;
	char *line;

	fputs("<pre>", out);
	for (; *text; text = *end ? end + 1 : end) {
		end = text + strcspn(text, "\n");
		line = strndup(text, (size_t)(end - text));
		if (line) {
			for (char *tab = line; (tab = strchr(tab, '\t')); )
				*tab = ' ';
			html_text(out, line);
		}
		free(line);
		fputc('\n', out);
	}
	fputs("</pre>\n", out);
}

/* ---- tables ---- */

void html_table_begin(FILE *out, const char *id, const struct html_column *columns, size_t n, int filter)
{
	if (filter)
		fprintf(out, "<input class=filter type=search placeholder=\"filter rows\" aria-label=\"filter rows\""
			" data-table=\"%s\">\n", id);
	fprintf(out, "<div class=scroll><table class=sortable id=\"%s\"><thead><tr>", id);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "<th%s><button type=button>", columns[i].number ? " class=number" : "");
		html_text(out, columns[i].name);
		fputs("</button></th>", out);
	}
	fputs("</tr></thead><tbody>\n", out);
}

void html_row_begin(FILE *out, const char *class)
{
	fprintf(out, class ? "<tr class=%s>" : "<tr>", class);
}

void html_cell_text(FILE *out, const char *text, const char *class)
{
	if (!class && text && strlen(text) > 32)
		class = "long";
	fprintf(out, class ? "<td class=%s>" : "<td>", class);
	if (text)
		html_text(out, text);
	fputs("</td>", out);
}

void html_cell_number(FILE *out, const char *shown, double value)
{
	char raw[32];

	fprintf(out, "<td class=number data-v=\"%s\">", isfinite(value) ? rows_real_text(value, raw) : "");
	if (shown)
		html_text(out, shown);
	fputs("</td>", out);
}

void html_row_end(FILE *out)
{
	fputs("</tr>\n", out);
}

void html_table_end(FILE *out)
{
	fputs("</tbody></table></div>\n", out);
}

void html_sql(FILE *out, const char *sql, const char *note)
{
	fputs("<details><summary>the SQL behind it</summary>", out);
	if (note)
		fprintf(out, "<p class=small>%s</p>", note);
	html_pre(out, sql);
	fputs("</details>\n", out);
}

struct html_query {
	FILE *out;
	const char *id;
	int filter, rows;
	char is_time[TABLE_COLUMNS];
};

/* Which columns are numbers shows in the first row; the head comes with it. */
static void html_query_head(struct html_query *q, const struct store_row *row)
{
	struct html_column columns[TABLE_COLUMNS];
	char names[TABLE_COLUMNS][64];
	int n = row->columns < TABLE_COLUMNS ? row->columns : TABLE_COLUMNS;

	for (int i = 0; i < n; i++) {
		size_t length = strlen(row->names[i]);

		q->is_time[i] = length > 3 && !strcmp(row->names[i] + length - 3, "_ns");
		snprintf(names[i], sizeof(names[i]), "%.*s", (int)(q->is_time[i] ? length - 3 : length),
			 row->names[i]);
		for (char *c = names[i]; *c; c++)
			if (*c == '_')
				*c = ' ';
		columns[i].name = names[i];
		columns[i].number = q->is_time[i] || row->types[i] == SQLITE_INTEGER ||
				    row->types[i] == SQLITE_FLOAT;
	}
	html_table_begin(q->out, q->id, columns, (size_t)n, q->filter);
}

static int html_query_row(void *user, const struct store_row *row)
{
	struct html_query *q = user;
	char shown[32];

	if (!q->rows++)
		html_query_head(q, row);
	html_row_begin(q->out, NULL);
	for (int i = 0; i < row->columns && i < TABLE_COLUMNS; i++) {
		if (row->types[i] == SQLITE_NULL)
			html_cell_number(q->out, NULL, NAN);
		else if (q->is_time[i])
			html_cell_number(q->out, say_ns(row->real[i], shown), row->real[i]);
		else if (row->types[i] == SQLITE_INTEGER)
			html_cell_number(q->out, row->text[i], row->real[i]);
		else if (row->types[i] == SQLITE_FLOAT) {
			snprintf(shown, sizeof(shown), "%.4g", row->real[i]);
			html_cell_number(q->out, shown, row->real[i]);
		} else {
			html_cell_text(q->out, row->text[i], NULL);
		}
	}
	html_row_end(q->out);
	return ferror(q->out);
}

int html_query(FILE *out, struct store *s, const char *id, const char *sql, int filter)
{
	struct html_query q = { .out = out, .id = id, .filter = filter };

	if (store_query(s, sql, NULL, 0, html_query_row, &q) < 0)
		return -1;
	if (q.rows) {
		html_table_end(out);
		html_sql(out, sql, NULL);
	}
	return q.rows;
}

/* ---- figures ---- */

/* Ids of one figure must not meet those of another in the same page. */
static void html_svg(FILE *out, const char *svg, const char *prefix)
{
	static const char *const marks[] = { "id=\"", "id='", "href='#", "href=\"#", "url(#" };
	const char *start = strstr(svg, "<svg");
	size_t i;

	while (start && *start) {
		for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
			if (!strncmp(start, marks[i], strlen(marks[i])))
				break;
		if (i < sizeof(marks) / sizeof(marks[0])) {
			fprintf(out, "%s%s", marks[i], prefix);
			start += strlen(marks[i]);
		} else {
			fputc(*start++, out);
		}
	}
}

static char *html_read(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	if (!f)
		return NULL;
	if (getdelim(&text, &size, 0, f) < 0) {
		free(text);
		text = NULL;
	}
	fclose(f);
	return text;
}

int html_figure(FILE *out, const char *script, int width, int height, const char *prefix,
		const char *caption, char *why, size_t why_size)
{
	const char *tmp = getenv("TMPDIR");
	char path[4096], *svg = NULL;
	int fd, rc = -1;

	snprintf(path, sizeof(path), "%s/pkrun-XXXXXX.svg", tmp && *tmp ? tmp : "/tmp");
	fd = mkstemps(path, 4);
	if (fd < 0) {
		snprintf(why, why_size, "%s: %s", path, strerror(errno));
		return -1;
	}
	close(fd);
	if (!draw_file(path, width, height, script, why, why_size) && (svg = html_read(path))) {
		fputs("<figure><div class=scroll>", out);
		html_svg(out, svg, prefix);
		fputs("</div><figcaption>", out);
		html_text(out, caption);
		fputs("</figcaption></figure>\n", out);
		rc = 0;
	}
	unlink(path);
	free(svg);
	return rc;
}
