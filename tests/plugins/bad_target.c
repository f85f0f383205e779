/* SPDX-License-Identifier: MIT
 *
 * bad_target.c - says that it is built for another target.
 */
#include "plain.h"

struct pkrun_plugin pkrun_plugin = {
	.magic = PKRUN_MAGIC,
	.abi_major = PKRUN_ABI_MAJOR,
	.abi_minor = PKRUN_ABI_MINOR,
	.size = sizeof(struct pkrun_plugin),
	.target = PKRUN_CUDA,
	PLAIN("bad_target")
};
