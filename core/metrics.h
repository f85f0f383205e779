/* SPDX-License-Identifier: MIT
 *
 * metrics.h - what the figures mean that the database has beside the times
 * (table metric).
 */
#ifndef PKRUN_METRICS_H
#define PKRUN_METRICS_H

#include <stdio.h>
#include "plugin.h"

/* What pkrun stores itself, or any variant may; what is a variant's own is in its plugin. */
extern const struct pkrun_metric common_metrics[];
/* "name   what it means (unit)" lines. */
void metric_help(const struct pkrun_metric *table, FILE *out);
int metric_alike(const struct pkrun_metric *a, const struct pkrun_metric *b);

#endif
