/* SPDX-License-Identifier: MIT
 *
 * compare_options.c - the command line of `pkrun compare`.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include "compare.h"

static const char usage[] =
        "usage: pkrun compare [options] A.db B.db\n"
        "       pkrun compare [options] --runs 1,2 FILE.db\n"
        "       pkrun compare [options] --series A,B FILE.db\n"
        "\n"
        "Is B faster or slower than A?  Cells are paired when workload, variant, target,\n"
        "iterations (auto is auto) and every parameter are equal; an option that one side's\n"
        "variant had not yet has to be at its default.  Each run is one session;\n"
        "a verdict needs 4 sessions a side (10 cells need 6, 30 cells 7).  Two series of one\n"
        "run are compared block by block; a verdict needs 6 blocks (10 cells need 9, 30 cells 11).\n"
        "Ratios are time of B over time of A.\n"
        "\n"
        "  --runs A:B          run numbers of each side, e.g. 1,2,3,4:5,6,7,8; \"1,2\" is 1:2;\n"
        "                      with two files the default is all runs of each\n"
        "  --series A,B        two sections of one run\n"
        "  --run N             the run of --series (default: the last)\n"
        "  --only GLOB         only cells whose series, or SERIES/VARIANT/WORKLOAD/N, match: the\n"
        "                      fewer are asked about, the fewer sessions or blocks a verdict needs\n"
        "  --threshold PERCENT changes below are no change (default: 1, raised to the floor\n"
        "                      that `pkrun doctor --aa` recorded in a file for the device)\n"
        "  --fail-on LIST      exit with 1 on any of: slower; wrong (a cell of B is wrong,\n"
        "                      crashed, hung or failed); missing (a cell of A has no time in\n"
        "                      B); untestable (a cell of both had too few blocks or\n"
        "                      sessions for a verdict)\n"
        "  --format FORMAT     table, json, csv or markdown\n"
        "  --help              this text\n";

static int parse_ids(const char *text, const char *end, int64_t *ids, size_t *n)
{
	*n = 0;
	while (text < end) {
		char *stop;

		errno = 0;
		if (*text < '0' || *text > '9' || *n == COMPARE_RUNS_MAX)
			return -1;
		ids[*n] = strtoll(text, &stop, 10);
		if (errno || stop > end || (stop < end && *stop != ','))
			return -1;
		++*n;
		text = stop + (stop < end);
		if (stop < end && text == end)
			return -1; /* a comma at the end */
	}
	return *n ? 0 : -1;
}

static int parse_runs(struct compare *c, const char *text)
{
	const char *colon = strchr(text, ':'), *end = text + strlen(text);

	if (colon) {
		if (!parse_ids(text, colon, c->ids[0], &c->n_ids[0]) &&
		    !parse_ids(colon + 1, end, c->ids[1], &c->n_ids[1]))
			return 0;
	} else if (!parse_ids(text, end, c->ids[0], &c->n_ids[0]) && c->n_ids[0] == 2) {
		c->ids[1][0] = c->ids[0][1];
		c->n_ids[0] = c->n_ids[1] = 1;
		return 0;
	}
	return compare_error(
	        "--runs %s: two run numbers \"1,2\" or two lists \"1,2:3,4\" are wanted", text);
}

static int parse_series(struct compare *c, const char *text)
{
	const char *comma = strchr(text, ',');

	if (!comma || comma == text || !comma[1] || strchr(comma + 1, ','))
		return compare_error(
		        "--series %s: two section names with a comma between are wanted", text);
	free(c->series[0]);
	free(c->series[1]);
	c->series[0] = strndup(text, (size_t)(comma - text));
	c->series[1] = strdup(comma + 1);
	return c->series[0] && c->series[1] ? 0 : compare_error("out of memory");
}

static int parse_fail_on(struct compare *c, const char *text)
{
	static const char *const names[] = {"slower", "wrong", "missing", "untestable"};

	for (const char *word = text;; word++) {
		size_t length = strcspn(word, ","), i = 0;

		while (i < 4 && (strlen(names[i]) != length || strncmp(names[i], word, length)))
			i++;
		if (i == 4)
			return compare_error(
			        "--fail-on %s: no such condition: %.*s (slower, wrong, missing, "
			        "untestable)",
			        text, (int)length, word);
		c->fail_on |= 1u << i;
		word += length;
		if (!*word)
			return 0;
	}
}

static int parse_number(const char *option, const char *text, double max, double *out)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0 && value <= max))
		return compare_error("%s %s: a number from 0 to %g is wanted", option, text, max);
	*out = value;
	return 0;
}

static int parse_option(struct compare *c, int option, const char *value)
{
	double number = 0;

	switch (option) {
	case 'r':
		return parse_runs(c, value);
	case 's':
		return parse_series(c, value);
	case 'n':
		if (parse_ids(value, value + strlen(value), c->ids[0], &c->n_ids[0]) ||
		    c->n_ids[0] != 1)
			return compare_error("--run %s: one run number is wanted", value);
		c->run = c->ids[0][0];
		return 0;
	case 'o':
		if (c->only)
			return compare_error("--only %s: there is --only %s already, and only one is taken",
			                     value, c->only);
		c->only = value;
		return 0;
	case 't':
		if (parse_number("--threshold", value, 1000, &number))
			return -1;
		c->threshold = number / 100;
		return 0;
	case 'f':
		return parse_fail_on(c, value);
	case 'F':
		if (show_format_parse(value, &c->format))
			return compare_error("--format %s: table, json, csv or markdown is wanted",
			                     value);
		return 0;
	}
	return -1;
}

/* 0, 1: help was printed, or -1 */
int compare_parse(struct compare *c, int argc, char **argv)
{
	static const struct option options[] = {
	        {"runs", required_argument, NULL, 'r'},
	        {"series", required_argument, NULL, 's'},
	        {"run", required_argument, NULL, 'n'},
	        {"only", required_argument, NULL, 'o'},
	        {"threshold", required_argument, NULL, 't'},
	        {"fail-on", required_argument, NULL, 'f'},
	        {"format", required_argument, NULL, 'F'},
	        {"help", no_argument, NULL, 'h'},
	        {NULL, 0, NULL, 0},
	};
	int option, files, had_runs = 0;

	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (option == 'h') {
			fputs(usage, stdout);
			return 1;
		}
		if (option == ':')
			return compare_error("%s wants a value", argv[optind - 1]);
		if (option == '?')
			return compare_error("unknown option %s (see pkrun compare --help)",
			                     argv[optind - 1]);
		had_runs |= option == 'r';
		if (parse_option(c, option, optarg))
			return -1;
	}
	files = argc - optind;
	if (had_runs && c->series[0])
		return compare_error(
		        "--runs compares runs, --series two sections of one run: not both");
	if (c->run && !c->series[0])
		return compare_error("--run goes with --series");
	if (files < 1 || files > 2 || (files == 2 && c->series[0]))
		return compare_error("%s (see pkrun compare --help)",
		                     c->series[0] ? "--series wants one file"
		                                  : "one or two files are wanted");
	if (files == 1 && !had_runs && !c->series[0])
		return compare_error("one file: --runs A:B or --series A,B says what to compare");
	c->paths[0] = argv[optind];
	c->paths[1] = argv[optind + files - 1];
	return 0;
}
