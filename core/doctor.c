/* SPDX-License-Identifier: MIT
 *
 * doctor.c - `pkrun doctor`: is this machine fit to measure on?  The same rows
 * that a run stores, each with its state and the command that would put it
 * right.  Nothing is changed.  `--aa` is in aa.c.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../tools/rows.h"
#include "aa.h"
#include "catalog.h"
#include "command.h"
#include "environment.h"
#include "paths.h"
#include "say.h"

static const char usage[] =
        "Usage: pkrun doctor [OPTION]...\n"
        "Look at the machine as a run will: a state for each fact, and what would put it right.\n"
        "Nothing is changed.\n\n"
        "  --target TARGET  auto, hip, cuda or host (auto: every target that is built)\n"
        "  --device N       which GPU\n"
        "  --strict         exit with 5 unless every state is ok or info\n"
        "  --format FORMAT  table, json, csv or markdown\n"
        "  --aa             measure a variant against itself; the floor is stored, and `pkrun\n"
        "                   compare` calls nothing different that lies below it\n"
        "  --db FILE        with --aa: the database (pkrun.db)\n"
        "  --variant NAME   with --aa: the variant (launch)\n"
        "  --n LIST         with --aa: sizes of workload poisson2d (GPU: 11, 1001; host: 11)\n"
        "  --pairs N        with --aa: pairs of a size (20)\n"
        "  --blocks N       with --aa: blocks of a pair (10)\n"
        "  --set GLOBAL.KEY=VAL\n"
        "                   with --aa: a setting of the run, e.g. global.isolation=block, so that\n"
        "                   the floor is that of the runs it is for (may be given often)\n"
        "  --help\n";

struct doctor {
	struct aa_request aa;
	uint32_t targets; /* bits */
	int strict, wants_aa;
	enum show_format format;
	struct rows rows;
	size_t warn, unknown;
};

enum { TARGET = 1000, DEVICE, STRICT, FORMAT, AA, DB, VARIANT, SIZES, PAIRS, BLOCKS, SET, HELP };

static int number(const char *option, const char *text, int64_t least, int64_t most, int64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	if (!errno && end != text && !*end && *out >= least && *out <= most)
		return 0;
	say_error("%s %s: not a whole number from %lld to %lld", option, text, (long long)least,
	          (long long)most);
	return EXIT_USAGE;
}

/* What has an option of its own here, or none, and must not be had by the back door. */
static int take_set(struct doctor *d, const char *text)
{
	static const char *const others[][2] = {
	        {"variant", "use --variant"}, {"n", "use --n"}, {"target", "use --target"},
	        {"device", "use --device"},   {"workload", "the floor is that of poisson2d"},
	};
	const size_t global = strlen("global."), length = strcspn(text, "=");

	if (strncmp(text, "global.", global)) {
		say_error("--set %s: a pair is one thing twice, so only [global] can be set", text);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (length == global + strlen(others[i][0]) &&
		    !strncmp(text + global, others[i][0], length - global)) {
			say_error("--set %s: %s", text, others[i][1]);
			return EXIT_USAGE;
		}
	if (d->aa.n_set == AA_SET_MAX) {
		say_error("--set %s: at most %d of them with --aa", text, AA_SET_MAX);
		return EXIT_USAGE;
	}
	d->aa.set[d->aa.n_set++] = text;
	return 0;
}

static int take(struct doctor *d, int option)
{
	switch (option) {
	case TARGET:
		d->aa.target = optarg;
		d->targets = catalog_target_bits(optarg);
		if (!d->targets)
			say_error("--target %s: not auto, hip, cuda or host", optarg);
		return d->targets ? 0 : EXIT_USAGE;
	case DEVICE:
		return number("--device", optarg, 0, 1023, &d->aa.device);
	case STRICT:
		d->strict = 1;
		return 0;
	case FORMAT:
		if (!show_format_parse(optarg, &d->format))
			return 0;
		say_error("--format %s: not table, json, csv or markdown", optarg);
		return EXIT_USAGE;
	case AA:
		d->wants_aa = 1;
		return 0;
	case DB:
		d->aa.db = optarg;
		return 0;
	case VARIANT:
		d->aa.variant = optarg;
		return 0;
	case SIZES:
		d->aa.sizes = optarg;
		return 0;
	case PAIRS:
		return number("--pairs", optarg, 2, 1000, &d->aa.pairs);
	case BLOCKS:
		return number("--blocks", optarg, 6, 1000, &d->aa.blocks);
	case SET:
		return take_set(d, optarg);
	}
	return EXIT_USAGE;
}

/* 0, an exit code after the message, or -1 after --help was printed. */
static int parse(struct doctor *d, int argc, char **argv)
{
	static const struct option options[] = {
	        {"target", required_argument, NULL, TARGET},
	        {"device", required_argument, NULL, DEVICE},
	        {"strict", no_argument, NULL, STRICT},
	        {"format", required_argument, NULL, FORMAT},
	        {"aa", no_argument, NULL, AA},
	        {"db", required_argument, NULL, DB},
	        {"variant", required_argument, NULL, VARIANT},
	        {"n", required_argument, NULL, SIZES},
	        {"pairs", required_argument, NULL, PAIRS},
	        {"blocks", required_argument, NULL, BLOCKS},
	        {"set", required_argument, NULL, SET},
	        {"help", no_argument, NULL, HELP},
	        {NULL, 0, NULL, 0},
	};
	int option, code, only_aa = 0;

	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (option == HELP) {
			fputs(usage, stdout);
			return -1;
		}
		if (option == ':' || option == '?') {
			say_error(option == ':' ? "%s needs a value" : "unknown option '%s'",
			          argv[optind - 1]);
			return EXIT_USAGE;
		}
		code = take(d, option);
		if (code)
			return code;
		only_aa |= option >= DB && option <= SET;
	}
	if (optind < argc)
		say_error("doctor takes no argument: '%s'", argv[optind]);
	else if (only_aa && !d->wants_aa)
		say_error("--db, --variant, --n, --pairs, --blocks and --set go with --aa");
	else
		return 0;
	return EXIT_USAGE;
}

static int print_row(void *user, const struct environment_row *row)
{
	struct doctor *d = user;

	d->warn += row->state == ENVIRONMENT_WARN;
	d->unknown += row->state == ENVIRONMENT_UNKNOWN;
	rows_text(&d->rows, row->key);
	rows_text(&d->rows, environment_state_name(row->state));
	rows_text(&d->rows, *row->value ? row->value : NULL);
	rows_text(&d->rows, *row->repair ? row->repair : NULL);
	return 0;
}

/* One that was asked for by name and cannot be had is not fit to measure on. */
static void print_target(struct doctor *d, uint32_t target, const struct target_info *info)
{
	static const char *const compilers[] = {
	        [PKRUN_HOST] = "g++", [PKRUN_HIP] = "hipcc", [PKRUN_CUDA] = "nvcc"};
	struct environment_row row = {.key = "", .state = ENVIRONMENT_INFO};
	char key[32];

	snprintf(key, sizeof(key), "target_%s", target_name(target));
	row.key = key;
	if (!info->built)
		snprintf(row.value, sizeof(row.value), "not built");
	else if (info->devices > 0)
		snprintf(row.value, sizeof(row.value), "%d device%s", info->devices,
		         info->devices > 1 ? "s" : "");
	else
		snprintf(row.value, sizeof(row.value), "no device: %s",
		         info->why ? info->why : "it does not say why");
	if (info->devices <= 0 && d->aa.target && strcmp(d->aa.target, "auto")) {
		row.state = ENVIRONMENT_WARN;
		if (!info->built)
			snprintf(row.repair, sizeof(row.repair), "build pkrun where there is %s",
			         compilers[target]);
	}
	print_row(d, &row);
}

/* A plugin that was refused is of no use to anybody. */
static void print_plugins(struct doctor *d, const struct catalog *c)
{
	struct environment_row row = {.key = "plugins", .state = ENVIRONMENT_OK};
	size_t refused = 0, used;

	for (size_t i = 0; i < c->n_variants; i++)
		refused += c->variants[i].refused != NULL;
	used = (size_t)snprintf(row.value, sizeof(row.value), "%zu", c->n_variants - refused);
	for (size_t i = 0; i < c->n_variants && used < sizeof(row.value); i++)
		if (c->variants[i].refused)
			used += (size_t)snprintf(row.value + used, sizeof(row.value) - used,
			                         "; refused: %s", c->variants[i].refused);
	if (refused) {
		row.state = ENVIRONMENT_WARN;
		snprintf(row.repair, sizeof(row.repair), "pkrun list variants");
	} else if (!c->n_variants) {
		row.state = ENVIRONMENT_WARN;
	}
	print_row(d, &row);
}

static void print_gpu(struct doctor *d, uint32_t target, const struct target_info *info)
{
	struct telemetry *t = NULL;
	char why[256] = "";

	if (info->devices <= 0 || target == PKRUN_HOST)
		return;
	telemetry_open(&t, target, &info->device, why, sizeof(why));
	environment_gpu(target, &info->device, t, why, print_row, d);
	telemetry_close(t);
}

static int examine(struct doctor *d, const struct catalog *c)
{
	static const char *const names[] = {"fact", "state", "value", "repair"};

	rows_begin(&d->rows, stdout, d->format, names, 4);
	environment_each(print_row, d);
	for (uint32_t t = PKRUN_HOST; t <= PKRUN_CUDA; t++)
		if (d->targets & 1u << t)
			print_target(d, t, &c->targets[t]);
	print_plugins(d, c);
	for (uint32_t t = PKRUN_HIP; t <= PKRUN_CUDA; t++)
		print_gpu(d, t, &c->targets[t]);
	if (rows_end(&d->rows, say_terminal(STDOUT_FILENO))) {
		say_error("doctor: cannot print: %s", strerror(errno));
		return EXIT_USAGE;
	}
	if (d->warn + d->unknown)
		say_note("%zu to put right, %zu unknown", d->warn, d->unknown);
	return d->strict && d->warn + d->unknown ? EXIT_ENVIRONMENT : EXIT_OK;
}

int command_doctor(int argc, char **argv)
{
	struct doctor d = {.aa = {.db = "pkrun.db", .variant = "launch", .pairs = 20, .blocks = 10},
	                   .targets = catalog_target_bits("auto")};
	struct catalog catalog;
	struct catalog_request req = {.plugin_dir = paths_plugin_dir()};
	int code = parse(&d, argc, argv);

	if (code)
		return code < 0 ? EXIT_OK : code;
	req.targets = d.targets;
	req.device = (int)d.aa.device;
	if (catalog_load(&catalog, &req))
		return EXIT_USAGE;
	code = d.wants_aa ? aa_run(&d.aa, &catalog, d.format) : examine(&d, &catalog);
	catalog_free(&catalog);
	return code;
}
