/* SPDX-License-Identifier: MIT
 *
 * matrix_cell.c - a cell as text: its parameters, and the key that identifies it.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "matrix_internal.h"

static void table_params(const struct pkrun_option *row, const void *base, const char *owner,
			 void (*fn)(void *, const char *, const char *, const char *, int), void *user)
{
	for (; row && row->name; row++) {
		char value[OPTION_SPELT], why[200], standard[OPTION_SPELT];
		union { unsigned char bytes[MATRIX_OPTIONS_BYTES]; int64_t align; } scratch;

		if (option_spell(row, base, value, sizeof value))
			continue;
		if (option_parse(row, row->value, &scratch, why, sizeof why) ||
		    option_spell(row, &scratch, standard, sizeof standard))
			standard[0] = 0;
		fn(user, owner, row->name, value, !strcmp(value, standard));
	}
}

void cell_params(const struct cell *c,
		 void (*fn)(void *user, const char *owner, const char *name, const char *value, int is_default),
		 void *user)
{
	table_params(c->workload->options, &c->workload_options, "workload", fn, user);
	table_params(common_options, &c->common, "common", fn, user);
	if (c->variant)
		table_params(c->variant->options, &c->variant_options, "variant", fn, user);
}

int cell_refused(const struct cell *c, const struct catalog *catalog)
{
	return c->variant && c->variant->refused && catalog->targets[c->target].devices > 0;
}

struct key {
	char *out;
	size_t size, used;
	int full;
};

static void key_text(struct key *k, const char *text, int escape)
{
	for (; *text; text++) {
		char piece[4] = {*text};

		if (escape && (strchr(" %=/", *text)))
			snprintf(piece, sizeof piece, "%%%02X", (unsigned char)*text);
		if (k->used + strlen(piece) >= k->size) {
			k->full = 1;
			return;
		}
		strcpy(k->out + k->used, piece);
		k->used += strlen(piece);
	}
}

static void key_param(void *user, const char *owner, const char *name, const char *value, int is_default)
{
	struct key *k = user;

	(void)owner;
	(void)is_default;
	key_text(k, " ", 0);
	key_text(k, name, 1);
	key_text(k, "=", 0);
	key_text(k, value, 1);
}

/* "poisson2d/launch/host iterations=1000 n=11 threads=256 ..." */
int cell_key(const struct cell *c, char *out, size_t out_size)
{
	struct key k = {.out = out, .size = out_size};
	char number[32] = "auto";

	key_text(&k, c->workload->name, 1);
	key_text(&k, "/", 0);
	key_text(&k, c->variant_name, 1);
	key_text(&k, "/", 0);
	key_text(&k, target_name(c->target), 1);
	if (c->iterations)
		snprintf(number, sizeof number, "%" PRIu64, c->iterations);
	key_param(&k, "", "iterations", number, 0);
	cell_params(c, key_param, &k);
	return k.full ? -1 : 0;
}
