/* SPDX-License-Identifier: MIT
 *
 * fake_nan.c - puts NaN (FAKE_AT = first, middle, last, all) or infinity (inf) into the result;
 * FAKE_AT = norm: right, with NaN as the residual norm from the third run on; no_norm: with none
 * (no_norm_asked: and as if none had been asked for);
 * bad_norm: with a number that is not the result's; bad_norms: with two.
 */
#include <math.h>
#include "fake.h"

static int run(struct pkrun_run *r, uint64_t iterations)
{
	const char *at = getenv("FAKE_AT");
	uint64_t n, i, *words = fake_words(r, &n);
	double *u = (double *)words;

	fake_work(r, iterations);
	fake_sleep_us(100);
	if (at && strncmp(at, "no_norm", 7) == 0) {
		if (at[7])
			r->check = 0;
		return PKRUN_OK;
	}
	if (at && strcmp(at, "norm") == 0)
		return r->host->metric(r, "residual_norm", ++fake_state(r)->calls > 2 ? (double)NAN : 1.5, "");
	if (at && strcmp(at, "bad_norms") == 0 && r->host->metric(r, "residual_norm", 1.5, ""))
		return PKRUN_FAIL;
	if (at && strcmp(at, "bad_norms") == 0)
		return r->host->metric(r, "residual_norm", 2.5, "");
	if (at && strcmp(at, "bad_norm") == 0)
		return r->host->metric(r, "residual_norm", 1.5, "");
	if (!at || strcmp(at, "middle") == 0)
		u[n / 2] = NAN;
	else if (strcmp(at, "first") == 0)
		u[0] = NAN;
	else if (strcmp(at, "last") == 0)
		u[n - 1] = NAN;
	else if (strcmp(at, "inf") == 0)
		u[n / 2] = INFINITY;
	else
		for (i = 0; i < n; i++)
			u[i] = NAN;
	if (at && strcmp(at, "first") == 0)
		u[n - 1] += 1;	/* a later finite error must not hide it */
	return PKRUN_OK;
}

FAKE_PLUGIN("nan", run);
