/* SPDX-License-Identifier: MIT
 *
 * fake_stale.c - each step of poisson2d reads old values of the middle row: converges, and is wrong.
 */
#include "fake.h"

static int run(struct pkrun_run *r, uint64_t iterations)
{
	const struct poisson2d_args *a = r->work->args;
	int64_t row = a->rows / 2 * a->cols, j;
	double *kept = malloc((size_t)a->cols * sizeof(double));
	uint64_t s, steps = iterations * r->work->steps_per_iteration;

	for (s = 0; s < steps; s++) {
		memcpy(kept, a->u + row, (size_t)a->cols * sizeof(double));
		fake_half_sweep(a, s);
		for (j = 1; j < a->cols - 1 && s % 3 == 2; j++)
			a->u[row + j] = kept[j];
	}
	free(kept);
	for (s = 0; s < fake_state(r)->blocks; s++)
		r->steps[s] += steps;
	return PKRUN_OK;
}

FAKE_PLUGIN("stale", run);
