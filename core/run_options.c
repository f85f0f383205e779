/* SPDX-License-Identifier: MIT
 *
 * run_options.c - the command line of `pkrun run`.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "catalog.h"
#include "run_options.h"
#include "say.h"

static const char help[] =
"Usage: pkrun [run] [OPTION]... MATRIX.ini\n"
"Measure the cells of a matrix, verify every result, keep every trial.\n\n"
"  --dry-run              print the cells and how long they will take, run nothing\n"
"  --set SECTION.KEY=VAL  set a value of the matrix (may be given often)\n"
"  --only GLOB            only cells whose series, or SERIES/VARIANT/WORKLOAD/N, match\n"
"  --target TARGET        auto, hip, cuda or host (auto: a GPU if one answers, else host)\n"
"  --device N             which GPU\n"
"  --db FILE              the database (pkrun.db)\n"
"  --plugin FILE          also know the variant in this shared object (may be given often)\n"
"  --quick                3 blocks of 3 trials, for a first look\n"
"  --wrap 'CMD ARGS'      run each worker under CMD (compute-sanitizer, ncu, gdb, ...); {cell} is\n"
"                         replaced by a name for files; such a run is never compared\n"
"  --profile              one process a cell, no warm-up, one trial; ranges named by cell\n"
"  --strict               do not start unless `pkrun doctor` finds nothing to put right; exit 5\n"
"  --resume               go on with the latest run of this matrix, which was cut short\n"
"  --seed N               order of cells and blocks; recorded, so that it can be had again\n"
"  --format FORMAT        table, json, csv or markdown\n"
"  --quiet                only errors on stderr\n"
"  --help\n";

enum { DRY_RUN = 1000, SET, ONLY, TARGET, DEVICE, DB, PLUGIN, QUICK, SEED, WRAP, PROFILE, RESUME, STRICT, FORMAT, QUIET, HELP };

static const struct option options[] = {
	{ "dry-run", no_argument, NULL, DRY_RUN },
	{ "set", required_argument, NULL, SET },
	{ "only", required_argument, NULL, ONLY },
	{ "target", required_argument, NULL, TARGET },
	{ "device", required_argument, NULL, DEVICE },
	{ "db", required_argument, NULL, DB },
	{ "plugin", required_argument, NULL, PLUGIN },
	{ "quick", no_argument, NULL, QUICK },
	{ "seed", required_argument, NULL, SEED },
	{ "wrap", required_argument, NULL, WRAP },
	{ "resume", no_argument, NULL, RESUME },
	{ "profile", no_argument, NULL, PROFILE },
	{ "strict", no_argument, NULL, STRICT },
	{ "format", required_argument, NULL, FORMAT },
	{ "quiet", no_argument, NULL, QUIET },
	{ "help", no_argument, NULL, HELP },
	{ NULL, 0, NULL, 0 },
};

static int whole_number(const char *option, const char *text, uint64_t max, uint64_t *out)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
	if (!isdigit((unsigned char)*text) || *end || errno || v > max) {
		say_error("%s %s: not a whole number from 0 to %llu", option, text,
			  (unsigned long long)max);
		return EXIT_USAGE;
	}
	*out = v;
	return 0;
}

static int take_set(struct run_options *o, const char *text)
{
	const char *dot = strchr(text, '.'), *eq = strchr(text, '=');

	if (!dot || !eq || dot == text || eq < dot + 2 || !eq[1]) {
		say_error("--set %s: not SECTION.KEY=VALUE", text);
		return EXIT_USAGE;
	}
	o->sets[o->n_sets++] = text;
	return 0;
}

static int take_target(struct run_options *o, const char *text)
{
	uint32_t t;

	if (strcmp(text, "auto") && target_parse(text, &t)) {
		say_error("--target %s: not auto, hip, cuda or host", text);
		return EXIT_USAGE;
	}
	o->target = strcmp(text, "auto") ? text : NULL;
	return 0;
}

static int take_format(struct run_options *o, const char *text)
{
	if (show_format_parse(text, &o->format) == 0)
		return 0;
	say_error("--format %s: not table, json, csv or markdown", text);
	return EXIT_USAGE;
}

/* Once: whoever gives two wants both, and would get the second. */
static int take_only(struct run_options *o, const char *glob)
{
	if (o->only) {
		say_error("--only %s: there is --only %s already, and only one is taken", glob, o->only);
		return EXIT_USAGE;
	}
	o->only = glob;
	return 0;
}

static int take(struct run_options *o, int c, char **argv)
{
	uint64_t v = 0;
	int rc = 0;

	switch (c) {
	case DRY_RUN:
		o->dry_run = 1;
		return 0;
	case SET:
		return take_set(o, optarg);
	case ONLY:
		return take_only(o, optarg);
	case TARGET:
		return take_target(o, optarg);
	case DEVICE:
		rc = whole_number("--device", optarg, 1023, &v);
		o->device = (int64_t)v;
		return rc;
	case DB:
		o->db = optarg;
		return 0;
	case PLUGIN:
		o->plugins[o->n_plugins++] = optarg;
		return 0;
	case QUICK:
		o->quick = 1;
		return 0;
	case SEED:
		o->has_seed = 1;
		return whole_number("--seed", optarg, UINT64_MAX, &o->seed);
	case WRAP:
		o->wrap = optarg;
		return 0;
	case RESUME:
		o->resume = 1;
		return 0;
	case PROFILE:
		o->profile = 1;
		return 0;
	case FORMAT:
		return take_format(o, optarg);
	case STRICT:
		o->strict = 1;
		return 0;
	case QUIET:
		say_quiet = 1;
		return 0;
	case HELP:
		fputs(help, stdout);
		return -1;
	case ':':
		say_error("%s needs a value", argv[optind - 1]);
		return EXIT_USAGE;
	default:
		say_error("unknown option '%s'; see pkrun run --help", argv[optind - 1]);
		return EXIT_USAGE;
	}
}

int run_options_parse(struct run_options *o, int argc, char **argv)
{
	int c, rc = 0;

	memset(o, 0, sizeof(*o));
	o->db = "pkrun.db";
	o->device = -1;
	o->sets = calloc((size_t)argc + 1, sizeof(*o->sets));
	o->plugins = calloc((size_t)argc + 1, sizeof(*o->plugins));
	if (!o->sets || !o->plugins) {
		say_error("out of memory");
		return EXIT_USAGE;
	}
	optind = 0;
	while (rc == 0 && (c = getopt_long(argc, argv, ":", options, NULL)) != -1)
		rc = take(o, c, argv);
	if (rc)
		return rc;
	if (optind == argc) {
		say_error("no matrix file given; see pkrun run --help");
		return EXIT_USAGE;
	}
	if (optind + 1 < argc) {
		say_error("one matrix at a time: '%s' after '%s'", argv[optind + 1], argv[optind]);
		return EXIT_USAGE;
	}
	o->matrix = argv[optind];
	return 0;
}

void run_options_free(struct run_options *o)
{
	free(o->sets);
	free(o->plugins);
}
