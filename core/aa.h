/* SPDX-License-Identifier: MIT
 *
 * aa.h - A/A: a variant against itself, in paired blocks, as any two series are
 * measured.  Whatever differs then is the machine.
 */
#ifndef PKRUN_AA_H
#define PKRUN_AA_H

#include <stdint.h>
#include "../tools/show.h"
#include "catalog.h"

#define AA_SET_MAX 16

struct aa_request {
	const char *db, *variant;
	const char *target;	/* NULL: auto */
	const char *sizes;	/* a list as in a matrix; NULL: by target */
	int64_t device, pairs, blocks;
	const char *set[AA_SET_MAX]; /* for `pkrun run --set`, which checks them */
	int n_set;
};

/* Measure through `pkrun run`, store a floor for each size, print them: an exit code. */
int aa_run(const struct aa_request *req, const struct catalog *catalog, enum show_format format);

#endif
