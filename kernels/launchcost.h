/* SPDX-License-Identifier: MIT
 *
 * launchcost.h - sequences of launches, short and long, of kernels that do
 * nothing, a little, and more; driven by the launchcost_* variants, which
 * differ in how a launch is made.
 *
 * An iteration is every sequence once: each of LAUNCHCOST_SEQUENCES lengths
 * (1, 2, 4, ...) with kernels of each of LAUNCHCOST_WORKS amounts of work (0, 1,
 * 2, ... units).  A kernel's work is a chain of dependent steps whose end is
 * added to a sum, so that a kernel that did not run, or did less, is wrong.
 */
#ifndef PKRUN_LAUNCHCOST_H
#define PKRUN_LAUNCHCOST_H

#include "mix.h"

#define LAUNCHCOST_VERSION 1
#define LAUNCHCOST_SEQUENCES 7
#define LAUNCHCOST_WORKS 4
#define LAUNCHCOST_LAUNCHES ((1u << LAUNCHCOST_SEQUENCES) - 1) /* of one amount, an iteration */

struct launchcost_args {
	uint32_t  size;		/* sizeof(struct launchcost_args) */
	uint32_t  version;	/* LAUNCHCOST_VERSION */
	uint64_t  units;	/* natural number of blocks */
	uint64_t  unit;		/* steps of one unit of work */
	uint64_t *sums;		/* one a block; NULL until setup() */
};

/* What one kernel with `work` units adds for a block. */
PK_MIX_FN uint64_t launchcost_value(uint64_t block, uint64_t work, uint64_t unit)
{
	return pk_chain_work(pk_mix64(block * PK_GOLDEN + work + 1), work * unit);
}

#endif
