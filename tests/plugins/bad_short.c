/* SPDX-License-Identifier: MIT
 *
 * bad_short.c - a descriptor 8 bytes shorter than that of ABI 1.0.
 */
#include "plain.h"

struct pkrun_plugin pkrun_plugin = {
	.magic = PKRUN_MAGIC,
	.abi_major = PKRUN_ABI_MAJOR,
	.abi_minor = PKRUN_ABI_MINOR,
	.size = PKRUN_PLUGIN_SIZE_1_0 - 8,
	.target = PKRUN_THIS_TARGET,
	PLAIN("bad_short")
};
