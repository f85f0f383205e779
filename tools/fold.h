/* SPDX-License-Identifier: MIT
 *
 * fold.h - cells of a run that have the same to say, as one line: those of one
 * series, workload and target with the same status and reason, or what else makes them alike.
 */
#ifndef PKRUN_FOLD_H
#define PKRUN_FOLD_H

#include "results.h"

struct fold {
	const struct results *res;
	int (*wanted)(const struct result_cell *c, const void *user);
	const void *user;
	int name_width;		/* columns that the name of a series takes at most; 0: all */
	int group_known;	/* workload and target stand elsewhere */
	int (*alike)(const struct result_cell *a, const struct result_cell *b);	/* one line; NULL: status and reason */
	char *done;
	size_t at;
};

/* Afterwards fill in what else is wanted: 0, or -1 out of memory. */
int fold_begin(struct fold *f, const struct results *res,
	       int (*wanted)(const struct result_cell *c, const void *user), const void *user);
/* The next line: 1, its first cell and which cells they are ("others persistent_halo, 11 cells, n=64",
 * to be freed); 0: that was all; -1: out of memory. */
int fold_next(struct fold *f, const struct result_cell **first, char **cells);
void fold_end(struct fold *f);

#endif
