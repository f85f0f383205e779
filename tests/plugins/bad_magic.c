/* SPDX-License-Identifier: MIT
 *
 * bad_magic.c - not our magic.
 */
#include "plain.h"

struct pkrun_plugin pkrun_plugin = {
	.magic = 0x464c457f,
	.abi_major = PKRUN_ABI_MAJOR,
	.size = sizeof(struct pkrun_plugin),
	.target = PKRUN_THIS_TARGET,
	PLAIN("bad_magic")
};
