/* SPDX-License-Identifier: MIT
 *
 * verdict.h - a run in three sentences, made from its data.
 */
#ifndef PKRUN_VERDICT_H
#define PKRUN_VERDICT_H

#include "results.h"

struct verdict_text {
	char right[600];	/* is it right: cells, trials, what went wrong */
	char fast[600];		/* what is the fastest, where, and by how much; "" if nothing has a time */
	char cost[600];		/* what synchronising costs, or from where persistence pays; "" if unknown */
	char caution[600];	/* what the reader must not conclude; "" if nothing */
	int bad;		/* a cell was wrong, crashed, hung or failed */
};

/* 0, or -1 with store_error(). */
int verdict_write(struct store *s, const struct results *r, struct verdict_text *out);
/* "Persistent pays below 27.4 us a step ...": 1 and the line if the run has workload busy
 * and an answer, 0 if not, -1 with store_error(). */
int verdict_crossover(struct store *s, const struct results *r, char *out, size_t size);

#endif
