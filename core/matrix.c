/* SPDX-License-Identifier: MIT
 *
 * matrix.c - sections and lists to cells.
 *
 * A section is a series.  Each of its variants x workloads x targets is a
 * combination (struct combo); the options that this combination knows are its
 * axes, and its cells are the product of their lengths.  A cell is found from
 * its number: the combination by bisection, then one digit an axis.
 *
 * Every problem is reported; nothing is planned when there was one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "matrix.h"

#define AXES_MAX 64
#define COMBOS_MAX 10000
#define ERRORS_MAX 100
#define WHOLE_FILE (-1)	/* complain() about no line in particular; 0 is the command line */

/* One item of a list: a word, or a range of integers. */
struct item {
	const char *text;	/* trimmed, in list.text */
	const char *wrong;	/* has `..` but is no range: why */
	int is_range, is_factor;
	int64_t lo, step;
	uint64_t count;
};

/* The value of one entry, taken apart once. */
struct list {
	const struct conf_entry *entry;
	char *text;
	size_t n;
	struct item *items;
};

/* Which combinations a section has: those from `first` on. */
struct span {
	size_t first, n;
};

enum owner { OWNER_MATRIX, OWNER_COMMON, OWNER_WORKLOAD, OWNER_VARIANT };

struct axis {
	const struct list *list;
	const struct pkrun_option *row;
	enum owner owner;
	uint64_t count;
	int leader;		/* index of the axis it advances with: itself, or the first of its zip */
};

struct combo {
	const struct conf_section *section;
	const char *variant_name;
	const struct variant_info *variant;
	const struct workload *workload;
	uint32_t target;
	int n_axes;
	struct axis *axes;
	uint64_t first, cells;
	char *why;
	struct cell defaults;
};

/* The options that belong to the matrix but are axes like any other. */
struct matrix_options {
	struct pkrun_choice iterations;
};
static const struct pkrun_option matrix_axes[] = {
	{"iterations", PKRUN_CHOICE, offsetof(struct matrix_options, iterations), "auto", 1, 1e12,
	 "auto|N", NULL, "iterations of a trial; auto: enough for the clock, the same for all cells of a problem"},
	{NULL, 0, 0, NULL, 0, 0, NULL, NULL, NULL},
};

struct settings {
	struct pkrun_choice isolation, schedule, cache;
	int64_t trials, blocks_min, blocks_max, warmup_runs, seed, device;
	double ci, cell_limit, warmup, timeout, energy;
};
#define SETTING(field) offsetof(struct settings, field)
const struct pkrun_option matrix_settings_options[] = {
	{"isolation", PKRUN_CHOICE, SETTING(isolation), "cell", 0, 0, "cell|block", NULL,
	 "a fresh process for each cell and block, or one for all cells of a block"},
	{"schedule", PKRUN_CHOICE, SETTING(schedule), "blocks", 0, 0, "blocks|sequential", NULL,
	 "cells in random order in each block, or in the order of the matrix"},
	{"trials", PKRUN_INT, SETTING(trials), "5", 1, 100000, NULL, NULL, "timed trials of a block"},
	{"blocks_min", PKRUN_INT, SETTING(blocks_min), "10", 1, 10000, NULL, NULL,
	 "blocks before the interval is looked at"},
	{"blocks_max", PKRUN_INT, SETTING(blocks_max), "40", 1, 10000, NULL, NULL, "blocks at most"},
	{"ci", PKRUN_REAL, SETTING(ci), "0.005", 0, 1, NULL, NULL,
	 "wanted half-width of the 95 % interval, relative to the median"},
	{"cell_limit", PKRUN_REAL, SETTING(cell_limit), "60", 0, 1e6, NULL, "s",
	 "wall time for a cell, then it ends as imprecise"},
	{"warmup", PKRUN_REAL, SETTING(warmup), "0.5", 0, 1e4, NULL, "s",
	 "warm up for at least this long (host target: a tenth of it)"},
	{"warmup_runs", PKRUN_INT, SETTING(warmup_runs), "3", 0, 100000, NULL, NULL,
	 "and at least so many untimed runs"},
	{"energy", PKRUN_REAL, SETTING(energy), "0.5", 0, 100, NULL, "s",
	 "run each cell for so long once more, for its energy, where the GPU counts it; 0: do not"},
	{"timeout", PKRUN_REAL, SETTING(timeout), "0", 0, 1e6, NULL, "s",
	 "of one run, then it is a hang; 0: from the one-iteration run"},
	{"cache", PKRUN_CHOICE, SETTING(cache), "hot", 0, 0, "hot|cold", NULL,
	 "cold: write twice the last-level cache before each trial"},
	{"seed", PKRUN_INT, SETTING(seed), "0", 0, 9223372036854775807.0, NULL, NULL,
	 "of every random order; 0: from the clock, and recorded"},
	{"device", PKRUN_INT, SETTING(device), "0", 0, 1023, NULL, NULL, "which device of the target"},
	{NULL, 0, 0, NULL, 0, 0, NULL, NULL, NULL},
};

static const char *const matrix_keys[] = {"variant", "workload", "target", "zip", "baseline", NULL};

struct matrix {
	struct conf conf;
	const struct matrix_request *req;
	struct matrix_settings settings;
	size_t n_lists, n_combos;
	struct list *lists;		/* one for each entry of the conf, in order */
	struct combo *combos;
	struct span *spans;		/* one for each section of the conf */
	uint64_t cells;
	uint32_t *selected;		/* --only: numbers of the cells that stay */
	uint64_t n_selected;

	conf_error_fn report;
	void *user;
	int errors;
	char *said[ERRORS_MAX];		/* many combinations share one mistake: say it once */
};

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

__attribute__((format(printf, 3, 4)))
static void complain(struct matrix *m, int line, const char *fmt, ...)
{
	char what[700], message[1000];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof what, fmt, args);
	va_end(args);
	if (!line)
		snprintf(message, sizeof message, "--set: %s", what);
	else if (line > 0)
		snprintf(message, sizeof message, "%.250s:%d: %s", m->conf.path, line, what);
	else
		snprintf(message, sizeof message, "%.250s: %s", m->conf.path, what);
	if (m->errors > ERRORS_MAX)
		return;
	if (m->errors == ERRORS_MAX) {
		m->errors++;
		m->report(m->user, "too many errors; the rest is not shown");
		return;
	}
	for (int i = 0; i < m->errors; i++)
		if (!strcmp(m->said[i], message))
			return;
	m->said[m->errors++] = must(strdup(message));
	m->report(m->user, message);
}

/* ---- did you mean ---- */

static size_t edit_distance(const char *a, const char *b)
{
	size_t row[64], n = strlen(b);

	if (strlen(a) >= 64 || n >= 64)
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; *a; a++, i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t change = diagonal + (*a != b[j - 1]);
			size_t best = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;

			diagonal = row[j];
			row[j] = change < best ? change : best;
		}
	}
	return row[n];
}

const char *matrix_nearest(const char *word, const char *const *words)
{
	size_t best = 1 + strlen(word) / 3, distance;
	const char *nearest = NULL;

	if (best > 4)
		best = 4;
	for (; *words; words++) {
		distance = edit_distance(word, *words);
		if (distance < best || (distance == best && !nearest)) {
			best = distance;
			nearest = *words;
		}
	}
	return nearest;
}

struct words { const char **items; size_t n; };

static void words_add(struct words *w, const char *word)
{
	w->items = must(realloc(w->items, (w->n + 2) * sizeof *w->items));
	w->items[w->n++] = word;
	w->items[w->n] = NULL;
}

static void words_add_table(struct words *w, const struct pkrun_option *table)
{
	for (; table && table->name; table++)
		words_add(w, table->name);
}

/* ", did you mean 'x'?" or nothing; frees the words. */
static const char *hint(const char *word, struct words *w, char buf[80])
{
	const char *nearest = w->n ? matrix_nearest(word, w->items) : NULL;

	buf[0] = 0;
	if (nearest)
		snprintf(buf, 80, "; did you mean '%.50s'?", nearest);
	free(w->items);
	*w = (struct words){0};
	return buf;
}

/* ---- names ---- */

const char *matrix_reserved(const char *name)
{
	static char owner[100];

	for (size_t i = 0; matrix_keys[i]; i++)
		if (!strcmp(matrix_keys[i], name))
			return "a key of the matrix";
	if (option_find(matrix_axes, name))
		return "a key of the matrix";
	if (option_find(matrix_settings_options, name))
		return "a setting of the run";
	if (option_find(common_options, name))
		return "an option that every variant has";
	for (size_t i = 0; workloads[i]; i++) {
		if (option_find(workloads[i]->options, name)) {
			snprintf(owner, sizeof owner, "an option of workload %s", workloads[i]->name);
			return owner;
		}
	}
	return NULL;
}

static int is_matrix_key(const char *key)
{
	for (size_t i = 0; matrix_keys[i]; i++)
		if (!strcmp(matrix_keys[i], key))
			return 1;
	return 0;
}

static int is_global(const struct conf_section *s)
{
	return !strcmp(s->name, "global");
}

static const struct conf_entry *entry_of(const struct conf_section *s, const char *key)
{
	for (size_t i = 0; s && i < s->n_entries; i++)
		if (!strcmp(s->entries[i].key, key))
			return &s->entries[i];
	return NULL;
}

/* The section's own, else [global]'s. */
static const struct conf_entry *effective(const struct matrix *m, const struct conf_section *s,
					  const char *key)
{
	const struct conf_entry *e = entry_of(s, key);

	return e ? e : entry_of(conf_section(&m->conf, "global"), key);
}

/* ---- ${NAME} ---- */

static int is_env_name(const char *s, size_t length)
{
	if (!length || (*s >= '0' && *s <= '9'))
		return 0;
	for (size_t i = 0; i < length; i++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_", s[i]))
			return 0;
	return 1;
}

/* The replacement of the reference at `at` ("${NAME}..."): *after is behind it. NULL: reported. */
static const char *look_up(struct matrix *m, const struct conf_entry *e, const char *at,
			   const char **after)
{
	const char *end = strchr(at, '}');
	char name[256], q[CONF_QUOTE_SIZE];
	const char *value;

	if (!end || (size_t)(end - at - 2) >= sizeof name || !is_env_name(at + 2, (size_t)(end - at - 2))) {
		complain(m, e->line, "'%s': expected ${NAME} of letters, digits and _",
			 conf_quote(at, strlen(at), q));
		return NULL;
	}
	snprintf(name, sizeof name, "%.*s", (int)(end - at - 2), at + 2);
	value = getenv(name);
	if (!value) {
		complain(m, e->line, "%s: the environment has no %s", e->key, name);
		return NULL;
	}
	if (!conf_is_text(value, strlen(value)) || strstr(value, "${")) {
		complain(m, e->line, "%s: %s holds what is no value: '%s'", e->key, name,
			 conf_quote(value, strlen(value), q));
		return NULL;
	}
	*after = end + 1;
	return value;
}

static void expand_entry(struct matrix *m, struct conf_entry *e)
{
	char *out = NULL;
	size_t size;
	FILE *f;

	if (!strstr(e->value, "${"))
		return;
	f = must(open_memstream(&out, &size));
	for (const char *s = e->value; *s;) {
		const char *value;

		if (strncmp(s, "${", 2)) {
			fputc(*s++, f);
			continue;
		}
		value = look_up(m, e, s, &s);
		if (!value)
			break;
		fputs(value, f);
	}
	fclose(f);
	if (!out[strspn(out, " \t")] && !m->errors)
		complain(m, e->line, "'%s' has no value: its ${...} is empty", e->key);
	free(e->value);
	e->value = must(out);
}

static void errors_free(struct matrix *m)
{
	for (int i = 0; i < ERRORS_MAX; i++)
		free(m->said[i]);
}

int matrix_expand(struct conf *conf, conf_error_fn report, void *user)
{
	struct matrix m = {.conf = *conf, .report = report, .user = user};

	for (size_t i = 0; i < conf->n_sections; i++)
		for (size_t j = 0; j < conf->sections[i].n_entries; j++)
			expand_entry(&m, &conf->sections[i].entries[j]);
	errors_free(&m);
	return m.errors ? -1 : 0;
}

/* ---- lists and ranges ---- */

static char *trim(char *s)
{
	size_t length;

	s += strspn(s, " \t");
	length = strlen(s);
	while (length && strchr(" \t", s[length - 1]))
		s[--length] = 0;
	return s;
}

/* An integer at *s, blanks after it skipped: 0 and *s behind it, or -1. */
static int take_int(const char **s, int64_t *out)
{
	const char *digit = *s + (**s == '-' || **s == '+');
	char *end;

	if (*digit < '0' || *digit > '9')
		return -1;
	errno = 0;
	*out = strtoll(*s, &end, 10);
	if (errno)
		return -1;
	*s = end + strspn(end, " \t");
	return 0;
}

static uint64_t count_factor(int64_t lo, int64_t hi, int64_t factor)
{
	uint64_t count = 1;

	for (; lo <= hi / factor; lo *= factor)
		count++;
	return count;
}

/* Take `lo..hi+step` or `lo..hi*factor` apart: NULL, or why it is neither. */
static const char *take_range(struct item *i)
{
	const char *s = i->text;
	int64_t hi;
	char op;

	if (take_int(&s, &i->lo) || strncmp(s, "..", 2))
		return "a range is lo..hi+step or lo..hi*factor, of 64-bit integers";
	s += 2 + strspn(s + 2, " \t");
	if (take_int(&s, &hi))
		return "a range is lo..hi+step or lo..hi*factor, of 64-bit integers";
	op = *s;
	if (!op)
		return "a range needs its step: lo..hi+step or lo..hi*factor";
	s += 1 + strspn(s + 1, " \t");
	if ((op != '+' && op != '*') || *s == '+' || take_int(&s, &i->step) || *s)
		return "a range is lo..hi+step or lo..hi*factor, of 64-bit integers";
	if (i->lo > hi)
		return "the range is empty: its first number is above its last";
	if (op == '+' && i->step < 1)
		return "the step of a range must be at least 1";
	if (op == '*' && i->step < 2)
		return "the factor of a range must be at least 2";
	if (op == '*' && i->lo < 1)
		return "a range with a factor must start at 1 or above";
	i->is_range = 1;
	i->is_factor = op == '*';
	if (i->is_factor)
		i->count = count_factor(i->lo, hi, i->step);
	else
		i->count = ((uint64_t)hi - (uint64_t)i->lo) / (uint64_t)i->step + 1;
	if (!i->count)
		i->count = UINT64_MAX;	/* 2^64 */
	return NULL;
}

static void split(struct matrix *m, struct list *l, const struct conf_entry *e)
{
	char *rest, *piece;

	l->entry = e;
	l->text = rest = must(strdup(e->value));
	while ((piece = strsep(&rest, ","))) {
		struct item *i;

		if (!(l->n & (l->n - 1)))
			l->items = must(realloc(l->items, (l->n ? 2 * l->n : 1) * sizeof *i));
		i = &l->items[l->n++];
		*i = (struct item){.text = trim(piece), .count = 1};
		if (!*i->text)
			complain(m, e->line, "%s: the list has an empty item", e->key);
		if (strstr(i->text, ".."))
			i->wrong = take_range(i);
	}
}

static const struct list *list_of(const struct conf_entry *e)
{
	return e ? e->list : NULL;
}

static void split_all(struct matrix *m)
{
	const struct conf *c = &m->conf;
	size_t n = 0;

	for (size_t i = 0; i < c->n_sections; i++)
		n += c->sections[i].n_entries;
	m->lists = must(calloc(n + 1, sizeof *m->lists));
	for (size_t i = 0; i < c->n_sections; i++) {
		for (size_t j = 0; j < c->sections[i].n_entries; j++) {
			struct conf_entry *e = &c->sections[i].entries[j];

			e->list = &m->lists[m->n_lists++];
			split(m, e->list, e);
		}
	}
}

static int64_t range_value(const struct item *i, uint64_t k)
{
	int64_t value = i->lo;

	if (!i->is_factor)
		return (int64_t)((uint64_t)i->lo + k * (uint64_t)i->step);
	for (; k; k--)
		value *= i->step;
	return value;
}

static uint64_t saturating_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t saturating_multiply(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Texts are never ranges: a path may have `..` in it. */
static int counts_as_range(const struct axis *a, const struct item *i)
{
	return i->is_range && a->row->type != PKRUN_TEXT;
}

static uint64_t axis_count(const struct axis *a)
{
	uint64_t count = 0;

	for (size_t i = 0; i < a->list->n; i++)
		count = saturating_add(count, counts_as_range(a, &a->list->items[i])
						      ? a->list->items[i].count : 1);
	return count;
}

/* Value number k of the axis into the struct at base: 0, or -1 and why. */
static int axis_apply(const struct axis *a, uint64_t k, void *base, char *why, size_t why_size)
{
	const struct item *i = a->list->items;
	char number[32];

	for (;; i++) {
		uint64_t count = counts_as_range(a, i) ? i->count : 1;

		if (k < count)
			break;
		k -= count;
	}
	if (!counts_as_range(a, i))
		return option_parse(a->row, i->text, base, why, why_size);
	snprintf(number, sizeof number, "%" PRId64, range_value(i, k));
	return option_parse(a->row, number, base, why, why_size);
}

/* ---- checking an axis ---- */

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The same value twice would be the same cell twice. */
static void check_repeats(struct matrix *m, const struct axis *a)
{
	union { unsigned char bytes[MATRIX_OPTIONS_BYTES]; int64_t align; } scratch;
	char why[200], value[300], **texts;

	if (a->count < 2 || (a->list->n == 1 && counts_as_range(a, a->list->items)))
		return;
	texts = must(calloc(a->count, sizeof *texts));
	for (uint64_t k = 0; k < a->count; k++) {
		if (axis_apply(a, k, &scratch, why, sizeof why) ||
		    option_spell(a->row, &scratch, value, sizeof value))
			snprintf(value, sizeof value, "%" PRIu64, k);
		texts[k] = must(strdup(value));
	}
	qsort(texts, a->count, sizeof *texts, compare_texts);
	for (uint64_t k = 1; k < a->count; k++)
		if (!strcmp(texts[k], texts[k - 1]))
			complain(m, a->list->entry->line, "%s: %.60s is there twice", a->row->name,
				 texts[k]);
	for (uint64_t k = 0; k < a->count; k++)
		free(texts[k]);
	free(texts);
}

/* Every item is a value that the option takes; of an integer range the ends say it all. */
static int check_item(struct matrix *m, const struct axis *a, const struct item *i)
{
	union { unsigned char bytes[MATRIX_OPTIONS_BYTES]; int64_t align; } scratch;
	struct list one = {.items = (struct item *)i, .n = 1};
	struct axis alone = {.list = &one, .row = a->row};
	uint64_t count = counts_as_range(a, i) ? i->count : 1;
	uint64_t step = a->row->type == PKRUN_INT && count > 2 ? count - 1 : 1;
	const struct conf_entry *e = a->list->entry;
	char why[300], q[CONF_QUOTE_SIZE];

	if (!*i->text)
		return -1;	/* reported by split */
	if (i->wrong && a->row->type != PKRUN_TEXT) {
		complain(m, e->line, "%s = %s: %s", e->key, conf_quote(i->text, strlen(i->text), q),
			 i->wrong);
		return -1;
	}
	for (uint64_t k = 0; k < count; k += step) {
		if (!axis_apply(&alone, k, &scratch, why, sizeof why))
			continue;
		complain(m, e->line, "%s: %s", e->key, why);
		return -1;
	}
	return 0;
}

static void check_axis(struct matrix *m, const struct axis *a)
{
	int bad = 0;

	if (a->count > MATRIX_CELLS_MAX) {
		complain(m, a->list->entry->line, "%s has %" PRIu64 " values; at most %d cells",
			 a->row->name, a->count, MATRIX_CELLS_MAX);
		return;
	}
	for (size_t i = 0; i < a->list->n; i++)
		bad |= check_item(m, a, &a->list->items[i]);
	if (!bad && a->leader < 0)
		check_repeats(m, a);
}

/* ---- combinations ---- */

static const struct pkrun_option *find_row(const struct combo *c, const char *key, enum owner *owner)
{
	const struct pkrun_option *row;

	*owner = OWNER_MATRIX;
	if ((row = option_find(matrix_axes, key)))
		return row;
	*owner = OWNER_COMMON;
	if ((row = option_find(common_options, key)))
		return row;
	*owner = OWNER_WORKLOAD;
	if (c->workload && (row = option_find(c->workload->options, key)))
		return row;
	*owner = OWNER_VARIANT;
	return c->variant ? option_find(c->variant->options, key) : NULL;
}

/* -1: in no zip; else which position in the zip list. */
static int zip_position(const struct list *zip, const char *key)
{
	for (size_t i = 0; zip && i < zip->n; i++)
		if (!strcmp(zip->items[i].text, key))
			return (int)i;
	return -1;
}

static void add_axis(struct matrix *m, struct combo *c, const struct list *zip,
		     const struct conf_entry *e)
{
	enum owner owner;
	const struct pkrun_option *row = find_row(c, e->key, &owner);
	struct axis *a;

	if (!row)
		return;
	if (c->n_axes == AXES_MAX) {
		complain(m, e->line, "[%s] has more than %d options", c->section->name, AXES_MAX);
		return;
	}
	a = &c->axes[c->n_axes];
	*a = (struct axis){.list = list_of(e), .row = row, .owner = owner, .leader = -1};
	a->count = axis_count(a);
	if (zip_position(zip, e->key) >= 0) {
		a->leader = c->n_axes;
		for (int i = 0; i < c->n_axes; i++) {
			if (c->axes[i].leader == i) {
				a->leader = i;
				break;
			}
		}
	}
	c->n_axes++;
}

static void check_zip_counts(struct matrix *m, const struct combo *c)
{
	for (int i = 0; i < c->n_axes; i++) {
		const struct axis *a = &c->axes[i];
		const struct axis *b = a->leader >= 0 ? &c->axes[a->leader] : a;

		if (a->count != b->count)
			complain(m, a->list->entry->line,
				 "[%s] zip ties %s (%" PRIu64 " values) to %s (%" PRIu64
				 " values); they must have equally many", c->section->name,
				 a->row->name, a->count, b->row->name, b->count);
	}
}

static void build_axes(struct matrix *m, struct combo *c)
{
	const struct conf_section *global = conf_section(&m->conf, "global");
	const struct conf_entry *zip_entry = effective(m, c->section, "zip");
	const struct list *zip = list_of(zip_entry);
	struct axis *axes;

	c->axes = must(calloc(AXES_MAX, sizeof *c->axes));
	for (size_t i = 0; global && i < global->n_entries; i++)
		if (!entry_of(c->section, global->entries[i].key))
			add_axis(m, c, zip, &global->entries[i]);
	for (size_t i = 0; i < c->section->n_entries; i++)
		add_axis(m, c, zip, &c->section->entries[i]);
	axes = realloc(c->axes, (size_t)(c->n_axes + 1) * sizeof *axes);
	c->axes = axes ? axes : c->axes;
	check_zip_counts(m, c);
	c->cells = 1;
	for (int i = 0; i < c->n_axes; i++)
		if (c->axes[i].leader < 0 || c->axes[i].leader == i)
			c->cells = saturating_multiply(c->cells, c->axes[i].count);
}

static int has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	while (list && *list) {
		size_t n = strcspn(list, ", ");

		if (n == length && !memcmp(list, word, n))
			return 1;
		list += n + strspn(list + n, ", ");
	}
	return 0;
}

__attribute__((format(printf, 2, 3)))
static void cannot(struct combo *c, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (!c->why && vasprintf(&c->why, fmt, args) < 0)
		abort();
	va_end(args);
}

/* Why no cell of this combination can run, if so. */
static void judge(struct matrix *m, struct combo *c)
{
	const struct target_info *t = &m->req->catalog->targets[c->target];

	if (t->devices <= 0)
		cannot(c, "target %s: %s", target_name(c->target), t->why ? t->why : "no device");
	if (!c->variant)
		cannot(c, "variant %s is not built for target %s", c->variant_name,
		       target_name(c->target));
	else if (c->variant->refused)
		cannot(c, "%s: %s", c->variant->path, c->variant->refused);
	else if (!has_word(c->variant->workloads, c->workload->name))
		cannot(c, "variant %s does not drive workload %s, only %s", c->variant_name,
		       c->workload->name, c->variant->workloads);
}

static void set_defaults(struct matrix *m, struct combo *c)
{
	struct cell *d = &c->defaults;
	char why[300];

	d->series = c->section->name;
	d->target = c->target;
	d->variant_name = c->variant_name;
	d->variant = c->variant;
	d->workload = c->workload;
	if (option_defaults(common_options, &d->common, why, sizeof why) ||
	    option_defaults(c->workload->options, &d->workload_options, why, sizeof why) ||
	    (c->variant && option_defaults(c->variant->options, &d->variant_options, why, sizeof why)))
		complain(m, c->section->line ? c->section->line : WHOLE_FILE, "[%s] %s", c->section->name, why);
}

static void add_combo(struct matrix *m, const struct conf_section *s, const char *name,
		      const struct workload *w, uint32_t target)
{
	struct combo *c;

	if (m->n_combos == COMBOS_MAX)
		complain(m, WHOLE_FILE, "more than %d combinations of series, variant, workload and target",
			 COMBOS_MAX);
	if (m->n_combos >= COMBOS_MAX)
		return;
	if (!(m->n_combos & (m->n_combos - 1)))
		m->combos = must(realloc(m->combos, (m->n_combos ? 2 * m->n_combos : 1) * sizeof *c));
	c = &m->combos[m->n_combos++];
	*c = (struct combo){.section = s, .variant_name = name, .workload = w, .target = target};
	c->variant = catalog_find(m->req->catalog, target, name);
	if (c->variant)
		c->variant_name = c->variant->name;
	judge(m, c);
	set_defaults(m, c);
	build_axes(m, c);
}

/* ---- what a section names: variants, workloads, targets ---- */

/* A path of the matrix as the catalog knows it; the caller frees. */
static char *resolve(const struct conf *conf, const struct conf_entry *e, const char *path)
{
	const char *slash = strrchr(conf->path, '/');
	char *joined, *full;

	/* from the command line, or through a pipe: relative to the current folder */
	if (*path == '/' || !slash || !e->line || !strncmp(conf->path, "/dev/", 5) ||
	    !strncmp(conf->path, "/proc/", 6))
		joined = must(strdup(path));
	else if (asprintf(&joined, "%.*s/%s", (int)(slash - conf->path), conf->path, path) < 0)
		abort();
	full = realpath(joined, NULL);
	if (!full)
		return joined;
	free(joined);
	return full;
}

static int exists_for_other_target(const struct matrix *m, const char *name)
{
	const struct catalog *c = m->req->catalog;

	for (uint32_t t = PKRUN_HOST; t <= PKRUN_CUDA; t++) {
		char path[PATH_MAX];

		if (catalog_find(c, t, name))
			return 1;
		snprintf(path, sizeof path, "%s/%s/%s.so", c->plugin_dir ? c->plugin_dir : "",
			 target_name(t), name);
		if (!strchr(name, '/') && strcmp(name, "device") && !access(path, F_OK))
			return 1;
	}
	return 0;
}

static int already(const struct words *w, const char *word)
{
	for (size_t i = 0; i < w->n; i++)
		if (!strcmp(w->items[i], word))
			return 1;
	return 0;
}

static void add_glob(struct matrix *m, const struct conf_entry *e, const char *glob, struct words *out)
{
	const struct catalog *c = m->req->catalog;
	int found = 0;

	for (size_t i = 0; i < c->n_variants; i++) {
		if (c->variants[i].by_path || fnmatch(glob, c->variants[i].name, 0))
			continue;
		found = 1;
		if (!already(out, c->variants[i].name))
			words_add(out, c->variants[i].name);
	}
	if (!found)
		complain(m, e->line, "variant: no name matches '%.60s'", glob);
}

static void add_name(struct matrix *m, const struct conf_entry *e, const char *name, struct words *out)
{
	const struct catalog *c = m->req->catalog;
	struct words names = {0};
	char buf[100], q[CONF_QUOTE_SIZE];

	if (exists_for_other_target(m, name)) {
		if (already(out, name))
			complain(m, e->line, "variant: %s is there twice", name);
		else
			words_add(out, name);
		return;
	}
	for (size_t i = 0; i < c->n_variants; i++)
		if (!c->variants[i].by_path)
			words_add(&names, c->variants[i].name);
	hint(name, &names, buf);
	if (!*buf && strlen(name) > 3 && !strcmp(name + strlen(name) - 3, ".so"))
		snprintf(buf, sizeof buf, "; a file is written with a slash: ./%.50s", name);
	complain(m, e->line, "no variant '%s'%s", conf_quote(name, strlen(name), q), buf);
}

/* The variants of section s: names, and paths as the catalog has them. */
static void variants_of(struct matrix *m, const struct conf_section *s, struct words *out)
{
	const struct conf_entry *e = effective(m, s, "variant");
	const struct list *l = list_of(e);

	if (!e)
		complain(m, s->line, "[%s] has no variant", s->name);
	for (size_t i = 0; l && i < l->n; i++) {
		const char *text = l->items[i].text;
		char *full;

		if (!*text)
			continue;
		if (!strchr(text, '/')) {
			(strpbrk(text, "*?[") ? add_glob : add_name)(m, e, text, out);
			continue;
		}
		full = resolve(&m->conf, e, text);
		for (size_t v = 0; v < m->req->catalog->n_variants; v++)
			if (!strcmp(m->req->catalog->variants[v].path, full)) {
				add_name(m, e, m->req->catalog->variants[v].path, out);
				break;
			}
		if (!exists_for_other_target(m, full))
			complain(m, e->line, "variant: %s was not looked at", full);
		free(full);
	}
}

static size_t workloads_of(struct matrix *m, const struct conf_section *s,
			   const struct workload *out[], size_t max)
{
	const struct conf_entry *e = effective(m, s, "workload");
	const struct list *l = list_of(e);
	size_t n = 0;

	if (!e)
		complain(m, s->line, "[%s] has no workload; put one into [global], "
			 "e.g. workload = poisson2d", s->name);
	for (size_t i = 0; l && i < l->n; i++) {
		const char *text = l->items[i].text;
		const struct workload *w = workload_find(text);
		struct words names = {0};
		char buf[80], q[CONF_QUOTE_SIZE];
		int twice = 0;

		for (size_t j = 0; j < n; j++)
			twice |= out[j] == w;
		for (size_t j = 0; workloads[j]; j++)
			words_add(&names, workloads[j]->name);
		hint(text, &names, buf);
		if (!w && *text)
			complain(m, e->line, "no workload '%s'%s", conf_quote(text, strlen(text), q), buf);
		else if (twice)
			complain(m, e->line, "workload: %s is there twice", text);
		else if (w && n < max)
			out[n++] = w;
	}
	return n;
}

static size_t targets_of(struct matrix *m, const struct conf_section *s, uint32_t out[4])
{
	const struct conf_entry *e = effective(m, s, "target");
	const struct list *l = list_of(e);
	size_t n = 0;

	if (!e)
		out[n++] = m->req->target;
	for (size_t i = 0; l && i < l->n; i++) {
		char q[CONF_QUOTE_SIZE];
		uint32_t t;
		int twice = 0;

		if (target_parse(l->items[i].text, &t)) {
			complain(m, e->line, "no target '%s'; there are host, hip, cuda",
				 conf_quote(l->items[i].text, strlen(l->items[i].text), q));
			continue;
		}
		for (size_t j = 0; j < n; j++)
			twice |= out[j] == t;
		if (twice)
			complain(m, e->line, "target: %s is there twice", target_name(t));
		else
			out[n++] = t;
	}
	return n;
}

/* ---- zip and unknown keys ---- */

static void check_zip(struct matrix *m, const struct conf_section *s)
{
	const struct conf_entry *e = entry_of(s, "zip");
	const struct list *l = list_of(e);

	if (!l)
		return;
	if (l->n < 2)
		complain(m, e->line, "zip ties at least two keys: zip = a, b");
	for (size_t i = 0; i < l->n; i++) {
		const char *key = l->items[i].text;
		char q[CONF_QUOTE_SIZE];
		int set = is_global(s);

		conf_quote(key, strlen(key), q);
		if (zip_position(l, key) != (int)i)
			complain(m, e->line, "zip: '%s' is there twice", q);
		if (is_matrix_key(key) || option_find(matrix_settings_options, key))
			complain(m, e->line, "zip: '%s' is not an option with a list of values", q);
		else if (!set && !effective(m, s, key))
			complain(m, e->line, "zip: [%s] does not set '%s'", s->name, q);
		for (size_t j = 0; set && j < m->conf.n_sections; j++)
			if (entry_of(&m->conf.sections[j], key))
				break;
			else if (j + 1 == m->conf.n_sections)
				complain(m, e->line, "zip: no section sets '%s'", q);
	}
}

/* Does a combination of the span take this key?  A refused plugin may know anything. */
static int key_is_known(const struct matrix *m, const struct span *span, const char *key)
{
	enum owner owner;

	for (size_t i = span->first; i < span->first + span->n; i++) {
		const struct combo *c = &m->combos[i];

		if (!c->variant || c->variant->refused || find_row(c, key, &owner))
			return 1;
	}
	return 0;
}

static void unknown_key(struct matrix *m, const struct conf_section *s, const struct span *span,
			const struct conf_entry *e)
{
	struct words w = {0};
	char buf[80], q[CONF_QUOTE_SIZE];

	for (size_t i = span->first; i < span->first + span->n && w.n < 5000; i++) {
		if (m->combos[i].variant)
			words_add_table(&w, m->combos[i].variant->options);
		words_add_table(&w, m->combos[i].workload->options);
	}
	words_add_table(&w, common_options);
	words_add_table(&w, matrix_axes);
	for (size_t i = 0; matrix_keys[i]; i++)
		words_add(&w, matrix_keys[i]);
	if (is_global(s))
		words_add_table(&w, matrix_settings_options);
	hint(e->key, &w, buf);
	complain(m, e->line, "[%s] unknown key '%s'%s", s->name,
		 conf_quote(e->key, strlen(e->key), q), buf);
}

/* A section without a combination has its error already; of its keys nothing is known. */
static void check_keys(struct matrix *m, const struct conf_section *s, const struct span *span)
{
	for (size_t i = 0; i < s->n_entries; i++) {
		const struct conf_entry *e = &s->entries[i];
		int setting = option_find(matrix_settings_options, e->key) != NULL ||
			      !strcmp(e->key, "baseline");

		if (setting && !is_global(s))
			complain(m, e->line, "'%s' is a setting of the whole run: put it into [global]",
				 e->key);
		else if (!setting && !is_matrix_key(e->key) && span->n &&
			 !key_is_known(m, span, e->key))
			unknown_key(m, s, span, e);
	}
}

/* ---- settings ---- */

static void convert_settings(struct matrix_settings *to, const struct settings *from)
{
	*to = (struct matrix_settings){
		.isolation_block = from->isolation.index,
		.schedule_sequential = from->schedule.index,
		.trials = from->trials,
		.blocks_min = from->blocks_min,
		.blocks_max = from->blocks_max,
		.ci = from->ci,
		.cell_limit_s = from->cell_limit,
		.warmup_s = from->warmup,
		.warmup_runs = from->warmup_runs,
		.timeout_s = from->timeout,
		.energy_s = from->energy,
		.cache_cold = from->cache.index,
		.seed = (uint64_t)from->seed,
		.device = from->device,
	};
}

/* One of the two bounds alone moves the other's default. */
static void check_blocks(struct matrix *m, struct settings *s)
{
	const struct conf_section *global = conf_section(&m->conf, "global");
	const struct conf_entry *lo = entry_of(global, "blocks_min"), *hi = entry_of(global, "blocks_max");

	if (s->blocks_min <= s->blocks_max)
		return;
	if (lo && hi)
		complain(m, lo->line, "blocks_min = %" PRId64 " is above blocks_max = %" PRId64,
			 s->blocks_min, s->blocks_max);
	else if (lo)
		s->blocks_max = s->blocks_min;
	else
		s->blocks_min = s->blocks_max;
}

static void read_settings(struct matrix *m)
{
	const struct conf_section *global = conf_section(&m->conf, "global");
	const struct conf_entry *baseline = entry_of(global, "baseline");
	struct settings s = {0};
	char why[300], buf[80], q[CONF_QUOTE_SIZE];

	if (option_defaults(matrix_settings_options, &s, why, sizeof why))
		complain(m, WHOLE_FILE, "%s", why);
	for (size_t i = 0; global && i < global->n_entries; i++) {
		const struct conf_entry *e = &global->entries[i];
		const struct pkrun_option *row = option_find(matrix_settings_options, e->key);

		if (row && option_parse(row, e->value, &s, why, sizeof why))
			complain(m, e->line, "%s: %s", e->key, why);
	}
	check_blocks(m, &s);
	if (m->req->quick) {
		s.trials = s.blocks_min = s.blocks_max = 3;
		s.ci = 0;
	}
	convert_settings(&m->settings, &s);
	if (!baseline)
		return;
	for (size_t i = 0; i < m->conf.n_sections; i++)
		if (!is_global(&m->conf.sections[i]) &&
		    !strcmp(m->conf.sections[i].name, baseline->value))
			m->settings.baseline = m->conf.sections[i].name;
	if (!m->settings.baseline) {
		struct words names = {0};

		for (size_t i = 0; i < m->conf.n_sections; i++)
			if (!is_global(&m->conf.sections[i]))
				words_add(&names, m->conf.sections[i].name);
		hint(baseline->value, &names, buf);
		complain(m, baseline->line, "baseline: there is no section [%s]%s",
			 conf_quote(baseline->value, strlen(baseline->value), q), buf);
	}
}

/* ---- all together ---- */

static void plan_section(struct matrix *m, const struct conf_section *s)
{
	const struct workload *w[64];
	struct words names = {0};
	uint32_t targets[4];
	size_t n_workloads = workloads_of(m, s, w, 64), n_targets = targets_of(m, s, targets);

	variants_of(m, s, &names);
	for (size_t i = 0; i < names.n; i++)
		for (size_t j = 0; j < n_workloads; j++)
			for (size_t k = 0; k < n_targets; k++)
				add_combo(m, s, names.items[i], w[j], targets[k]);
	free(names.items);
}

static void count_cells(struct matrix *m)
{
	for (size_t i = 0; i < m->n_combos; i++) {
		m->combos[i].first = m->cells;
		m->cells = saturating_add(m->cells, m->combos[i].cells);
	}
	if (m->cells <= MATRIX_CELLS_MAX)
		return;
	if (m->cells == UINT64_MAX)
		complain(m, WHOLE_FILE, "the matrix has 2^64 cells or more; at most %d", MATRIX_CELLS_MAX);
	else
		complain(m, WHOLE_FILE, "the matrix has %" PRIu64 " cells; at most %d", m->cells,
			 MATRIX_CELLS_MAX);
}

static const struct combo *combo_of(const struct matrix *m, uint64_t number)
{
	size_t lo = 0, hi = m->n_combos;

	while (hi - lo > 1) {
		size_t middle = lo + (hi - lo) / 2;

		if (m->combos[middle].first <= number)
			lo = middle;
		else
			hi = middle;
	}
	return &m->combos[lo];
}

static void *owner_struct(struct cell *c, struct matrix_options *o, enum owner owner)
{
	switch (owner) {
	case OWNER_MATRIX:
		return o;
	case OWNER_COMMON:
		return &c->common;
	case OWNER_WORKLOAD:
		return &c->workload_options;
	case OWNER_VARIANT:
		break;
	}
	return &c->variant_options;
}

/* Digits of the number, the last axis the fastest. */
static void compute_cell(const struct combo *c, uint64_t number, struct cell *out)
{
	struct matrix_options options = {.iterations = {.index = 0}};
	uint64_t digit[AXES_MAX];
	char why[200];

	*out = c->defaults;
	number -= c->first;
	for (int i = c->n_axes - 1; i >= 0; i--) {
		const struct axis *a = &c->axes[i];

		if (a->leader >= 0 && a->leader != i)
			continue;
		digit[i] = number % a->count;
		number /= a->count;
	}
	for (int i = 0; i < c->n_axes; i++) {
		const struct axis *a = &c->axes[i];
		uint64_t k = digit[a->leader >= 0 ? a->leader : i];

		/* every value was tried in check_axis */
		if (axis_apply(a, k, owner_struct(out, &options, a->owner), why, sizeof why))
			snprintf(out->why, sizeof out->why, "%s: %.200s", a->row->name, why);
	}
	out->iterations = options.iterations.index ? (uint64_t)options.iterations.arg : 0;
	out->n = out->workload->n ? out->workload->n(&out->workload_options) : 0;
	if (c->why)
		snprintf(out->why, sizeof out->why, "%s", c->why);
	else if (out->workload->check &&
		 out->workload->check(&out->workload_options, why, sizeof why))
		snprintf(out->why, sizeof out->why, "%s", why);
}

/* The pattern against series, series/variant, series/variant/workload, and with /n. */
static int only_matches(const char *pattern, const struct cell *c)
{
	char text[400];
	size_t length[4];
	int n;

	n = snprintf(text, sizeof text, "%.100s", c->series);
	length[0] = (size_t)n;
	n += snprintf(text + n, sizeof text - (size_t)n, "/%.100s", c->variant_name);
	length[1] = (size_t)n;
	n += snprintf(text + n, sizeof text - (size_t)n, "/%.60s", c->workload->name);
	length[2] = (size_t)n;
	n += snprintf(text + n, sizeof text - (size_t)n, "/%" PRId64, c->n);
	length[3] = (size_t)n;
	for (int i = 3; i >= 0; i--) {
		text[length[i]] = 0;
		if (!fnmatch(pattern, text, 0))
			return 1;
	}
	return 0;
}

static void select_cells(struct matrix *m)
{
	char q[CONF_QUOTE_SIZE], names[300] = "";

	m->selected = must(malloc((m->cells + 1) * sizeof *m->selected));
	for (size_t i = 0; i < m->n_combos; i++) {
		const struct combo *c = &m->combos[i];

		for (uint64_t k = 0; k < c->cells; k++) {
			struct cell cell;

			compute_cell(c, c->first + k, &cell);
			if (only_matches(m->req->only, &cell))
				m->selected[m->n_selected++] = (uint32_t)(c->first + k);
		}
	}
	if (m->n_selected)
		return;
	for (size_t i = 0; i < m->conf.n_sections; i++) {
		size_t used = strlen(names);

		if (!is_global(&m->conf.sections[i]))
			snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
				 m->conf.sections[i].name);
	}
	complain(m, WHOLE_FILE, "--only '%s' matches none of the %" PRIu64 " cells; the series are %s",
		 conf_quote(m->req->only, strlen(m->req->only), q), m->cells, names);
}

/* Combinations of every section; *complete: each has some, so that [global]'s keys can be judged. */
static void plan_sections(struct matrix *m, int *complete)
{
	int series = 0;

	*complete = 1;
	m->spans = must(calloc(m->conf.n_sections + 1, sizeof *m->spans));
	for (size_t i = 0; i < m->conf.n_sections; i++) {
		check_zip(m, &m->conf.sections[i]);
		m->spans[i].first = m->n_combos;
		if (is_global(&m->conf.sections[i]))
			continue;
		plan_section(m, &m->conf.sections[i]);
		m->spans[i].n = m->n_combos - m->spans[i].first;
		*complete &= m->spans[i].n > 0;
		series++;
	}
	if (!series)
		complain(m, WHOLE_FILE, "no series: the file has only [global]");
}

static void plan(struct matrix *m)
{
	int complete;

	split_all(m);
	read_settings(m);
	plan_sections(m, &complete);
	for (size_t i = 0; i < m->conf.n_sections; i++) {
		const struct span all = {0, complete ? m->n_combos : 0};
		const struct conf_section *s = &m->conf.sections[i];

		check_keys(m, s, is_global(s) ? &all : &m->spans[i]);
	}
	for (size_t i = 0; i < m->n_combos; i++)
		for (int j = 0; j < m->combos[i].n_axes; j++)
			check_axis(m, &m->combos[i].axes[j]);
	count_cells(m);
	if (!m->errors && m->req->only)
		select_cells(m);
}

int matrix_plan(struct matrix **out, struct conf *conf, const struct matrix_request *req,
		conf_error_fn report, void *user)
{
	struct matrix *m = must(calloc(1, sizeof *m));

	m->conf = *conf;
	*conf = (struct conf){0};
	m->req = req;
	m->report = report;
	m->user = user;
	if (matrix_expand(&m->conf, report, user))
		m->errors = 1;
	else
		plan(m);
	if (m->errors) {
		matrix_free(m);
		return -1;
	}
	*out = m;
	return 0;
}

int matrix_open(struct matrix **out, const char *path, const struct matrix_request *req,
		conf_error_fn report, void *user)
{
	struct conf conf;
	int bad = 0;

	if (conf_read(&conf, path, report, user))
		return -1;
	for (size_t i = 0; i < req->n_sets; i++)
		bad |= conf_set(&conf, req->sets[i], report, user);
	if (bad) {
		conf_free(&conf);
		return -1;
	}
	return matrix_plan(out, &conf, req, report, user);
}

uint64_t matrix_cells(const struct matrix *m)
{
	return m->selected ? m->n_selected : m->cells;
}

int matrix_cell(const struct matrix *m, uint64_t number, struct cell *out)
{
	uint64_t full = number;

	if (number >= matrix_cells(m))
		return -1;
	if (m->selected)
		full = m->selected[number];
	compute_cell(combo_of(m, full), full, out);
	out->number = number;
	return 0;
}

const struct matrix_settings *matrix_settings(const struct matrix *m)
{
	return &m->settings;
}

const struct conf *matrix_conf(const struct matrix *m)
{
	return &m->conf;
}

void matrix_free(struct matrix *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n_lists; i++) {
		free(m->lists[i].items);
		free(m->lists[i].text);
	}
	for (size_t i = 0; i < m->n_combos; i++) {
		free(m->combos[i].axes);
		free(m->combos[i].why);
	}
	free(m->lists);
	free(m->combos);
	free(m->spans);
	free(m->selected);
	errors_free(m);
	conf_free(&m->conf);
	free(m);
}

/* ---- before the catalog is there ---- */

/* Each item of each `key = ` list in the file. */
static void each_item(const struct conf *conf, const char *key,
		      void (*fn)(void *user, const struct conf_entry *e, const char *text), void *user)
{
	for (size_t i = 0; i < conf->n_sections; i++) {
		const struct conf_entry *e = entry_of(&conf->sections[i], key);
		char *copy, *rest, *piece;

		if (!e)
			continue;
		copy = rest = must(strdup(e->value));
		while ((piece = strsep(&rest, ",")))
			fn(user, e, trim(piece));
		free(copy);
	}
}

struct paths {
	const struct conf *conf;
	char **items;
	size_t n;
};

static void add_path(void *user, const struct conf_entry *e, const char *text)
{
	struct paths *p = user;
	char *full;

	if (!strchr(text, '/'))
		return;
	full = resolve(p->conf, e, text);
	for (size_t i = 0; i < p->n; i++) {
		if (!strcmp(p->items[i], full)) {
			free(full);
			return;
		}
	}
	p->items = must(realloc(p->items, (p->n + 1) * sizeof *p->items));
	p->items[p->n++] = full;
}

int matrix_plugins(const struct conf *conf, char ***paths, size_t *n)
{
	struct paths p = {.conf = conf};

	each_item(conf, "variant", add_path, &p);
	*paths = p.items;
	*n = p.n;
	return 0;
}

void matrix_plugins_free(char **paths, size_t n)
{
	while (n)
		free(paths[--n]);
	free(paths);
}

static void add_target(void *user, const struct conf_entry *e, const char *text)
{
	uint32_t *bits = user, target;

	(void)e;
	if (!target_parse(text, &target))
		*bits |= 1u << target;
}

uint32_t matrix_targets(const struct conf *conf)
{
	uint32_t bits = 0;

	each_item(conf, "target", add_target, &bits);
	return bits;
}

/* ---- a cell as text ---- */

static void table_params(const struct pkrun_option *row, const void *base, const char *owner,
			 void (*fn)(void *, const char *, const char *, const char *, int), void *user)
{
	for (; row && row->name; row++) {
		char value[1024], why[200], standard[1024];
		union { unsigned char bytes[MATRIX_OPTIONS_BYTES]; int64_t align; } scratch;

		if (option_spell(row, base, value, sizeof value))
			continue;
		if (option_parse(row, row->value, &scratch, why, sizeof why) ||
		    option_spell(row, &scratch, standard, sizeof standard))
			standard[0] = 0;
		fn(user, owner, row->name, value, !strcmp(value, standard));
	}
}

void cell_params(const struct cell *c,
		 void (*fn)(void *user, const char *owner, const char *name, const char *value, int is_default),
		 void *user)
{
	table_params(c->workload->options, &c->workload_options, "workload", fn, user);
	table_params(common_options, &c->common, "common", fn, user);
	if (c->variant)
		table_params(c->variant->options, &c->variant_options, "variant", fn, user);
}

int cell_refused(const struct cell *c, const struct catalog *catalog)
{
	return c->variant && c->variant->refused && catalog->targets[c->target].devices > 0;
}

struct key {
	char *out;
	size_t size, used;
	int full;
};

static void key_text(struct key *k, const char *text, int escape)
{
	for (; *text; text++) {
		char piece[4] = {*text};

		if (escape && (strchr(" %=/", *text)))
			snprintf(piece, sizeof piece, "%%%02X", (unsigned char)*text);
		if (k->used + strlen(piece) >= k->size) {
			k->full = 1;
			return;
		}
		strcpy(k->out + k->used, piece);
		k->used += strlen(piece);
	}
}

static void key_param(void *user, const char *owner, const char *name, const char *value, int is_default)
{
	struct key *k = user;

	(void)owner;
	(void)is_default;
	key_text(k, " ", 0);
	key_text(k, name, 1);
	key_text(k, "=", 0);
	key_text(k, value, 1);
}

/* "poisson2d/launch/host iterations=1000 n=11 threads=256 ..." */
int cell_key(const struct cell *c, char *out, size_t out_size)
{
	struct key k = {.out = out, .size = out_size};
	char number[32] = "auto";

	key_text(&k, c->workload->name, 1);
	key_text(&k, "/", 0);
	key_text(&k, c->variant_name, 1);
	key_text(&k, "/", 0);
	key_text(&k, target_name(c->target), 1);
	if (c->iterations)
		snprintf(number, sizeof number, "%" PRIu64, c->iterations);
	key_param(&k, "", "iterations", number, 0);
	cell_params(c, key_param, &k);
	return k.full ? -1 : 0;
}
