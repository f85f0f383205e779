/* SPDX-License-Identifier: MIT
 *
 * export.c - see export.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
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

/* `report pkrun.db -o pkrun.db` would leave the page and no measurement.  Before the store is
 * open: to close a database that it has open would drop its locks. */
static int export_spares(const char *command, const char *path)
{
	static const char magic[] = "SQLite format 3";
	char head[sizeof(magic)] = "";
	struct stat st;
	FILE *f;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fread(head, 1, sizeof(head), f) != sizeof(head))
		*head = 0;
	fclose(f);
	if (memcmp(head, magic, sizeof(magic)))
		return 0;
	say_error("%s: -o %s: this is a database, which would be lost", command, path);
	return -1;
}

int export_open(struct export_file *f, const char *path)
{
	struct stat st;

	signal(SIGXFSZ, SIG_IGN);	/* over `ulimit -f` a write is to fail, so that no part is left */
	f->path = path;
	f->part = NULL;
	if ((lstat(path, &st) || S_ISREG(st.st_mode)) && asprintf(&f->part, "%s.part", path) < 0) {
		f->part = NULL;
		f->out = NULL;
		return -1;
	}
	f->out = fopen(f->part ? f->part : path, "we");
	if (f->out)
		return 0;
	free(f->part);
	return -1;
}

int export_close(struct export_file *f, int failed)
{
	int rc = failed || fflush(f->out) || ferror(f->out) ? -1 : 0, error = errno;

	if (fclose(f->out) && !rc) {
		rc = -1;
		error = errno;
	}
	if (!rc && f->part && rename(f->part, f->path)) {
		rc = -1;
		error = errno;
	}
	if (rc && f->part)
		unlink(f->part);
	free(f->part);
	errno = error;
	return rc;
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
		return export_spares(what->name, file) ? EXIT_USAGE :
		       what->make(optind < argc ? argv[optind] : "pkrun.db", run, file);
usage:
	fputs(what->usage, stderr);
	return EXIT_USAGE;
}
