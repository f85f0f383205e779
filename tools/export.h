/* SPDX-License-Identifier: MIT
 *
 * export.h - the command line of `report` and `trace`: one run of a database
 * into one file.
 */
#ifndef PKRUN_EXPORT_H
#define PKRUN_EXPORT_H

#include <stdint.h>
#include <stdio.h>

struct export {
	const char *name;	/* of the command, for messages */
	const char *usage;
	const char *file;	/* where it goes unless -o says otherwise */
	int (*make)(const char *db, int64_t run, const char *file);	/* run 0: the latest; an exit code */
};

int export_command(const struct export *what, int argc, char **argv);

/* The file that is written: at its path only once it is whole, unless that is a pipe, a device
 * or a link (/dev/stdout), which is written through. */
struct export_file {
	FILE *out;
	const char *path;
	char *part;		/* where it grows; NULL: at its path */
};

/* 0, or -1 with errno. */
int export_open(struct export_file *f, const char *path);
/* Keep it, or undo it when the writing failed: 0, or -1 with errno. */
int export_close(struct export_file *f, int failed);

#endif
