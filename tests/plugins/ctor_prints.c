/* SPDX-License-Identifier: MIT
 *
 * ctor_prints.c - its constructor prints to stdout and stderr: accepted, and unheard.
 */
#include <stdio.h>
#include "plain.h"

__attribute__((constructor)) static void print(void)
{
	for (int i = 0; i < 5000; i++)
		printf("a line on stdout that nobody asked for, number %d\n", i);
	fprintf(stderr, "and one on stderr\n");
	fflush(stdout);
}

PKRUN_PLUGIN(PLAIN("ctor_prints"));
