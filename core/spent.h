/* SPDX-License-Identifier: MIT
 *
 * spent.h - what a variant leaves running in its process, or changes of how the kernel runs it,
 * makes the next cell faster or slower: then that one gets a fresh process.
 */
#ifndef PKRUN_SPENT_H
#define PKRUN_SPENT_H

/* Before the first call into the variant. */
void spent_mark(void);
/* After the last one: does another thread run, is there a child, has this process another
 * priority, scheduler, set of CPUs or timer slack than at the mark? */
int spent_is(void);

#endif
