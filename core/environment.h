/* SPDX-License-Identifier: MIT
 *
 * environment.h - what there is to know about the machine, read, never changed.
 * One row a fact: a line in environment.c's table and its function.
 */
#ifndef PKRUN_ENVIRONMENT_H
#define PKRUN_ENVIRONMENT_H

#include <stddef.h>
#include "telemetry.h"

enum environment_state { ENVIRONMENT_OK, ENVIRONMENT_WARN, ENVIRONMENT_UNKNOWN, ENVIRONMENT_INFO };
const char *environment_state_name(enum environment_state s);	/* as stored: ok, warn, unknown, info */

struct environment_row {
	const char *key;
	enum environment_state state;
	char value[1024];	/* "" when unknown */
	char repair[256];	/* the command that would put it right, or "" */
};

typedef int (*environment_fn)(void *user, const struct environment_row *row);
/* Every row once, in the table's order, then one for each target that is built and one for each
 * variable of the environment that matters (HIP_*, CUDA_*, ...).  fn's first value that is not 0
 * stops it and is returned. */
int environment_each(environment_fn fn, void *user);
/* The same for one GPU: what its runtime says (info), and what telemetry says.  t NULL: unknown, and
 * `why` tells the reason. */
int environment_gpu(uint32_t target, const struct pkrun_device_info *info, struct telemetry *t,
		    const char *why, environment_fn fn, void *user);

#endif
