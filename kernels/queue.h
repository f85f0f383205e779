/* SPDX-License-Identifier: MIT
 *
 * queue.h - many independent tasks of uneven length; driven by the queue_*
 * variants, which differ in who decides what block does which task.
 *
 * An iteration is every task once.  Task t is `width` chains of lengths[t]
 * dependent steps each, spread over the threads of the one block that does it.
 * The end of each chain is added to a word of its own and the task is counted:
 * a task that is lost, done twice or done with another's length shows in both.
 */
#ifndef PKRUN_QUEUE_H
#define PKRUN_QUEUE_H

#include "mix.h"

#define QUEUE_VERSION 1

struct queue_args {
	uint32_t  size;		/* sizeof(struct queue_args) */
	uint32_t  version;	/* QUEUE_VERSION */
	uint64_t  tasks, width;
	uint64_t *results;	/* width words a task; NULL until setup() */
	uint64_t *times;	/* how often a task was done */
	const uint64_t *lengths;
};

/* Where chain j of task t begins. */
PK_MIX_FN uint64_t queue_seed(uint64_t t, uint64_t j)
{
	return pk_mix64(t * PK_GOLDEN + j + 1);
}

#endif
