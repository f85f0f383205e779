/* SPDX-License-Identifier: MIT
 *
 * bad_no_run.c - a required function is missing.
 */
#include "plain.h"

PKRUN_PLUGIN(
	.name = "bad_no_run", .brief = "has no run()", .control = PKRUN_CONTROL_HOST,
	.result = PKRUN_EXACT, .workloads = "null", .footprint = plain_footprint, .wait = plain_wait
);
