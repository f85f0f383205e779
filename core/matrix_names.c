/* SPDX-License-Identifier: MIT
 *
 * matrix_names.c - the variants, workloads and targets that a section names.
 */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "matrix_internal.h"

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

static void add_glob(struct matrix *m, const struct conf_entry *e, const char *glob, struct words *out)
{
	const struct catalog *c = m->req->catalog;
	int found = 0;

	for (size_t i = 0; i < c->n_variants; i++) {
		if (c->variants[i].by_path || fnmatch(glob, c->variants[i].name, 0))
			continue;
		found = 1;
		if (!words_has(out, c->variants[i].name))
			words_add(out, c->variants[i].name);
	}
	if (!found)
		matrix_complain(m, e->line, "variant: no name matches '%.60s'", glob);
}

static void add_name(struct matrix *m, const struct conf_entry *e, const char *name, struct words *out)
{
	const struct catalog *c = m->req->catalog;
	struct words names = {0};
	char buf[WORDS_HINT_SIZE], q[CONF_QUOTE_SIZE];

	if (exists_for_other_target(m, name)) {
		if (words_has(out, name))
			matrix_complain(m, e->line, "variant: %s is there twice", name);
		else
			words_add(out, name);
		return;
	}
	for (size_t i = 0; i < c->n_variants; i++)
		if (!c->variants[i].by_path)
			words_add(&names, c->variants[i].name);
	words_hint(name, &names, buf);
	if (!*buf && strlen(name) > 3 && !strcmp(name + strlen(name) - 3, ".so"))
		snprintf(buf, sizeof buf, "; a file is written with a slash: ./%.50s", name);
	matrix_complain(m, e->line, "no variant '%s'%s", conf_quote(name, strlen(name), q), buf);
}

/* The variants of section s: names, and paths as the catalog has them. */
void names_variants(struct matrix *m, const struct conf_section *s, struct words *out)
{
	const struct conf_entry *e = matrix_effective(m, s, "variant");
	const struct list *l = matrix_list(e);

	if (!e)
		matrix_complain(m, s->line, "[%s] has no variant", s->name);
	for (size_t i = 0; l && i < l->n; i++) {
		const char *text = l->items[i].text;
		char *full;

		if (!*text)
			continue;
		if (!strchr(text, '/')) {
			(strpbrk(text, "*?[") ? add_glob : add_name)(m, e, text, out);
			continue;
		}
		full = matrix_resolve(&m->conf, e, text);
		for (size_t v = 0; v < m->req->catalog->n_variants; v++)
			if (!strcmp(m->req->catalog->variants[v].path, full)) {
				add_name(m, e, m->req->catalog->variants[v].path, out);
				break;
			}
		if (!exists_for_other_target(m, full))
			matrix_complain(m, e->line, "variant: %s was not looked at", full);
		free(full);
	}
}

size_t names_workloads(struct matrix *m, const struct conf_section *s,
			   const struct workload *out[], size_t max)
{
	const struct conf_entry *e = matrix_effective(m, s, "workload");
	const struct list *l = matrix_list(e);
	size_t n = 0;

	if (!e)
		matrix_complain(m, s->line, "[%s] has no workload; put one into [global], "
			 "e.g. workload = poisson2d", s->name);
	for (size_t i = 0; l && i < l->n; i++) {
		const char *text = l->items[i].text;
		const struct workload *w = workload_find(text);
		struct words names = {0};
		char buf[WORDS_HINT_SIZE], q[CONF_QUOTE_SIZE];
		int twice = 0;

		for (size_t j = 0; j < n; j++)
			twice |= out[j] == w;
		for (size_t j = 0; workloads[j]; j++)
			words_add(&names, workloads[j]->name);
		words_hint(text, &names, buf);
		if (!w && *text)
			matrix_complain(m, e->line, "no workload '%s'%s", conf_quote(text, strlen(text), q), buf);
		else if (twice)
			matrix_complain(m, e->line, "workload: %s is there twice", text);
		else if (w && n < max)
			out[n++] = w;
	}
	return n;
}

size_t names_targets(struct matrix *m, const struct conf_section *s, uint32_t out[4])
{
	const struct conf_entry *e = matrix_effective(m, s, "target");
	const struct list *l = matrix_list(e);
	size_t n = 0;

	if (!e)
		out[n++] = m->req->target;
	for (size_t i = 0; l && i < l->n; i++) {
		char q[CONF_QUOTE_SIZE];
		uint32_t t;
		int twice = 0;

		if (target_parse(l->items[i].text, &t)) {
			matrix_complain(m, e->line, "no target '%s'; there are host, hip, cuda",
				 conf_quote(l->items[i].text, strlen(l->items[i].text), q));
			continue;
		}
		for (size_t j = 0; j < n; j++)
			twice |= out[j] == t;
		if (twice)
			matrix_complain(m, e->line, "target: %s is there twice", target_name(t));
		else
			out[n++] = t;
	}
	return n;
}
