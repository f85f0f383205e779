/* SPDX-License-Identifier: MIT
 *
 * reference.h - what the CPU says: arrays, and the hashes kept of them.
 */
#ifndef PKRUN_REFERENCE_H
#define PKRUN_REFERENCE_H

#include "../kernels/workload.h"
#include "protocol.h"

struct reference {
	int n;
	struct workload_array info[WORKLOAD_ARRAYS_MAX];
	void *data[WORKLOAD_ARRAYS_MAX];
};

/* Allocate and fill the initial arrays: 0, or -1 (memory). */
int reference_open(struct reference *r, const struct workload *w, const void *opt, uint32_t blocks);
void reference_close(struct reference *r);
void reference_forget(struct reference *r);	/* the data; what the arrays are stays known */
/* Hash of all arrays of a role. */
uint64_t reference_hash(const struct reference *r, uint32_t role);
/* CPUs that this process may run on. */
int reference_threads(void);
/* The odd number of iterations at which every process is checked besides: below half of
 * stationary_at (0: not stationary by `iterations`), and not above 255. */
uint64_t reference_odd(uint64_t iterations, uint64_t stationary_at);
/* Compute all of *out: 0, or -1 with out->why. */
int reference_compute(const struct workload *w, const void *opt, uint32_t blocks,
		      uint64_t iterations, struct protocol_reference *out);

#endif
