/* SPDX-License-Identifier: MIT
 *
 * bad_ctor_exits.c - its constructor ends the process as if all were well.
 */
#include <stdlib.h>
#include "plain.h"

__attribute__((constructor)) static void leave(void)
{
	exit(0);
}

PKRUN_PLUGIN(PLAIN("bad_ctor_exits"));
