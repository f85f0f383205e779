/* SPDX-License-Identifier: MIT
 *
 * plan.h - from the command line's words to a catalog and a matrix, and the
 * list that `--dry-run` prints.
 */
#ifndef PKRUN_PLAN_H
#define PKRUN_PLAN_H

#include "../tools/rows.h"
#include "matrix.h"

struct plan_request {
	const char *path;		/* the matrix */
	const char *target;		/* --target: auto, host, hip, cuda; NULL: auto */
	const char *only;		/* --only, or NULL */
	const char *const *sets;	/* --set */
	size_t n_sets;
	const char *const *plugins;	/* --plugin */
	size_t n_plugins;
	const int64_t *device;		/* --device; NULL: as the matrix says */
	int quick;
};

struct plan {
	uint32_t target;		/* for cells that name none */
	struct catalog catalog;
	struct matrix_request request;
	struct matrix *matrix;
};

/* Everything up to the first cell: 0, or EXIT_USAGE after every problem was said.
 * The plan must not move afterwards (the matrix points into it). */
int plan_open(struct plan *p, const struct plan_request *req);
/* The cells, one row each, to out: what `pkrun MATRIX.ini --dry-run` answers. */
int plan_print(const struct plan *p, enum show_format format, FILE *out);
/* The catalog alone, of every target that is built (`list`, `help`). */
int plan_catalog(struct catalog *out, const char *target, const char *const *plugins,
		 size_t n_plugins);
void plan_close(struct plan *p);

#endif
