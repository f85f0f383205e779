/* SPDX-License-Identifier: MIT
 *
 * bad_major_newer.c - built for the next major.
 */
#include "plain.h"

struct pkrun_plugin pkrun_plugin = {
	.magic = PKRUN_MAGIC,
	.abi_major = PKRUN_ABI_MAJOR + 1,
	.abi_minor = 4,
	.size = sizeof(struct pkrun_plugin),
	.target = PKRUN_THIS_TARGET,
	PLAIN("bad_major_newer")
};
