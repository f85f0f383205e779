/* SPDX-License-Identifier: MIT
 *
 * options.c - parse, check, spell and explain values by their row in an
 * option table.  All numbers are read and written in the C locale: a plugin
 * may have called setlocale() in this very process.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "options.h"

/* The rows that every variant has.  A shape or barrier that becomes available
 * is a word more here. */
const struct pkrun_option common_options[] = {
	{"threads", PKRUN_INT, offsetof(struct common_options, threads), "256", 1, 1024, NULL, NULL,
	 "threads of a block"},
	{"blocks", PKRUN_CHOICE, offsetof(struct common_options, blocks), "auto", 1, 1 << 30,
	 "auto|rows|capped|N|percu:N", NULL,
	 "blocks of the grid; rows: one per unit of work (row, tile, task); capped: as many of them as "
	 "can be co-resident; percu:N: N per compute unit; auto: the variant's choice"},
	{"sweep", PKRUN_CHOICE, offsetof(struct common_options, sweep), "auto", 0, 0,
	 "rows|tiles|bands|auto", NULL,
	 "how the work is divided between blocks; auto: the variant's choice, mostly rows"},
	{"tile", PKRUN_PAIR, offsetof(struct common_options, tile), "0x0", 0, 1 << 29, NULL, "point",
	 "rows x columns of a tile of sweep = tiles; 0: 37 rows, 27 columns"},
	{"check", PKRUN_INT, offsetof(struct common_options, check), "0", 0, 1e15, NULL, "iteration",
	 "a residual norm every so many iterations, as a solver looks at its progress; 0: never"},
	{NULL, 0, 0, NULL, 0, 0, NULL, NULL, NULL},
};

const struct pkrun_option *option_find(const struct pkrun_option *table, const char *name)
{
	for (; table && table->name; table++)
		if (!strcmp(table->name, name))
			return table;
	return NULL;
}

size_t option_value_size(uint32_t type)
{
	switch (type) {
	case PKRUN_INT:
		return sizeof(int64_t);
	case PKRUN_REAL:
		return sizeof(double);
	case PKRUN_BOOL:
		return sizeof(int32_t);
	case PKRUN_CHOICE:
		return sizeof(struct pkrun_choice);
	case PKRUN_PAIR:
		return 2 * sizeof(int64_t);
	case PKRUN_TEXT:
		return sizeof(const char *);
	}
	return 0;
}

static locale_t c_locale(void)
{
	static locale_t locale;

	if (!locale)
		locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	return locale;
}

/* "%.17g" is exact but ugly: the shortest of 15 to 17 digits that reads back equal. */
static void spell_real(double value, char *out, size_t out_size)
{
	locale_t before = uselocale(c_locale());

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(out, out_size, "%.*g", digits, value);
		if (strtod(out, NULL) == value)
			break;
	}
	uselocale(before);
}

/* The row's bounds for a message: integers as integers, however large. */
static void spell_bound(double bound, char *out, size_t out_size)
{
	if (bound >= 9223372036854775807.0 && bound < 1e19)
		snprintf(out, out_size, "%" PRId64, INT64_MAX);
	else if (bound == floor(bound) && fabs(bound) < 9007199254740992.0)
		snprintf(out, out_size, "%" PRId64, (int64_t)bound);
	else
		spell_real(bound, out, out_size);
}

static int bounded(const struct pkrun_option *row)
{
	return row->min != 0 || row->max != 0;
}

static int refuse_bounds(const struct pkrun_option *row, const char *text, char *why,
			 size_t why_size)
{
	char lo[40], hi[40];

	spell_bound(row->min, lo, sizeof lo);
	spell_bound(row->max, hi, sizeof hi);
	snprintf(why, why_size, "'%.60s' is outside %s..%s", text, lo, hi);
	return -1;
}

/* Optional sign and digits, nothing else: 0, or -1 with errno ERANGE or EINVAL. */
static int read_int(const char *text, int64_t *out)
{
	const char *digits = text + (*text == '-' || *text == '+');
	char *end;
	long long value;

	if (!*digits || digits[strspn(digits, "0123456789")]) {
		errno = EINVAL;
		return -1;
	}
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno)
		return -1;
	*out = value;
	return 0;
}

static int parse_int(const struct pkrun_option *row, const char *text, int64_t *out, char *why,
		     size_t why_size)
{
	int64_t value;

	if (read_int(text, &value)) {
		if (errno == ERANGE)
			snprintf(why, why_size, "'%.60s' does not fit in 64 bits", text);
		else
			snprintf(why, why_size, "'%.60s' is not an integer", text);
		return -1;
	}
	/* long double: an int64_t near the end of its range is not a double */
	if (bounded(row) && ((long double)value < (long double)row->min ||
			     (long double)value > (long double)row->max))
		return refuse_bounds(row, text, why, why_size);
	*out = value;
	return 0;
}

static int parse_real(const struct pkrun_option *row, const char *text, double *out, char *why,
		      size_t why_size)
{
	double value;
	char *end;

	/* strtod also takes hexadecimal, inf, nan and leading white space: not here */
	if (!*text || text[strspn(text, "0123456789+-.eE")]) {
		snprintf(why, why_size, "'%.60s' is not a number", text);
		return -1;
	}
	errno = 0;
	value = strtod_l(text, &end, c_locale());
	if (end == text || *end) {
		snprintf(why, why_size, "'%.60s' is not a number", text);
		return -1;
	}
	if (!isfinite(value) || (errno == ERANGE && fabs(value) < 1)) {
		snprintf(why, why_size, "'%.60s' does not fit in a double", text);
		return -1;
	}
	if (bounded(row) && (value < row->min || value > row->max))
		return refuse_bounds(row, text, why, why_size);
	*out = value;
	return 0;
}

static int parse_bool(const char *text, int32_t *out, char *why, size_t why_size)
{
	static const char *const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (!strcmp(text, words[i])) {
			*out = i & 1;
			return 0;
		}
	}
	snprintf(why, why_size, "'%.60s' is neither yes nor no", text);
	return -1;
}

/* What is wrong with a part of the text, said with the whole: always -1. */
static int refuse_part(const char *text, char *why, size_t why_size)
{
	char part[200];

	snprintf(part, sizeof part, "%s", why);
	snprintf(why, why_size, "'%.60s': %s", text, part);
	return -1;
}

/* One alternative of row->choices against text: 1 it matches, 0 not, -1 its number is wrong. */
static int match_choice(const struct pkrun_option *row, const char *word, size_t length,
			const char *text, int64_t *arg, char *why, size_t why_size)
{
	*arg = 0;
	if (length == 1 && *word == 'N') {
		if (!(*text >= '0' && *text <= '9') && *text != '-' && *text != '+')
			return 0;
		return parse_int(row, text, arg, why, why_size) ? -1 : 1;
	}
	if (length > 2 && !memcmp(word + length - 2, ":N", 2)) {
		if (strncmp(text, word, length - 1))
			return 0;
		return parse_int(row, text + length - 1, arg, why, why_size) ?
			       refuse_part(text, why, why_size) : 1;
	}
	return strlen(text) == length && !memcmp(text, word, length);
}

static int parse_choice(const struct pkrun_option *row, const char *text,
			struct pkrun_choice *out, char *why, size_t why_size)
{
	const char *word = row->choices;

	for (int32_t i = 0; word; i++) {
		size_t length = strcspn(word, "|");
		int64_t arg;
		int found = match_choice(row, word, length, text, &arg, why, why_size);

		if (found < 0)
			return -1;
		if (found) {
			*out = (struct pkrun_choice){.index = i, .arg = arg};
			return 0;
		}
		word = word[length] ? word + length + 1 : NULL;
	}
	snprintf(why, why_size, "'%.60s' is none of %.120s", text, row->choices);
	return -1;
}

static int parse_pair(const struct pkrun_option *row, const char *text, int64_t out[2], char *why,
		      size_t why_size)
{
	const char *x = strchr(text, 'x');
	char first[32];
	int64_t pair[2];

	if (!x || (size_t)(x - text) >= sizeof first) {
		snprintf(why, why_size, "'%.60s' is not a pair HxW", text);
		return -1;
	}
	memcpy(first, text, (size_t)(x - text));
	first[x - text] = 0;
	if (parse_int(row, first, &pair[0], why, why_size) ||
	    parse_int(row, x + 1, &pair[1], why, why_size))
		return refuse_part(text, why, why_size);
	memcpy(out, pair, sizeof pair);
	return 0;
}

static int parse_text(const char *text, const char **out, char *why, size_t why_size)
{
	if (strlen(text) >= OPTION_SPELT) {
		snprintf(why, why_size, "'%.60s...' has %zu bytes, at most %d", text, strlen(text),
			 OPTION_SPELT - 1);
		return -1;
	}
	*out = text;
	return 0;
}

int option_parse(const struct pkrun_option *row, const char *text, void *base, char *why,
		 size_t why_size)
{
	void *field = (char *)base + row->offset;

	switch (row->type) {
	case PKRUN_INT:
		return parse_int(row, text, field, why, why_size);
	case PKRUN_REAL:
		return parse_real(row, text, field, why, why_size);
	case PKRUN_BOOL:
		return parse_bool(text, field, why, why_size);
	case PKRUN_CHOICE:
		return parse_choice(row, text, field, why, why_size);
	case PKRUN_PAIR:
		return parse_pair(row, text, field, why, why_size);
	case PKRUN_TEXT:
		return parse_text(text, field, why, why_size);
	}
	snprintf(why, why_size, "option type %" PRIu32 " is unknown to this pkrun", row->type);
	return -1;
}

int option_defaults(const struct pkrun_option *table, void *base, char *why, size_t why_size)
{
	char reason[200];

	for (; table && table->name; table++) {
		if (!option_parse(table, table->value, base, reason, sizeof reason))
			continue;
		snprintf(why, why_size, "default of %.60s: %s", table->name, reason);
		return -1;
	}
	return 0;
}

static int spell_choice(const struct pkrun_option *row, const struct pkrun_choice *value,
			char *out, size_t out_size)
{
	const char *word = row->choices;

	for (int32_t i = 0; word && i < value->index; i++) {
		word = strchr(word, '|');
		word = word ? word + 1 : NULL;
	}
	if (!word || value->index < 0)
		return -1;

	size_t length = strcspn(word, "|");

	if (length == 1 && *word == 'N')
		return snprintf(out, out_size, "%" PRId64, value->arg);
	if (length > 2 && !memcmp(word + length - 2, ":N", 2))
		return snprintf(out, out_size, "%.*s%" PRId64, (int)length - 1, word, value->arg);
	return snprintf(out, out_size, "%.*s", (int)length, word);
}

int option_spell(const struct pkrun_option *row, const void *base, char *out, size_t out_size)
{
	const void *field = (const char *)base + row->offset;
	char number[40];
	int length = -1;

	switch (row->type) {
	case PKRUN_INT:
		length = snprintf(out, out_size, "%" PRId64, *(const int64_t *)field);
		break;
	case PKRUN_REAL:
		spell_real(*(const double *)field, number, sizeof number);
		length = snprintf(out, out_size, "%s", number);
		break;
	case PKRUN_BOOL:
		length = snprintf(out, out_size, "%s", *(const int32_t *)field ? "yes" : "no");
		break;
	case PKRUN_CHOICE:
		length = spell_choice(row, field, out, out_size);
		break;
	case PKRUN_PAIR:
		length = snprintf(out, out_size, "%" PRId64 "x%" PRId64, ((const int64_t *)field)[0],
				  ((const int64_t *)field)[1]);
		break;
	case PKRUN_TEXT:
		length = snprintf(out, out_size, "%s", *(const char *const *)field);
		break;
	}
	return length < 0 || (size_t)length >= out_size ? -1 : 0;
}

/* What an option is for begins here, and no line is longer. */
enum { HELP_FROM = 29, HELP_COLUMNS = 100 };

void option_help_line(const char *head, const char *text, FILE *out)
{
	fprintf(out, "  %-26s ", head);
	for (size_t column = HELP_FROM; *text; text += *text == ' ') {
		size_t length = strcspn(text, " ");

		if (column > HELP_FROM && column + 1 + length > HELP_COLUMNS) {
			fprintf(out, "\n%*s", HELP_FROM, "");
			column = HELP_FROM;
		} else if (column > HELP_FROM) {
			putc(' ', out);
			column++;
		}
		fprintf(out, "%.*s", (int)length, text);
		column += length;
		text += length;
	}
	putc('\n', out);
}

void option_help(const struct pkrun_option *table, FILE *out)
{
	for (; table && table->name; table++) {
		char limits[200] = "", lo[40], hi[40], head[80], text[1000];
		const char *unit = table->unit ? table->unit : "";

		spell_bound(table->min, lo, sizeof lo);
		spell_bound(table->max, hi, sizeof hi);
		if (table->type == PKRUN_BOOL)
			snprintf(limits, sizeof limits, "yes | no");
		else if (table->type == PKRUN_CHOICE && table->choices && bounded(table))
			snprintf(limits, sizeof limits, "%.80s, N in %s..%s", table->choices, lo, hi);
		else if (table->type == PKRUN_CHOICE && table->choices)
			snprintf(limits, sizeof limits, "%.120s", table->choices);
		else if (bounded(table))
			snprintf(limits, sizeof limits, "%s..%s", lo, hi);
		snprintf(head, sizeof head, "%s = %s", table->name, table->value);
		snprintf(text, sizeof text, "%s%s%s%s%s%s", table->help ? table->help : "",
			 *limits || *unit ? " (" : "", limits, *limits && *unit ? "; " : "", unit,
			 *limits || *unit ? ")" : "");
		option_help_line(head, text, out);
	}
}
