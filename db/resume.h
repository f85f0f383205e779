/* SPDX-License-Identifier: MIT
 *
 * resume.h - what a run that was cut short has already measured.
 */
#ifndef PKRUN_RESUME_H
#define PKRUN_RESUME_H

#include "store.h"

struct resume_run {
	int64_t id, cells;
	uint64_t seed;
	int quick;
	char status[16], pkrun_version[64], git_state[64];	/* git_state: "" for NULL */
	char settings[512], process[128];	/* rows of the environment, "" if not there */
	char *instrumented;	/* "" for NULL; the caller frees it */
};

/* The latest run of this matrix text: 1 and *out, 0 none, -1 error. */
int resume_find(struct store *s, const char *matrix_text, struct resume_run *out);

struct resume_cell {
	int64_t number, id, plugin, device, iterations;	/* STORE_NULL */
	const char *series, *status, *key;
};
/* Each cell in the order of the matrix; fn's first value that is not 0 stops it and is returned. */
int resume_cells(struct store *s, int64_t run, int (*fn)(void *user, const struct resume_cell *c),
		 void *user);

struct resume_block {
	int64_t cell, number, attempt;	/* cell: its number */
	int done;			/* measured to its end */
	double median;			/* ns per iteration; NAN if not done or without a good time */
	double seconds;			/* of its trials: what is known of the time that it took, for between the
					 * starts of two lie references and nights */
};
/* Each block, by cell, number and attempt. */
int resume_blocks(struct store *s, int64_t run, int (*fn)(void *user, const struct resume_block *b),
		  void *user);
/* How many blocks the run has started: where positions go on. */
int resume_position(struct store *s, int64_t run, int64_t *out);

#endif
