/* SPDX-License-Identifier: MIT
 *
 * slow.c - takes a while to load.
 */
#include <unistd.h>
#include "plain.h"

__attribute__((constructor)) static void wait_a_while(void)
{
	usleep(50000);
}

PKRUN_PLUGIN(PLAIN("slow"));
