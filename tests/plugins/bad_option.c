/* SPDX-License-Identifier: MIT
 *
 * bad_option.c - one of its options has the name of one that every variant has.
 */
#include "plain.h"

static const struct pkrun_option options[] = {
	{"threads", PKRUN_INT, 0, "1", 1, 2, NULL, NULL, "not its own"},
	{0},
};

PKRUN_PLUGIN(
	.name = "bad_option", .brief = "a name that is taken", .control = PKRUN_CONTROL_HOST,
	.result = PKRUN_EXACT, .workloads = "null", .options = options, .options_size = 8,
	.footprint = plain_footprint, .run = plain_run, .wait = plain_wait
);
