/* SPDX-License-Identifier: MIT
 *
 * matrix_env.c - ${NAME} from the environment; and what the catalog must be told
 * before a matrix can be planned: plugins by path, targets.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matrix_internal.h"

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
		matrix_complain(m, e->line, "'%s': expected ${NAME} of letters, digits and _",
			 conf_quote(at, strlen(at), q));
		return NULL;
	}
	snprintf(name, sizeof name, "%.*s", (int)(end - at - 2), at + 2);
	value = getenv(name);
	if (!value) {
		matrix_complain(m, e->line, "%s: the environment has no %s", e->key, name);
		return NULL;
	}
	if (!conf_is_text(value, strlen(value)) || strstr(value, "${")) {
		matrix_complain(m, e->line, "%s: %s holds what is no value: '%s'", e->key, name,
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
	f = matrix_must(open_memstream(&out, &size));
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
		matrix_complain(m, e->line, "'%s' has no value: its ${...} is empty", e->key);
	free(e->value);
	e->value = matrix_must(out);
}

int matrix_expand(struct conf *conf, conf_error_fn report, void *user)
{
	struct matrix m = {.conf = *conf, .report = report, .user = user};

	for (size_t i = 0; i < conf->n_sections; i++)
		for (size_t j = 0; j < conf->sections[i].n_entries; j++)
			expand_entry(&m, &conf->sections[i].entries[j]);
	matrix_errors_free(&m);
	return m.errors ? -1 : 0;
}

/* ---- before the catalog is there ---- */

/* A path of the matrix as the catalog knows it; the caller frees. */
char *matrix_resolve(const struct conf *conf, const struct conf_entry *e, const char *path)
{
	const char *slash = strrchr(conf->path, '/');
	char *joined, *full;

	/* from the command line, or through a pipe: relative to the current folder */
	if (*path == '/' || !slash || !e->line || !strncmp(conf->path, "/dev/", 5) ||
	    !strncmp(conf->path, "/proc/", 6))
		joined = matrix_must(strdup(path));
	else if (asprintf(&joined, "%.*s/%s", (int)(slash - conf->path), conf->path, path) < 0)
		abort();
	full = realpath(joined, NULL);
	if (!full)
		return joined;
	free(joined);
	return full;
}

/* Each item of each `key = ` list in the file. */
static void each_item(const struct conf *conf, const char *key,
		      void (*fn)(void *user, const struct conf_entry *e, const char *text), void *user)
{
	for (size_t i = 0; i < conf->n_sections; i++) {
		const struct conf_entry *e = matrix_entry(&conf->sections[i], key);
		char *copy, *rest, *piece;

		if (!e)
			continue;
		copy = rest = matrix_must(strdup(e->value));
		while ((piece = strsep(&rest, ",")))
			fn(user, e, list_trim(piece));
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
	full = matrix_resolve(p->conf, e, text);
	for (size_t i = 0; i < p->n; i++) {
		if (!strcmp(p->items[i], full)) {
			free(full);
			return;
		}
	}
	p->items = matrix_must(realloc(p->items, (p->n + 1) * sizeof *p->items));
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
