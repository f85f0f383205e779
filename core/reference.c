/* SPDX-License-Identifier: MIT
 *
 * reference.c - what the CPU says: arrays, and the hashes kept of them.
 *
 * Three hashes judge a cell: after one iteration (its first run), after an odd
 * k (a schedule that does too much or too little, or swaps two half-sweeps,
 * may hide at a fixed point; k lies before it), and after all iterations.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reference.h"
#include "verify.h"

#define ODD_MAX 255	/* enough to differ everywhere, cheap beside the timed runs */

int reference_open(struct reference *r, const struct workload *w, const void *opt, uint32_t blocks)
{
	int i;

	memset(r, 0, sizeof(*r));
	r->n = w->arrays(opt, blocks, r->info);
	for (i = 0; i < r->n; i++) {
		r->data[i] = calloc(r->info[i].count + 1, 8);
		if (!r->data[i]) {
			reference_close(r);
			return -1;
		}
		w->fill(opt, blocks, i, r->data[i]);
	}
	return 0;
}

void reference_close(struct reference *r)
{
	int i;

	for (i = 0; i < r->n; i++)
		free(r->data[i]);
	memset(r, 0, sizeof(*r));
}

void reference_forget(struct reference *r)
{
	int i;

	for (i = 0; i < r->n; i++) {
		free(r->data[i]);
		r->data[i] = NULL;
	}
}

uint64_t reference_hash(const struct reference *r, uint32_t role)
{
	uint64_t hash = 0, next;
	int i, seen = 0;

	for (i = 0; i < r->n; i++) {
		if (r->info[i].role != role)
			continue;
		next = verify_hash(r->data[i], r->info[i].count);
		hash = seen++ ? verify_join(hash, next) : next;
	}
	return hash;
}

int reference_threads(void)
{
	cpu_set_t set;
	int n;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	n = CPU_COUNT(&set);
	return n > 0 ? n : 1;
}

uint64_t reference_odd(uint64_t iterations, uint64_t stationary_at)
{
	uint64_t k = stationary_at ? stationary_at / 2 : iterations / 2;

	if (k > ODD_MAX)
		k = ODD_MAX;
	if (k % 2 == 0 && k)
		k--;
	return k ? k : 1;
}

int reference_compute(const struct workload *w, const void *opt, uint32_t blocks,
		      uint64_t iterations, struct protocol_reference *out)
{
	int threads = reference_threads();
	struct reference r;

	memset(out, 0, sizeof(*out));
	if (reference_open(&r, w, opt, blocks))
		goto memory;
	out->stationary_at = w->advance(opt, blocks, r.data, iterations, threads);
	out->all = reference_hash(&r, WORKLOAD_STATE);
	reference_close(&r);

	/* From the start again: where `all` becomes stationary decides what k is. */
	out->k = reference_odd(iterations, out->stationary_at);
	if (reference_open(&r, w, opt, blocks))
		goto memory;
	w->advance(opt, blocks, r.data, 1, threads);
	out->one = reference_hash(&r, WORKLOAD_STATE);
	if (out->k > 1)
		w->advance(opt, blocks, r.data, out->k - 1, threads);
	out->odd = reference_hash(&r, WORKLOAD_STATE);
	reference_close(&r);
	out->found = 1;
	return 0;
memory:
	snprintf(out->why, sizeof(out->why), "the reference of %s: out of memory", w->name);
	return -1;
}
