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
#include "rows.h"

/* The cells of run `run` in the order of the matrix: 0, -1 with store_error() set, -2 with errno: cannot write. */
int show_run(struct store *s, int64_t run, enum show_format format, FILE *out);

#endif
