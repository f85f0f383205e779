/* SPDX-License-Identifier: MIT
 *
 * matrix_internal.h - what the files matrix*.c share, and nobody else.
 *
 *	matrix.c	sections to combinations, combinations to cells
 *	matrix_axes.c	what a combination multiplies out: options, zip, unknown keys
 *	matrix_names.c	variants, workloads and targets of a section
 *	matrix_settings.c	settings of the run
 *	matrix_env.c	${NAME}, and what must be known before the catalog
 *	matrix_cell.c	a cell as text
 */
#ifndef PKRUN_MATRIX_INTERNAL_H
#define PKRUN_MATRIX_INTERNAL_H

#include "list.h"
#include "matrix.h"
#include "words.h"

#define AXES_MAX 64
#define COMBOS_MAX 10000
#define ERRORS_MAX 100
#define WHOLE_FILE (-1)	/* matrix_complain() about no line in particular; 0 is the command line */

/* Which combinations a section has: those from `first` on. */
struct span {
	size_t first, n;
};

enum owner { OWNER_MATRIX, OWNER_COMMON, OWNER_WORKLOAD, OWNER_VARIANT };

struct axis {
	const struct conf_entry *entry;
	const struct list *list;
	const struct pkrun_option *row;
	enum owner owner;
	int ranges;		/* `..` is a range: not in a text, which may be a path */
	uint64_t count;
	int leader;		/* index of the axis it advances with: itself, the first of its zip, or -1 */
};

struct combo {
	const struct conf_section *section;
	const char *variant_name;
	const struct variant_info *variant;
	const struct workload *workload;
	uint32_t target;
	int n_axes;
	struct axis *axes;
	uint64_t first, cells;
	char *why;
	struct cell defaults;
};

/* The options that belong to the matrix but are axes like any other. */
struct matrix_options {
	struct pkrun_choice iterations;
};

struct matrix {
	struct conf conf;
	const struct matrix_request *req;
	struct matrix_settings settings;
	size_t n_lists, n_combos;
	struct list *lists;		/* one for each entry of the conf, in order: entry->list */
	struct combo *combos;
	struct span *spans;		/* one for each section of the conf */
	uint64_t cells;
	uint32_t *selected;		/* --only: numbers of the cells that stay */
	uint64_t n_selected;

	conf_error_fn report;
	void *user;
	int errors;
	char *said[ERRORS_MAX];		/* many combinations share one mistake: say it once */
};

/* matrix.c */
__attribute__((format(printf, 3, 4)))
void matrix_complain(struct matrix *m, int line, const char *fmt, ...);
void matrix_errors_free(struct matrix *m);
void *matrix_must(void *p);
int matrix_is_global(const struct conf_section *s);
const struct conf_entry *matrix_entry(const struct conf_section *s, const char *key);
/* The section's own, else [global]'s. */
const struct conf_entry *matrix_effective(const struct matrix *m, const struct conf_section *s,
					  const char *key);
/* The entry's value taken apart; NULL for no entry. */
const struct list *matrix_list(const struct conf_entry *e);

/* matrix_axes.c */
extern const struct pkrun_option matrix_axes[];	/* what belongs to the matrix but is an axis like any other */
extern const char *const matrix_keys[];		/* the other keys of the matrix, NULL-terminated */
void axes_build(struct matrix *m, struct combo *c);
/* Value number k into the struct at base: 0, or -1 and why. */
int axis_apply(const struct axis *a, uint64_t k, void *base, char *why, size_t why_size);
void axis_check(struct matrix *m, const struct axis *a);
void zip_check(struct matrix *m, const struct conf_section *s);
/* Are all keys of s known to a combination of the span?  An empty span: nothing is known. */
void keys_check(struct matrix *m, const struct conf_section *s, const struct span *span);

/* matrix_names.c: what section s names, mistakes reported */
void names_variants(struct matrix *m, const struct conf_section *s, struct words *out);
size_t names_workloads(struct matrix *m, const struct conf_section *s, const struct workload *out[],
		       size_t max);
size_t names_targets(struct matrix *m, const struct conf_section *s, uint32_t out[4]);

/* matrix_settings.c */
void settings_read(struct matrix *m);

/* matrix_env.c: a path of the matrix as the catalog knows it; the caller frees */
char *matrix_resolve(const struct conf *conf, const struct conf_entry *e, const char *path);

#endif
