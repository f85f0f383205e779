/* SPDX-License-Identifier: MIT
 *
 * plain.h - what the plugins of the loader's tests have in common: functions
 * that do nothing, and the fields that come after `target`.
 */
#include "core/plugin.h"

__attribute__((unused)) static int plain_footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	(void)run;
	fp->blocks = fp->threads = fp->resident_max = 1;
	return PKRUN_OK;
}

__attribute__((unused)) static int plain_run(struct pkrun_run *run, uint64_t iterations)
{
	(void)run;
	(void)iterations;
	return PKRUN_OK;
}

__attribute__((unused)) static int plain_wait(struct pkrun_run *run)
{
	(void)run;
	return PKRUN_OK;
}

#define PLAIN(its_name)							\
	.name = its_name, .brief = "does nothing",			\
	.control = PKRUN_CONTROL_HOST, .result = PKRUN_EXACT,		\
	.workloads = "null", .footprint = plain_footprint,		\
	.run = plain_run, .wait = plain_wait
