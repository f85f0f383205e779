/* SPDX-License-Identifier: MIT
 *
 * bad_ctor_hangs.c - its constructor never returns.
 */
#include <unistd.h>
#include "plain.h"

__attribute__((constructor)) static void hang(void)
{
	for (;;)
		pause();
}

PKRUN_PLUGIN(PLAIN("bad_ctor_hangs"));
