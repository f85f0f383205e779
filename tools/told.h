/* SPDX-License-Identifier: MIT
 *
 * told.h - the parameters of a cell as people are told them: what is not
 * default, and what is default here but not in every row beside it.
 */
#ifndef PKRUN_TOLD_H
#define PKRUN_TOLD_H

#include "results.h"

/* Fills in `told` of every cell.  An option of all variants or of the workload counts as told apart when
 * any cell of the same workload and target has it otherwise, one of a variant's own when another cell of
 * that variant has.  0, or -1 with store_error() or out of memory. */
int told_load(struct store *s, struct results *r);

#endif
