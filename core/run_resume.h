/* SPDX-License-Identifier: MIT
 *
 * run_resume.h - `--resume`: go on with a run that was cut short.
 */
#ifndef PKRUN_RUN_RESUME_H
#define PKRUN_RUN_RESUME_H

#include "run_options.h"
#include "runner.h"

/* In place of run_rows: the latest run of this matrix, its cells and what they have.  0; 1: that run is
 * complete (r->run_id is set); -1 after the message: there is none, it still runs, or something differs
 * that makes its numbers and new ones unlike. */
int run_resume(struct runner *r, const struct run_options *o);
/* Who measures: "PID START HOST", START from /proc. */
void run_process(char *out, size_t size);

#endif
