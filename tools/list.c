/* SPDX-License-Identifier: MIT
 *
 * list.c - `pkrun list variants|workloads|targets`: what there is, as a table,
 * as JSON (an array of objects) or as CSV.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../core/command.h"
#include "../core/plan.h"
#include "../core/say.h"

static const char help[] =
"Usage: pkrun list variants|workloads|targets [OPTION]...\n"
"Say what there is.  Plugins that cannot be used are named on stderr, with the reason.\n\n"
"  --target TARGET    only this target: host, hip or cuda (default: all that are built)\n"
"  --plugin FILE      also know the variant in this shared object (may be given often)\n"
"  --format FORMAT    table, json or csv\n"
"  --help\n";

struct list_options {
	const char *what, *target;
	const char **plugins;
	size_t n_plugins;
	enum plan_format format;
};

static const char *result_name(uint32_t result)
{
	return result == PKRUN_EXACT ? "exact" : "converges";
}

/* ---- a row is a list of cells; how it looks is the format's business ---- */

struct column {
	const char *name;
	int is_list;		/* words with commas: an array in JSON */
	int is_number;
	int not_in_table;	/* too wide for one */
};

#define COLUMNS_MAX 16
struct sheet {
	const struct column *columns;
	int n_columns, n_rows;
	char **cells;		/* n_rows x n_columns, each malloc'd; NULL: unknown */
};

static void sheet_add(struct sheet *s, const char *const *row)
{
	size_t n = (size_t)s->n_columns;

	s->cells = realloc(s->cells, (size_t)(s->n_rows + 1) * n * sizeof *s->cells);
	if (!s->cells)
		abort();
	for (size_t i = 0; i < n; i++)
		s->cells[(size_t)s->n_rows * n + i] = row[i] ? strdup(row[i]) : NULL;
	s->n_rows++;
}

static char *sheet_at(const struct sheet *s, int row, int column)
{
	return s->cells[row * s->n_columns + column];
}

static void print_list(const char *words)
{
	char *copy = strdup(words), *rest = copy, *word;
	int n = 0;

	putchar('[');
	while ((word = strsep(&rest, ", "))) {
		if (!*word)
			continue;
		if (n++)
			fputs(", ", stdout);
		plan_json_text(stdout, word);
	}
	putchar(']');
	free(copy);
}

static void print_json(const struct sheet *s)
{
	putchar('[');
	for (int r = 0; r < s->n_rows; r++) {
		printf("%s\n  {", r ? "," : "");
		for (int c = 0; c < s->n_columns; c++) {
			const char *text = sheet_at(s, r, c);

			printf("%s\"%s\": ", c ? ", " : "", s->columns[c].name);
			if (!text)
				fputs("null", stdout);
			else if (s->columns[c].is_list)
				print_list(text);
			else if (s->columns[c].is_number)
				fputs(text, stdout);
			else
				plan_json_text(stdout, text);
		}
		putchar('}');
	}
	fputs("\n]\n", stdout);
}

static void print_csv(const struct sheet *s)
{
	for (int c = 0; c < s->n_columns; c++)
		printf("%s%s", c ? "," : "", s->columns[c].name);
	putchar('\n');
	for (int r = 0; r < s->n_rows; r++) {
		for (int c = 0; c < s->n_columns; c++) {
			if (c)
				putchar(',');
			plan_csv_text(stdout, sheet_at(s, r, c) ? sheet_at(s, r, c) : "");
		}
		putchar('\n');
	}
}

/* The last column takes what room the terminal leaves it. */
static void print_table(const struct sheet *s)
{
	int width[COLUMNS_MAX] = {0}, used = 0, room;
	char safe[2000];

	for (int c = 0; c < s->n_columns; c++) {
		if (s->columns[c].not_in_table)
			continue;
		width[c] = say_columns(s->columns[c].name);
		for (int r = 0; r < s->n_rows; r++) {
			const char *text = sheet_at(s, r, c);
			int columns = text ? say_columns(text) : 0;

			width[c] = columns > width[c] ? columns : width[c];
		}
		used += c + 1 < s->n_columns ? width[c] + 2 : 0;
	}
	room = say_terminal(1) - used;
	room = room < 30 ? 30 : room;
	for (int r = -1; r < s->n_rows; r++) {
		for (int c = 0; c < s->n_columns; c++) {
			const char *text = r < 0 ? s->columns[c].name : sheet_at(s, r, c);
			int last = c + 1 == s->n_columns;

			if (s->columns[c].not_in_table)
				continue;
			say_text(text ? text : "", last ? room : 0, safe, sizeof safe);
			printf("%s%*s", safe, last ? 0 : width[c] + 2 - say_columns(safe), "");
		}
		putchar('\n');
	}
}

static int sheet_print(struct sheet *s, enum plan_format format)
{
	if (format == PLAN_JSON)
		print_json(s);
	else if (format == PLAN_CSV)
		print_csv(s);
	else
		print_table(s);
	for (int i = 0; i < s->n_rows * s->n_columns; i++)
		free(s->cells[i]);
	free(s->cells);
	if (fflush(stdout) || ferror(stdout)) {
		say_error("cannot write to stdout");
		return EXIT_USAGE;
	}
	return EXIT_OK;
}

/* ---- variants ---- */

static const struct column variant_columns[] = {
	{"name", 0, 0},	   {"control", 0, 0}, {"result", 0, 0},	 {"targets", 1, 0},
	{"workloads", 1, 0}, {"options", 1, 0, 1}, {"brief", 0, 0},
};

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

static int is_first_of_name(const struct catalog *c, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (!c->variants[j].refused && !strcmp(c->variants[j].name, c->variants[i].name))
			return 0;
	return !c->variants[i].refused;
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

static int list_variants(const struct list_options *o)
{
	struct sheet s = {.columns = variant_columns, .n_columns = 7};
	int code = EXIT_OK, printed;
	struct catalog c;

	if (plan_catalog(&c, o->target, o->plugins, o->n_plugins))
		return EXIT_USAGE;
	for (size_t i = 0; i < c.n_variants; i++) {
		const struct variant_info *v = &c.variants[i];
		char targets[32], *options;

		if (v->refused) {
			say_error("refused: %s: %s", v->path, v->refused);
			if (was_given(o, v->path))
				code = EXIT_USAGE;
		}
		if (!is_first_of_name(&c, i))
			continue;
		join_targets(&c, v->name, targets);
		options = join_options(v);
		sheet_add(&s, (const char *const[]){v->name, control_name(v->control),
						    result_name(v->result), targets, v->workloads,
						    options, v->brief});
		free(options);
	}
	printed = sheet_print(&s, o->format);
	catalog_free(&c);
	return printed ? printed : code;
}

/* ---- workloads ---- */

static const struct column workload_columns[] = {{"name", 0, 0}, {"options", 1, 0}, {"brief", 0, 0}};

static int list_workloads(const struct list_options *o)
{
	struct sheet s = {.columns = workload_columns, .n_columns = 3};

	for (size_t i = 0; workloads[i]; i++) {
		const struct workload *w = workloads[i];
		char text[400] = "";

		for (const struct pkrun_option *row = w->options; row && row->name; row++)
			snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
				 *text ? "," : "", row->name);
		sheet_add(&s, (const char *const[]){w->name, text, w->brief});
	}
	return sheet_print(&s, o->format);
}

/* ---- targets ---- */

static const struct column target_columns[] = {
	{"target", 0, 0}, {"built", 0, 1},  {"devices", 0, 1}, {"device", 0, 0},
	{"arch", 0, 0},	  {"driver", 0, 0}, {"runtime", 0, 0}, {"reason", 0, 0},
};

static int list_targets(const struct list_options *o)
{
	struct sheet s = {.columns = target_columns, .n_columns = 8};
	struct catalog c;

	if (plan_catalog(&c, o->target, o->plugins, o->n_plugins))
		return EXIT_USAGE;
	for (uint32_t t = PKRUN_HOST; t <= PKRUN_CUDA; t++) {
		const struct target_info *info = &c.targets[t];
		const struct pkrun_device_info *d = &info->device;
		char devices[16];
		int there = info->devices > 0;

		if (o->target && strcmp(o->target, "auto") && strcmp(o->target, target_name(t)))
			continue;
		snprintf(devices, sizeof devices, "%d", info->devices);
		sheet_add(&s, (const char *const[]){target_name(t), info->built ? "1" : "0", devices,
						    there ? d->name : NULL, there ? d->arch : NULL,
						    there ? d->driver : NULL,
						    there ? d->runtime : NULL, info->why});
	}
	catalog_free(&c);
	return sheet_print(&s, o->format);
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
		if (!plan_format_parse(optarg, &o->format))
			return 0;
		say_error("--format %s: not table, json or csv", optarg);
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
		say_error("list what? One of variants, workloads, targets");
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
	} lists[] = {{"variants", list_variants}, {"workloads", list_workloads}, {"targets", list_targets}};
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
		say_error("'%s' is none of variants, workloads, targets", o.what);
		code = EXIT_USAGE;
	}
	free(o.plugins);
	return code < 0 ? EXIT_OK : code;
}
