/* SPDX-License-Identifier: MIT
 *
 * words.h - a growing list of words, and which of them was meant.
 */
#ifndef PKRUN_WORDS_H
#define PKRUN_WORDS_H

#include <stddef.h>
#include "plugin.h"

/* {0} is an empty list.  The words are lent; items is NULL-terminated once there is one. */
struct words {
	const char **items;
	size_t n;
};

void words_add(struct words *w, const char *word);
/* The names of all rows. */
void words_add_table(struct words *w, const struct pkrun_option *table);
int words_has(const struct words *w, const char *word);
/* The nearest of the NULL-terminated words, or NULL if none is near. */
const char *words_nearest(const char *word, const char *const *words);
/* "; did you mean 'x'?" or nothing, in buf; empties the list. */
#define WORDS_HINT_SIZE 100
const char *words_hint(const char *word, struct words *w, char buf[WORDS_HINT_SIZE]);

#endif
