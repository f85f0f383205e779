/* SPDX-License-Identifier: MIT
 *
 * merge.h - copy the runs of one database into another.
 */
#ifndef PKRUN_MERGE_H
#define PKRUN_MERGE_H

#include "store.h"

struct merge_count {
	int64_t added, updated, present;	/* runs */
};

/*
 * All of `from` (opened STORE_READ) into `to` (STORE_WRITE), in one transaction.
 * Runs get new numbers and stay apart.  A run that `to` has already is left
 * alone, or replaced when `from` has more of it (it was resumed): doing it again
 * changes nothing.  0, or -1 with the cause.
 */
int merge(struct store *to, struct store *from, struct merge_count *count, char *why,
	  size_t why_size);

#endif
