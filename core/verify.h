/* SPDX-License-Identifier: MIT
 *
 * verify.h - is a result right, bit for bit, and if not: where and by how much.
 */
#ifndef PKRUN_VERIFY_H
#define PKRUN_VERIFY_H

#include <stddef.h>
#include <stdint.h>
#include "../kernels/workload.h"

/* sum mod 2^64 over i of fmix64(word[i] + 0x9E3779B97F4A7C15 * (i + 1)): device.h's hash in C. */
uint64_t verify_hash(const uint64_t *words, uint64_t n);
/* The finaliser of MurmurHash3 (Appleby). */
uint64_t verify_mix(uint64_t x);
/* Hash of several arrays: that of the first, then verify_join for each further one. */
uint64_t verify_join(uint64_t before, uint64_t next);
uint64_t verify_text_hash(uint64_t before, const char *text);

struct verify_diff {
	uint64_t count;		/* words that differ */
	uint64_t first;		/* index of the first */
	uint64_t got, expected;	/* its bits */
	uint64_t not_finite;	/* NaN or infinite among those that differ (real arrays) */
	double largest;		/* largest |got - expected| among the finite ones */
	uint64_t largest_at;
};

/* Compare bits; a NaN is never right.  Returns d->count. */
uint64_t verify_compare(const struct workload_array *a, const uint64_t *got,
			const uint64_t *expected, struct verify_diff *d);
/* "u: 3 of 121 words are wrong, first at (5, 7): got 0x1p+0 (1), expected ..." */
void verify_text(const struct workload_array *a, const struct verify_diff *d, char *out, size_t size);

/* Neither NaN nor infinite, even under -ffast-math. */
int verify_is_finite(double value);
/* Largest |got - expected| of an array; infinite if one is NaN or infinite.  Largest |value|. */
double verify_distance(const struct workload_array *a, const uint64_t *got, const uint64_t *expected);
double verify_largest(const struct workload_array *a, const uint64_t *got);

#endif
