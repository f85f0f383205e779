/* SPDX-License-Identifier: MIT
 *
 * minor_older.c - as ABI 1.0 was, not a byte more: accepted for ever.
 */
#include "plain.h"

struct pkrun_plugin pkrun_plugin = {
	.magic = PKRUN_MAGIC,
	.abi_major = 1,
	.abi_minor = 0,
	.size = PKRUN_PLUGIN_SIZE_1_0,
	.target = PKRUN_THIS_TARGET,
	PLAIN("minor_older")
};
