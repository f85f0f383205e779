/* SPDX-License-Identifier: MIT
 *
 * fake_near.c - says that it converges; does one of $FAKE_PART (2) iterations,
 * and leaves NaN when $FAKE_AT is set.
 */
#include <math.h>
#include "fake.h"

static int run(struct pkrun_run *r, uint64_t iterations)
{
	const char *part = getenv("FAKE_PART");
	uint64_t n, b, *words = fake_words(r, &n);

	fake_work(r, iterations / (part ? strtoull(part, NULL, 10) : 2));
	for (b = 0; b < fake_state(r)->blocks; b++)
		r->steps[b] = iterations * r->work->steps_per_iteration;
	if (getenv("FAKE_AT"))
		((double *)words)[n / 2] = NAN;
	fake_sleep_us(100);
	return PKRUN_OK;
}

PKRUN_PLUGIN(.name = "near", .brief = FAKE_BRIEF, .control = PKRUN_CONTROL_DEVICE,
	     .result = PKRUN_CONVERGES, .state_size = sizeof(struct fake_state),
	     .workloads = "poisson2d,null", .footprint = fake_footprint, .run = run,
	     .wait = fake_wait);
