/* SPDX-License-Identifier: MIT
 *
 * bad_option_garbage.c - an option table that points nowhere: reading it crashes.
 */
#include "plain.h"

PKRUN_PLUGIN(
	.name = "bad_option_garbage", .brief = "a wild pointer", .control = PKRUN_CONTROL_HOST,
	.result = PKRUN_EXACT, .workloads = "null", .options = (const struct pkrun_option *)64,
	.options_size = 8, .footprint = plain_footprint, .run = plain_run, .wait = plain_wait
);
