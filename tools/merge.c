/* SPDX-License-Identifier: MIT
 *
 * merge.c - `pkrun merge OUT IN...`: the runs of several databases in one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../core/command.h"
#include "../core/say.h"
#include "../db/merge.h"

static const char help[] =
"Usage: pkrun merge OUT [IN]...\n"
"Copy the runs of the databases IN into OUT, which is made if it is not there.\n"
"Runs stay apart, under new numbers.  One that OUT has already is not copied again,\n"
"or replaced if IN has more of it; so merging twice is merging once.\n"
"Without IN a database of an older pkrun is brought up to date: tables and views.\n";

static int is_same_file(const char *a, const char *b)
{
	struct stat s, t;

	return !stat(a, &s) && !stat(b, &t) && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

/* Before anything is written: is every IN a database that can be read, and not OUT itself? */
static int check_inputs(const char *out, char *const *in, int n)
{
	char why[1024];
	struct store *s;
	int code = 0;

	for (int i = 0; i < n; i++) {
		if (is_same_file(out, in[i])) {
			say_error("merge: %s is both OUT and IN", in[i]);
			code = EXIT_USAGE;
		} else if (store_open(&s, in[i], STORE_READ, why, sizeof(why))) {
			say_error("merge: %s", why);
			code = EXIT_USAGE;
		} else {
			store_close(s);
		}
	}
	return code;
}

static int merge_one(struct store *to, const char *path)
{
	struct merge_count count;
	struct store *from;
	char why[1024];
	int rc;

	if (store_open(&from, path, STORE_READ, why, sizeof(why))) {
		say_error("merge: %s", why);
		return EXIT_USAGE;
	}
	rc = merge(to, from, &count, why, sizeof(why));
	if (rc)
		say_error("merge: %s: %s", path, why);
	else
		say_note("%s: %" PRId64 " run%s added, %" PRId64 " replaced, %" PRId64 " already there",
			 path, count.added, count.added == 1 ? "" : "s", count.updated, count.present);
	store_close(from);
	return rc ? EXIT_USAGE : EXIT_OK;
}

static int merge_files(const char *out, char *const *in, int n)
{
	int code = check_inputs(out, in, n);
	struct store *to;
	char why[1024];

	if (code)
		return code;
	if (store_open(&to, out, STORE_WRITE, why, sizeof(why))) {
		say_error("merge: %s", why);
		return EXIT_USAGE;
	}
	for (int i = 0; i < n && !code; i++)
		code = merge_one(to, in[i]);
	store_close(to);
	return code;
}

int command_merge(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "quiet", no_argument, NULL, 'q' }, { "help", no_argument, NULL, 'h' }, { 0 },
	};
	int c;

	optind = 0;
	while ((c = getopt_long(argc, argv, ":", longs, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return EXIT_OK;
		}
		if (c != 'q') {
			say_error("unknown option '%s'; see pkrun merge --help", argv[optind - 1]);
			return EXIT_USAGE;
		}
		say_quiet = 1;
	}
	if (argc - optind < 1) {
		say_error("merge wants OUT, and what to copy into it; see pkrun merge --help");
		return EXIT_USAGE;
	}
	if (argc - optind == 1 && access(argv[optind], F_OK)) {
		say_error("merge: %s: %s", argv[optind], strerror(errno));
		return EXIT_USAGE;
	}
	return merge_files(argv[optind], argv + optind + 1, argc - optind - 1);
}
