/* SPDX-License-Identifier: MIT
 *
 * test_compare.c - `pkrun compare` on databases made here: verdicts on known
 * differences, what must never be paired, what must be said, and exit codes.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "../core/command.h"
#include "../core/say.h"
#include "../db/store.h"
#include "../tools/judge.h"

static char folder[] = "/tmp/pkrun-compare-XXXXXX";

/* ---- making databases ---- */

struct made {
	struct store *s;
	int64_t run, device;
	int64_t number;
	uint64_t state;
	const char *target;
};

static double draw(struct made *m)
{
	uint64_t z = m->state += 0x9E3779B97F4A7C15u;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53 - 0.5;
}

static void set_device(struct made *m, const char *name)
{
	struct pkrun_device_info d = {.arch = "none", .uuid = "0", .driver = "1", .runtime = "1"};

	snprintf(d.name, sizeof(d.name), "%s", name);
	assert_int_equal(store_device(m->s, m->target, &d, &m->device), 0);
}

static void open_made(struct made *m, const char *name)
{
	char why[500];

	*m = (struct made){.state = 42, .target = "host"};
	unlink(name);
	if (store_open(&m->s, name, STORE_WRITE, why, sizeof(why)))
		fail_msg("%s", why);
	set_device(m, "made-up");
}

static void begin_run(struct made *m, const struct store_run *how)
{
	struct store_run run = how ? *how : (struct store_run){0};

	run.pkrun_version = "0";
	run.argv = run.matrix_path = run.matrix_text = "made";
	run.schedule = run.schedule ? run.schedule : "blocks";
	run.isolation = "cell";
	m->number = 0;
	assert_int_equal(store_run_add(m->s, &run, &m->run), 0);
}

static void end_run(struct made *m)
{
	assert_int_equal(store_run_end(m->s, m->run, "complete"), 0);
}

static int64_t add_cell(struct made *m, const char *series, int64_t n, const char *params,
                        const char *status)
{
	char key[200];
	int64_t id;
	struct store_cell c = {.run = m->run,
	                       .number = m->number++,
	                       .plugin = STORE_NULL,
	                       .device = m->device,
	                       .series = series,
	                       .variant = series,
	                       .workload = "null",
	                       .target = m->target,
	                       .key = key,
	                       .params = params,
	                       .status = status,
	                       .n = n,
	                       .iterations = 1000};

	snprintf(key, sizeof(key), "null %s %s n=%lld %s", series, m->target, (long long)n, params);
	assert_int_equal(store_cell(m->s, &c, &id), 0);
	return id;
}

static void add_trial_of(struct made *m, int64_t cell, int64_t number, int64_t iterations,
                         int64_t wall_ns, int verified)
{
	struct store_trial t = {.cell = cell,
	                        .kind = "timed",
	                        .flags = "",
	                        .iterations = iterations,
	                        .wall_ns = wall_ns,
	                        .device_ns = STORE_NULL,
	                        .kernel_ns = STORE_NULL,
	                        .host_cpu_ns = STORE_NULL,
	                        .energy_uj = STORE_NULL,
	                        .verified = verified};

	assert_int_equal(store_block(m->s, cell, number, number, 1, 1, &t.block), 0);
	assert_int_equal(store_trial(m->s, &t, NULL), 0);
	assert_int_equal(store_block_end(m->s, t.block, "ok", NULL), 0);
}

static void add_trial(struct made *m, int64_t cell, int64_t number, int64_t wall_ns, int verified)
{
	add_trial_of(m, cell, number, 1000, wall_ns, verified);
}

/* Blocks around `ns` with a spread of `noise` (relative, uniform). */
static int64_t add_timed(struct made *m, const char *series, int64_t n, int blocks, double ns,
                         double noise)
{
	int64_t id = add_cell(m, series, n, "", "ok");

	assert_int_equal(store_begin(m->s), 0);
	for (int i = 0; i < blocks; i++)
		add_trial(m, id, i, (int64_t)(1000 * ns * (1 + noise * draw(m))), 1);
	assert_int_equal(store_commit(m->s), 0);
	return id;
}

/* A file of `sessions` runs, each with cells "launch" at the given sizes. */
static void make_sessions(const char *name, int sessions, double ns, int64_t n, int sizes)
{
	struct made m;

	open_made(&m, name);
	m.state = (uint64_t)(ns * 1000) + (uint64_t)n;
	for (int i = 0; i < sessions; i++) {
		begin_run(&m, NULL);
		for (int k = 0; k < sizes; k++)
			add_timed(&m, "launch", n << k, 10, ns, 0.004);
		end_run(&m);
	}
	store_close(m.s);
}

/* ---- running the command ---- */

static char out[200000], err[20000];

static void slurp(const char *name, char *text, size_t size)
{
	FILE *f = fopen(name, "r");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, size - 1, f);
	text[n] = 0;
	fclose(f);
}

/* Exit code of `pkrun compare WORDS`; what it printed is in out and err. */
static int compare(const char *words)
{
	char line[1000], *argv[40] = {"compare"};
	int argc = 1, status;
	pid_t pid;

	snprintf(line, sizeof(line), "%s", words);
	for (char *w = strtok(line, " "); w; w = strtok(NULL, " "))
		argv[argc++] = w;
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		int rc;

		if (!freopen("out", "w", stdout) || !freopen("err", "w", stderr))
			_exit(99);
		rc = command_compare(argc, argv);
		fflush(NULL);
		_exit(rc);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	slurp("out", out, sizeof(out));
	slurp("err", err, sizeof(err));
	return WEXITSTATUS(status);
}

static void says(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("\"%s\" is not in:\n%s", what, text);
}

static void says_not(const char *text, const char *what)
{
	if (strstr(text, what))
		fail_msg("\"%s\" is in:\n%s", what, text);
}

/* ---- two series, paired by block ---- */

static void test_series(void **state)
{
	struct made m;

	(void)state;
	open_made(&m, "series.db");
	begin_run(&m, NULL);
	add_timed(&m, "a", 64, 10, 100, 0.002);
	add_timed(&m, "same", 64, 10, 100, 0.002);
	add_timed(&m, "slow", 64, 10, 110, 0.002);
	add_timed(&m, "fast", 64, 10, 90, 0.002);
	add_timed(&m, "noisy", 64, 10, 101, 0.2);
	add_timed(&m, "few", 64, 5, 200, 0.002);
	end_run(&m);
	store_close(m.s);
	assert_int_equal(compare("--series a,slow --fail-on slower series.db"), 1);
	says(out, "SLOWER");
	says(out, "1.100");
	says(err, "1 of 1 cells slower");
	assert_int_equal(compare("--series a,slow series.db"), 0);
	assert_int_equal(compare("--series a,fast --fail-on slower,wrong,missing series.db"), 0);
	says(out, "FASTER");
	says(out, "0.900");
	assert_int_equal(compare("--series a,same series.db"), 0);
	says(out, "1 SAME");
	assert_int_equal(compare("--series a,noisy --fail-on slower series.db"), 0);
	says(out, "1 UNCLEAR");
	assert_int_equal(compare("--series a,few --fail-on slower series.db"), 0);
	says(out, "5 paired blocks, 6 are needed");
	says(out, "2.000");
	says(err, "1 of 1 cells could not be tested");
	assert_int_equal(compare("--series a,few --fail-on untestable series.db"), 1);
	assert_int_equal(compare("--series a,nosuch series.db"), 2);
	says(err, "run 1 has no section [nosuch]");
	/* the threshold is the user's */
	assert_int_equal(compare("--series a,slow --threshold 15 --fail-on slower series.db"), 0);
	says(out, "1 SAME");
}

static void test_not_testable(void **state)
{
	const struct store_run quick = {.quick = 1}, sequential = {.schedule = "sequential"};
	struct made m;

	(void)state;
	open_made(&m, "not.db");
	begin_run(&m, &quick);
	add_timed(&m, "a", 64, 10, 100, 0.002);
	add_timed(&m, "b", 64, 10, 200, 0.002);
	end_run(&m);
	begin_run(&m, &sequential);
	add_timed(&m, "a", 64, 10, 100, 0.002);
	add_timed(&m, "b", 64, 10, 200, 0.002);
	end_run(&m);
	store_close(m.s);
	assert_int_equal(compare("--series a,b --run 1 not.db"), 0);
	says(out, "not testable");
	says(out, "--quick");
	assert_int_equal(compare("--series a,b not.db"), 0);
	says(out, "sequential");
	says(out, "1 not testable");
	assert_int_equal(compare("--series a,b --run 3 not.db"), 2);
	says(err, "has no run 3");
}

/* What two series share decides; where that leaves a choice, their common options do. */
static void test_series_pairing(void **state)
{
	struct made m;
	int64_t id;

	(void)state;
	open_made(&m, "options.db");
	begin_run(&m, NULL);
	for (int k = 0; k < 2; k++) {
		const char *threads = k ? "256" : "64";

		id = add_timed(&m, "a", 64, 10, 100, 0.002);
		assert_int_equal(store_param(m.s, id, "common", "threads", threads, 0), 0);
		assert_int_equal(store_param(m.s, id, "workload", "tile", "8", 0), 0);
		id = add_timed(&m, "b", 64, 10, k ? 300 : 200, 0.002);
		assert_int_equal(store_param(m.s, id, "common", "threads", threads, 0), 0);
		assert_int_equal(store_param(m.s, id, "workload", "tile", "8", 0), 0);
		assert_int_equal(store_param(m.s, id, "variant", "wait", "spin", 0), 0);
	}
	id = add_timed(&m, "c", 64, 10, 500, 0.002);
	assert_int_equal(store_param(m.s, id, "common", "threads", "128", 0), 0);
	assert_int_equal(store_param(m.s, id, "workload", "tile", "8", 0), 0);
	id = add_timed(&m, "d", 64, 10, 500, 0.002);
	assert_int_equal(store_param(m.s, id, "common", "threads", "64", 0), 0);
	assert_int_equal(store_param(m.s, id, "workload", "tile", "16", 0), 0);
	end_run(&m);
	store_close(m.s);
	assert_int_equal(compare("--series a,b options.db"), 0);
	says(out, "2 SLOWER");
	says(out, "2.00");
	says(out, "3.00");
	/* one cell of c, two of a, none with its threads */
	assert_int_equal(compare("--series a,c options.db"), 2);
	says(err, "0 common cells");
	/* another problem */
	assert_int_equal(compare("--series a,d options.db"), 2);
	/* one cell each: the threads are what is compared */
	assert_int_equal(compare("--series c,d options.db"), 2);
}

/* ---- files and sessions ---- */

static void test_sessions(void **state)
{
	(void)state;
	make_sessions("base.db", 4, 100, 64, 1);
	make_sessions("slow.db", 4, 103, 64, 1);
	make_sessions("fast.db", 5, 90, 64, 1);
	make_sessions("three.db", 3, 200, 64, 1);
	assert_int_equal(compare("base.db slow.db --fail-on slower"), 1);
	says(out, "SLOWER");
	says(out, "4+4");
	assert_int_equal(compare("base.db fast.db --fail-on slower"), 0);
	says(out, "FASTER");
	says(out, "4+5");
	assert_int_equal(compare("base.db three.db --fail-on slower"), 0);
	says(out, "4 and 3 sessions, 4 a side are needed");
	says(out, "2.0");
	/* one run against one is a ratio and no more */
	assert_int_equal(compare("base.db slow.db --runs 1:2 --fail-on slower"), 0);
	says(out, "1 and 1 sessions");
	assert_int_equal(compare("base.db slow.db --runs 1:9"), 2);
	says(err, "slow.db: has no run 9");
	/* many cells and few sessions: say that nothing can come of it */
	make_sessions("wide_a.db", 4, 100, 64, 3);
	make_sessions("wide_b.db", 4, 150, 64, 3);
	assert_int_equal(compare("wide_a.db wide_b.db --fail-on slower"), 0);
	says(out, "3 UNCLEAR");
	says(out,
	     "with 3 cells, none of 4 sessions a side can be called different (Holm); it takes 5");
	assert_int_equal(compare("wide_a.db wide_b.db --format csv"), 0);
	says(out, ",,4,4,40,40,UNCLEAR,"); /* nor is any change detectable */
	/* 4 against 5: 3 * 2 / 126 = 0.0476; fewer sessions of one side are made up for by the other's */
	make_sessions("wide_c.db", 5, 150, 64, 3);
	assert_int_equal(compare("wide_a.db wide_c.db --fail-on slower"), 1);
	says(out, "3 SLOWER");
	says_not(out, "can be called different");
	make_sessions("wide_d.db", 5, 103, 64, 4);
	/* one cell of four is in both */
	assert_int_equal(compare("base.db wide_d.db --fail-on untestable,slower"), 1);
	says(out, "1 SLOWER");
}

/* Blocks enough in one cell of two: the other can be called different only after it (Holm). */
static void test_cells_of_other_power(void **state)
{
	struct made m;

	(void)state;
	open_made(&m, "power.db");
	begin_run(&m, NULL);
	for (int64_t n = 1; n <= 3; n++) {
		add_timed(&m, "a", n, n == 1 ? 20 : 6, 100, 0.002);
		add_timed(&m, "b", n, n == 1 ? 20 : 6, 150, 0.002);
	}
	end_run(&m);
	store_close(m.s);
	/* 2 / 2^6 = 0.03125, with two such cells left 0.0625 */
	assert_int_equal(compare("--series a,b --fail-on slower power.db --format csv"), 1);
	says(out, "20,20,20,20,SLOWER,");
	says(out, ",,6,6,6,6,UNCLEAR,p 0.062 among 3 cells (Holm)");
	says(err, "2 of 3 cells could not be tested");
	assert_int_equal(compare("--series a,b --fail-on untestable power.db"), 1);
	says(err, "2 of 3 cells not testable");
	assert_int_equal(compare("--series a,b --fail-on slower,untestable --only */*/*/2 power.db"), 1);
	says(err, "1 of 1 cells slower");
	says_not(err, "testable");
}

/* h01 */
static void test_no_common_cells(void **state)
{
	struct made m;

	(void)state;
	make_sessions("n64.db", 1, 100, 64, 2);
	make_sessions("n256.db", 1, 100, 256, 1);
	assert_int_equal(compare("n64.db n256.db"), 2);
	says(err, "0 common cells: 2 in A (n64.db), 1 in B (n256.db)");
	says(err, "only in A: [launch] null launch host n=128");
	says(err, "only in B: [launch] null launch host n=256");
	open_made(&m, "empty.db");
	begin_run(&m, NULL);
	end_run(&m);
	store_close(m.s);
	assert_int_equal(compare("n64.db empty.db"), 2);
	says(err, "0 common cells: 2 in A (n64.db), 0 in B (empty.db)");
	open_made(&m, "none.db");
	store_close(m.s);
	assert_int_equal(compare("n64.db none.db"), 2);
	says(err, "none.db: holds no run");
	assert_int_equal(compare("n64.db nosuch.db"), 2);
	says(err, "nosuch.db");
	/* the same cell on another target is another cell */
	open_made(&m, "cuda.db");
	m.target = "cuda";
	begin_run(&m, NULL);
	add_timed(&m, "launch", 64, 10, 5, 0.002);
	end_run(&m);
	store_close(m.s);
	assert_int_equal(compare("n64.db cuda.db"), 2);
	says(err, "times of different targets are never compared");
}

/* h04 */
static void test_itself(void **state)
{
	static const int sessions[] = {1, 5};

	(void)state;
	for (int k = 0; k < 2; k++) {
		make_sessions("self.db", sessions[k], 100, 64, 3);
		assert_int_equal(
		        compare("--fail-on slower,wrong,missing self.db self.db --format csv"), 0);
		says_not(out, "nan");
		says_not(out, "FASTER");
		says_not(out, "SLOWER");
		for (char *line = strchr(out, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
			double ratio = 0;

			/* ...,a_status,b_status,a_ns,b_ns,ratio */
			assert_non_null(strstr(line, ",ok,ok,"));
			assert_int_equal(
			        sscanf(strstr(line, ",ok,ok,"), ",ok,ok,%*g,%*g,%lg", &ratio), 1);
			assert_true(ratio == 1);
		}
		says(err, "run 1 is on both sides");
	}
}

/* h01 */
static void test_failed_and_missing(void **state)
{
	static const char *const statuses[] = {"wrong", "crash",   "hang",
	                                       "error", "refused", "skipped"};
	struct made m;

	(void)state;
	open_made(&m, "good.db");
	begin_run(&m, NULL);
	for (int i = 0; i < 6; i++)
		add_timed(&m, statuses[i], 64, 10, 100, 0.002);
	add_timed(&m, "both", 64, 10, 100, 0.002);
	add_timed(&m, "gone", 64, 10, 100, 0.002);
	end_run(&m);
	store_close(m.s);
	open_made(&m, "half.db");
	begin_run(&m, NULL);
	for (int i = 0; i < 6; i++)
		add_cell(&m, statuses[i], 64, "", statuses[i]);
	add_timed(&m, "both", 64, 10, 100, 0.002);
	add_timed(&m, "new", 64, 10, 100, 0.002);
	store_close(m.s); /* and the run never ended */
	assert_int_equal(compare("good.db half.db"), 0);
	says(out, "missing: [gone] null gone host n=64  (only in A)");
	says(out, "missing: [new] null new host n=64  (only in B)");
	says(out, "warning: run 1 of half.db is incomplete (running)");
	for (int i = 0; i < 6; i++) {
		char line[100];

		snprintf(line, sizeof(line), "did not finish: [%s] null %s host n=64  (B: %s)",
		         statuses[i], statuses[i], statuses[i]);
		says(out, line);
	}
	says(out, "6 DNF");
	says(out, "100 ns    crash"); /* the side that has a time shows it */
	assert_int_equal(compare("good.db half.db --fail-on wrong"), 1);
	says(err, "4 of 9 cells wrong or failed in B");
	assert_int_equal(compare("good.db half.db --fail-on missing"), 1);
	says(err, "7 of 9 cells missing in B");
	assert_int_equal(compare("half.db good.db --fail-on wrong,missing"), 1);
	says(err, "1 of 9 cells missing in B");
	says_not(err, "wrong");
}

/* A wrong session spoils the cell even if others were right; zero, negative and unverified times
 * are none (h03). */
static void test_invalid_times(void **state)
{
	static const struct {
		int64_t wall, iterations;
	} odd[] = {{0, 1000}, {-5, 1000}, {STORE_NULL, 1000}, {100000, 0}, {100000, 1000}};
	struct made m;

	(void)state;
	for (int file = 0; file < 2; file++) {
		open_made(&m, file ? "odd_b.db" : "odd_a.db");
		begin_run(&m, NULL);
		for (int i = 0; i < 5; i++) {
			int64_t id = add_cell(&m, "odd", i, "", "ok");

			for (int b = 0; b < 10; b++)
				add_trial_of(&m, id, b, odd[i].iterations, odd[i].wall, i != 4);
		}
		add_timed(&m, "fine", 64, 10, 100, 0.002);
		end_run(&m);
		store_close(m.s);
	}
	assert_int_equal(compare("odd_a.db odd_b.db"), 0);
	says(out, "6 cells: 1 not testable, 5 DNF");
	says(out, "n/a");
	says(out, "A: no valid time; B: no valid time");
	says_not(out, "nan");
	says_not(out, "inf");
}

/* auto is auto, but what it came out as is said. */
static void test_iterations(void **state)
{
	struct made m;

	(void)state;
	open_made(&m, "auto.db");
	for (int run = 0; run < 3; run++) {
		begin_run(&m, NULL);
		for (int i = 0; i < 2; i++)
			assert_int_equal(store_cell_iterations(m.s, add_timed(&m, "a", i, 10, 100, 0.002),
			                                       run < 2 || i ? 1024 : 2048), 0);
		end_run(&m);
	}
	store_close(m.s);
	assert_int_equal(compare("--runs 1,2 auto.db"), 0);
	says_not(out, "iterations");
	assert_int_equal(compare("--runs 1,3 auto.db"), 0);
	says(out, "warning: not the same number of iterations in 1 cell, the first [a] null a host n=0 : "
	          "1024 and 2048");
}

static void test_instrumented(void **state)
{
	const struct store_run ncu = {.instrumented = "ncu -o x"};
	struct made m;

	(void)state;
	make_sessions("plain.db", 1, 100, 64, 1);
	open_made(&m, "ncu.db");
	begin_run(&m, &ncu);
	add_timed(&m, "launch", 64, 10, 500, 0.002);
	end_run(&m);
	store_close(m.s);
	assert_int_equal(compare("plain.db ncu.db"), 2);
	says(err, "ncu -o x");
	says(err, "instrumented runs are not compared with others");
	assert_int_equal(compare("ncu.db plain.db"), 2);
	assert_int_equal(compare("ncu.db ncu.db"), 0);
	says(out, "warning: every run was under `ncu -o x`");
}

static void test_renamed_section(void **state)
{
	struct made m;
	char key[] = "null launch host n=64 ";

	(void)state;
	make_sessions("old.db", 1, 100, 64, 1);
	open_made(&m, "new.db");
	begin_run(&m, NULL);
	{
		struct store_cell c = {.run = m.run,
		                       .plugin = STORE_NULL,
		                       .device = m.device,
		                       .series = "queued",
		                       .variant = "launch",
		                       .workload = "null",
		                       .target = "host",
		                       .key = key,
		                       .params = "",
		                       .status = "ok",
		                       .n = 64,
		                       .iterations = 1000};
		int64_t id;

		assert_int_equal(store_cell(m.s, &c, &id), 0);
		add_trial(&m, id, 0, 150000, 1);
	}
	end_run(&m);
	store_close(m.s);
	assert_int_equal(compare("old.db new.db"), 0);
	says(out, "1 cell: 1 not testable");
	says(out, "1.50");
}

/* One session with a cell that has this key and these parameters. */
static void make_key(const char *name, const char *key, const char *params)
{
	struct made m;
	int64_t id;
	struct store_cell c = {.plugin = STORE_NULL, .series = "queued", .variant = "launch", .workload = "null",
	                       .target = "host", .key = key, .params = params, .status = "ok", .n = 64,
	                       .iterations = 1000};

	open_made(&m, name);
	begin_run(&m, NULL);
	c.run = m.run;
	c.device = m.device;
	assert_int_equal(store_cell(m.s, &c, &id), 0);
	add_trial(&m, id, 0, 150000, 1);
	end_run(&m);
	store_close(m.s);
}

/* A variant has got an option since: at its default the old cells are still its like. */
static void test_new_option(void **state)
{
	(void)state;
	make_key("old.db", "null/launch/host iterations=1000 n=64 threads=8", "threads=8");
	make_key("new.db", "null/launch/host iterations=1000 n=64 threads=8 stamps=0", "threads=8");
	assert_int_equal(compare("old.db new.db"), 0);
	says(out, "1 cell: 1 not testable");
	assert_int_equal(compare("new.db old.db"), 0);
	says(out, "1 cell: 1 not testable");
	make_key("new.db", "null/launch/host iterations=1000 n=64 threads=8 stamps=4", "threads=8 stamps=4");
	assert_int_equal(compare("old.db new.db"), 2);
	says(err, "0 common cells");
	make_key("new.db", "null/launch/host iterations=1000 n=64 threads=9 stamps=0", "threads=9");
	assert_int_equal(compare("old.db new.db"), 2);
	make_key("new.db", "null/launch_sync/host iterations=1000 n=64 threads=8 stamps=0", "threads=8");
	assert_int_equal(compare("old.db new.db"), 2);
	/* an option that both have, at another value, is another cell, default or not */
	make_key("old.db", "null/launch/host iterations=1000 n=64 stamps=3", "");
	make_key("new.db", "null/launch/host iterations=1000 n=64 stamps=0", "");
	assert_int_equal(compare("old.db new.db"), 2);
}

/* ---- what is said beside the table ---- */

static void test_devices_environment_floor(void **state)
{
	struct made m;

	(void)state;
	for (int i = 0; i < 2; i++) {
		open_made(&m, i ? "env_b.db" : "env_a.db");
		if (i)
			set_device(&m, "other");
		begin_run(&m, NULL);
		store_environment(m.s, m.run, "governor", i ? "powersave" : "performance", "ok",
		                  NULL);
		store_environment(m.s, m.run, "date", i ? "1" : "2", "info", NULL);
		store_environment(m.s, m.run, "host", "same", "info", NULL);
		if (i)
			store_environment(m.s, m.run, "CUDA_LAUNCH_BLOCKING", "1", "warn", NULL);
		add_timed(&m, "a", 64, 10, 100, 0.002);
		add_timed(&m, "b", 64, 10, 103, 0.002);
		end_run(&m);
		store_close(m.s);
	}
	assert_int_equal(compare("env_a.db env_b.db"), 0);
	says(out,
	     "warning: other device: A on made-up, none, driver 1; B on other, none, driver 1");
	says(out, "governor");
	says(out, "powersave");
	says(out, "CUDA_LAUNCH_BLOCKING");
	says_not(out, "date");
	says(out, "no A/A floor recorded");
	assert_int_equal(compare("--series a,b env_a.db"), 0);
	says(out, "1 SLOWER");
	open_made(&m, "floor.db");
	begin_run(&m, NULL);
	add_timed(&m, "a", 64, 10, 100, 0.002);
	add_timed(&m, "b", 64, 10, 103, 0.002);
	end_run(&m);
	{
		struct store_floor f = {.device = m.device,
		                        .host = "h",
		                        .variant = "launch",
		                        .workload = "null",
		                        .n = 64,
		                        .pairs = 20,
		                        .false_alarms = 1,
		                        .floor = 0.05};

		f.floor = 0.5; /* superseded by a later one */
		assert_int_equal(store_floor(m.s, &f), 0);
		f.floor = 0.05;
		assert_int_equal(store_floor(m.s, &f), 0);
		f.n = 11; /* smaller: does not count */
		f.floor = 0.02;
		assert_int_equal(store_floor(m.s, &f), 0);
	}
	store_close(m.s);
	assert_int_equal(compare("--series a,b floor.db"), 0);
	says(out, "threshold 5 % (A/A floor 5 %)");
	says(out, "1 SAME");
}

static int join_row(void *user, const struct store_row *row)
{
	char *text = user;

	for (int i = 0; i < row->columns; i++)
		snprintf(text + strlen(text), 500 - strlen(text), "%s%s",
		         row->text[i] ? row->text[i] : "-", i + 1 < row->columns ? "|" : "\n");
	return 0;
}

static void test_environment_diff(void **state)
{
	static const char *const governor[] = {"performance", "performance", "powersave"};
	char rows[500] = "";
	struct made m;

	(void)state;
	open_made(&m, "diff.db");
	for (int i = 0; i < 3; i++) {
		begin_run(&m, NULL);
		store_environment(m.s, m.run, "governor", governor[i], "ok", NULL);
		store_environment(m.s, m.run, "load", governor[i], "ok", NULL);
		if (i == 1)
			store_environment(m.s, m.run, "turbo", "on", "info", NULL);
		else
			store_environment(m.s, m.run, "turbo", NULL, "unknown", NULL);
		end_run(&m);
	}
	assert_int_equal(store_query(m.s,
	                             "SELECT * FROM environment_diff ORDER BY run_a, run_b, key",
	                             NULL, 0, join_row, rows),
	                 0);
	assert_string_equal(rows, "1|2|turbo|-|on\n1|3|governor|performance|powersave\n"
	                          "2|3|governor|performance|powersave\n2|3|turbo|on|-\n");
	store_close(m.s);
}

static int is_valid_json(void *user, const struct store_row *row)
{
	*(int *)user = row->integer[0] == 1;
	return 0;
}

static void test_formats(void **state)
{
	static const char *const labels[] = {
	        "tile(8,16) \"fast\"", "two\nlines", "=1+1", "a\ttab", "", "\033[31mred"};
	const char *params[] = {out};
	struct made m;
	int valid = 0;

	(void)state;
	open_made(&m, "labels.db");
	begin_run(&m, NULL);
	for (int i = 0; i < 6; i++)
		add_timed(&m, labels[i], 64, 10, 100, 0.002);
	add_cell(&m, "dead", 64, "", "crash");
	end_run(&m);
	assert_int_equal(compare("labels.db labels.db --format json"), 0);
	assert_int_equal(
	        store_query(m.s,
	                    "SELECT json_valid(?1) AND json_array_length(?1, '$.cells') = 7"
	                    " AND json_extract(?1, '$.cells[0].series') = 'tile(8,16) \"fast\"'"
	                    " AND json_extract(?1, '$.cells[6].ratio') IS NULL"
	                    " AND json_extract(?1, '$.threshold') = 0.01",
	                    params, 1, is_valid_json, &valid),
	        0);
	assert_int_equal(valid, 1);
	store_close(m.s);
	assert_int_equal(compare("labels.db labels.db --format csv"), 0);
	says(out, "series,variant,workload,target,n,iterations,params,key,a_status,");
	says(out, "\"tile(8,16) \"\"fast\"\"\",\"tile");
	says(out, "\"two\nlines\",\"two");
	says(out, "=1+1,=1+1");
	says(out, "a\ttab,a\ttab");
	says(out, "\"\",\"\",null");
	says_not(out, "|");
	assert_int_equal(compare("labels.db labels.db"), 0);
	says_not(out, "\033");
	assert_int_equal(compare("labels.db labels.db --format markdown"), 0);
	says(out, "| series |");
	assert_int_equal(compare("labels.db labels.db --format xml"), 2);
}

static void test_usage(void **state)
{
	static const char *const wrong[] = {
	        "",
	        "a.db",
	        "a.db b.db c.db",
	        "--runs 1 a.db",
	        "--runs 1,x a.db",
	        "--runs 1,2,3 a.db",
	        "--runs 1,:2 a.db",
	        "--runs 1: a.db",
	        "--runs , a.db",
	        "--series a a.db",
	        "--series a, a.db",
	        "--series a,b,c a.db",
	        "--series a,b a.db b.db",
	        "--run 1 a.db b.db",
	        "--run x --series a,b a.db",
	        "--fail-on fast a.db b.db",
	        "--fail-on slower,,wrong a.db b.db",
	        "--threshold x a.db b.db",
	        "--threshold -1 a.db b.db",
	        "--threshold nan a.db b.db",
	        "--nosuch a.db b.db",
	        "a.db b.db --format",
	        "--series a,b --runs 1,2 a.db",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(compare(wrong[i]), 2);
		says(err, "pkrun: compare: ");
		assert_string_equal(out, "");
	}
	assert_int_equal(compare("--help"), 0);
	says(out, "usage: pkrun compare");
}

static void test_units_needed(void **state)
{
	(void)state;
	assert_int_equal(judge_units_needed(1, 1), 6);
	assert_int_equal(judge_units_needed(25, 1), 10); /* 25 * 2 / 1024 = 0.0488 */
	assert_int_equal(judge_units_needed(26, 1), 11);
	assert_int_equal(judge_units_needed(1, 0), 4); /* 2 / 70 = 0.0286 */
	assert_int_equal(judge_units_needed(2, 0), 5);
	assert_int_equal(judge_units_needed(6, 0), 5); /* 12 / 252 = 0.0476 */
	assert_int_equal(judge_units_needed(7, 0), 6);
}

static void test_least_p(void **state)
{
	(void)state;
	assert_true(fabs(judge_least_p(6, 6, 1) - 2.0 / 64) < 1e-12);
	assert_true(fabs(judge_least_p(4, 4, 0) - 2.0 / 70) < 1e-12);
	assert_true(fabs(judge_least_p(4, 10, 0) - 2.0 / 1001) < 1e-12);
	assert_true(judge_least_p(0, 4, 0) == 1 && judge_least_p(1, 1, 1) == 1);
}

static void test_verdicts(void **state)
{
	static const struct {
		double lo, hi, p;
		enum verdict verdict;
	} cases[] = {
	        {0.80, 0.90, 0.001, FASTER},   {0.80, 0.98, 0.001, FASTER},
	        {0.80, 0.995, 0.001, UNCLEAR}, {0.80, 0.90, 0.06, UNCLEAR},
	        {1.02, 1.50, 0.001, SLOWER},   {1.005, 1.50, 0.001, UNCLEAR},
	        {0.995, 1.005, 1, SAME},       {1.002, 1.005, 0.001, SAME},
	        {0.98, 1.02, 1, UNCLEAR},      {1, 1, 1, SAME},
	        {1.02, 1.50, NAN, UNCLEAR},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stats_interval ci = {1, cases[i].lo, cases[i].hi, 0.95, 10};

		assert_int_equal(judge_interval(&ci, cases[i].p, 0.01), cases[i].verdict);
	}
}

static int enter(void **state)
{
	(void)state;
	return mkdtemp(folder) && !chdir(folder) ? 0 : -1;
}

static int leave(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return chdir("/") || system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_series),
	        cmocka_unit_test(test_not_testable),
	        cmocka_unit_test(test_series_pairing),
	        cmocka_unit_test(test_sessions),
	        cmocka_unit_test(test_cells_of_other_power),
	        cmocka_unit_test(test_no_common_cells),
	        cmocka_unit_test(test_itself),
	        cmocka_unit_test(test_failed_and_missing),
	        cmocka_unit_test(test_invalid_times),
	        cmocka_unit_test(test_iterations),
	        cmocka_unit_test(test_instrumented),
	        cmocka_unit_test(test_renamed_section),
	        cmocka_unit_test(test_new_option),
	        cmocka_unit_test(test_devices_environment_floor),
	        cmocka_unit_test(test_environment_diff),
	        cmocka_unit_test(test_formats),
	        cmocka_unit_test(test_usage),
	        cmocka_unit_test(test_units_needed),
	        cmocka_unit_test(test_least_p),
	        cmocka_unit_test(test_verdicts),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
