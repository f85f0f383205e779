/* SPDX-License-Identifier: MIT
 *
 * test_matrix.c - sections and lists to cells, against a catalog made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/matrix.h"

struct padded_options { int64_t pad; struct pkrun_choice wait; double omega; };

static struct pkrun_option padded_table[] = {
	{"pad", PKRUN_INT, offsetof(struct padded_options, pad), "128", 0, 256, NULL, "byte", "gap"},
	{"wait", PKRUN_CHOICE, offsetof(struct padded_options, wait), "spin", 0, 1000, "usleep:N|spin",
	 NULL, "how"},
	{"omega", PKRUN_REAL, offsetof(struct padded_options, omega), "1", -2, 2, NULL, NULL, "factor"},
	{NULL},
};
static struct pkrun_option none[] = {{NULL}};

static struct variant_info variants[] = {
	{.name = "launch", .path = "/p/host/launch.so", .workloads = "poisson2d,null", .target = PKRUN_HOST,
	 .options = none},
	{.name = "padded", .path = "/p/host/padded.so", .workloads = "poisson2d, null", .target = PKRUN_HOST,
	 .options = padded_table, .n_options = 3, .options_size = sizeof(struct padded_options)},
	{.name = "picky", .path = "/p/host/picky.so", .workloads = "poisson2d", .target = PKRUN_HOST,
	 .options = none},
	{.name = "broken", .path = "/p/host/broken.so", .target = PKRUN_HOST, .refused = "magic is 0"},
	{.name = "launch", .path = "/p/cuda/launch.so", .workloads = "poisson2d,null", .target = PKRUN_CUDA,
	 .options = none},
	{.name = "only_cuda", .path = "/p/cuda/only.so", .workloads = "poisson2d,null", .target = PKRUN_CUDA,
	 .options = none},
	{.name = "mine", .path = "/x/mine.so", .workloads = "poisson2d", .target = PKRUN_HOST,
	 .options = none, .by_path = 1},
};

static struct catalog catalog = {
	.targets = {[PKRUN_HOST] = {.target = PKRUN_HOST, .built = 1, .devices = 1},
		    [PKRUN_HIP] = {.target = PKRUN_HIP, .why = "not built"},
		    [PKRUN_CUDA] = {.target = PKRUN_CUDA, .built = 1, .why = "no CUDA-capable device"}},
	.n_variants = sizeof variants / sizeof *variants,
	.variants = variants,
};

static char said[40000];
static struct matrix_request request = {.catalog = &catalog, .target = PKRUN_HOST};

static void hear(void *user, const char *message)
{
	(void)user;
	if (strlen(said) + strlen(message) + 2 < sizeof said)
		strcat(strcat(said, message), "\n");
}

static struct matrix *plan_with(const char *text, const struct matrix_request *req)
{
	struct matrix *m = NULL;
	struct conf c;

	said[0] = 0;
	if (conf_read_buffer(&c, "a.ini", text, strlen(text), hear, NULL) ||
	    matrix_plan(&m, &c, req, hear, NULL))
		return NULL;
	return m;
}

static struct matrix *plan(const char *text)
{
	return plan_with(text, &request);
}

/* How many cells `keys` give in a section of `variant` on poisson2d; -1: refused. */
static int64_t cells(const char *variant, const char *keys)
{
	char text[4000];
	struct matrix *m;
	int64_t n;

	snprintf(text, sizeof text, "[s]\nvariant = %s\nworkload = poisson2d\n%s\n", variant, keys);
	m = plan(text);
	n = m ? (int64_t)matrix_cells(m) : -1;
	matrix_free(m);
	return n;
}

static void refused(const char *keys, const char *with)
{
	assert_int_equal(cells("padded", keys), -1);
	if (!strstr(said, with))
		print_error("'%s': expected '%s' in: %s", keys, with, said);
	assert_non_null(strstr(said, with));
}

static const char *key_of(const struct matrix *m, uint64_t number)
{
	static char key[600];
	struct cell c;

	assert_int_equal(matrix_cell(m, number, &c), 0);
	assert_int_equal(c.number, number);
	assert_int_equal(cell_key(&c, key, sizeof key), 0);
	return key;
}

static void example(void **state)
{
	struct matrix *m = plan("[global]\nworkload = poisson2d\nn = 11..101+10\niterations = 1000\n"
				"baseline = queued\n[queued]\nvariant = launch\n[doorbell]\n"
				"variant = padded\nthreads = 64, 256\n");
	struct cell c;

	(void)state;
	assert_non_null(m);
	assert_int_equal(matrix_cells(m), 30);
	assert_string_equal(matrix_settings(m)->baseline, "queued");
	assert_string_equal(key_of(m, 0), "poisson2d/launch/host iterations=1000 n=11 cols=0 f_scale=1"
					  " threads=256 blocks=auto sweep=auto tile=0x0 check=0");
	matrix_cell(m, 9, &c);
	assert_int_equal(c.n, 101);
	matrix_cell(m, 10, &c);
	assert_string_equal(c.series, "doorbell");
	assert_int_equal(c.n, 11);
	assert_int_equal(c.common.threads, 64);
	matrix_cell(m, 11, &c);
	assert_int_equal(c.common.threads, 256);
	assert_int_equal(matrix_cell(m, 30, &c), -1);
	matrix_free(m);
}

/* a01: 80 cells from one long line */
static void long_list(void **state)
{
	char keys[1000] = "n = 16";

	(void)state;
	for (int i = 17; i < 96; i++)
		sprintf(keys + strlen(keys), ",%d", i);
	assert_int_equal(cells("launch", keys), 80);
}

/* a04 */
static void ranges(void **state)
{
	static const struct { const char *keys; int64_t cells; } good[] = {
		{"n = 11..101+10", 10}, {"n = 16..1024*2", 7}, {"n = 16..1000*2", 6}, {"n = 16..16+1", 1},
		{"n = 11 .. 31 + 10", 3}, {"n = 11..30+10", 2}, {"n=3,5,11..31+10", 5},
		{"seed_not = 1", -1}, {"iterations = 1..1000000000*10", 10}, {"iterations = auto, 5", 2},
		{"pad = 0..256+64", 5}, {"wait = spin, usleep:0, usleep:25", 3}, {"blocks = auto, capped, 1..8*2", 6},
		{"omega = 1e-3, -1.5, .5", 3},
	};
	static const struct { const char *keys, *why; } bad[] = {
		{"n = 16..1024*1", "a.ini:4: n = 16..1024*1: the factor of a range must be at least 2"},
		{"n = 16..1024*0", "factor of a range must be at least 2"},
		{"n = 16..1024*1.5", "64-bit integers"},
		{"n = 16..1024*-2", "factor of a range must be at least 2"},
		{"n = 1024..16*2", "the range is empty"},
		{"n = 0..1024*2", "must start at 1"},
		{"n = 16..1024+0", "step of a range must be at least 1"},
		{"n = 16..1024+-1", "step of a range must be at least 1"},
		{"n = 1..9223372036854775807*2", "n: '1' is outside 3..536870912"},
		{"n = 9223372036854775806..9223372036854775807+1", "is outside 3..536870912"},
		{"n = 9223372036854775807..9223372036854775808+1", "64-bit integers"},
		{"n = 1..9223372036854775807+1", "n has 9223372036854775807 values; at most 1000000 cells"},
		{"n = -9223372036854775808..9223372036854775807+1", "n has 18446744073709551615 values"},
		{"n = ..64", "64-bit integers"}, {"n = 16..", "64-bit integers"},
		{"n = 16...64", "64-bit integers"}, {"n = 16..64", "needs its step"},
		{"n = 16..64+1x", "64-bit integers"}, {"n = 16..64++1", "64-bit integers"},
		{"n = 16..64+1*2", "64-bit integers"}, {"n = 16..64-1", "64-bit integers"},
		{"n = a..b+1", "64-bit integers"}, {"n = 8-64", "'8-64' is not an integer"},
		{"omega = -1.5..-0.5+0.5", "64-bit integers"}, {"n = 1e3", "'1e3' is not an integer"},
		{"omega = nan", "'nan' is not a number"}, {"omega = 0x1", "'0x1' is not a number"},
		{"omega = 1e999", "does not fit"}, {"omega = 3", "'3' is outside -2..2"},
		{"n = 64,", "the list has an empty item"}, {"n = ,64", "empty item"}, {"n = 64,,128", "empty item"},
		{"n = 64 128", "'64 128' is not an integer"}, {"n = 11..31+10, 21", "n: 21 is there twice"},
		{"n = 64, 064", "n: 64 is there twice"}, {"wait = usleep:1001", "'1001' is outside 0..1000"},
		{"wait = usleep:", "is not an integer"}, {"wait = usleep", "'usleep' is none of usleep:N|spin"},
		{"pad = 0..300+100", "'300' is outside 0..256"}, {"iterations = 0", "'0' is outside 1..1000000000000"},
		{"n = 2", "'2' is outside 3.."}, {"threads = 0", "'0' is outside 1..1024"},
		{"n = 99999999999999999999", "does not fit in 64 bits"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		if (cells("padded", good[i].keys) != good[i].cells)
			fail_msg("%s: %s", good[i].keys, said);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		refused(bad[i].keys, bad[i].why);
}

/* a04, the end: 2^40 cells are counted, not made */
static void too_many(void **state)
{
	(void)state;
	refused("n = 3..1026+1\ncols = 3..1026+1\nthreads = 1..1024+1\niterations = 1..1024+1",
		"a.ini: the matrix has 1099511627776 cells; at most 1000000");
	refused("n = 3..1000002+1\ncols = 3..1000002+1\niterations = 1..1000000+1\nblocks = 1..1000000+1",
		"the matrix has 2^64 cells or more");
}

static void zip(void **state)
{
	struct matrix *m = plan("[s]\nworkload = poisson2d\nvariant = launch, padded\nzip = n, iterations\n"
				"n = 11, 21, 31\niterations = 1000, 500, 500\nthreads = 64, 128\n");
	struct cell c;

	(void)state;
	assert_non_null(m);
	assert_int_equal(matrix_cells(m), 12);
	matrix_cell(m, 4, &c);
	assert_int_equal(c.n, 31);
	assert_int_equal(c.iterations, 500);
	assert_int_equal(c.common.threads, 64);
	matrix_free(m);
	refused("zip = n, iterations\nn = 11, 21\niterations = 1", "zip ties iterations (1 values) to n (2 values)");
	refused("zip = n", "zip ties at least two keys");
	refused("zip = n, n\nn = 11, 21", "zip: 'n' is there twice");
	refused("zip = n, pad\nn = 11, 21", "zip: [s] does not set 'pad'");
	refused("zip = n, variant\nn = 11, 21", "zip: 'variant' is not an option");
	assert_null(plan("[global]\nzip = n, foo\n[s]\nvariant = launch\nworkload = null\n"));
	assert_non_null(strstr(said, "zip: no section sets 'n'"));
	/* a key that one of the variants lacks leaves the other alone */
	assert_int_equal(cells("launch, padded", "zip = n, pad\nn = 11, 21\npad = 0, 64"), 4);
}

static void environment(void **state)
{
	(void)state;
	setenv("PK_SIZES", "11, 21", 1);
	setenv("PK_BAD", "\033[31m", 1);
	setenv("PK_EMPTY", "", 1);
	setenv("PK_NESTED", "${PK_SIZES}", 1);
	unsetenv("PK_UNSET");
	assert_int_equal(cells("launch", "n = ${PK_SIZES}, 31"), 3);
	refused("n = ${PK_UNSET}", "a.ini:4: n: the environment has no PK_UNSET");
	refused("n = ${PK_SIZES", "expected ${NAME}");
	refused("n = ${}", "expected ${NAME}");
	refused("n = ${1X}", "expected ${NAME}");
	refused("n = ${PK_BAD}", "PK_BAD holds what is no value: '\\x1b[31m'");
	refused("n = ${PK_NESTED}", "holds what is no value");
	refused("n = ${PK_EMPTY}", "'n' has no value: its ${...} is empty");
}

static void unknown(void **state)
{
	(void)state;
	refused("thread = 64", "a.ini:4: [s] unknown key 'thread'; did you mean 'threads'?");
	refused("zzzzzz = 64", "a.ini:4: [s] unknown key 'zzzzzz'\n");
	refused("trials = 3", "a.ini:4: 'trials' is a setting of the whole run: put it into [global]");
	refused("baseline = s", "put it into [global]");
	assert_int_equal(cells("launch", "pad = 64"), -1);
	assert_non_null(strstr(said, "[s] unknown key 'pad'; it is an option of variant padded"));
	refused("length_ns = 64", "a.ini:4: [s] unknown key 'length_ns'; it is an option of workload busy\n");
	assert_int_equal(cells("lunch", ""), -1);
	assert_non_null(strstr(said, "a.ini:2: no variant 'lunch'; did you mean 'launch'?"));
	assert_int_equal(cells("mine.so", ""), -1);
	assert_non_null(strstr(said, "./mine.so"));
	assert_null(plan("[s]\nvariant = launch\nworkload = poison2d\n"));
	assert_non_null(strstr(said, "no workload 'poison2d'; did you mean 'poisson2d'?"));
	assert_null(plan("[s]\nvariant = launch\n"));
	assert_non_null(strstr(said, "a.ini:1: [s] has no workload"));
	assert_null(plan("[s]\nworkload = null\n"));
	assert_non_null(strstr(said, "a.ini:1: [s] has no variant"));
	assert_null(plan("[s]\nworkload = null\nvariant = launch\ntarget = gpu\n"));
	assert_non_null(strstr(said, "a.ini:4: no target 'gpu'"));
	assert_null(plan("[global]\nbaseline = queue\n[queued]\nworkload = null\nvariant = launch\n"));
	assert_non_null(strstr(said, "a.ini:2: baseline: there is no section [queue]; did you mean 'queued'?"));
	assert_null(plan("[global]\nn = 3\n"));
	assert_non_null(strstr(said, "no series"));
}

static void all_problems_at_once(void **state)
{
	(void)state;
	assert_int_equal(cells("padded, launch", "n = x\npad = y\nthraeds = 3\ntrials = 4"), -1);
	assert_non_null(strstr(said, "a.ini:4: n: 'x' is not an integer"));
	assert_non_null(strstr(said, "a.ini:5: pad: 'y' is not an integer"));
	assert_non_null(strstr(said, "a.ini:6: [s] unknown key 'thraeds'"));
	assert_non_null(strstr(said, "a.ini:7: 'trials' is a setting"));
	/* two combinations, one mistake, said once */
	assert_null(strstr(strstr(said, "'x' is") + 1, "'x' is"));
}

static void global_options(void **state)
{
	struct matrix *m = plan("[global]\nworkload = poisson2d, null\npad = 0, 64\nn = 11\n[a]\nvariant = launch\n"
				"[b]\nvariant = padded\n[c]\nvariant = padded\npad = 256\n");

	(void)state;
	assert_non_null(m);
	/* a: 2 workloads; b: 2 x 2; c: 2 */
	assert_int_equal(matrix_cells(m), 8);
	matrix_free(m);
	assert_null(plan("[global]\nworkload = null\npda = 0\n[a]\nvariant = padded\n"));
	assert_non_null(strstr(said, "a.ini:3: [global] unknown key 'pda'; did you mean 'pad'?"));
}

static void variant_lists(void **state)
{
	struct matrix *m = plan("[s]\nvariant = launch, p*\nworkload = poisson2d, null\n");
	struct cell c;
	int skipped = 0;

	(void)state;
	assert_non_null(m);
	assert_int_equal(matrix_cells(m), 6);
	for (int i = 0; i < 6; i++) {
		matrix_cell(m, (uint64_t)i, &c);
		if (!*c.why)
			continue;
		skipped++;
		assert_string_equal(c.variant_name, "picky");
		assert_string_equal(c.why, "variant picky does not drive workload null, only poisson2d");
	}
	assert_int_equal(skipped, 1);
	matrix_free(m);
	assert_int_equal(cells("launch, launch", ""), -1);
	assert_int_equal(cells("q*", ""), -1);
	assert_non_null(strstr(said, "no name matches 'q*'"));
	assert_int_equal(cells("/x/mine.so", ""), 1);
	assert_int_equal(cells("mine", ""), -1);
}

static void cannot_run(void **state)
{
	struct matrix *m = plan("[s]\nvariant = broken, only_cuda, launch\nworkload = null\ntarget = host, cuda\n"
				"frobs = 3\n");
	static const char *const whys[] = {
		"/p/host/broken.so: magic is 0", "target cuda: no CUDA-capable device",
		"variant only_cuda is not built for target host", "target cuda: no CUDA-capable device",
		"", "target cuda: no CUDA-capable device"};
	struct cell c;

	(void)state;
	assert_non_null(m);
	assert_int_equal(matrix_cells(m), 6);
	for (int i = 0; i < 6; i++) {
		matrix_cell(m, (uint64_t)i, &c);
		assert_string_equal(c.why, whys[i]);
	}
	matrix_cell(m, 0, &c);
	assert_non_null(c.variant->refused);
	matrix_free(m);
	m = plan("[s]\nvariant = launch\nworkload = poisson2d\nn = 11\ncols = 0, 2, 5\n");
	assert_non_null(m);
	matrix_cell(m, 1, &c);
	assert_non_null(strstr(c.why, "cols = 2"));
	matrix_free(m);
}

static void settings(void **state)
{
	struct matrix *m = plan("[global]\nworkload=null\ntrials = 7\nisolation = block\nci = 0.01\nseed = 9\n"
				"blocks_max = 5\ncache = cold\n[s]\nvariant = launch\n");
	const struct matrix_settings *s;
	struct matrix_request quick = request;

	(void)state;
	assert_non_null(m);
	s = matrix_settings(m);
	assert_int_equal(s->trials, 7);
	assert_int_equal(s->isolation_block, 1);
	assert_int_equal(s->blocks_max, 5);
	assert_int_equal(s->blocks_min, 5);
	assert_int_equal(s->cache_cold, 1);
	assert_int_equal(s->seed, 9);
	assert_true(s->ci == 0.01);
	assert_null(s->baseline);
	matrix_free(m);
	assert_null(plan("[global]\nworkload=null\nblocks_min = 9\nblocks_max = 5\ntrials = 1, 2\nci = 2\n"
			 "seed = 18446744073709551615\n[s]\nvariant = launch\n"));
	assert_non_null(strstr(said, "a.ini:3: blocks_min = 9 is above blocks_max = 5"));
	assert_non_null(strstr(said, "a.ini:5: trials: '1, 2' is not an integer"));
	assert_non_null(strstr(said, "a.ini:6: ci: '2' is outside 0..1"));
	assert_non_null(strstr(said, "a.ini:7: seed: '18446744073709551615' does not fit in 64 bits"));
	quick.quick = 1;
	m = plan_with("[s]\nvariant = launch\nworkload = null\n", &quick);
	assert_non_null(m);
	assert_int_equal(matrix_settings(m)->trials, 3);
	assert_int_equal(matrix_settings(m)->blocks_max, 3);
	matrix_free(m);
}

static uint64_t only(const char *pattern)
{
	struct matrix_request req = request;
	struct matrix *m;
	uint64_t n;

	req.only = pattern;
	m = plan_with("[global]\nworkload = poisson2d, null\nn = 11, 21\n[a/b]\nvariant = launch\n[c]\n"
		      "variant = launch, padded\n", &req);
	n = m ? matrix_cells(m) : 0;
	if (m)
		assert_true(*key_of(m, n - 1));
	matrix_free(m);
	return n;
}

static void only_glob(void **state)
{
	(void)state;
	/* a/b: 2 x 2 cells; c: twice that */
	assert_int_equal(only("*"), 12);
	assert_int_equal(only("c"), 8);
	assert_int_equal(only("c/padded"), 4);
	assert_int_equal(only("c/*/null"), 4);
	assert_int_equal(only("*/21"), 6);
	assert_int_equal(only("a/*"), 4);
	assert_int_equal(only("d"), 0);
	assert_non_null(strstr(said, "--only 'd' matches none of the 12 cells; the series are a/b, c"));
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A cell is computed, not stored.  The time is printed: machines differ. */
static void many_cells(void **state)
{
	double begin = seconds();
	struct matrix *m = plan("[s]\nworkload = poisson2d\nvariant = padded\nn = 11..1010+1\npad = 0..99+1\n");
	struct rusage usage;
	struct cell c;

	(void)state;
	assert_non_null(m);
	assert_int_equal(matrix_cells(m), 100000);
	for (uint64_t i = 0; i < 100000; i++) {
		matrix_cell(m, i, &c);
		assert_int_equal(c.n, 11 + i / 100);
		assert_int_equal(((struct padded_options *)&c.variant_options)->pad, i % 100);
	}
	matrix_free(m);
	getrusage(RUSAGE_SELF, &usage);
	print_message("100000 cells: %.3f s, %ld kB\n", seconds() - begin, usage.ru_maxrss);
#ifndef __SANITIZE_ADDRESS__
	assert_true(usage.ru_maxrss < 100000);
#endif
}

struct heard { int n; char text[2000]; };

static void hear_param(void *user, const char *owner, const char *name, const char *value, int is_default)
{
	struct heard *h = user;

	h->n++;
	sprintf(h->text + strlen(h->text), "%s.%s=%s%s ", owner, name, value, is_default ? "" : "!");
}

static void params(void **state)
{
	struct matrix *m = plan("[s]\nworkload = null\nvariant = padded\nwait = usleep:25\nomega=0.1\npad = 128\n");
	struct heard h = {0};
	struct cell c;
	char small[40];

	(void)state;
	assert_non_null(m);
	matrix_cell(m, 0, &c);
	cell_params(&c, hear_param, &h);
	assert_non_null(strstr(h.text, "variant.pad=128 variant.wait=usleep:25! variant.omega=0.1! "));
	assert_non_null(strstr(h.text, "common.threads=256 "));
	assert_int_equal(cell_key(&c, small, sizeof small), -1);
	matrix_free(m);
}

static void paths(void **state)
{
	struct conf c;
	char **list;
	size_t n;
	const char *text = "[a]\nvariant = ./m.so, launch\n[b]\nvariant = ../x/y.so, ./m.so, /abs.so\n"
			   "target = cuda, foo\n";

	(void)state;
	assert_int_equal(conf_read_buffer(&c, "/no/dir/a.ini", text, strlen(text), hear, NULL), 0);
	assert_int_equal(matrix_plugins(&c, &list, &n), 0);
	assert_int_equal(n, 3);
	assert_string_equal(list[0], "/no/dir/./m.so");
	assert_string_equal(list[1], "/no/dir/../x/y.so");
	assert_string_equal(list[2], "/abs.so");
	matrix_plugins_free(list, n);
	assert_int_equal(matrix_targets(&c), 1 << PKRUN_CUDA);
	conf_free(&c);
}

static void reserved(void **state)
{
	(void)state;
	assert_non_null(matrix_reserved("n"));
	assert_non_null(matrix_reserved("iterations"));
	assert_non_null(matrix_reserved("variant"));
	assert_non_null(matrix_reserved("threads"));
	assert_non_null(matrix_reserved("trials"));
	assert_null(matrix_reserved("pad"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(example),	    cmocka_unit_test(long_list),
		cmocka_unit_test(ranges),	    cmocka_unit_test(too_many),
		cmocka_unit_test(zip),		    cmocka_unit_test(environment),
		cmocka_unit_test(unknown),	    cmocka_unit_test(all_problems_at_once),
		cmocka_unit_test(global_options),   cmocka_unit_test(variant_lists),
		cmocka_unit_test(cannot_run),	    cmocka_unit_test(settings),
		cmocka_unit_test(only_glob),	    cmocka_unit_test(many_cells),
		cmocka_unit_test(params),	    cmocka_unit_test(paths),
		cmocka_unit_test(reserved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
