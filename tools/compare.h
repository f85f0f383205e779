/* SPDX-License-Identifier: MIT
 *
 * compare.h - what the files of `pkrun compare` share: compare.c (reading,
 * what makes the sides unlike, judging), compare_options.c, compare_print.c.
 */
#ifndef PKRUN_COMPARE_H
#define PKRUN_COMPARE_H

#include "judge.h"
#include "rows.h"

#define COMPARE_RUNS_MAX 256
#define COMPARE_SLOWER 1u
#define COMPARE_WRONG 2u
#define COMPARE_MISSING 4u
#define COMPARE_UNTESTABLE 8u

struct difference {
	char *key, *value[2]; /* NULL: unknown, or not there */
};

struct compare {
	const char *paths[2];
	struct store *stores[2]; /* [1] may be [0] */
	int64_t ids[2][COMPARE_RUNS_MAX];
	size_t n_ids[2];
	char *series[2];
	int64_t run;             /* of --series; 0: the last */
	const char *only;        /* NULL: all cells */
	double threshold, floor; /* floor NAN: none recorded */
	unsigned fail_on;
	enum show_format format;
	struct pair_side side[2];
	struct pair *pairs;
	struct judgement *judged;
	size_t n_pairs, tests;
	struct difference *differences; /* of the environments */
	size_t n_differences;
	char **notes;
	size_t n_notes;
};

/* "pkrun: compare: ..." on stderr; -1. */
int compare_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A line that belongs to the result: below the table, in the json, on stderr for csv. */
void compare_note(struct compare *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
size_t compare_count(const struct compare *c, enum verdict v);

/* 0; 1: help was printed; -1 after the message. */
int compare_parse(struct compare *c, int argc, char **argv);
/* Everything, in c->format: 0, or -1 after the message. */
int compare_print(struct compare *c);

#endif
