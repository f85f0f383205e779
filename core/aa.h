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

struct aa_request {
	const char *db, *variant;
	const char *target;	/* NULL: auto */
	const char *sizes;	/* a list as in a matrix; NULL: by target */
	int64_t device, pairs, blocks;
};

/* Measure through `pkrun run`, store a floor for each size, print them: an exit code. */
int aa_run(const struct aa_request *req, const struct catalog *catalog, enum show_format format);

#endif
