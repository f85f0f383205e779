/* SPDX-License-Identifier: MIT
 *
 * stamps.h - the stamps of a run (kernels/stamps.h), for the timeline and the
 * schedule figure: of each cell that has some, those of its last timed trial.
 */
#ifndef PKRUN_TOOLS_STAMPS_H
#define PKRUN_TOOLS_STAMPS_H

#include "results.h"

enum stamp_event { STAMP_RECEIVE, STAMP_START, STAMP_END, STAMP_DONE, STAMP_EVENTS };

struct stamp_cell {
	const struct result_cell *cell;
	int64_t trial;
	uint32_t blocks, steps;
	double *ns;		/* stamp_at(); since the first stamp of the trial, NAN: none */
	double tick, skew;	/* of the device's clock, ns; NAN: not measured */
	double over_plain;	/* time against the plain cell; NAN: there is none */
	double last;		/* the latest stamp */
};

struct stamps {
	size_t n;
	struct stamp_cell *cells;
};

/* 0, or -1 with store_error(). */
int stamps_load(struct store *s, const struct results *r, struct stamps *out);
double stamp_at(const struct stamp_cell *c, uint32_t block, uint32_t step, enum stamp_event event);
void stamps_free(struct stamps *s);

#endif
