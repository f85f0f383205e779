/* SPDX-License-Identifier: MIT
 *
 * options.h - option tables (struct pkrun_option) at work: parse, check,
 * spell, and print help from one row.
 *
 * Numbers are read in the C locale whatever the user's.  INT takes an optional
 * sign and decimal digits; REAL takes what strtod takes in decimal, no nan, no
 * inf; trailing text is an error in both.
 */
#ifndef PKRUN_OPTIONS_H
#define PKRUN_OPTIONS_H

#include <stdio.h>
#include "plugin.h"

#define OPTION_SPELT 1024	/* room for any value that option_parse takes, spelt */

const struct pkrun_option *option_find(const struct pkrun_option *table, const char *name);
size_t option_value_size(uint32_t type);
/* Parse `text` into the field at base + row->offset: 0, or -1 and the reason in why. */
int option_parse(const struct pkrun_option *row, const char *text, void *base,
		 char *why, size_t why_size);
/* Fill a whole struct with the defaults. Text values point into the table. */
int option_defaults(const struct pkrun_option *table, void *base, char *why, size_t why_size);
/* The canonical spelling of the value (what the database stores). */
int option_spell(const struct pkrun_option *row, const void *base, char *out, size_t out_size);
/* "name = default   help (choices | range, unit)" lines. */
void option_help(const struct pkrun_option *table, FILE *out);

/* One line of help, or more: a head of two words at most, and its text from column 29 on. */
void option_help_line(const char *head, const char *text, FILE *out);

/* The options common to every variant: threads, blocks, sweep, tile, check. */
struct common_options {
	int64_t threads;
	struct pkrun_choice blocks;
	struct pkrun_choice sweep;
	int64_t tile[2];
	int64_t check;
};
extern const struct pkrun_option common_options[];

#endif
