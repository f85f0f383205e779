/* SPDX-License-Identifier: MIT
 *
 * metrics.c - what the figures mean that every variant may have.
 */
#include <string.h>

#include "metrics.h"
#include "options.h"

const struct pkrun_metric common_metrics[] = {
	{"energy_uj", "uJ/iteration",
	 "energy of the device, of an iteration: the power that was drawn while trials ran, times its time; once "
	 "a cell, where the driver counts energy (setting energy)"},
	{"energy_power_w", "W", "that power"},
	{"energy_rest_w", "W", "power at rest, just before"},
	{"energy_share", "1", "part of that stretch in which a trial was timed; the rest is start, stop, restore"},
	{"*_samples", "count", "how many messages, tasks, ... the quantiles of that name are of"},
	{"*_hist_ns_le_*", "count",
	 "of them, those that took so many ns at most, and more than the next smaller bound"},
	{"residual_norm", "", "the residual's 2-norm at the last check of a trial, with check = k"},
	{"error", "", "of a variant that converges: largest distance from the fixed point"},
	{"stamp_*_b*_s*", "ns",
	 "with stamps = N: when block b received, began, ended and acknowledged step s, since the first stamp of the "
	 "trial (pkrun trace)"},
	{"stamp_tick", "ns", "with stamps: the smallest step of the device clock that was seen"},
	{"stamp_skew", "ns", "with stamps: by how much two blocks' clocks disagree at least"},
	{},
};

void metric_help(const struct pkrun_metric *table, FILE *out)
{
	for (; table && table->name; table++) {
		int pure = !*table->unit || !strcmp(table->unit, "1");
		char text[1000];

		snprintf(text, sizeof text, "%s%s%s%s", table->help, pure ? "" : " (",
			 pure ? "" : table->unit, pure ? "" : ")");
		option_help_line(table->name, text, out);
	}
}

int metric_alike(const struct pkrun_metric *a, const struct pkrun_metric *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->unit, b->unit) && !strcmp(a->help, b->help);
}
