/* SPDX-License-Identifier: MIT
 *
 * matrix.h - a matrix file to cells.
 *
 * [global] applies to every section below it; every other section is a series.
 * A value is a list: items separated by commas, each a word, a number or a
 * range lo..hi+step or lo..hi*factor (integers).  Lists multiply out; keys
 * named in `zip = a, b` advance together and must have equally many items.
 * ${NAME} is replaced from the environment; unset is an error.
 *
 * Reserved keys: variant, workload, target, iterations, baseline (global only),
 * zip, and the run's own: isolation, trials, blocks_min, ... (the one place is
 * the table in matrix_settings.c).  Every other key must be an option of the
 * workload, of the variant, or common to all variants; a [global] option is
 * fine when one section knows it.
 *
 * A variant is a name, a glob over names (`persistent_*`), or a path (anything
 * with a slash, relative to the file).  A list of variants, workloads or
 * targets multiplies out too, and an option multiplies only those variants
 * that have it.
 *
 * The number of cells is computed in 64 bits and bounded (MATRIX_CELLS_MAX)
 * before anything is allocated for them; a cell is computed from its number,
 * never stored.
 */
#ifndef PKRUN_MATRIX_H
#define PKRUN_MATRIX_H

#include "../ini/conf.h"
#include "../kernels/workload.h"
#include "catalog.h"
#include "options.h"

#define MATRIX_CELLS_MAX 1000000
#define MATRIX_OPTIONS_BYTES 1024	/* room for any option struct */

struct matrix;		/* opaque: the conf, its axes, its settings */

/* Settings of the run itself (from [global], command line over it). */
struct matrix_settings {
	const char *baseline;		/* section name, or NULL */
	int isolation_block;		/* 0: a child a cell and block; 1: one child a block */
	int schedule_sequential;	/* 0: randomised blocks */
	int64_t trials;			/* a block */
	int64_t blocks_min, blocks_max;
	double ci;			/* wanted half-width of the 95 % interval, relative */
	double cell_limit_s;
	double warmup_s;
	double energy_s;		/* 0: not measured */
	int64_t warmup_runs;
	double timeout_s;		/* watchdog, 0: computed */
	int64_t retries;		/* of a block that crashed, hung or failed */
	int cache_cold;
	uint64_t seed;			/* 0: from the clock, recorded */
	int64_t device;
};

/* One cell, computed from its number.  Pointers live as long as the matrix. */
struct cell {
	uint64_t number;		/* from 0 */
	const char *series;		/* section name */
	uint32_t target;
	const char *variant_name;
	const struct variant_info *variant;	/* NULL: missing for this target; may be a refused one; see why */
	const struct workload *workload;
	uint64_t iterations;		/* 0: auto */
	int64_t n;
	struct common_options common;
	union { unsigned char bytes[MATRIX_OPTIONS_BYTES]; int64_t align; } variant_options, workload_options;
	char why[256];			/* if not empty: the cell is skipped for this reason */
};

struct matrix_request {
	const struct catalog *catalog;
	uint32_t target;		/* the default target */
	const char *only;		/* glob over "series/variant/workload/n" and series names, or NULL */
	const char **sets;		/* --set assignments */
	size_t n_sets;
	int quick;
};

/* In order: conf_read, conf_set, matrix_plugins and matrix_targets, catalog_load, matrix_plan
 * (core/plan.h does it all).  matrix_expand replaces each ${NAME}; before matrix_plugins and
 * matrix_targets it is the caller's, matrix_plan does it itself. */
int matrix_expand(struct conf *conf, conf_error_fn report, void *user);
/* Take conf over, also on failure: 0 and *out, or -1 after every problem was reported as
 * "path:line: ...".  The catalog must live as long as the matrix. */
int matrix_plan(struct matrix **out, struct conf *conf, const struct matrix_request *req,
		conf_error_fn report, void *user);
/* conf_read, conf_set and matrix_plan, for a catalog that is there already. */
int matrix_open(struct matrix **out, const char *path, const struct matrix_request *req,
		conf_error_fn report, void *user);
uint64_t matrix_cells(const struct matrix *m);
int matrix_cell(const struct matrix *m, uint64_t number, struct cell *out);
const struct matrix_settings *matrix_settings(const struct matrix *m);
const struct conf *matrix_conf(const struct matrix *m);
/* `variant = ./mine.so` values, resolved against the file's folder: needed before the catalog. */
int matrix_plugins(const struct conf *conf, char ***paths, size_t *n);
void matrix_plugins_free(char **paths, size_t n);
/* The targets that `target = ` values name, as bits (1 << target); unknown words are left to matrix_plan. */
uint32_t matrix_targets(const struct conf *conf);
/* Is `name` taken, so that no variant may call an option so?  By what, or NULL. */
const char *matrix_reserved(const char *name);
/* The settings of the run as an option table, for help. */
extern const struct pkrun_option matrix_settings_options[];
/* Is it the plugin that was refused (cell.why says why), not the cell that was skipped? */
int cell_refused(const struct cell *c, const struct catalog *catalog);
/* Call fn for each option of the cell: owner is "common", "variant" or "workload". */
void cell_params(const struct cell *c,
		 void (*fn)(void *user, const char *owner, const char *name, const char *value, int is_default),
		 void *user);
/* Canonical text that identifies the cell across runs: workload, variant, target, iterations and every parameter. */
int cell_key(const struct cell *c, char *out, size_t out_size);
void matrix_free(struct matrix *m);

#endif
