/* SPDX-License-Identifier: MIT
 *
 * plan.c - read the matrix, ask for the plugins that it needs, plan its cells;
 * and print them.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	/* n has a column of its own */
	if (p->all || (!is_default && strcmp(name, "n")))
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

static void print_cell(struct rows *r, const struct cell *c, int people)
{
	char *params = params_of(c, !people);

	rows_int(r, (int64_t)c->number);
	rows_text(r, c->series);
	rows_text(r, c->variant_name);
	rows_text(r, c->workload->name);
	rows_text(r, target_name(c->target));
	rows_int(r, c->n);
	rows_int(r, c->iterations ? (int64_t)c->iterations : STORE_NULL);
	rows_text(r, params);
	rows_text(r, *c->why ? c->why : NULL);
	free(params);
}

/* A table cuts long texts: the reasons whole, each once. */
static void print_reasons(const struct plan *p, FILE *out)
{
	char last[sizeof(((struct cell *)0)->why)] = "", safe[600];
	const char *head = "\nwhy not:\n";
	struct cell c;

	for (uint64_t i = 0; i < matrix_cells(p->matrix); i++) {
		matrix_cell(p->matrix, i, &c);
		if (!*c.why || !strcmp(c.why, last))
			continue;
		fprintf(out, "%s  %s\n", head, say_text(c.why, 0, safe, sizeof(safe)));
		strcpy(last, c.why);
		head = "";
	}
}

int plan_print(const struct plan *p, enum show_format format, FILE *out)
{
	static const char *const names[] = {"cell", "series", "variant", "workload", "target",
					    "n", "iterations", "params", "skipped"};
	int people = format == SHOW_TABLE || format == SHOW_MARKDOWN;
	struct rows rows;
	struct cell c;

	rows_begin(&rows, out, format, names, sizeof(names) / sizeof(*names));
	for (uint64_t i = 0; i < matrix_cells(p->matrix); i++) {
		matrix_cell(p->matrix, i, &c);
		print_cell(&rows, &c, people);
	}
	for (int i = 0; i < rows.columns; i++)	/* what tells cells apart */
		rows.table.columns[i].wrap = !strcmp(names[i], "series") || !strcmp(names[i], "variant") ||
					     !strcmp(names[i], "params");
	if (format == SHOW_TABLE)
		table_hide_empty(&rows.table);
	if (rows_end(&rows, say_terminal(fileno(out))))
		return -1;
	if (people)
		print_reasons(p, out);
	return fflush(out) || ferror(out) ? -1 : 0;
}
