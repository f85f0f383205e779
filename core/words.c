/* SPDX-License-Identifier: MIT
 *
 * words.c - did you mean?
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

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

const char *words_nearest(const char *word, const char *const *words)
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

void words_add(struct words *w, const char *word)
{
	w->items = realloc(w->items, (w->n + 2) * sizeof *w->items);
	if (!w->items)
		abort();
	w->items[w->n++] = word;
	w->items[w->n] = NULL;
}

void words_add_table(struct words *w, const struct pkrun_option *table)
{
	for (; table && table->name; table++)
		words_add(w, table->name);
}

int words_has(const struct words *w, const char *word)
{
	for (size_t i = 0; i < w->n; i++)
		if (!strcmp(w->items[i], word))
			return 1;
	return 0;
}

/* ", did you mean 'x'?" or nothing; frees the words. */
const char *words_hint(const char *word, struct words *w, char buf[WORDS_HINT_SIZE])
{
	const char *nearest = w->n ? words_nearest(word, w->items) : NULL;

	buf[0] = 0;
	if (nearest)
		snprintf(buf, WORDS_HINT_SIZE, "; did you mean '%.50s'?", nearest);
	free(w->items);
	*w = (struct words){0};
	return buf;
}
