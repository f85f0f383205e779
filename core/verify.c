/* SPDX-License-Identifier: MIT
 *
 * verify.c - bits, not tolerances: every correct schedule gives the same.
 *
 * Nothing here depends on floating-point comparison being honest about NaN
 * (-ffast-math is not): bits are compared, and exponents looked at, as integers.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "verify.h"

#define GOLDEN UINT64_C(0x9E3779B97F4A7C15)
#define EXPONENT UINT64_C(0x7ff0000000000000)

uint64_t verify_mix(uint64_t x)
{
	x ^= x >> 33;
	x *= UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 33;
	x *= UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ x >> 33;
}

uint64_t verify_hash(const uint64_t *words, uint64_t n)
{
	uint64_t i, sum = 0;

	for (i = 0; i < n; i++)
		sum += verify_mix(words[i] + GOLDEN * (i + 1));
	return sum;
}

uint64_t verify_join(uint64_t before, uint64_t next)
{
	return verify_mix(before + GOLDEN) + next;
}

uint64_t verify_text_hash(uint64_t before, const char *text)
{
	for (; *text; text++)
		before = verify_mix(before * 31 + (unsigned char)*text);
	return verify_mix(before + GOLDEN);
}

static int is_finite(uint64_t bits)
{
	return (bits & EXPONENT) != EXPONENT;
}

int verify_is_finite(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return is_finite(bits);
}

static double as_real(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

static double distance(const struct workload_array *a, uint64_t got, uint64_t expected)
{
	double x;

	if (!a->is_real)
		return got > expected ? (double)(got - expected) : (double)(expected - got);
	x = as_real(got) - as_real(expected);
	return x < 0 ? -x : x;
}

static int is_nan(uint64_t bits)
{
	return (bits & ~(UINT64_C(1) << 63)) > EXPONENT;
}

uint64_t verify_compare(const struct workload_array *a, const uint64_t *got,
			const uint64_t *expected, struct verify_diff *d)
{
	uint64_t i;
	double e;

	memset(d, 0, sizeof(*d));
	for (i = 0; i < a->count; i++) {
		if (got[i] == expected[i] && !(a->is_real && is_nan(got[i])))
			continue;
		if (d->count++ == 0) {
			d->first = i;
			d->got = got[i];
			d->expected = expected[i];
		}
		if (a->is_real && !(is_finite(got[i]) && is_finite(expected[i]))) {
			d->not_finite++;
			continue;
		}
		e = distance(a, got[i], expected[i]);
		if (e > d->largest) {
			d->largest = e;
			d->largest_at = i;
		}
	}
	return d->count;
}

double verify_distance(const struct workload_array *a, const uint64_t *got, const uint64_t *expected)
{
	double largest = 0, e;
	uint64_t i;

	for (i = 0; i < a->count; i++) {
		if (a->is_real && !(is_finite(got[i]) && is_finite(expected[i])))
			return INFINITY;
		e = distance(a, got[i], expected[i]);
		if (e > largest)
			largest = e;
	}
	return largest;
}

double verify_largest(const struct workload_array *a, const uint64_t *got)
{
	double largest = 0, e;
	uint64_t i;

	for (i = 0; i < a->count; i++) {
		e = distance(a, got[i], 0);
		if (e > largest)
			largest = e;
	}
	return largest;
}

static void place(const struct workload_array *a, uint64_t i, char *out, size_t size)
{
	if (a->columns)
		snprintf(out, size, "(%" PRIu64 ", %" PRIu64 ")", i / a->columns, i % a->columns);
	else
		snprintf(out, size, "[%" PRIu64 "]", i);
}

static void number(const struct workload_array *a, uint64_t bits, char *out, size_t size)
{
	if (a->is_real)
		snprintf(out, size, "%.17g", as_real(bits));
	else
		snprintf(out, size, "%" PRIu64, bits);
}

void verify_text(const struct workload_array *a, const struct verify_diff *d, char *out, size_t size)
{
	char first[64], at[64], got[40], expected[40];
	int n;

	place(a, d->first, first, sizeof(first));
	place(a, d->largest_at, at, sizeof(at));
	number(a, d->got, got, sizeof(got));
	number(a, d->expected, expected, sizeof(expected));
	n = snprintf(out, size, "%s: %" PRIu64 " of %" PRIu64 " words are wrong, first at %s: got %s, expected %s",
		     a->name, d->count, a->count, first, got, expected);
	if (n > 0 && (size_t)n < size && d->largest > 0)
		n += snprintf(out + n, size - (size_t)n, "; largest error %.3g at %s", d->largest, at);
	if (n > 0 && (size_t)n < size && d->not_finite)
		snprintf(out + n, size - (size_t)n, "; %" PRIu64 " are not finite", d->not_finite);
}
