/* SPDX-License-Identifier: MIT
 *
 * help.c - `pkrun help TOPIC`: a variant's, a workload's or the matrix's
 * options from their tables; a command's own --help.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "metrics.h"
#include "plan.h"
#include "say.h"
#include "words.h"

static const char usage[] =
"Usage: pkrun help TOPIC [--plugin FILE]...\n"
"What a variant, a workload, the matrix or a command takes.\n\n"
"TOPIC is `matrix`, a command, a workload or a variant:\n";

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
#define COMMAND(name, brief) {#name, command_##name},
#include "commands.def"
#undef COMMAND
};

static void help_matrix(void)
{
	fputs("A matrix is an INI file.  [global] applies to every section below it; each other\n"
	      "section is a series.\n\n"
	      "  [global]\n"
	      "  workload = poisson2d        ; what a step is\n"
	      "  n        = 11..101+10       ; an option of the workload: a list or a range\n"
	      "  baseline = queued           ; speed-ups refer to this series\n\n"
	      "  [queued]\n"
	      "  variant  = launch           ; how steps reach the device\n\n"
	      "  [waiting]\n"
	      "  variant  = persistent_naive, persistent_poller\n"
	      "  threads  = 64, 256\n\n"
	      "Lists (a, b, c) and ranges of integers (lo..hi+step, lo..hi*factor) multiply out.\n"
	      "`;` after a blank begins a comment.  ${NAME} comes from the environment.\n\n"
	      "Keys of the matrix:\n"
	      "  variant                    names, globs (persistent_*) or files (./mine.so)\n"
	      "  workload                   names\n"
	      "  target                     host, hip, cuda (default: --target)\n"
	      "  iterations                 of a trial: numbers, or auto (the default)\n"
	      "  zip                        keys whose lists advance together\n"
	      "  baseline                   in [global]: the section whose fastest cell speed-ups refer to\n\n"
	      "Options that every variant has:\n", stdout);
	option_help(common_options, stdout);
	fputs("\nSettings of the run, in [global]; here a block is a round of trials, not one of the grid:\n", stdout);
	option_help(matrix_settings_options, stdout);
}

/* Does an earlier variant of the workload explain this metric in the same words? */
static int is_explained(const struct catalog *c, const char *workload, size_t before,
			const struct pkrun_metric *m)
{
	for (size_t i = 0; i < before; i++) {
		const struct variant_info *v = &c->variants[i];

		if (v->refused || !variant_drives(v, workload))
			continue;
		for (const struct pkrun_metric *other = v->metrics; other->name; other++)
			if (metric_alike(m, other))
				return 1;
	}
	return 0;
}

static void help_workload_metrics(const struct catalog *c, const char *workload)
{
	const char *head = "\nWhat they measure besides the time (pkrun help VARIANT):\n";

	for (size_t i = 0; i < c->n_variants; i++) {
		const struct variant_info *v = &c->variants[i];

		if (v->refused || !variant_drives(v, workload))
			continue;
		for (const struct pkrun_metric *m = v->metrics; m->name; m++) {
			if (is_explained(c, workload, i, m))
				continue;
			fputs(head, stdout);
			metric_help((const struct pkrun_metric[]){*m, {0}}, stdout);
			head = "";
		}
	}
}

static int help_workload(const struct workload *w, const char *const *plugins, size_t n_plugins)
{
	struct catalog c;
	int any = 0;

	if (plan_catalog(&c, NULL, plugins, n_plugins))
		return EXIT_USAGE;
	printf("workload %s: %s\n\n", w->name, w->brief);
	fputs("Options:\n", stdout);
	option_help(w->options, stdout);
	fputs("\nVariants that drive it:\n", stdout);
	for (size_t i = 0; i < c.n_variants; i++) {
		const struct variant_info *v = &c.variants[i];

		if (v->refused || !variant_drives(v, w->name) || catalog_is_repeated(&c, i))
			continue;
		option_help_line(v->name, v->brief, stdout);
		any = 1;
	}
	if (!any)
		fputs("  none\n", stdout);
	help_workload_metrics(&c, w->name);
	catalog_free(&c);
	return EXIT_OK;
}

static void help_variant(const struct catalog *c, const char *name)
{
	static const char *const controls[] = {
		"?", "the host, step by step", "the host, ahead of time into a queue",
		"the device; the host only starts and stops", "the device's own launch mechanism"};
	const struct variant_info *v = NULL;
	const char *separator = "";

	for (uint32_t t = PKRUN_CUDA; t >= PKRUN_HOST; t--)
		if (catalog_find(c, t, name) && !catalog_find(c, t, name)->refused)
			v = catalog_find(c, t, name);
	printf("variant %s: %s\n\n", v->name, v->brief);
	printf("  released by  %s\n", controls[v->control <= 4 ? v->control : 0]);
	printf("  result       %s\n", v->result == PKRUN_EXACT
	       ? "exact: equal to the reference bit for bit" : "converges: judged by its error");
	fputs("  workloads    ", stdout);
	for (const char *w = v->workloads; *w; w++)
		printf(*w == ',' ? "%c " : "%c", *w);
	fputs("\n  targets      ", stdout);
	for (uint32_t t = PKRUN_HOST; t <= PKRUN_CUDA; t++) {
		const struct variant_info *other = catalog_find(c, t, name);

		if (!other || other->refused)
			continue;
		printf("%s%s", separator, target_name(t));
		separator = ", ";
	}
	printf("\n  needs        %s\n",
	       v->flags & PKRUN_COOPERATIVE ? "all blocks co-resident, by a cooperative launch"
	       : v->flags & PKRUN_RESIDENT ? "all blocks co-resident" : "nothing special");
	fputs(v->n_options ? "\nOptions of its own:\n" : "\nIt has no options of its own.\n", stdout);
	option_help(v->options, stdout);
	fputs("\nOptions that every variant has:\n", stdout);
	option_help(common_options, stdout);
	if (v->metrics->name) {
		fputs("\nMetrics of its own, beside each trial's time:\n", stdout);
		metric_help(v->metrics, stdout);
	}
	fputs("\nMetrics that every variant may have:\n", stdout);
	metric_help(common_metrics, stdout);
}

/* A variant, a refused one, or nothing at all. */
static int help_plugin(const char *topic, const char *const *plugins, size_t n_plugins)
{
	const char **names, *nearest;
	int code = EXIT_USAGE, usable = 0, refused = 0;
	size_t n = 0;
	struct catalog c;

	if (plan_catalog(&c, NULL, plugins, n_plugins))
		return EXIT_USAGE;
	names = calloc(c.n_variants + 100, sizeof *names);
	if (!names)
		abort();
	for (size_t i = 0; i < c.n_variants; i++) {
		const struct variant_info *v = &c.variants[i];

		names[n++] = v->name;
		if (strcmp(v->name, topic))
			continue;
		if (v->refused)
			say_error("refused: %s: %s", v->path, v->refused);
		refused |= v->refused != NULL;
		usable |= v->refused == NULL;
	}
	for (size_t i = 0; workloads[i] && i < 90; i++)
		names[n++] = workloads[i]->name;
	nearest = words_nearest(topic, names);
	if (usable) {
		help_variant(&c, topic);
		code = EXIT_OK;
	} else if (!refused) {
		say_error("no variant, workload or command '%s'%s%s%s", topic,
			  nearest ? "; did you mean '" : "; see pkrun list variants",
			  nearest ? nearest : "", nearest ? "'?" : "");
	}
	free(names);
	catalog_free(&c);
	return code;
}

static int help_topic(const char *topic, const char *const *plugins, size_t n_plugins)
{
	static char flag[] = "--help";

	if (!strcmp(topic, "matrix")) {
		help_matrix();
		return EXIT_OK;
	}
	if (workload_find(topic))
		return help_workload(workload_find(topic), plugins, n_plugins);
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (!strcmp(topic, commands[i].name))
			return commands[i].run(2, (char *[]){(char *)topic, flag, NULL});
	return help_plugin(topic, plugins, n_plugins);
}

static void help_help(void)
{
	fputs(usage, stdout);
	fputs("  commands   ", stdout);
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		printf(" %s", commands[i].name);
	fputs("\n  workloads  ", stdout);
	for (size_t i = 0; workloads[i]; i++)
		printf(" %s", workloads[i]->name);
	fputs("\n  variants    see pkrun list variants\n", stdout);
}

int command_help(int argc, char **argv)
{
	static const struct option options[] = {{"plugin", required_argument, NULL, 'p'},
						{"help", no_argument, NULL, 'h'},
						{NULL, 0, NULL, 0}};
	const char **plugins = calloc((size_t)argc + 1, sizeof *plugins);
	size_t n_plugins = 0;
	int c, code = EXIT_OK, asked = 0;

	optind = 0;
	while (plugins && !code && (c = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (c == 'p') {
			plugins[n_plugins++] = optarg;
		} else if (c == 'h') {
			asked = 1;
		} else {
			say_error(c == ':' ? "%s needs a value" : "unknown option '%s'; see pkrun help --help",
				  argv[optind - 1]);
			code = EXIT_USAGE;
		}
	}
	if (!code && (asked || optind == argc)) {
		help_help();
	} else if (!code && optind + 1 < argc) {
		say_error("one topic at a time: '%s' after '%s'", argv[optind + 1], argv[optind]);
		code = EXIT_USAGE;
	} else if (!code) {
		code = help_topic(argv[optind], plugins, n_plugins);
	}
	free(plugins);
	if (fflush(stdout) || ferror(stdout)) {
		if (errno != EPIPE)	/* who reads the head of it alone has what was wanted */
			say_error("cannot write: %s", strerror(errno));
		return EXIT_USAGE;
	}
	return code;
}
