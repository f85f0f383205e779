/* SPDX-License-Identifier: MIT
 *
 * run_rows.c - what is stored of a run before the first cell starts: all that
 * will not be known any better later, in one transaction.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "environment.h"
#include "run_resume.h"
#include "run_rows.h"
#include "say.h"
#include "version.h"

static int add_environment(void *user, const struct environment_row *row)
{
	struct runner *r = user;

	return store_environment(r->store, r->run_id, row->key, *row->value ? row->value : NULL,
				 environment_state_name(row->state),
				 *row->repair ? row->repair : NULL);
}

int run_rows_devices(struct runner *r)
{
	uint32_t t;

	for (t = 0; t < 4; t++) {
		const struct target_info *info = &r->catalog->targets[t];

		r->device_id[t] = STORE_NULL;
		if (info->devices > 0 &&
		    store_device(r->store, target_name(t), &info->device, &r->device_id[t]))
			return -1;
	}
	return 0;
}

/* Only plugins that a cell uses: those not asked for say nothing about this run. */
int run_rows_plugin(struct runner *r, const struct variant_info *v, int64_t *id)
{
	struct store_plugin p = {
		.path = v->path, .sha256 = v->sha256, .name = v->name, .brief = v->brief,
		.target = target_name(v->target), .control = control_name(v->control),
		.result = v->result == PKRUN_CONVERGES ? "converges" : "exact",
		.abi_major = (int)v->abi_major, .abi_minor = (int)v->abi_minor,
	};
	int64_t *known = &r->plugin_id[v - r->catalog->variants];

	if (*known == STORE_NULL && store_plugin(r->store, &p, known))
		return -1;
	*id = *known;
	return 0;
}

struct params {
	struct runner *r;
	int64_t cell;
	int failed;
	char text[8192];	/* "name=value ..." of what is not default */
	size_t used;
};

static void collect(void *user, const char *owner, const char *name, const char *value,
		    int is_default)
{
	struct params *p = user;
	int n;

	(void)owner;
	/* n has a column of its own */
	if (is_default || strcmp(name, "n") == 0 || p->used >= sizeof(p->text))
		return;
	n = snprintf(p->text + p->used, sizeof(p->text) - p->used, "%s%s=%s", p->used ? " " : "", name,
		     value);
	p->used += n > 0 ? (size_t)n : 0;
}

static void add_param(void *user, const char *owner, const char *name, const char *value,
		      int is_default)
{
	struct params *p = user;

	if (!p->failed)
		p->failed = store_param(p->r->store, p->cell, owner, name, value, is_default);
}

static int add_cell(struct runner *r, uint64_t number)
{
	static struct cell cell;
	static struct params p;
	struct cell_state *state = &r->cells[number];
	char key[16384];
	struct store_cell row;
	int refused;

	if (matrix_cell(r->matrix, number, &cell))
		return -1;
	p.used = 0;
	p.text[0] = '\0';
	p.r = r;
	p.failed = 0;
	cell_params(&cell, collect, &p);
	if (cell_key(&cell, key, sizeof(key)))
		snprintf(key, sizeof(key), "cell %llu", (unsigned long long)number);
	if (!*cell.why && r->catalog->targets[cell.target].devices <= 0)
		snprintf(cell.why, sizeof(cell.why), "no %s device: %s", target_name(cell.target),
			 r->catalog->targets[cell.target].why ? r->catalog->targets[cell.target].why
							      : "not built");
	refused = *cell.why && cell_refused(&cell, r->catalog);
	row = (struct store_cell){
		.run = r->run_id, .number = (int64_t)number, .plugin = STORE_NULL,
		.device = r->device_id[cell.target], .series = cell.series,
		.variant = cell.variant_name,
		.workload = cell.workload->name, .target = target_name(cell.target), .key = key,
		.params = p.text, .status = refused ? "refused" : *cell.why ? "skipped" : "pending",
		.reason = *cell.why ? cell.why : NULL, .n = cell.n,
		.iterations = cell.iterations ? (int64_t)cell.iterations : STORE_NULL,
	};
	if (cell.variant && !cell.variant->refused && run_rows_plugin(r, cell.variant, &row.plugin))
		return -1;
	if (store_cell(r->store, &row, &state->id))
		return -1;
	state->status = refused ? CELL_REFUSED : *cell.why ? CELL_SKIPPED : CELL_PENDING;
	p.cell = state->id;
	cell_params(&cell, add_param, &p);
	return p.failed;
}

/* As a shell would read it back: quoted only where it must be. */
static void put_word(FILE *f, const char *word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "_-+=.,:/@%";

	if (*word && !word[strspn(word, plain)]) {
		fputs(word, f);
		return;
	}
	fputc('\'', f);
	for (; *word; word++)
		fputs(*word == '\'' ? "'\\''" : (char[]){*word, 0}, f);
	fputc('\'', f);
}

static char *join_argv(int argc, char **argv)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int i;

	if (!f)
		return NULL;
	fputs("pkrun", f);
	for (i = 0; i < argc; i++) {
		fputc(' ', f);
		put_word(f, argv[i]);
	}
	fclose(f);
	return text;
}

static int add_run(struct runner *r, const struct run_options *o, int argc, char **argv)
{
	char *line = join_argv(argc, argv);
	struct store_run run = {
		.pkrun_version = version_text(), .git_state = version_git(),
		.argv = line ? line : "pkrun", .matrix_path = o->matrix,
		.matrix_text = matrix_conf(r->matrix)->text, .baseline = r->settings.baseline,
		.schedule = r->settings.schedule_sequential ? "sequential" : "blocks",
		.isolation = r->settings.isolation_block ? "block" : "cell",
		.seed = r->settings.seed, .quick = o->quick, .instrumented = r->instrumented, .cells = (int64_t)r->n_cells,
	};
	int rc = store_run_add(r->store, &run, &r->run_id);

	free(line);
	return rc;
}

/* The GPUs of this run; the host target is in environment_each. */
static int add_gpus(struct runner *r)
{
	uint32_t t;

	for (t = PKRUN_HIP; t <= PKRUN_CUDA; t++) {
		const struct target_info *info = &r->catalog->targets[t];

		if (info->devices > 0 &&
		    environment_gpu(t, &info->device, r->telemetry[t], r->no_telemetry[t],
				    add_environment, r))
			return -1;
	}
	return 0;
}

void run_rows_settings(const struct runner *r, char *out, size_t size)
{
	const struct matrix_settings *set = &r->settings;

	snprintf(out, size, "schedule=%s isolation=%s trials=%" PRId64 " blocks=%" PRId64 "..%" PRId64
		 " ci=%g cell_limit=%g warmup=%g warmup_runs=%" PRId64 " retries=%" PRId64
		 " energy=%g cache=%s device=%" PRId64,
		 set->schedule_sequential ? "sequential" : "blocks", set->isolation_block ? "block" : "cell",
		 set->trials, set->blocks_min, set->blocks_max, set->ci, set->cell_limit_s, set->warmup_s,
		 set->warmup_runs, set->retries, set->energy_s, set->cache_cold ? "cold" : "hot", set->device);
}

static int add_own(struct runner *r)
{
	char settings[512], process[128];

	run_rows_settings(r, settings, sizeof(settings));
	run_process(process, sizeof(process));
	if (store_environment(r->store, r->run_id, "settings", settings, "info", NULL))
		return -1;
	return store_environment(r->store, r->run_id, "process", process, "info", NULL);
}

static int add_all(struct runner *r, const struct run_options *o, int argc, char **argv)
{
	uint64_t i;

	if (add_run(r, o, argc, argv) || add_own(r) || environment_each(add_environment, r) ||
	    add_gpus(r) || run_rows_devices(r))
		return -1;
	for (i = 0; i < r->n_cells; i++)
		if (add_cell(r, i))
			return -1;
	return 0;
}

int run_rows_open(struct runner *r)
{
	size_t i;

	r->n_cells = matrix_cells(r->matrix);
	r->cells = calloc(r->n_cells + 1, sizeof(*r->cells));
	r->plugin_id = malloc((r->catalog->n_variants + 1) * sizeof(*r->plugin_id));
	if (!r->cells || !r->plugin_id) {
		say_error("out of memory for %llu cells", (unsigned long long)r->n_cells);
		return -1;
	}
	for (i = 0; i < r->catalog->n_variants; i++)
		r->plugin_id[i] = STORE_NULL;
	return 0;
}

int run_rows(struct runner *r, const struct run_options *o, int argc, char **argv)
{
	if (run_rows_open(r))
		return -1;
	if (store_begin(r->store) == 0) {
		if (add_all(r, o, argc, argv) == 0 && store_commit(r->store) == 0)
			return 0;
		say_error("%s", store_error(r->store));
		store_rollback(r->store);
		return -1;
	}
	say_error("%s", store_error(r->store));
	return -1;
}
