/* SPDX-License-Identifier: MIT
 *
 * progress.h - the progress line: cells, blocks, interval reached, ETA.
 */
#ifndef PKRUN_PROGRESS_H
#define PKRUN_PROGRESS_H

#include "runner.h"

struct progress {
	uint64_t ended;		/* cells that want no more blocks */
	double done_s;		/* wall time of all blocks so far */
	uint64_t done;		/* blocks so far */
	double width;		/* of the cell that ran last; NAN: none */
};

/* Before a block of `cell`: draw the line. */
void progress_draw(const struct progress *p, const struct runner *r, const struct cell *cell,
		   uint64_t block);
/* "45 s", "2 min 10 s", "3 h 5 min" */
const char *progress_duration(double seconds, char buf[32]);

#endif
