/* SPDX-License-Identifier: MIT
 *
 * plot.c - `pkrun plot FIGURE DB -o FILE`: a figure by gnuplot.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include "../core/command.h"
#include "../core/say.h"
#include "draw.h"
#include "figure.h"

struct plot_options {
	const struct figure *figure;
	const char *db, *output, *kind;
	struct figure_request want;
	int keep;
};

static int plot_usage(FILE *out)
{
	fputs("usage: pkrun plot FIGURE [DB] -o FILE.svg|FILE.png|FILE.pdf [options]\n\n", out);
	for (const struct figure *f = figures; f->name; f++)
		fprintf(out, "  %-10s %s\n", f->name, f->brief);
	fputs("\n"
	      "  --run N         the run (default: the latest); for scaling also `all`, joined\n"
	      "  --against N     for compare: the run to compare with (default: the one before)\n"
	      "  --workload W    this workload (default: the first of the matrix)\n"
	      "  --target T      this target\n"
	      "  --n N           this size (ladder, overhead, latency: default the one with most\n"
	      "                  results; compare, roofline, schedule: all; scaling, sync: no choice)\n"
	      "  --only GLOB     only cells whose series, or SERIES/VARIANT/WORKLOAD/N, match\n"
	      "  --keep          keep the gnuplot script, with its data, as FILE.gp\n"
	      "\n"
	      "DB defaults to pkrun.db.  A cell without a verified time is left out, with a note.\n", out);
	return out == stdout ? EXIT_OK : EXIT_USAGE;
}

static int plot_number(const char *option, const char *text, int64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	if (!errno && !*end && end != text && *out >= 0)
		return 0;
	say_error("plot: --%s %s: not a whole number", option, text);
	return -1;
}

enum { OPT_RUN = 256, OPT_AGAINST, OPT_WORKLOAD, OPT_TARGET, OPT_N, OPT_ONLY, OPT_KEEP };

/* 0: go on; 1: help was printed; -1: the message is out. */
static int plot_option(int c, struct plot_options *o)
{
	switch (c) {
	case 'h':
		plot_usage(stdout);
		return 1;
	case 'o':
		o->output = optarg;
		return 0;
	case OPT_RUN:
		if (strcmp(optarg, "all"))
			return plot_number("run", optarg, &o->want.run);
		o->want.run = FIGURE_EVERY_RUN;
		return 0;
	case OPT_AGAINST:
		return plot_number("against", optarg, &o->want.other_run);
	case OPT_N:
		return plot_number("n", optarg, &o->want.n);
	case OPT_WORKLOAD:
		o->want.workload = optarg;
		return 0;
	case OPT_TARGET:
		o->want.target = optarg;
		return 0;
	case OPT_ONLY:
		o->want.only = optarg;
		return 0;
	case OPT_KEEP:
		o->keep = 1;
		return 0;
	}
	plot_usage(stderr);
	return -1;
}

static int plot_parse(int argc, char **argv, struct plot_options *o)
{
	static const struct option longs[] = {
		{ "run", required_argument, NULL, OPT_RUN }, { "against", required_argument, NULL, OPT_AGAINST },
		{ "workload", required_argument, NULL, OPT_WORKLOAD }, { "target", required_argument, NULL, OPT_TARGET },
		{ "n", required_argument, NULL, OPT_N }, { "only", required_argument, NULL, OPT_ONLY }, { "keep", no_argument, NULL, OPT_KEEP },
		{ "output", required_argument, NULL, 'o' }, { "help", no_argument, NULL, 'h' }, { 0 },
	};
	int c, rc;

	optind = 0;
	while ((c = getopt_long(argc, argv, "ho:", longs, NULL)) != -1)
		if ((rc = plot_option(c, o)))
			return rc;
	if (optind == argc || argc - optind > 2) {
		plot_usage(stderr);
		return -1;
	}
	o->figure = figure_find(argv[optind]);
	if (!o->figure) {
		say_error("plot: there is no figure \"%s\"; `pkrun plot --help` lists them", argv[optind]);
		return -1;
	}
	if (o->want.run == FIGURE_EVERY_RUN && strcmp(o->figure->name, "scaling")) {
		say_error("plot: --run all: only scaling joins runs");
		return -1;
	}
	if (o->want.other_run && strcmp(o->figure->name, "compare")) {
		say_error("plot: --against: only compare is of two runs");
		return -1;
	}
	if (o->want.n != STORE_NULL && o->figure->every_n) {
		say_error("plot: --n: %s shows every size", o->figure->name);
		return -1;
	}
	if (optind + 1 < argc)
		o->db = argv[optind + 1];
	if (!o->output) {
		say_error("plot: where to? -o FILE.svg, FILE.png or FILE.pdf");
		return -1;
	}
	if (draw_kind(o->output, &o->kind)) {
		say_error("plot: -o %s: the name must end in .svg, .png or .pdf", o->output);
		return -1;
	}
	return 0;
}

/* FILE.gp draws FILE again, wherever it is run. */
static int plot_keep(const struct plot_options *o, const struct plot *p, const char *script)
{
	const char *base = strrchr(o->output, '/');
	char *path = NULL, *whole = NULL;
	FILE *f = NULL;
	int rc = -1;

	if (asprintf(&path, "%s.gp", o->output) < 0 ||
	    draw_script(o->kind, base ? base + 1 : o->output, p->width, p->height, script, &whole)) {
		say_error("plot: out of memory");
		return -1;
	}
	f = fopen(path, "w");
	if (!f || fputs(whole, f) < 0 || fclose(f)) {
		say_error("plot: %s: %s", path, strerror(errno));
	} else {
		say_note("the script and its data: %s", path);
		rc = 0;
	}
	free(path);
	free(whole);
	return rc;
}

static int plot_make(struct store *s, const struct plot_options *o)
{
	struct plot p;
	char *script = NULL, why[1024] = "";
	int rc = EXIT_USAGE;

	if (figure_script(o->figure, s, NULL, &o->want, &p, &script)) {
		say_error("plot: %s: nothing to draw: %s", o->db, *p.why ? p.why : "no cell has a time");
		goto out;
	}
	if (p.hollow)
		say_note("%s", p.hollow);
	if (p.dropped)
		say_note("%d left out; the first: %s", p.dropped, p.why);
	if (o->keep && plot_keep(o, &p, script))
		goto out;
	if (draw_file(o->output, p.width, p.height, script, why, sizeof(why))) {
		say_error("plot: %s", why);
		goto out;
	}
	if (*why)
		say_note("gnuplot: %s", why);
	rc = EXIT_OK;
out:
	free(script);
	figure_free(&p);
	return rc;
}

int command_plot(int argc, char **argv)
{
	struct plot_options o = { .db = "pkrun.db", .want = { .n = STORE_NULL } };
	struct store *s;
	char why[1024];
	int rc = plot_parse(argc, argv, &o);

	if (rc)
		return rc > 0 ? EXIT_OK : EXIT_USAGE;
	if (store_open(&s, o.db, STORE_READ | STORE_CACHE, why, sizeof(why))) {
		say_error("plot: %s", why);
		return EXIT_USAGE;
	}
	rc = plot_make(s, &o);
	store_close(s);
	return rc;
}
