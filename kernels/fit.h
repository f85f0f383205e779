/* SPDX-License-Identifier: MIT
 *
 * fit.h - a straight line through points of known uncertainty, and whether the
 * points lie on one at all.
 *
 * Weighted least squares with weights 1/se^2 (Bevington and Robinson, chapter
 * 6).  chi2 is the weighted sum of squared residuals; if the line is right and
 * the errors are normal, it is distributed as chi-squared with n - 2 degrees of
 * freedom.  p is the chance of a chi2 as large: near 0 means lack of fit.
 *
 * Errors that were themselves estimated, from few values, scatter, and chi2 is
 * then larger than that: taken for exact, errors from five values reject two
 * true lines in five at 5 %.  p allows for it after Johansen (Biometrika 67,
 * 1980), as Welch's test does: chi2 / c is distributed as F.
 */
#ifndef PKRUN_FIT_H
#define PKRUN_FIT_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

struct fit_point {
	double x, y, se;
	double freedom;		/* with which se was estimated; 0: it is exact */
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

/* The incomplete beta function I_x(a, b), by its continued fraction (Lentz's way). */
static inline double fit_beta(double x, double a, double b)
{
	double c = 1, d = 0, f = 1, front;

	if (!(x > 0 && x < 1))
		return x > 0;
	if (x > (a + 1) / (a + b + 2))
		return 1 - fit_beta(1 - x, b, a);
	front = exp(a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)) / a;
	for (int i = 1; i < 10000 && (i < 3 || fabs(c * d - 1) > 1e-15); i++) {
		int m = i / 2;
		double term = (i % 2 ? -(a + m) * (a + b + m) : m * (b - m)) * x / ((a + i - 1) * (a + i));

		d = 1 / (1 + term * d);
		c = 1 + term / c;
		f *= c * d;
	}
	return front / f;
}

/* Chance that F with these degrees of freedom, of the numerator and the denominator, exceeds f. */
static inline double fit_chance_f(double f, double of, double under)
{
	return f > 0 ? fit_beta(under / (under + of * f), under / 2, of / 2) : 1;
}

/* fit_chance() where errors were estimated: a is the sum, over the points, of
 * (1 - leverage)^2 / degrees of freedom of the error. */
static inline double fit_chance_estimated(double chi2, int freedom, double a)
{
	double f = freedom, c = f + 2 * a - 6 * a / (f + 2);

	return a > 0 && freedom ? fit_chance_f(chi2 / c, f, f * (f + 2) / (3 * a)) : fit_chance(chi2, freedom);
}

static inline int fit_line(const struct fit_point *p, int n, struct fit *out)
{
	double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0, det, estimated = 0;

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
		double leverage = (wxx - 2 * p[i].x * wx + p[i].x * p[i].x * w) / det / (p[i].se * p[i].se);

		out->chi2 += r * r;
		if (p[i].freedom > 0)
			estimated += (1 - leverage) * (1 - leverage) / p[i].freedom;
	}
	out->freedom = n - 2;
	out->p = fit_chance_estimated(out->chi2, out->freedom, estimated);
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
 * Of few values the MAD is too small by n / (n - 0.8) (Croux and Rousseeuw, 1992).
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
	*se = 1.2533 * 1.4826 * mad * n / (n - 0.8) / sqrt((double)n);
	if (*se < least)
		*se = least;
	return median;
}

/* With how many degrees of freedom: a MAD of n values is worth a deviation of 0.37 n. */
static inline double fit_median_freedom(int n)
{
	return 0.37 * (n - 1);
}

#endif
