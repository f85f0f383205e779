/* SPDX-License-Identifier: MIT
 *
 * progress.h - the progress line: cells, blocks, interval reached, ETA,
 * and how far the trial is where its variant tells that.
 */
#ifndef PKRUN_PROGRESS_H
#define PKRUN_PROGRESS_H

#include "runner.h"

struct progress {
	uint64_t ended;		/* cells that want no more blocks */
	double done_s;		/* wall time of all blocks so far */
	uint64_t done;		/* blocks so far */
	double width;		/* of the cell that ran last; NAN: none */
	const struct cell *cell;	/* that runs now; not ours */
	uint64_t block;
};

/* Before a block of `cell`, which lives until the next call: draw the line. */
void progress_draw(struct progress *p, const struct runner *r, const struct cell *cell,
		   uint64_t block);
/* A variant told how far the trial at hand is; p may be NULL.  Draws 20 times a second at most. */
void progress_share(const struct progress *p, const struct runner *r, uint64_t done, uint64_t total);
/* "45 s", "2 min 10 s", "3 h 5 min" */
const char *progress_duration(double seconds, char buf[32]);

#endif
