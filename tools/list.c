/* SPDX-License-Identifier: MIT
 *
 * list.c - `pkrun list variants|workloads|metrics|targets`: what there is, as a table,
 * as JSON (an array of objects) or as CSV.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../core/command.h"
#include "../core/metrics.h"
#include "../core/plan.h"
#include "../core/say.h"

static const char help[] =
"Usage: pkrun list variants|workloads|metrics|targets [OPTION]...\n"
"Say what there is.  Plugins that cannot be used are named on stderr, with the reason.\n\n"
"  --target TARGET    only this target: host, hip or cuda (default: all that are built)\n"
"  --plugin FILE      also know the variant in this shared object (may be given often)\n"
"  --format FORMAT    table, json, csv or markdown\n"
"  --help\n";

struct list_options {
	const char *what, *target;
	const char **plugins;
	size_t n_plugins;
	enum show_format format;
};

static const char *result_name(uint32_t result)
{
	return result == PKRUN_EXACT ? "exact" : "converges";
}

/* The last column is a sentence or a list. */
static int end(struct rows *r)
{
	r->table.columns[r->columns - 1].wrap = 1;
	if (r->format == SHOW_TABLE && r->count)
		table_hide_empty(&r->table);
	if (!rows_end(r, say_terminal(1)))
		return EXIT_OK;
	if (errno != EPIPE)	/* who reads the head of it alone has what was wanted */
		say_error("cannot write: %s", strerror(errno));
	return EXIT_USAGE;
}

/* ---- variants ---- */

static char *join_options(const struct variant_info *v)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		abort();
	for (uint32_t i = 0; i < v->n_options; i++)
		fprintf(f, "%s%s", i ? "," : "", v->options[i].name);
	fclose(f);
	return text;
}

/* The targets for which a usable variant of this name is there. */
static void join_targets(const struct catalog *c, const char *name, char out[32])
{
	out[0] = 0;
	for (uint32_t t = PKRUN_HOST; t <= PKRUN_CUDA; t++) {
		const struct variant_info *v = catalog_find(c, t, name);

		if (v && !v->refused)
			strcat(strcat(out, *out ? "," : ""), target_name(t));
	}
}

static int was_given(const struct list_options *o, const char *path)
{
	int given = 0;

	for (size_t i = 0; i < o->n_plugins; i++) {
		char *full = realpath(o->plugins[i], NULL);

		given |= !strcmp(full ? full : o->plugins[i], path);
		free(full);
	}
	return given;
}

static void put_variant(struct rows *r, const struct catalog *c, const struct variant_info *v)
{
	char targets[32], *options = join_options(v);

	join_targets(c, v->name, targets);
	rows_text(r, v->name);
	rows_text(r, control_name(v->control));
	rows_text(r, result_name(v->result));
	rows_list(r, targets);
	rows_list(r, v->workloads);
	/* too wide for a table, where `pkrun help VARIANT` says more */
	rows_list(r, r->format == SHOW_TABLE ? NULL : options);
	rows_text(r, v->brief);
	free(options);
}

/* EXIT_USAGE if one is among them that was asked for. */
static int say_refused(const struct list_options *o, const struct catalog *c)
{
	int code = EXIT_OK;

	for (size_t i = 0; i < c->n_variants; i++) {
		const struct variant_info *v = &c->variants[i];

		if (!v->refused)
			continue;
		say_error("refused: %s: %s", v->path, v->refused);
		if (was_given(o, v->path))
			code = EXIT_USAGE;
	}
	return code;
}

static int list_variants(const struct list_options *o)
{
	static const char *const names[] = {"name", "control", "result", "targets", "workloads",
					    "options", "brief"};
	struct catalog c;
	struct rows r;
	int code, printed;

	if (plan_catalog(&c, o->target, o->plugins, o->n_plugins))
		return EXIT_USAGE;
	code = say_refused(o, &c);
	rows_begin(&r, stdout, o->format, names, sizeof(names) / sizeof(*names));
	for (size_t i = 0; i < c.n_variants; i++)
		if (!c.variants[i].refused && !catalog_is_repeated(&c, i))
			put_variant(&r, &c, &c.variants[i]);
	if (!r.count)
		say_error("no usable variant in %s", c.plugin_dir);
	printed = end(&r);
	catalog_free(&c);
	return printed ? printed : code;
}

/* ---- workloads ---- */

static int list_workloads(const struct list_options *o)
{
	static const char *const names[] = {"name", "options", "brief"};
	struct rows r;

	rows_begin(&r, stdout, o->format, names, sizeof(names) / sizeof(*names));
	for (size_t i = 0; workloads[i]; i++) {
		const struct workload *w = workloads[i];
		char text[400] = "";

		for (const struct pkrun_option *row = w->options; row && row->name; row++)
			snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
				 *text ? "," : "", row->name);
		rows_text(&r, w->name);
		rows_list(&r, text);
		rows_text(&r, w->brief);
	}
	return end(&r);
}

/* ---- metrics ---- */

static const struct pkrun_metric *metric_find(const struct variant_info *v, const struct pkrun_metric *m)
{
	for (const struct pkrun_metric *row = v->refused ? NULL : v->metrics; row && row->name; row++)
		if (metric_alike(row, m))
			return row;
	return NULL;
}

/* The variants from number `first` on that have this metric, in these words. */
static char *join_variants(const struct catalog *c, size_t first, const struct pkrun_metric *m)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		abort();
	for (size_t i = first; i < c->n_variants; i++)
		if (!catalog_is_repeated(c, i) && metric_find(&c->variants[i], m))
			fprintf(f, "%s%s", i > first ? "," : "", c->variants[i].name);
	fclose(f);
	return text;
}

static void put_metric(struct rows *r, const struct pkrun_metric *m, const char *of)
{
	rows_text(r, m->name);
	rows_text(r, m->unit);
	rows_list(r, of);
	rows_text(r, m->help);
}

static int list_metrics(const struct list_options *o)
{
	static const char *const names[] = {"metric", "unit", "variants", "meaning"};
	struct catalog c;
	struct rows r;
	int code, printed;

	if (plan_catalog(&c, o->target, o->plugins, o->n_plugins))
		return EXIT_USAGE;
	code = say_refused(o, &c);
	rows_begin(&r, stdout, o->format, names, sizeof(names) / sizeof(*names));
	for (size_t i = 0; i < c.n_variants; i++) {
		const struct variant_info *v = &c.variants[i];

		for (const struct pkrun_metric *m = v->refused ? NULL : v->metrics; m && m->name; m++) {
			size_t before = 0;
			char *of;

			while (!metric_find(&c.variants[before], m))
				before++;
			if (before < i)
				continue;
			of = join_variants(&c, i, m);
			put_metric(&r, m, of);
			free(of);
		}
	}
	for (const struct pkrun_metric *m = common_metrics; m->name; m++)
		put_metric(&r, m, "any");
	r.table.columns[2].wrap = 1;
	printed = end(&r);
	catalog_free(&c);
	return printed ? printed : code;
}

/* ---- targets ---- */

static void put_target(struct rows *r, const struct target_info *info)
{
	const struct pkrun_device_info *d = &info->device;
	int there = info->devices > 0;

	rows_text(r, target_name(info->target));
	rows_int(r, info->built);
	rows_int(r, info->devices);
	rows_text(r, there ? d->name : NULL);
	rows_text(r, there ? d->arch : NULL);
	rows_text(r, there ? d->driver : NULL);
	rows_text(r, there ? d->runtime : NULL);
	rows_text(r, info->why);
}

static int list_targets(const struct list_options *o)
{
	static const char *const names[] = {"target", "built", "devices", "device", "arch", "driver",
					    "runtime", "reason"};
	int all = !o->target || !strcmp(o->target, "auto");
	struct catalog c;
	struct rows r;
	int code;

	if (plan_catalog(&c, o->target, o->plugins, o->n_plugins))
		return EXIT_USAGE;
	rows_begin(&r, stdout, o->format, names, sizeof(names) / sizeof(*names));
	for (uint32_t t = PKRUN_HOST; t <= PKRUN_CUDA; t++)
		if (all || !strcmp(o->target, target_name(t)))
			put_target(&r, &c.targets[t]);
	code = end(&r);
	catalog_free(&c);
	return code;
}

/* ---- command line ---- */

static int take(struct list_options *o, int c, char **argv)
{
	switch (c) {
	case 't':
		o->target = optarg;
		return 0;
	case 'p':
		o->plugins[o->n_plugins++] = optarg;
		return 0;
	case 'f':
		if (!show_format_parse(optarg, &o->format))
			return 0;
		say_error("--format %s: not table, json, csv or markdown", optarg);
		return EXIT_USAGE;
	case 'h':
		fputs(help, stdout);
		return -1;
	case ':':
		say_error("%s needs a value", argv[optind - 1]);
		return EXIT_USAGE;
	}
	say_error("unknown option '%s'; see pkrun list --help", argv[optind - 1]);
	return EXIT_USAGE;
}

static int parse(struct list_options *o, int argc, char **argv)
{
	static const struct option options[] = {
		{"target", required_argument, NULL, 't'}, {"plugin", required_argument, NULL, 'p'},
		{"format", required_argument, NULL, 'f'}, {"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int c, code = 0;

	optind = 0;
	while (!code && (c = getopt_long(argc, argv, ":", options, NULL)) != -1)
		code = take(o, c, argv);
	if (code)
		return code;
	if (optind + 1 != argc) {
		say_error("list what? One of variants, workloads, metrics, targets");
		return EXIT_USAGE;
	}
	o->what = argv[optind];
	return 0;
}

int command_list(int argc, char **argv)
{
	static const struct {
		const char *what;
		int (*list)(const struct list_options *o);
	} lists[] = {{"variants", list_variants}, {"workloads", list_workloads},
		    {"metrics", list_metrics}, {"targets", list_targets}};
	struct list_options o = {.plugins = calloc((size_t)argc + 1, sizeof *o.plugins)};
	int code = parse(&o, argc, argv), known = 0;

	for (size_t i = 0; !code && i < sizeof lists / sizeof *lists; i++) {
		if (strcmp(o.what, lists[i].what))
			continue;
		known = 1;
		code = lists[i].list(&o);
		break;
	}
	if (!code && !known) {
		say_error("'%s' is none of variants, workloads, metrics, targets", o.what);
		code = EXIT_USAGE;
	}
	free(o.plugins);
	return code < 0 ? EXIT_OK : code;
}
