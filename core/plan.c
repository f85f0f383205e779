/* SPDX-License-Identifier: MIT
 *
 * plan.c - read the matrix, ask for the plugins that it needs, plan its cells;
 * and print them.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "paths.h"
#include "plan.h"
#include "say.h"

static void report(void *user, const char *message)
{
	(void)user;
	say_error("%s", message);
}

static int load(struct catalog *out, uint32_t targets, int device, const char *const *plugins,
		size_t n_plugins, const char *const *by_path, size_t n_by_path)
{
	char **extra = NULL, why[500];
	size_t n_extra = 0;
	int ret;

	if (paths_extra(plugins, n_plugins, &extra, &n_extra, why, sizeof why)) {
		say_error("%s", why);
		return -1;
	}
	ret = catalog_load(out, &(struct catalog_request){
		.plugin_dir = paths_plugin_dir(),
		.extra = (const char *const *)extra,
		.n_extra = n_extra,
		.by_path = by_path,
		.n_by_path = n_by_path,
		.targets = targets,
		.device = device,
	});
	paths_extra_free(extra, n_extra);
	return ret;
}

int plan_catalog(struct catalog *out, const char *target, const char *const *plugins,
		 size_t n_plugins)
{
	uint32_t targets = catalog_target_bits(target ? target : "auto");

	if (!targets) {
		say_error("target '%s' is none of auto, host, hip, cuda", target);
		return EXIT_USAGE;
	}
	return load(out, targets, 0, plugins, n_plugins, NULL, 0) ? EXIT_USAGE : 0;
}

/* The device that the matrix asks for, 0 where it does not say or says it wrong (reported later). */
static int wanted_device(const struct conf *conf, const struct plan_request *req)
{
	const struct conf_section *global = conf_section(conf, "global");
	int device = req->device ? (int)*req->device : 0;

	for (size_t i = 0; !req->device && global && i < global->n_entries; i++)
		if (!strcmp(global->entries[i].key, "device"))
			device = atoi(global->entries[i].value);
	return device;
}

/* Plugins that were given by name and cannot be used: the user wants to know, matrix or not. */
static int check_given(const struct catalog *c, const struct plan_request *req)
{
	int bad = 0;

	for (size_t i = 0; i < req->n_plugins; i++) {
		char *full = realpath(req->plugins[i], NULL);

		for (size_t v = 0; v < c->n_variants; v++) {
			const struct variant_info *info = &c->variants[v];

			if (!info->refused || strcmp(info->path, full ? full : req->plugins[i]))
				continue;
			say_error("--plugin %s: %s", req->plugins[i], info->refused);
			bad = 1;
			break;
		}
		free(full);
	}
	return bad;
}

static int read_conf(struct conf *conf, const struct plan_request *req)
{
	int bad = 0;

	if (conf_read(conf, req->path, report, NULL))
		return -1;
	for (size_t i = 0; i < req->n_sets; i++)
		bad |= conf_set(conf, req->sets[i], report, NULL);
	if (bad || matrix_expand(conf, report, NULL)) {
		conf_free(conf);
		return -1;
	}
	return 0;
}

static int load_for(struct plan *p, const struct conf *conf, const char *target,
		    const struct plan_request *req)
{
	uint32_t bits = catalog_target_bits(target);
	char **paths, why[700];
	size_t n_paths;
	int ret;

	if (!bits) {
		say_error("target '%s' is none of auto, host, hip, cuda", target);
		return -1;
	}
	matrix_plugins(conf, &paths, &n_paths);
	ret = load(&p->catalog, bits | matrix_targets(conf), wanted_device(conf, req), req->plugins,
		   req->n_plugins, (const char *const *)paths, n_paths);
	matrix_plugins_free(paths, n_paths);
	if (ret)
		return -1;
	if (catalog_target(&p->catalog, target, &p->target, why, sizeof why)) {
		say_error("%s", why);
		ret = -1;
	}
	return check_given(&p->catalog, req) || ret ? -1 : 0;
}

int plan_open(struct plan *p, const struct plan_request *req)
{
	const char *target = req->target ? req->target : "auto";
	struct conf conf;

	*p = (struct plan){0};
	if (read_conf(&conf, req))
		return EXIT_USAGE;
	if (load_for(p, &conf, target, req)) {
		conf_free(&conf);
		plan_close(p);
		return EXIT_USAGE;
	}
	p->request = (struct matrix_request){
		.catalog = &p->catalog,
		.target = p->target,
		.only = req->only,
		.quick = req->quick,
	};
	if (matrix_plan(&p->matrix, &conf, &p->request, report, NULL)) {
		plan_close(p);
		return EXIT_USAGE;
	}
	return 0;
}

void plan_close(struct plan *p)
{
	matrix_free(p->matrix);
	catalog_free(&p->catalog);
	*p = (struct plan){0};
}

/* ---- printing ---- */

int plan_format_parse(const char *text, enum plan_format *out)
{
	static const char *const names[] = {"table", "json", "csv"};

	for (int i = 0; i < 3; i++) {
		if (!strcmp(text, names[i])) {
			*out = (enum plan_format)i;
			return 0;
		}
	}
	return -1;
}

void plan_json_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
		if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (*s < 0x20 || *s == 0x7f)
			fprintf(out, "\\u%04x", *s);
		else
			fputc(*s, out);
	}
	fputc('"', out);
}

void plan_csv_text(FILE *out, const char *text)
{
	if (!text[strcspn(text, "\",\r\n")]) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

struct params {
	FILE *f;
	int all;	/* also those that have their default */
	int n;
};

static void add_param(void *user, const char *owner, const char *name, const char *value,
		      int is_default)
{
	struct params *p = user;

	(void)owner;
	if (is_default && !p->all)
		return;
	/* n has a column of its own */
	if (!p->all && !strcmp(name, "n"))
		return;
	fprintf(p->f, "%s%s=%s", p->n++ ? " " : "", name, value);
}

static char *params_of(const struct cell *c, int all)
{
	char *text = NULL;
	size_t size;
	struct params p = {.f = open_memstream(&text, &size), .all = all};

	if (!p.f)
		abort();
	cell_params(c, add_param, &p);
	fclose(p.f);
	return text;
}

static const char *iterations_of(const struct cell *c, char buf[32])
{
	if (!c->iterations)
		return "auto";
	snprintf(buf, 32, "%" PRIu64, c->iterations);
	return buf;
}

static void print_json(FILE *out, const struct cell *c, int first)
{
	char *params = params_of(c, 1);

	fprintf(out, "%s\n  {\"cell\": %" PRIu64 ", \"series\": ", first ? "[" : ",", c->number);
	plan_json_text(out, c->series);
	fputs(", \"variant\": ", out);
	plan_json_text(out, c->variant_name);
	fprintf(out, ", \"workload\": \"%s\", \"target\": \"%s\", \"n\": %" PRId64 ", \"iterations\": ",
		c->workload->name, target_name(c->target), c->n);
	if (c->iterations)
		fprintf(out, "%" PRIu64, c->iterations);
	else
		fputs("null", out);
	fputs(", \"params\": ", out);
	plan_json_text(out, params);
	fputs(", \"skipped\": ", out);
	if (*c->why)
		plan_json_text(out, c->why);
	else
		fputs("null", out);
	fputc('}', out);
	free(params);
}

static void print_csv(FILE *out, const struct cell *c)
{
	char number[32], *params = params_of(c, 1);

	fprintf(out, "%" PRIu64 ",", c->number);
	plan_csv_text(out, c->series);
	fputc(',', out);
	plan_csv_text(out, c->variant_name);
	fprintf(out, ",%s,%s,%" PRId64 ",%s,", c->workload->name, target_name(c->target), c->n,
		c->iterations ? iterations_of(c, number) : "");
	plan_csv_text(out, params);
	fputc(',', out);
	plan_csv_text(out, c->why);
	fputc('\n', out);
	free(params);
}

struct widths {
	int series, variant, workload;
};

static void widen(int *width, const char *text)
{
	int columns = say_columns(text);

	if (columns > *width)
		*width = columns > 30 ? 30 : columns;
}

/* Padded by columns, not by bytes; longer texts are cut in tables only. */
static void print_column(FILE *out, const char *text, int width)
{
	char safe[400];

	say_text(text, width, safe, sizeof safe);
	fprintf(out, "%s%*s  ", safe, width - say_columns(safe), "");
}

static void print_row(FILE *out, const struct plan *p, const struct cell *c, const struct widths *w)
{
	char number[32], safe[500], *params = params_of(c, 0);

	fprintf(out, "%5" PRIu64 "  ", c->number);
	print_column(out, c->series, w->series);
	print_column(out, c->variant_name, w->variant);
	print_column(out, c->workload->name, w->workload);
	fprintf(out, "%-6s  %8" PRId64 "  %10s  ", target_name(c->target), c->n,
		iterations_of(c, number));
	if (*c->why)
		fprintf(out, "%s: %s", cell_refused(c, &p->catalog) ? "refused" : "skipped",
			say_text(c->why, 0, safe, sizeof safe));
	else
		fputs(say_text(params, 0, safe, sizeof safe), out);
	fputc('\n', out);
	free(params);
}

static void print_table_head(const struct plan *p, FILE *out, struct widths *w)
{
	struct cell c;

	*w = (struct widths){6, 7, 8};
	for (uint64_t i = 0; i < matrix_cells(p->matrix); i++) {
		matrix_cell(p->matrix, i, &c);
		widen(&w->series, c.series);
		widen(&w->variant, c.variant_name);
		widen(&w->workload, c.workload->name);
	}
	fprintf(out, "%5s  %-*s  %-*s  %-*s  %-6s  %8s  %10s  %s\n", "cell", w->series, "series",
		w->variant, "variant", w->workload, "workload", "target", "n", "iterations",
		"options");
}

int plan_print(const struct plan *p, enum plan_format format, FILE *out)
{
	uint64_t n = matrix_cells(p->matrix);
	struct widths w;
	struct cell c;

	if (format == PLAN_TABLE)
		print_table_head(p, out, &w);
	if (format == PLAN_CSV)
		fputs("cell,series,variant,workload,target,n,iterations,params,skipped\n", out);
	for (uint64_t i = 0; i < n; i++) {
		matrix_cell(p->matrix, i, &c);
		if (format == PLAN_TABLE)
			print_row(out, p, &c, &w);
		else if (format == PLAN_JSON)
			print_json(out, &c, i == 0);
		else
			print_csv(out, &c);
	}
	if (format == PLAN_JSON)
		fputs("\n]\n", out);
	return fflush(out) || ferror(out) ? -1 : 0;
}
