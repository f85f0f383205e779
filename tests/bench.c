/* SPDX-License-Identifier: MIT
 *
 * bench.c - `make bench`: what pkrun itself costs, measured against what was
 * promised.  Not a test: a loaded machine may miss a figure.
 *
 *	bench PKRUN SRCDIR	in a folder of its own; exit 1 if a figure is missed
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "db/store.h"

#define CELLS 200
#define STORED 100000
#define SUMMED 1000000

static int missed;
static long peak_kb; /* of any pkrun started here */

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

static void row(const char *what, double measured, double wanted, const char *unit)
{
	int bad = !(measured < wanted);

	printf("%-58s %10.3g %-3s < %4g %-3s %s\n", what, measured, unit, wanted, unit,
	       bad ? "MISSED" : "ok");
	fflush(stdout);
	missed |= bad;
}

/* The process's own peak, without its children's; 0 once it has ended. */
static long peak_of(pid_t pid)
{
	char path[64], line[256];
	long kb = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %ld kB", &kb) == 1)
			break;
	fclose(f);
	return kb;
}

/* Run argv, output to /dev/null; the seconds it took. */
static double run(char *const argv[])
{
	double begin = now_s();
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		execv(argv[0], argv);
		_exit(127);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		long kb = peak_of(pid);

		if (kb > peak_kb)
			peak_kb = kb;
		usleep(2000);
	}
	begin = now_s() - begin;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		die("%s %s: ended with status %d", argv[0], argv[1], status);
	return begin;
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		die("%s: %s", path, strerror(errno));
}

static void bench_quick(char *pkrun, const char *srcdir)
{
	char matrix[4096];

	snprintf(matrix, sizeof(matrix), "%s/ini/quick.ini", srcdir);
	row("ini/quick.ini on the host target",
	    run((char *[]){pkrun, matrix, "--target", "host", "--db", "quick.db", "--quiet", NULL}), 60,
	    "s");
}

static void bench_plan(char *pkrun)
{
	write_file("plan.ini", "[global]\nworkload = null\n[plan]\nvariant = launch\n"
			       "iterations = 1..1000+1\nthreads = 1..100+1\n");
	row("plan 100,000 cells (--dry-run)",
	    run((char *[]){pkrun, "plan.ini", "--target", "host", "--dry-run", NULL}), 1, "s");
}

static void bench_cells(char *pkrun)
{
	char text[512];
	double s;

	snprintf(text, sizeof(text),
		 "[global]\nworkload = null\nschedule = sequential\ntrials = 1\n"
		 "blocks_min = 1\nblocks_max = 1\nwarmup = 0\n[cost]\nvariant = launch\niterations = 1..%d+1\n"
		 "threads = 1\nblocks = 1\n",
		 CELLS);
	write_file("cells.ini", text);
	s = run((char *[]){pkrun, "cells.ini", "--target", "host", "--db", "cells.db", "--quiet", NULL});
	row("one cell: spawn, load, run, store (launch, null)", s / CELLS * 1e3, 30, "ms");
}

/* A run of `cells` cells with 10 processes each and `trials` trials a process. */
static double fill(const char *path, int cells, int trials, int each_commits)
{
	struct store_run r = {.pkrun_version = "bench", .argv = "bench", .matrix_path = "bench",
			      .matrix_text = "", .schedule = "blocks", .isolation = "cell",
			      .baseline = "s0", .cells = cells};
	struct store *s;
	char why[512];
	int64_t id, cell, block;
	double begin;

	if (store_open(&s, path, STORE_WRITE, why, sizeof(why)))
		die("%s", why);
	begin = now_s();
	if (store_run_add(s, &r, &id))
		die("%s", store_error(s));
	for (int c = 0; c < cells; c++) {
		char key[32], series[16];
		struct store_cell sc = {.run = id, .number = c, .plugin = STORE_NULL, .device = STORE_NULL,
					.series = series, .variant = "v", .workload = "w",
					.target = "host", .key = key, .params = "", .status = "ok",
					.n = c / 10, .iterations = 100};

		snprintf(key, sizeof(key), "cell %d", c);
		snprintf(series, sizeof(series), "s%d", c % 10);
		if ((!each_commits && store_begin(s)) || store_cell(s, &sc, &cell))
			die("%s", store_error(s));
		for (int b = 0; b < 10; b++) {
			if (store_block(s, cell, b, c * 10 + b, 1, 1, &block))
				die("%s", store_error(s));
			for (int t = 0; t < trials; t++) {
				struct store_trial st = {.block = block, .cell = cell, .kind = "timed",
							 .hash = "0123456789abcdef", .flags = "",
							 .position = t, .iterations = 100,
							 .wall_ns = 1000000 + (c * 7919 + b * 104729 + t * 31) % 5000,
							 .device_ns = STORE_NULL, .kernel_ns = STORE_NULL,
							 .host_cpu_ns = STORE_NULL, .energy_uj = STORE_NULL,
							 .verified = 1};
				int64_t trial;

				if (store_trial(s, &st, &trial))
					die("%s", store_error(s));
			}
			if (store_block_end(s, block, "ok", NULL))
				die("%s", store_error(s));
		}
		if (!each_commits && store_commit(s))
			die("%s", store_error(s));
	}
	store_run_end(s, id, "complete");
	begin = now_s() - begin;
	store_close(s);
	return begin;
}

int main(int argc, char **argv)
{
	char folder[] = "/tmp/pkrun-bench.XXXXXX";
	char cleanup[64];

	if (argc != 3)
		die("usage: %s PKRUN SRCDIR", argv[0]);
	if (!mkdtemp(folder) || chdir(folder))
		die("%s: %s", folder, strerror(errno));
	bench_quick(argv[1], argv[2]);
	bench_plan(argv[1]);
	bench_cells(argv[1]);
	row("store 100,000 trials, one commit each", fill("stored.db", 100, STORED / 1000, 1), 20, "s");
	fill("summed.db", 1000, SUMMED / 10000, 0);
	row("SELECT * FROM summary over 1,000,000 trials",
	    run((char *[]){argv[1], "query", "summed.db", "SELECT * FROM summary", NULL}), 3, "s");
	row("show of 1,000 cells, 1,000,000 trials",
	    run((char *[]){argv[1], "show", "summed.db", NULL}), 3, "s");
	row("compare of 1,000 cells, 1,000,000 trials",
	    run((char *[]){argv[1], "compare", "summed.db", "summed.db", NULL}), 3, "s");
	row("peak memory of pkrun's parent in all of these", peak_kb / 1024.0, 100, "MB");
	snprintf(cleanup, sizeof(cleanup), "rm -rf %s", folder);
	if (chdir("/") || system(cleanup))
		fprintf(stderr, "%s is left\n", folder);
	return missed;
}
