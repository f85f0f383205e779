/* SPDX-License-Identifier: MIT
 *
 * matrix_settings.c - the settings of the whole run, from [global].
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "matrix_internal.h"

struct settings {
	struct pkrun_choice isolation, schedule, cache;
	int64_t trials, blocks_min, blocks_max, warmup_runs, seed, device, retries;
	double ci, cell_limit, warmup, timeout, energy;
};

#define SETTING(field) offsetof(struct settings, field)
const struct pkrun_option matrix_settings_options[] = {
	{"isolation", PKRUN_CHOICE, SETTING(isolation), "cell", 0, 0, "cell|block", NULL,
	 "a fresh process for each cell and block, or one for all cells of a block"},
	{"schedule", PKRUN_CHOICE, SETTING(schedule), "blocks", 0, 0, "blocks|sequential", NULL,
	 "cells in random order in each block, or in the order of the matrix"},
	{"trials", PKRUN_INT, SETTING(trials), "5", 1, 100000, NULL, NULL, "timed trials of a block"},
	{"blocks_min", PKRUN_INT, SETTING(blocks_min), "10", 1, 10000, NULL, NULL,
	 "blocks before the interval is looked at"},
	{"blocks_max", PKRUN_INT, SETTING(blocks_max), "40", 1, 10000, NULL, NULL, "blocks at most"},
	{"ci", PKRUN_REAL, SETTING(ci), "0.005", 0, 1, NULL, NULL,
	 "wanted half-width of the 95 % interval, relative to the median"},
	{"cell_limit", PKRUN_REAL, SETTING(cell_limit), "60", 0, 1e6, NULL, "s",
	 "wall time for a cell, then it ends as imprecise"},
	{"warmup", PKRUN_REAL, SETTING(warmup), "0.5", 0, 1e4, NULL, "s",
	 "warm up for at least this long (host target: a tenth of it)"},
	{"warmup_runs", PKRUN_INT, SETTING(warmup_runs), "3", 0, 100000, NULL, NULL,
	 "and at least so many untimed runs"},
	{"energy", PKRUN_REAL, SETTING(energy), "0.5", 0, 100, NULL, "s",
	 "run each cell once more for this long to measure energy, where the GPU counts it; 0: do not"},
	{"timeout", PKRUN_REAL, SETTING(timeout), "0", 0, 1e6, NULL, "s",
	 "longest time of one run, beyond it is a hang; 0: from that of the one-iteration run"},
	{"retries", PKRUN_INT, SETTING(retries), "0", 0, 100, NULL, NULL,
	 "fresh processes for a block after a crash, a hang or an error; each is recorded"},
	{"cache", PKRUN_CHOICE, SETTING(cache), "hot", 0, 0, "hot|cold", NULL,
	 "cold: write twice the last-level cache before each trial"},
	{"seed", PKRUN_INT, SETTING(seed), "0", 0, 9223372036854775807.0, NULL, NULL,
	 "of every random order; 0: from the clock, and recorded"},
	{"device", PKRUN_INT, SETTING(device), "0", 0, 1023, NULL, NULL, "which device of the target"},
	{NULL, 0, 0, NULL, 0, 0, NULL, NULL, NULL},
};

static void convert_settings(struct matrix_settings *to, const struct settings *from)
{
	*to = (struct matrix_settings){
		.isolation_block = from->isolation.index,
		.schedule_sequential = from->schedule.index,
		.trials = from->trials,
		.blocks_min = from->blocks_min,
		.blocks_max = from->blocks_max,
		.ci = from->ci,
		.cell_limit_s = from->cell_limit,
		.warmup_s = from->warmup,
		.warmup_runs = from->warmup_runs,
		.timeout_s = from->timeout,
		.retries = from->retries,
		.energy_s = from->energy,
		.cache_cold = from->cache.index,
		.seed = (uint64_t)from->seed,
		.device = from->device,
	};
}

/* One of the two bounds alone moves the other's default. */
static void check_blocks(struct matrix *m, struct settings *s)
{
	const struct conf_section *global = conf_section(&m->conf, "global");
	const struct conf_entry *lo = matrix_entry(global, "blocks_min"), *hi = matrix_entry(global, "blocks_max");

	if (s->blocks_min <= s->blocks_max)
		return;
	if (lo && hi)
		matrix_complain(m, lo->line, "blocks_min = %" PRId64 " is above blocks_max = %" PRId64,
			 s->blocks_min, s->blocks_max);
	else if (lo)
		s->blocks_max = s->blocks_min;
	else
		s->blocks_min = s->blocks_max;
}

void settings_read(struct matrix *m)
{
	const struct conf_section *global = conf_section(&m->conf, "global");
	const struct conf_entry *baseline = matrix_entry(global, "baseline");
	struct settings s = {0};
	char why[300], buf[WORDS_HINT_SIZE], q[CONF_QUOTE_SIZE];

	if (option_defaults(matrix_settings_options, &s, why, sizeof why))
		matrix_complain(m, WHOLE_FILE, "%s", why);
	for (size_t i = 0; global && i < global->n_entries; i++) {
		const struct conf_entry *e = &global->entries[i];
		const struct pkrun_option *row = option_find(matrix_settings_options, e->key);

		if (row && option_parse(row, e->value, &s, why, sizeof why))
			matrix_complain(m, e->line, "%s: %s", e->key, why);
	}
	check_blocks(m, &s);
	if (m->req->quick) {
		s.trials = s.blocks_min = s.blocks_max = 3;
		s.ci = 0;
	}
	convert_settings(&m->settings, &s);
	if (!baseline)
		return;
	for (size_t i = 0; i < m->conf.n_sections; i++)
		if (!matrix_is_global(&m->conf.sections[i]) &&
		    !strcmp(m->conf.sections[i].name, baseline->value))
			m->settings.baseline = m->conf.sections[i].name;
	if (!m->settings.baseline) {
		struct words names = {0};

		for (size_t i = 0; i < m->conf.n_sections; i++)
			if (!matrix_is_global(&m->conf.sections[i]))
				words_add(&names, m->conf.sections[i].name);
		words_hint(baseline->value, &names, buf);
		matrix_complain(m, baseline->line, "baseline: there is no section [%s]%s",
			 conf_quote(baseline->value, strlen(baseline->value), q), buf);
	}
}
