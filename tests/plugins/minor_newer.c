/* SPDX-License-Identifier: MIT
 *
 * minor_newer.c - built for a later minor, with a field more: accepted.
 */
#include "plain.h"

struct later {
	struct pkrun_plugin now;
	int (*invented)(struct pkrun_run *run);
};

#define pkrun_plugin now_declared_otherwise
PKRUN_EXPORT struct later later __asm__("pkrun_plugin") = {
	.now = {
		.magic = PKRUN_MAGIC,
		.abi_major = PKRUN_ABI_MAJOR,
		.abi_minor = PKRUN_ABI_MINOR + 7,
		.size = sizeof(struct later),
		.target = PKRUN_THIS_TARGET,
		PLAIN("minor_newer")
	},
};
