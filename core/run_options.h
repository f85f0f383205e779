/* SPDX-License-Identifier: MIT
 *
 * run_options.h - the command line of `pkrun run`.
 */
#ifndef PKRUN_RUN_OPTIONS_H
#define PKRUN_RUN_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include "../tools/show.h"

struct run_options {
	const char *matrix, *db, *only, *target;	/* only, target: NULL if not given */
	const char **sets, **plugins;			/* point into argv */
	size_t n_sets, n_plugins;
	const char *wrap;	/* NULL: none */
	enum show_format format;
	int64_t device;		/* -1: as the matrix says */
	uint64_t seed;
	int has_seed, dry_run, quick, profile, resume, strict;
};

/* 0; EXIT_USAGE after the message; -1 after --help was printed. */
int run_options_parse(struct run_options *o, int argc, char **argv);
void run_options_free(struct run_options *o);

#endif
