/* SPDX-License-Identifier: MIT
 *
 * export.h - the command line of `report` and `trace`: one run of a database
 * into one file.
 */
#ifndef PKRUN_EXPORT_H
#define PKRUN_EXPORT_H

#include <stdint.h>

struct export {
	const char *name;	/* of the command, for messages */
	const char *usage;
	const char *file;	/* where it goes unless -o says otherwise */
	int (*make)(const char *db, int64_t run, const char *file);	/* run 0: the latest; an exit code */
};

int export_command(const struct export *what, int argc, char **argv);

#endif
