/* SPDX-License-Identifier: MIT
 *
 * bad_major_huge.c - built for major 65535.
 */
#include "plain.h"

struct pkrun_plugin pkrun_plugin = {
	.magic = PKRUN_MAGIC,
	.abi_major = 0xffff,
	.abi_minor = 4,
	.size = sizeof(struct pkrun_plugin),
	.target = PKRUN_THIS_TARGET,
	PLAIN("bad_major_huge")
};
