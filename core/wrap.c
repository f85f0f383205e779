/* SPDX-License-Identifier: MIT
 *
 * wrap.c - the command that --wrap runs each worker under: compute-sanitizer,
 * ncu, rocprofv3, gdb, valgrind, ...
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "wrap.h"

/* One word from *text, unquoted in place into out (as long as text); NULL at the end, or *open set to
 * the quote that has no end. */
static char *next_word(const char **text, char *out, char *open)
{
	const char *s = *text + strspn(*text, " \t\n");
	char *o = out, quote = 0;

	if (!*s)
		return NULL;
	for (; *s && (quote || !isspace((unsigned char)*s)); s++) {
		if (quote ? *s == quote : *s == '\'' || *s == '"')
			quote = quote ? 0 : *s;
		else if (*s == '\\' && quote != '\'' && s[1])
			*o++ = *++s;
		else
			*o++ = *s;
	}
	*o = '\0';
	*open = quote;
	*text = s;
	return out;
}

int wrap_parse(struct wrap *w, const char *text, char *why, size_t why_size)
{
	char *buf = malloc(strlen(text) + 1), open = 0;
	size_t n = 0;

	w->words = calloc(WRAP_WORDS + 1, sizeof(*w->words));
	snprintf(why, why_size, "out of memory");
	if (!buf || !w->words)
		goto fail;
	while (next_word(&text, buf, &open)) {
		if (open || n == WRAP_WORDS) {
			if (open)
				snprintf(why, why_size, "a %c has no end", open);
			else
				snprintf(why, why_size, "more than %d words", WRAP_WORDS);
			goto fail;
		}
		w->words[n] = strdup(buf);
		if (!w->words[n++])
			goto fail;
	}
	if (!n) {
		snprintf(why, why_size, "no command");
		goto fail;
	}
	free(buf);
	return 0;
fail:
	free(buf);
	wrap_free(w);
	return -1;
}

void wrap_free(struct wrap *w)
{
	char **s;

	for (s = w->words; s && *s; s++)
		free(*s);
	free(w->words);
	w->words = NULL;
}

void wrap_cell_name(const struct cell *cell, char *out, size_t size)
{
	char *c;

	snprintf(out, size, "%05" PRIu64 "-%s-%s-%s-n%" PRId64, cell->number, cell->series,
		 cell->variant_name, cell->workload->name, cell->n);
	for (c = out; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_')
			*c = '_';
}

/* `word` with every {cell} replaced by name; NULL: no memory. */
static char *replace(const char *word, const char *name)
{
	static const char key[] = "{cell}";
	const char *s, *at;
	size_t n = 0;
	char *out, *o;

	for (s = word; (at = strstr(s, key)); s = at + strlen(key))
		n++;
	o = out = malloc(strlen(word) + n * strlen(name) + 1);
	if (!out)
		return NULL;
	for (s = word; (at = strstr(s, key)); s = at + strlen(key)) {
		memcpy(o, s, (size_t)(at - s));
		o = stpcpy(o + (at - s), name);
	}
	strcpy(o, s);
	return out;
}

int wrap_for_cell(struct wrap *out, const struct wrap *w, const struct cell *cell)
{
	char name[256];
	size_t i;

	wrap_cell_name(cell, name, sizeof(name));
	out->words = calloc(WRAP_WORDS + 1, sizeof(*out->words));
	for (i = 0; out->words && w->words[i]; i++) {
		out->words[i] = replace(w->words[i], name);
		if (!out->words[i]) {
			wrap_free(out);
			return -1;
		}
	}
	return out->words ? 0 : -1;
}
