/* SPDX-License-Identifier: MIT
 *
 * job.c - the text of a job.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "job.h"

void job_clear(struct job *j)
{
	j->size = 0;
}

int job_add(struct job *j, const char *key, const char *value)
{
	size_t k = strlen(key) + 1, v = strlen(value) + 1;

	if (k + v > sizeof(j->text) - j->size)
		return -1;
	memcpy(j->text + j->size, key, k);
	memcpy(j->text + j->size + k, value, v);
	j->size += k + v;
	return 0;
}

int job_add_int(struct job *j, const char *key, int64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64, value);
	return job_add(j, key, text);
}

int job_add_real(struct job *j, const char *key, double value)
{
	char text[40];

	snprintf(text, sizeof(text), "%.17g", value);
	return job_add(j, key, text);
}

int job_add_param(struct job *j, const char *owner, const char *name, const char *value)
{
	char key[128];

	snprintf(key, sizeof(key), "%s.%s", owner, name);
	return job_add(j, key, value);
}

int job_take(struct job *j, const struct message *m)
{
	const char *text = m->data;
	size_t i, ends = 0;

	for (i = 0; i < m->size; i++)
		ends += text[i] == '\0';
	if (ends % 2 || (m->size && text[m->size - 1]))
		return -1;
	memcpy(j->text, text, m->size);
	j->size = m->size;
	return 0;
}

/* The pair after *at, which is moved on; NULL at the end. */
static const char *next(const struct job *j, size_t *at, const char **value)
{
	const char *key = j->text + *at;

	if (*at >= j->size)
		return NULL;
	*value = key + strlen(key) + 1;
	*at += strlen(key) + 1 + strlen(*value) + 1;
	return key;
}

const char *job_get(const struct job *j, const char *key)
{
	const char *k, *value;
	size_t at = 0;

	while ((k = next(j, &at, &value)))
		if (strcmp(k, key) == 0)
			return value;
	return NULL;
}

int64_t job_int(const struct job *j, const char *key, int64_t otherwise)
{
	const char *v = job_get(j, key);

	return v ? strtoll(v, NULL, 10) : otherwise;
}

double job_real(const struct job *j, const char *key, double otherwise)
{
	const char *v = job_get(j, key);

	return v ? strtod(v, NULL) : otherwise;
}

int job_options(const struct job *j, const char *owner, const struct pkrun_option *table,
		void *base, char *why, size_t why_size)
{
	const struct pkrun_option *row;
	const char *key, *value;
	size_t at = 0, n = strlen(owner);

	if (!table)
		return 0;
	if (option_defaults(table, base, why, why_size))
		return -1;
	while ((key = next(j, &at, &value))) {
		if (strncmp(key, owner, n) || key[n] != '.')
			continue;
		row = option_find(table, key + n + 1);
		if (!row) {
			snprintf(why, why_size, "no option '%s' (the plugin was changed?)",
				 key + n + 1);
			return -1;
		}
		if (option_parse(row, value, base, why, why_size))
			return -1;
	}
	return 0;
}
