/* SPDX-License-Identifier: MIT
 *
 * bad_ctor_crashes.c - its constructor crashes, with a last word.
 */
#include <stdio.h>
#include <stdlib.h>
#include "plain.h"

__attribute__((constructor)) static void crash(void)
{
	fprintf(stderr, "no licence found\n");
	abort();
}

PKRUN_PLUGIN(PLAIN("bad_ctor_crashes"));
