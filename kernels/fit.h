/* SPDX-License-Identifier: MIT
 *
 * fit.h - a straight line through points of known uncertainty, and whether the
 * points lie on one at all.
 *
 * Weighted least squares with weights 1/se^2 (Bevington and Robinson, chapter
 * 6).  chi2 is the weighted sum of squared residuals; if the line is right and
 * the errors are normal, it is distributed as chi-squared with n - 2 degrees of
 * freedom.  p is the chance of a chi2 as large: near 0 means lack of fit.
 */
#ifndef PKRUN_FIT_H
#define PKRUN_FIT_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

struct fit_point {
	double x, y, se;
};

struct fit {
	double intercept, intercept_se, slope, slope_se;
	double chi2, p;
	int freedom;
};

/* Chance that chi-squared with `freedom` degrees of freedom exceeds chi2:
 * Q(a + 1, x) = Q(a, x) + x^a e^-x / Gamma(a + 1) from Q(1/2) or Q(1). */
static inline double fit_chance(double chi2, int freedom)
{
	double x = chi2 / 2, a = freedom % 2 ? 0.5 : 1, q;

	if (freedom < 1 || !(x > 0))
		return 1;
	q = freedom % 2 ? erfc(sqrt(x)) : exp(-x);
	for (; a < freedom / 2.0; a++)
		q += exp(a * log(x) - x - lgamma(a + 1));
	return q < 1 ? q : 1;
}

static inline int fit_line(const struct fit_point *p, int n, struct fit *out)
{
	double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0, det;

	for (int i = 0; i < n; i++) {
		double weight = 1 / (p[i].se * p[i].se);

		w += weight;
		wx += weight * p[i].x;
		wy += weight * p[i].y;
		wxx += weight * p[i].x * p[i].x;
		wxy += weight * p[i].x * p[i].y;
	}
	det = w * wxx - wx * wx;
	if (n < 2 || !(det > 0))
		return -1;
	out->slope = (w * wxy - wx * wy) / det;
	out->intercept = (wxx * wy - wx * wxy) / det;
	out->slope_se = sqrt(w / det);
	out->intercept_se = sqrt(wxx / det);
	out->chi2 = 0;
	for (int i = 0; i < n; i++) {
		double r = (p[i].y - out->intercept - out->slope * p[i].x) / p[i].se;

		out->chi2 += r * r;
	}
	out->freedom = n - 2;
	out->p = fit_chance(out->chi2, out->freedom);
	return 0;
}

static inline int fit_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/*
 * Median of v[0..n-1] (sorted in place) and its standard error from the median
 * absolute deviation, for neither may hang on one interrupted sample:
 * 1.2533 (median against mean) x 1.4826 MAD / sqrt(n), and at least `least`.
 */
static inline double fit_median(double *v, int n, double least, double *se)
{
	double *away = (double *)malloc((size_t)n * sizeof(*away)), median, mad = 0;

	qsort(v, (size_t)n, sizeof(*v), fit_order);
	median = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
	if (away) {
		for (int i = 0; i < n; i++)
			away[i] = fabs(v[i] - median);
		qsort(away, (size_t)n, sizeof(*away), fit_order);
		mad = n % 2 ? away[n / 2] : (away[n / 2 - 1] + away[n / 2]) / 2;
	}
	free(away);
	*se = 1.2533 * 1.4826 * mad / sqrt((double)n);
	if (*se < least)
		*se = least;
	return median;
}

#endif
