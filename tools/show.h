/* SPDX-License-Identifier: MIT
 *
 * show.h - print one run: the closing table of `pkrun MATRIX.ini` and of
 * `pkrun show`.
 */
#ifndef PKRUN_SHOW_H
#define PKRUN_SHOW_H

#include <stdint.h>
#include <stdio.h>
#include "../db/store.h"

enum show_format { SHOW_TABLE, SHOW_JSON, SHOW_CSV };

/* "table", "json" or "csv": 0, or -1 for any other word. */
int show_format_parse(const char *text, enum show_format *out);
/* The cells of run `run` in the order of the matrix: 0, or -1 with store_error() set. */
int show_run(struct store *s, int64_t run, enum show_format format, FILE *out);

#endif
