/* SPDX-License-Identifier: MIT
 *
 * energy.h - device energy an iteration, from the driver's counter.
 *
 * The counter moves by leaps, every 20 to 100 ms or so, and a trial may last
 * 10: so a stretch of many trials is measured, from one leap to another.  The
 * device rests while the last leap is waited for; that rest is taken out at the
 * power that was drawn at rest just before.
 */
#ifndef PKRUN_ENERGY_H
#define PKRUN_ENERGY_H

#include <stdint.h>
#include "telemetry.h"

struct energy_meter {
	struct telemetry *telemetry;
	double rest_w;
	int64_t begin_ns, begin_uj;
	int64_t wall_ns;	/* of the timed parts so far */
	uint64_t iterations;
};

struct energy_result {
	double uj_an_iteration;	/* mean power while trials ran, times the time of an iteration */
	double power_w;		/* that power */
	double rest_w;
	double share;		/* of that stretch, that was run and wait; the rest is start, stop, restore */
};

/* Waits for two leaps: 0, or -1 where there is no counter or it stands still for 2 s. */
int energy_begin(struct energy_meter *m, struct telemetry *t);
void energy_add(struct energy_meter *m, int64_t wall_ns, uint64_t iterations);
double energy_seconds(const struct energy_meter *m);	/* since begin */
/* Waits for a leap. */
int energy_end(struct energy_meter *m, struct energy_result *out);

#endif
