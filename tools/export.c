/* SPDX-License-Identifier: MIT
 *
 * export.c - see export.h.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include "../core/say.h"
#include "export.h"

static int export_run(const char *command, const char *text, int64_t *run)
{
	char *end;

	*run = strtoll(text, &end, 10);
	if (!*end && end != text && *run >= 1)
		return 0;
	say_error("%s: --run %s: runs count from 1", command, text);
	return -1;
}

int export_command(const struct export *what, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "run", required_argument, NULL, 'r' }, { "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' }, { 0 },
	};
	const char *file = what->file;
	int64_t run = 0;
	int c;

	optind = 0;
	while ((c = getopt_long(argc, argv, "ho:", longs, NULL)) != -1) {
		if (c == 'h') {
			fputs(what->usage, stdout);
			return EXIT_OK;
		}
		if (c == 'o')
			file = optarg;
		else if (c != 'r')
			goto usage;
		else if (export_run(what->name, optarg, &run))
			return EXIT_USAGE;
	}
	if (argc - optind <= 1)
		return what->make(optind < argc ? argv[optind] : "pkrun.db", run, file);
usage:
	fputs(what->usage, stderr);
	return EXIT_USAGE;
}
