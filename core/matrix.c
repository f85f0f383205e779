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
#include <fnmatch.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matrix_internal.h"

void *matrix_must(void *p)
{
	if (!p)
		abort();
	return p;
}

void matrix_complain(struct matrix *m, int line, const char *fmt, ...)
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
	m->said[m->errors++] = matrix_must(strdup(message));
	m->report(m->user, message);
}

void matrix_errors_free(struct matrix *m)
{
	for (int i = 0; i < ERRORS_MAX; i++)
		free(m->said[i]);
}

/* ---- entries ---- */

int matrix_is_global(const struct conf_section *s)
{
	return !strcmp(s->name, "global");
}

const struct conf_entry *matrix_entry(const struct conf_section *s, const char *key)
{
	for (size_t i = 0; s && i < s->n_entries; i++)
		if (!strcmp(s->entries[i].key, key))
			return &s->entries[i];
	return NULL;
}

/* The section's own, else [global]'s. */
const struct conf_entry *matrix_effective(const struct matrix *m, const struct conf_section *s,
					  const char *key)
{
	const struct conf_entry *e = matrix_entry(s, key);

	return e ? e : matrix_entry(conf_section(&m->conf, "global"), key);
}

const struct list *matrix_list(const struct conf_entry *e)
{
	return e ? e->list : NULL;
}

static void split_entry(struct matrix *m, struct conf_entry *e)
{
	struct list *l = e->list = &m->lists[m->n_lists++];

	list_split(l, e->value);
	for (size_t i = 0; i < l->n; i++)
		if (!*l->items[i].text)
			matrix_complain(m, e->line, "%s: the list has an empty item", e->key);
}

static void split_all(struct matrix *m)
{
	const struct conf *c = &m->conf;
	size_t n = 0;

	for (size_t i = 0; i < c->n_sections; i++)
		n += c->sections[i].n_entries;
	m->lists = matrix_must(calloc(n + 1, sizeof *m->lists));
	for (size_t i = 0; i < c->n_sections; i++)
		for (size_t j = 0; j < c->sections[i].n_entries; j++)
			split_entry(m, &c->sections[i].entries[j]);
}

/* ---- combinations ---- */

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
	else if (!variant_drives(c->variant, c->workload->name))
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
		matrix_complain(m, c->section->line ? c->section->line : WHOLE_FILE, "[%s] %s", c->section->name, why);
}

static void add_combo(struct matrix *m, const struct conf_section *s, const char *name,
		      const struct workload *w, uint32_t target)
{
	struct combo *c;

	if (m->n_combos == COMBOS_MAX)
		matrix_complain(m, WHOLE_FILE, "more than %d combinations of series, variant, workload and target",
			 COMBOS_MAX);
	if (m->n_combos >= COMBOS_MAX)
		return;
	if (!(m->n_combos & (m->n_combos - 1)))
		m->combos = matrix_must(realloc(m->combos, (m->n_combos ? 2 * m->n_combos : 1) * sizeof *c));
	c = &m->combos[m->n_combos++];
	*c = (struct combo){.section = s, .variant_name = name, .workload = w, .target = target};
	c->variant = catalog_find(m->req->catalog, target, name);
	if (c->variant)
		c->variant_name = c->variant->name;
	judge(m, c);
	set_defaults(m, c);
	axes_build(m, c);
}

static void plan_section(struct matrix *m, const struct conf_section *s)
{
	const struct workload *w[64];
	struct words names = {0};
	uint32_t targets[4];
	size_t n_workloads = names_workloads(m, s, w, 64), n_targets = names_targets(m, s, targets);

	names_variants(m, s, &names);
	for (size_t i = 0; i < names.n; i++)
		for (size_t j = 0; j < n_workloads; j++)
			for (size_t k = 0; k < n_targets; k++)
				add_combo(m, s, names.items[i], w[j], targets[k]);
	free(names.items);
}

/* Combinations of every section; *complete: each has some, so that [global]'s keys can be judged. */
static void plan_sections(struct matrix *m, int *complete)
{
	int series = 0;

	*complete = 1;
	m->spans = matrix_must(calloc(m->conf.n_sections + 1, sizeof *m->spans));
	for (size_t i = 0; i < m->conf.n_sections; i++) {
		zip_check(m, &m->conf.sections[i]);
		m->spans[i].first = m->n_combos;
		if (matrix_is_global(&m->conf.sections[i]))
			continue;
		plan_section(m, &m->conf.sections[i]);
		m->spans[i].n = m->n_combos - m->spans[i].first;
		*complete &= m->spans[i].n > 0;
		series++;
	}
	if (!series)
		matrix_complain(m, WHOLE_FILE, "no series: the file has only [global]");
}

static void count_cells(struct matrix *m)
{
	for (size_t i = 0; i < m->n_combos; i++) {
		m->combos[i].first = m->cells;
		m->cells = list_saturating_add(m->cells, m->combos[i].cells);
	}
	if (m->cells <= MATRIX_CELLS_MAX)
		return;
	if (m->cells == UINT64_MAX)
		matrix_complain(m, WHOLE_FILE, "the matrix has 2^64 cells or more; at most %d", MATRIX_CELLS_MAX);
	else
		matrix_complain(m, WHOLE_FILE, "the matrix has %" PRIu64 " cells; at most %d", m->cells,
			 MATRIX_CELLS_MAX);
}

/* ---- cells ---- */

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

/* ---- --only ---- */

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

	m->selected = matrix_must(malloc((m->cells + 1) * sizeof *m->selected));
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

		if (!matrix_is_global(&m->conf.sections[i]))
			snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
				 m->conf.sections[i].name);
	}
	matrix_complain(m, WHOLE_FILE, "--only '%s' matches none of the %" PRIu64 " cells; the series are %s",
		 conf_quote(m->req->only, strlen(m->req->only), q), m->cells, names);
}

/* ---- all together ---- */

static void plan(struct matrix *m)
{
	int complete;

	split_all(m);
	settings_read(m);
	plan_sections(m, &complete);
	for (size_t i = 0; i < m->conf.n_sections; i++) {
		const struct span all = {0, complete ? m->n_combos : 0};
		const struct conf_section *s = &m->conf.sections[i];

		keys_check(m, s, matrix_is_global(s) ? &all : &m->spans[i]);
	}
	for (size_t i = 0; i < m->n_combos; i++)
		for (int j = 0; j < m->combos[i].n_axes; j++)
			axis_check(m, &m->combos[i].axes[j]);
	count_cells(m);
	if (!m->errors && m->req->only)
		select_cells(m);
}

int matrix_plan(struct matrix **out, struct conf *conf, const struct matrix_request *req,
		conf_error_fn report, void *user)
{
	struct matrix *m = matrix_must(calloc(1, sizeof *m));

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
	for (size_t i = 0; i < m->n_lists; i++)
		list_free(&m->lists[i]);
	for (size_t i = 0; i < m->n_combos; i++) {
		free(m->combos[i].axes);
		free(m->combos[i].why);
	}
	free(m->lists);
	free(m->combos);
	free(m->spans);
	free(m->selected);
	matrix_errors_free(m);
	conf_free(&m->conf);
	free(m);
}
