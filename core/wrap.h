/* SPDX-License-Identifier: MIT
 *
 * wrap.h - the command that --wrap runs each worker under.
 */
#ifndef PKRUN_WRAP_H
#define PKRUN_WRAP_H

#include "matrix.h"

#define WRAP_WORDS 48

struct wrap {
	char **words;		/* NULL-terminated */
};

/* Words as a shell would see them: spaces divide, '...', "..." and \ quote; nothing is expanded.
 * 0, or -1 with the reason. */
int wrap_parse(struct wrap *w, const char *text, char *why, size_t why_size);
void wrap_free(struct wrap *w);
/* A name for the cell that is safe in a file name and unlike that of any other cell. */
void wrap_cell_name(const struct cell *cell, char *out, size_t size);
/* The words with each {cell} replaced: a new list for wrap_free. */
int wrap_for_cell(struct wrap *out, const struct wrap *w, const struct cell *cell);

#endif
