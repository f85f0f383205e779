/* SPDX-License-Identifier: MIT
 *
 * matrix_axes.c - what a combination multiplies out: the options that it knows,
 * each with a list of values; keys tied by zip; and keys that nobody knows.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matrix_internal.h"

const struct pkrun_option matrix_axes[] = {
	{"iterations", PKRUN_CHOICE, offsetof(struct matrix_options, iterations), "auto", 1, 1e12,
	 "auto|N", NULL, "iterations of a trial; auto: enough for the clock, the same for all cells of a problem"},
	{NULL, 0, 0, NULL, 0, 0, NULL, NULL, NULL},
};

const char *const matrix_keys[] = {"variant", "workload", "target", "zip", "baseline", NULL};

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

/* ---- the values of an axis ---- */

int axis_apply(const struct axis *a, uint64_t k, void *base, char *why, size_t why_size)
{
	char number[32];

	return option_parse(a->row, list_value(a->list, k, a->ranges, number), base, why, why_size);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The same value twice would be the same cell twice. */
static void check_repeats(struct matrix *m, const struct axis *a)
{
	union { unsigned char bytes[MATRIX_OPTIONS_BYTES]; int64_t align; } scratch;
	char why[200], value[OPTION_SPELT], **texts;

	if (a->count < 2 || (a->list->n == 1 && a->ranges && a->list->items->is_range))
		return;
	texts = matrix_must(calloc(a->count, sizeof *texts));
	for (uint64_t k = 0; k < a->count; k++) {
		if (axis_apply(a, k, &scratch, why, sizeof why) ||
		    option_spell(a->row, &scratch, value, sizeof value))
			snprintf(value, sizeof value, "%" PRIu64, k);
		texts[k] = matrix_must(strdup(value));
	}
	qsort(texts, a->count, sizeof *texts, compare_texts);
	for (uint64_t k = 1; k < a->count; k++)
		if (!strcmp(texts[k], texts[k - 1]))
			matrix_complain(m, a->entry->line, "%s: %.60s is there twice", a->row->name,
				 texts[k]);
	for (uint64_t k = 0; k < a->count; k++)
		free(texts[k]);
	free(texts);
}

/* Every item is a value that the option takes; of an integer range the ends say it all. */
static int check_item(struct matrix *m, const struct axis *a, const struct item *i)
{
	union { unsigned char bytes[MATRIX_OPTIONS_BYTES]; int64_t align; } scratch;
	struct list one = {.items = (struct item *)i, .n = 1, .has_ranges = i->is_range};
	struct axis alone = {.list = &one, .row = a->row, .ranges = a->ranges};
	uint64_t count = list_count(&one, a->ranges);
	uint64_t step = a->row->type == PKRUN_INT && count > 2 ? count - 1 : 1;
	const struct conf_entry *e = a->entry;
	char why[300], q[CONF_QUOTE_SIZE];

	if (!*i->text)
		return -1;	/* reported by split */
	if (i->wrong && a->ranges) {
		matrix_complain(m, e->line, "%s = %s: %s", e->key, conf_quote(i->text, strlen(i->text), q),
			 i->wrong);
		return -1;
	}
	for (uint64_t k = 0; k < count; k += step) {
		if (!axis_apply(&alone, k, &scratch, why, sizeof why))
			continue;
		matrix_complain(m, e->line, "%s: %s", e->key, why);
		return -1;
	}
	return 0;
}

void axis_check(struct matrix *m, const struct axis *a)
{
	int bad = 0;

	if (a->count > MATRIX_CELLS_MAX) {
		matrix_complain(m, a->entry->line, "%s has %" PRIu64 " values; at most %d cells",
			 a->row->name, a->count, MATRIX_CELLS_MAX);
		return;
	}
	for (size_t i = 0; i < a->list->n; i++)
		bad |= check_item(m, a, &a->list->items[i]);
	if (!bad && a->leader < 0)
		check_repeats(m, a);
}

/* ---- the axes of a combination ---- */

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
		matrix_complain(m, e->line, "[%s] has more than %d options", c->section->name, AXES_MAX);
		return;
	}
	a = &c->axes[c->n_axes];
	*a = (struct axis){.entry = e, .list = matrix_list(e), .row = row, .owner = owner, .leader = -1};
	a->ranges = row->type != PKRUN_TEXT;
	a->count = list_count(a->list, a->ranges);
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
			matrix_complain(m, a->entry->line,
				 "[%s] zip ties %s (%" PRIu64 " values) to %s (%" PRIu64
				 " values); they must have equally many", c->section->name,
				 a->row->name, a->count, b->row->name, b->count);
	}
}

void axes_build(struct matrix *m, struct combo *c)
{
	const struct conf_section *global = conf_section(&m->conf, "global");
	const struct conf_entry *zip_entry = matrix_effective(m, c->section, "zip");
	const struct list *zip = matrix_list(zip_entry);
	struct axis *axes;

	c->axes = matrix_must(calloc(AXES_MAX, sizeof *c->axes));
	for (size_t i = 0; global && i < global->n_entries; i++)
		if (!matrix_entry(c->section, global->entries[i].key))
			add_axis(m, c, zip, &global->entries[i]);
	for (size_t i = 0; i < c->section->n_entries; i++)
		add_axis(m, c, zip, &c->section->entries[i]);
	axes = realloc(c->axes, (size_t)(c->n_axes + 1) * sizeof *axes);
	c->axes = axes ? axes : c->axes;
	check_zip_counts(m, c);
	c->cells = 1;
	for (int i = 0; i < c->n_axes; i++)
		if (c->axes[i].leader < 0 || c->axes[i].leader == i)
			c->cells = list_saturating_multiply(c->cells, c->axes[i].count);
}

/* ---- zip and unknown keys ---- */

void zip_check(struct matrix *m, const struct conf_section *s)
{
	const struct conf_entry *e = matrix_entry(s, "zip");
	const struct list *l = matrix_list(e);

	if (!l)
		return;
	if (l->n < 2)
		matrix_complain(m, e->line, "zip ties at least two keys: zip = a, b");
	for (size_t i = 0; i < l->n; i++) {
		const char *key = l->items[i].text;
		char q[CONF_QUOTE_SIZE];
		int set = matrix_is_global(s);

		conf_quote(key, strlen(key), q);
		if (zip_position(l, key) != (int)i)
			matrix_complain(m, e->line, "zip: '%s' is there twice", q);
		if (is_matrix_key(key) || option_find(matrix_settings_options, key))
			matrix_complain(m, e->line, "zip: '%s' is not an option with a list of values", q);
		else if (!set && !matrix_effective(m, s, key))
			matrix_complain(m, e->line, "zip: [%s] does not set '%s'", s->name, q);
		for (size_t j = 0; set && j < m->conf.n_sections; j++)
			if (matrix_entry(&m->conf.sections[j], key))
				break;
			else if (j + 1 == m->conf.n_sections)
				matrix_complain(m, e->line, "zip: no section sets '%s'", q);
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

/* "; it is an option of workload busy", if a workload or a variant that is not here has it. */
static void option_of_another(const struct matrix *m, const char *key, char out[WORDS_HINT_SIZE])
{
	const struct catalog *c = m->req->catalog;

	for (size_t i = 0; workloads[i]; i++)
		if (option_find(workloads[i]->options, key)) {
			snprintf(out, WORDS_HINT_SIZE, "; it is an option of workload %s", workloads[i]->name);
			return;
		}
	for (size_t i = 0; i < c->n_variants; i++)
		if (!c->variants[i].refused && option_find(c->variants[i].options, key)) {
			snprintf(out, WORDS_HINT_SIZE, "; it is an option of variant %s", c->variants[i].name);
			return;
		}
}

static void unknown_key(struct matrix *m, const struct conf_section *s, const struct span *span,
			const struct conf_entry *e)
{
	struct words w = {0};
	char buf[WORDS_HINT_SIZE], q[CONF_QUOTE_SIZE];

	for (size_t i = span->first; i < span->first + span->n && w.n < 5000; i++) {
		if (m->combos[i].variant)
			words_add_table(&w, m->combos[i].variant->options);
		words_add_table(&w, m->combos[i].workload->options);
	}
	words_add_table(&w, common_options);
	words_add_table(&w, matrix_axes);
	for (size_t i = 0; matrix_keys[i]; i++)
		words_add(&w, matrix_keys[i]);
	if (matrix_is_global(s))
		words_add_table(&w, matrix_settings_options);
	words_hint(e->key, &w, buf);
	option_of_another(m, e->key, buf);
	matrix_complain(m, e->line, "[%s] unknown key '%s'%s", s->name,
		 conf_quote(e->key, strlen(e->key), q), buf);
}

/* A section without a combination has its error already; of its keys nothing is known. */
void keys_check(struct matrix *m, const struct conf_section *s, const struct span *span)
{
	for (size_t i = 0; i < s->n_entries; i++) {
		const struct conf_entry *e = &s->entries[i];
		int setting = option_find(matrix_settings_options, e->key) != NULL ||
			      !strcmp(e->key, "baseline");

		if (setting && !matrix_is_global(s))
			matrix_complain(m, e->line, "'%s' is a setting of the whole run: put it into [global]",
				 e->key);
		else if (!setting && !is_matrix_key(e->key) && span->n &&
			 !key_is_known(m, span, e->key))
			unknown_key(m, s, span, e);
	}
}
