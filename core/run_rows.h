/* SPDX-License-Identifier: MIT
 *
 * run_rows.h - what is stored of a run before the first cell starts.
 */
#ifndef PKRUN_RUN_ROWS_H
#define PKRUN_RUN_ROWS_H

#include "run_options.h"
#include "runner.h"

/* Run, environment, devices, plugins, cells and their parameters, in one transaction: sets
 * r->run_id, r->cells, r->n_cells, r->plugin_id, r->device_id.  0, or -1 after the message. */
int run_rows(struct runner *r, const struct run_options *o, int argc, char **argv);

/* The parts of it that --resume shares. */
int run_rows_open(struct runner *r);	/* memory; 0, or -1 after the message */
int run_rows_devices(struct runner *r);
int run_rows_plugin(struct runner *r, const struct variant_info *v, int64_t *id);
/* The settings of the run that decide how a cell is measured, as one line. */
void run_rows_settings(const struct runner *r, char *out, size_t size);

#endif
