/* SPDX-License-Identifier: MIT
 *
 * bad_undefined.c - wait() calls a function that nobody has: must be seen at load time.
 */
#include "plain.h"

int nobody_has_this(void);

static int wait_undefined(struct pkrun_run *run)
{
	(void)run;
	return nobody_has_this();
}

PKRUN_PLUGIN(
	.name = "bad_undefined", .brief = "an undefined symbol", .control = PKRUN_CONTROL_HOST,
	.result = PKRUN_EXACT, .workloads = "null", .footprint = plain_footprint, .run = plain_run,
	.wait = wait_undefined
);
