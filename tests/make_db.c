/* SPDX-License-Identifier: MIT
 *
 * make_db.c - a made-up database for tests and benchmarks, through db/store.h.
 *
 *	make_db FILE [cells=N] [blocks=N] [trials=N] [each=0|1] [kind=plain|mixed|labels|full|relay]
 *
 * cells: series x sizes, as a ladder would have them.  each=1: every trial a
 * transaction of its own, as in a run.  mixed: one cell of each status, and
 * cells without any trial.  labels: section names that break careless output.
 * full: every workload that a view or figure knows, at several sizes; relay:
 * cells with histograms; `cells` does not count in either.
 * The times are drawn from a fixed sequence: the same call makes the same file.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../db/store.h"

struct series { const char *name, *variant, *control; double fixed_ns, point_ns; };

static const struct series ladder[] = {
	{ "queued", "launch", "host queue", 6000, 0.004 },
	{ "synced", "launch_sync", "host", 12000, 0.004 },
	{ "graph", "graph", "host queue", 2500, 0.004 },
	{ "naive", "persistent_naive", "host", 230000, 0.010 },
	{ "poller", "persistent_poller", "host", 57000, 0.008 },
	{ "doorbell", "persistent_doorbell", "host", 6900, 0.006 },
	{ "barrier", "persistent_barrier", "device", 2400, 0.006 },
	{ "neighbours", "persistent_device", "device", 2000, 0.006 },
};
#define LADDER (sizeof(ladder) / sizeof(ladder[0]))

static const char *const labels[] = {
	"tile(8,16) \"fast\"", "two\nlines", "=1+1", "a\ttab", "", "\033[31mred", "\xe6\xa0\xb8\xe5\xbf\x83",
	"\xf0\x9f\x9a\x80 rocket",
};

static const char *const statuses[] = {
	"ok", "imprecise", "skipped", "refused", "wrong", "crash", "hang", "error", "pending",
};

struct make {
	struct store *s;
	int64_t cells, blocks, trials, each;
	const char *kind;
	int64_t run, device, plugins[LADDER];
	uint64_t state;
};

static void die(struct make *m, const char *what)
{
	fprintf(stderr, "make_db: %s: %s\n", what, m->s ? store_error(m->s) : "");
	exit(1);
}

/* splitmix64, to [0, 1) */
static double draw(struct make *m)
{
	uint64_t z = (m->state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

static void make_run(struct make *m)
{
	struct store_run run = {
		.pkrun_version = "0", .argv = "make_db", .matrix_path = "made.ini",
		.matrix_text = "[global]\n", .baseline = "queued", .schedule = "blocks",
		.isolation = "cell", .seed = UINT64_MAX, .cells = m->cells,
	};
	struct pkrun_device_info d = {
		.name = "Made-up GPU", .arch = "host", .uuid = "0", .driver = "1", .runtime = "host",
		.compute_units = 8, .memory_bytes = 1 << 30, .clock_khz = 1000000,
	};

	if (store_run_add(m->s, &run, &m->run) ||
	    store_environment(m->s, m->run, "governor", "powersave", "warn",
			      "cpupower frequency-set -g performance") ||
	    store_environment(m->s, m->run, "host", "made-up", "info", NULL) ||
	    store_environment(m->s, m->run, "throttle", NULL, "unknown", NULL) ||
	    store_device(m->s, "host", &d, &m->device))
		die(m, "run");
	for (size_t i = 0; i < LADDER; i++) {
		struct store_plugin p = {
			.path = ladder[i].variant, .sha256 = "0", .name = ladder[i].variant,
			.brief = "made up", .target = "host", .control = ladder[i].control,
			.result = "exact", .abi_major = 1,
		};

		if (store_plugin(m->s, &p, &m->plugins[i]))
			die(m, "plugin");
	}
}

static void make_trials(struct make *m, int64_t cell, int64_t block, double ns, int verified)
{
	for (int64_t i = 0; i < m->trials; i++) {
		struct store_trial t = {
			.block = block, .cell = cell, .kind = "timed", .flags = "",
			.hash = "0123456789abcdef", .position = i, .iterations = 1000,
			.wall_ns = (int64_t)(1000 * ns * (1 + 0.02 * draw(m))),
			.device_ns = STORE_NULL, .kernel_ns = STORE_NULL,
			.host_cpu_ns = (int64_t)(900 * ns), .energy_uj = STORE_NULL,
			.verified = verified,
		};

		if (store_trial(m->s, &t, NULL))
			die(m, "trial");
	}
}

static void make_blocks(struct make *m, int64_t cell, double ns, const char *status)
{
	int wrong = !strcmp(status, "wrong");
	int64_t block;

	for (int64_t b = 0; b < m->blocks; b++) {
		if (store_block(m->s, cell, b, b, 1, 4242, &block))
			die(m, "block");
		make_trials(m, cell, block, ns * (1 + 0.01 * draw(m)), !wrong);
		if (store_block_end(m->s, block, wrong ? "wrong" : "ok", NULL))
			die(m, "block");
	}
}

static void make_cell(struct make *m, int64_t number)
{
	size_t which = (size_t)number % LADDER;
	const struct series *s = &ladder[which];
	int64_t n = 11 + 10 * (number / (int64_t)LADDER), id;
	int mixed = !strcmp(m->kind, "mixed");
	const char *status = mixed ? statuses[number % 9] : "ok";
	int runs = !strcmp(status, "ok") || !strcmp(status, "imprecise") || !strcmp(status, "wrong");
	char key[128];
	struct store_cell c = {
		.run = m->run, .number = number, .plugin = m->plugins[which], .device = m->device,
		.series = strcmp(m->kind, "labels") ? s->name : labels[which],
		.variant = s->variant, .workload = "poisson2d", .target = "host", .key = key,
		.params = number % 3 ? "threads=64" : "", .status = status, .n = n,
		.iterations = 1000, .reason = mixed && number % 9 > 1 ? "made up to fail" : NULL,
	};

	snprintf(key, sizeof(key), "poisson2d %s host n=%lld", s->variant, (long long)n);
	if (store_cell(m->s, &c, &id) ||
	    store_param(m->s, id, "common", "threads", number % 3 ? "64" : "256", !(number % 3)))
		die(m, "cell");
	if (!runs)
		return;
	if (store_cell_grid(m->s, id, n - 2, 64, 1000, (double)(n - 2) * (double)(n - 2),
			    5.0 * (double)(n - 2) * (double)(n - 2),
			    48.0 * (double)(n - 2) * (double)(n - 2)))
		die(m, "cell");
	make_blocks(m, id, s->fixed_ns + s->point_ns * (double)(n * n), status);
}

/* ---- kind=full ---- */

/* A cell of any workload; ns is its time per iteration. */
static void full_cell(struct make *m, int64_t number, size_t which, const char *workload, int64_t n,
		      int64_t grid, int64_t threads, double updates, double flops, double bytes,
		      double ns, double step_ns)
{
	const struct series *s = &ladder[which];
	char key[128], params[64], text[32];
	struct store_cell c = {
		.run = m->run, .number = number, .plugin = m->plugins[which], .device = m->device,
		.series = s->name, .variant = s->variant, .workload = workload, .target = "host",
		.key = key, .params = params, .status = "ok", .n = n, .iterations = 1000,
	};
	int64_t id;

	snprintf(key, sizeof(key), "%s %s n=%lld grid=%lld threads=%lld ns=%g", workload, s->variant,
		 (long long)n, (long long)grid, (long long)threads, step_ns);
	snprintf(params, sizeof(params), threads == 64 ? "threads=%lld" : "", (long long)threads);
	if (step_ns > 0)
		snprintf(params, sizeof(params), "length_ns=%g", step_ns);
	snprintf(text, sizeof(text), "%g", step_ns);
	if (store_cell(m->s, &c, &id) ||
	    (step_ns > 0 && store_param(m->s, id, "workload", "length_ns", text, 0)) ||
	    store_cell_grid(m->s, id, grid, threads, 1000, updates, flops, bytes))
		die(m, "cell");
	make_blocks(m, id, ns, "ok");
}

/* kind=relay: messages with a hump at 4 us and a tail, as kernels/latency.h stores them. */
static void make_relay(struct make *m)
{
	static const char *const quantiles[] = { "min", "mean", "p50", "p90", "p99", "p999", "max" };
	static const double of_them[] = { 3000, 4200, 3900, 4800, 6100, 9000, 98000 };
	static const double bounds[] = { 3150, 4000, 5000, 6300, 8000, 10000, 100000 };
	static const double counts[] = { 100, 600, 250, 40, 7, 2, 1 };
	char name[64];

	for (size_t which = 3; which < LADDER; which++) {
		int64_t cell = (int64_t)which - 2;	/* ids count from 1 in a new file */

		full_cell(m, (int64_t)which - 3, which, "relay", 1, 1, 64, 0, 0, 0, 8000, 0);
		for (int64_t trial = (cell - 1) * m->trials * m->blocks + 1; trial <= cell * m->trials * m->blocks; trial++)
			for (size_t i = 0; i < 7; i++) {
				snprintf(name, sizeof(name), "round_trip_hist_ns_le_%.0f",
					 bounds[i] * (which == 4 ? 10 : 1));
				if (store_metric(m->s, cell, STORE_NULL, trial, name, counts[i], "count"))
					die(m, "metric");
				snprintf(name, sizeof(name), "round_trip_%s", quantiles[i]);
				if (store_metric(m->s, cell, STORE_NULL, trial, name,
						 of_them[i] * (which == 4 ? 10 : 1), "ns") ||
				    (!i && store_metric(m->s, cell, STORE_NULL, trial, "round_trip_samples", 1000, "count")))
					die(m, "metric");
			}
	}
}

static void make_full(struct make *m)
{
	static const int64_t sizes[] = { 11, 31, 101, 301, 1001 };
	static const double steps[] = { 200, 1000, 5000, 25000, 100000, 500000 };
	int64_t number = 0;

	for (size_t k = 0; k < 5; k++)
		for (size_t i = 0; i < LADDER; i++) {
			double n = (double)sizes[k], points = (n - 2) * (n - 2);

			full_cell(m, number++, i, "poisson2d", sizes[k], sizes[k] - 2, 64, points,
				  5 * points, 48 * points, ladder[i].fixed_ns + 5 * n +
				  ladder[i].point_ns * n * n, 0);
			full_cell(m, number++, i, "null", sizes[k] - 2, sizes[k] - 2, 64, 0, 0, 0,
				  ladder[i].fixed_ns + 4 * n, 0);
		}
	for (int64_t grid = 1; grid <= 256; grid *= 4)
		for (int64_t threads = 32; threads <= 1024; threads *= 2)
			full_cell(m, number++, 6, "null", grid, grid, threads, 0, 0, 0,
				  800 + 3 * (double)grid + 0.3 * (double)threads, 0);
	for (size_t k = 0; k < 6; k++)		/* a persistent step pays off by 4 us, and is 10 % slower */
		for (size_t i = 0; i < LADDER; i++)
			full_cell(m, number++, i, "busy", 64, 64, 64, 0, 0, 0,
				  ladder[i].fixed_ns + steps[k] * (i > 2 ? 1.1 : 1), steps[k]);
	for (int64_t bytes = 65536; bytes <= 268435456; bytes *= 8)
		full_cell(m, number++, 0, "scale", bytes, 264, 256, 0, (double)bytes / 8, 2.0 * (double)bytes,
			  300 + 2.0 * (double)bytes / (bytes < 50000000 ? 9e3 : 4.3e3), 0);
	full_cell(m, number++, 0, "fma", 264, 264, 256, 0, 3e10, 0, 1e6, 0);
	full_cell(m, number++, 0, "poisson2d", 5001, 264, 64, 2.5e7, 1.25e8, 1.2e9, 2.4e5, 0);
}

static void make_all(struct make *m)
{
	struct timespec a, b;

	if (!m->each && store_begin(m->s))
		die(m, "begin");
	make_run(m);
	clock_gettime(CLOCK_MONOTONIC, &a);
	if (!strcmp(m->kind, "full"))
		make_full(m);
	else if (!strcmp(m->kind, "relay"))
		make_relay(m);
	else
		for (int64_t i = 0; i < m->cells; i++)
			make_cell(m, i);
	if (store_run_end(m->s, m->run, "complete"))
		die(m, "end");
	if (!m->each && store_commit(m->s))
		die(m, "commit");
	clock_gettime(CLOCK_MONOTONIC, &b);
	fprintf(stderr, "make_db: %lld trials in %.2f s\n",
		(long long)(m->cells * m->blocks * m->trials),
		(double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec));
}

int main(int argc, char **argv)
{
	struct make m = { .cells = 16, .blocks = 3, .trials = 5, .kind = "plain" };
	char why[1024];

	for (int i = 2; i < argc; i++) {
		const char *v = strchr(argv[i], '=');
		int64_t n = v ? strtoll(v + 1, NULL, 10) : 0;

		if (v && !strncmp(argv[i], "cells=", 6))
			m.cells = n;
		else if (v && !strncmp(argv[i], "blocks=", 7))
			m.blocks = n;
		else if (v && !strncmp(argv[i], "trials=", 7))
			m.trials = n;
		else if (v && !strncmp(argv[i], "each=", 5))
			m.each = n;
		else if (v && !strncmp(argv[i], "kind=", 5))
			m.kind = v + 1;
		else
			argc = 0;
	}
	if (argc < 2) {
		fprintf(stderr, "usage: make_db FILE [cells=N] [blocks=N] [trials=N] [each=0|1]"
			" [kind=plain|mixed|labels|full|relay]\n");
		return 2;
	}
	if (store_open(&m.s, argv[1], STORE_WRITE, why, sizeof(why))) {
		fprintf(stderr, "make_db: %s\n", why);
		return 1;
	}
	make_all(&m);
	store_close(m.s);
	return 0;
}
