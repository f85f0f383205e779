/* SPDX-License-Identifier: MIT
 *
 * ctor_locale.c - its constructor takes a locale with a decimal comma, if there is one; its default and its bounds are reals.
 */
#include <locale.h>
#include <stdlib.h>
#include "plain.h"

__attribute__((constructor)) static void change_locale(void)
{
	setenv("LC_ALL", "de_DE.UTF-8", 1);
	if (!setlocale(LC_ALL, ""))
		setlocale(LC_ALL, "C.UTF-8");
}

struct locale_options {
	double factor;
};

static const struct pkrun_option options[] = {
	{"factor", PKRUN_REAL, offsetof(struct locale_options, factor), "1.5", 0.25, 2.75, NULL, NULL,
	 "a real number"},
	{0},
};

PKRUN_PLUGIN(
	.name = "ctor_locale", .brief = "changes the locale", .control = PKRUN_CONTROL_HOST,
	.result = PKRUN_EXACT, .workloads = "null", .options = options,
	.options_size = sizeof(struct locale_options), .footprint = plain_footprint,
	.run = plain_run, .wait = plain_wait
);
