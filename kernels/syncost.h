/* SPDX-License-Identifier: MIT
 *
 * syncost.h - synchronisation and nothing else; driven by the sync_* variants.
 *
 * An iteration is one synchronisation of every block.  Blocks count them in
 * registers, so that no step touches memory for the count.  Whether a
 * synchronisation did order anything is looked at now and then (`check_every`):
 * before it each block leaves a mark, behind it each block looks at a mark that
 * the synchronisation must have made visible; one that is not there, or is
 * already the next one, counts as an error.
 */
#ifndef PKRUN_SYNCOST_H
#define PKRUN_SYNCOST_H

#include <stdint.h>

#define SYNCOST_VERSION 1

struct syncost_args {
	uint32_t  size;		/* sizeof(struct syncost_args) */
	uint32_t  version;	/* SYNCOST_VERSION */
	uint64_t  units;	/* the most blocks there may be */
	uint64_t  check_every;	/* synchronisations; 0: never */
	uint64_t *counts;	/* one a block; NULL until setup() */
	uint64_t *errors;	/* one a block: marks that were wrong */
	uint64_t *marks;	/* two a block */
};

#endif
