/* SPDX-License-Identifier: MIT
 *
 * test_load.c - what makes a shared object a plugin: the checks one by one, on
 * descriptors in memory and on shared objects (tests/plugins).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/load.h"
#include "core/matrix.h"

static int footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	(void)run;
	(void)fp;
	fail_msg("a function was called");
	return 0;
}

static int go(struct pkrun_run *run, uint64_t iterations)
{
	(void)run;
	(void)iterations;
	fail_msg("a function was called");
	return 0;
}

static int wait_done(struct pkrun_run *run)
{
	(void)run;
	fail_msg("a function was called");
	return 0;
}

static struct pkrun_plugin right(void)
{
	return (struct pkrun_plugin){
		.magic = PKRUN_MAGIC, .abi_major = PKRUN_ABI_MAJOR, .abi_minor = PKRUN_ABI_MINOR,
		.size = sizeof(struct pkrun_plugin), .target = PKRUN_HOST, .name = "right", .brief = "b",
		.control = PKRUN_CONTROL_HOST, .result = PKRUN_EXACT, .workloads = "null",
		.footprint = footprint, .run = go, .wait = wait_done};
}

static char why[400];

static void refused(const struct pkrun_plugin *p, const char *with)
{
	why[0] = 0;
	assert_int_equal(load_check(p, PKRUN_HOST, why, sizeof why), -1);
	if (!strstr(why, with))
		print_error("expected '%s' in: %s\n", with, why);
	assert_non_null(strstr(why, with));
}

#define REFUSED(change, with) \
	do { struct pkrun_plugin p = right(); p.change; refused(&p, with); } while (0)

/* c02 */
static void descriptor(void **state)
{
	struct pkrun_plugin p = right();
	char text[60];

	(void)state;
	assert_int_equal(load_check(&p, PKRUN_HOST, why, sizeof why), 0);
	assert_int_equal(load_check(&p, LOAD_ANY_TARGET, why, sizeof why), 0);
	p.abi_minor += 9;
	p.size += 8;
	assert_int_equal(load_check(&p, PKRUN_HOST, why, sizeof why), 0);
	REFUSED(magic = 7, "magic is 0x00000007, not 0x4e524b50");
	sprintf(text, "built for plugin ABI %d.%d; this pkrun has %d.%d", PKRUN_ABI_MAJOR + 1, PKRUN_ABI_MINOR,
		PKRUN_ABI_MAJOR, PKRUN_ABI_MINOR);
	REFUSED(abi_major++, text);
	REFUSED(abi_major = 0, "built for plugin ABI 0.2");
	REFUSED(abi_major = 0xffff, "built for plugin ABI 65535.2");
	sprintf(text, "descriptor of %zu bytes, shorter than the %zu", PKRUN_PLUGIN_SIZE_1_0 - 1,
		PKRUN_PLUGIN_SIZE_1_0);
	REFUSED(size = PKRUN_PLUGIN_SIZE_1_0 - 1, text);
	REFUSED(size = 0, "descriptor of 0 bytes");
	REFUSED(target = 0, "target 0, which is unknown");
	REFUSED(target = 4, "target 4, which is unknown");
	REFUSED(target = PKRUN_CUDA, "built for target cuda, not host");
	REFUSED(name = NULL, "no name (NULL)");
	REFUSED(name = "", "name '' is not");
	REFUSED(name = "Big", "name 'Big' is not");
	REFUSED(name = "a b", "name 'a b' is not");
	REFUSED(name = "../x", "name '../x' is not");
	REFUSED(name = "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeee", "at most 48");
	REFUSED(brief = NULL, "no brief");
	REFUSED(workloads = NULL, "names no workload");
	REFUSED(control = 0, "control 0 is unknown");
	REFUSED(control = 5, "control 5 is unknown");
	REFUSED(result = 3, "result 3 is unknown");
	REFUSED(footprint = NULL, "required function footprint is missing");
	REFUSED(run = NULL, "required function run is missing");
	REFUSED(wait = NULL, "required function wait is missing");
	/* order: a foreign major is all that is said of a foreign descriptor */
	p = (struct pkrun_plugin){.magic = PKRUN_MAGIC, .abi_major = 9};
	refused(&p, "built for plugin ABI 9.0");
}

static void refused_options(const struct pkrun_option *rows, uint32_t size, const char *with)
{
	struct pkrun_plugin p = right();

	p.options = rows;
	p.options_size = size;
	refused(&p, with);
}

#define ROW(...) ((const struct pkrun_option[]){{__VA_ARGS__}, {NULL}})

static void options(void **state)
{
	struct pkrun_plugin p = right();
	struct pkrun_option many[80];

	(void)state;
	p.options = ROW("pad", PKRUN_INT, 8, "1", 0, 9, NULL, NULL, "h");
	p.options_size = 16;
	assert_int_equal(load_check(&p, PKRUN_HOST, why, sizeof why), 0);
	refused_options(p.options, 15, "option 'pad' takes bytes 8..16 of a struct of 15 bytes");
	refused_options(p.options, 0, "of a struct of 0 bytes");
	refused_options(p.options, MATRIX_OPTIONS_BYTES + 1, "options_size is 1025, at most 1024");
	refused_options(ROW("pad", PKRUN_INT, 0xfffffff8u, "1"), 16, "takes bytes 4294967288..");
	refused_options(ROW("pad", PKRUN_INT, 4, "1"), 16, "misaligned offset 4");
	refused_options(ROW("pad", PKRUN_BOOL, 2, "no"), 16, "misaligned offset 2");
	refused_options(ROW("pad", 9, 0, "1"), 16, "option 'pad' has unknown type 9");
	refused_options(ROW("pad", 0, 0, "1"), 16, "unknown type 0");
	refused_options(ROW("pad", PKRUN_INT, 0, NULL), 16, "option 'pad' has no default");
	refused_options(ROW("pad", PKRUN_INT, 0, "x"), 16, "default of option 'pad': 'x' is not an integer");
	refused_options(ROW("pad", PKRUN_INT, 0, "10", 0, 9), 16, "'10' is outside 0..9");
	refused_options(ROW("pad", PKRUN_CHOICE, 0, "a", 0, 0, NULL), 16, "option 'pad' has no choices");
	refused_options(ROW("pad", PKRUN_CHOICE, 0, "a", 0, 0, "b|c"), 16, "'a' is none of b|c");
	refused_options(ROW("Pad", PKRUN_INT, 0, "1"), 16, "option name 'Pad' is not");
	refused_options(ROW("", PKRUN_INT, 0, "1"), 16, "option name '' is not");
	refused_options(ROW("threads", PKRUN_INT, 0, "1"), 16, "'threads' has the name of an option that every");
	refused_options(ROW("iterations", PKRUN_INT, 0, "1"), 16, "'iterations' has the name of a key of the");
	refused_options(ROW("trials", PKRUN_INT, 0, "1"), 16, "'trials' has the name of a setting of the run");
	refused_options(ROW("n", PKRUN_INT, 0, "1"), 16, "'n' has the name of an option of workload");
	refused_options((const struct pkrun_option[]){{"pad", PKRUN_INT, 0, "1"}, {"pad", PKRUN_INT, 8, "1"},
						      {NULL}}, 16, "option 'pad' is there twice");
	for (int i = 0; i < 80; i++) {
		static char names[80][8];

		sprintf(names[i], "o%d", i);
		many[i] = (struct pkrun_option){names[i], PKRUN_INT, 0, "1"};
	}
	refused_options(many, 16, "more than 64 options, or no end of table");
}

static void refused_metric(struct pkrun_metric row, const char *with)
{
	const struct pkrun_metric rows[] = {row, {0}};
	struct pkrun_plugin p = right();

	p.metrics = rows;
	refused(&p, with);
}

static void metrics(void **state)
{
	const struct pkrun_metric good[] = {{"gap_ns", "ns", "h"}, {"w*_p", "", "h"}, {0}};
	struct pkrun_metric endless[80];
	struct pkrun_plugin p = right();

	(void)state;
	p.metrics = good;
	assert_int_equal(load_check(&p, PKRUN_HOST, why, sizeof why), 0);
	refused_metric((struct pkrun_metric){"", "ns", "h"}, "metric name '' is empty");
	refused_metric((struct pkrun_metric){"gap_ns", NULL, "h"}, "metric 'gap_ns' has no unit");
	refused_metric((struct pkrun_metric){"gap_ns", "ns", NULL}, "metric 'gap_ns' has no help");
	refused_metric((struct pkrun_metric){"gap_ns", "ns", ""}, "metric 'gap_ns' has no help");
	refused_metric((struct pkrun_metric){"a234567890b234567890c234567890d234567890e234567890f234567890g234", "ns",
					     "h"}, "longer than 63");
	for (int i = 0; i < 80; i++)
		endless[i] = good[0];
	p.metrics = endless;
	refused(&p, "more than 64 metrics, or no end of table");
	/* one of 1.1 ends before the field: what lies behind is not its own */
	p.abi_minor = 1;
	p.size = offsetof(struct pkrun_plugin, metrics);
	assert_int_equal(load_check(&p, PKRUN_HOST, why, sizeof why), 0);
}

static int load(const char *name, uint32_t target)
{
	const char *dir = getenv("PKRUN_BUILDDIR");
	const struct pkrun_plugin *p;
	char path[1000];

	snprintf(path, sizeof path, "%s/tests/plugins/%s.so", dir ? dir : ".", name);
	why[0] = 0;
	return load_plugin(path, target, &p, why, sizeof why);
}

static void refused_file(const char *name, const char *with)
{
	assert_int_equal(load(name, PKRUN_HOST), -1);
	if (!strstr(why, with))
		print_error("%s: expected '%s' in: %s\n", name, with, why);
	assert_non_null(strstr(why, with));
}

/* c02, c05 */
static void files(void **state)
{
	(void)state;
	assert_int_equal(load("good", PKRUN_HOST), 0);
	assert_int_equal(load("minor_newer", PKRUN_HOST), 0);
	assert_int_equal(load("minor_older", PKRUN_HOST), 0);
	refused_file("bad_no_symbol", "exports no symbol pkrun_plugin");
	refused_file("bad_magic", "magic is 0x464c457f");
	refused_file("bad_major_newer", "built for plugin ABI 2.4; this pkrun has 1.");
	refused_file("bad_major_zero", "built for plugin ABI 0.4; this pkrun has 1.");
	refused_file("bad_major_huge", "built for plugin ABI 65535.4; this pkrun has 1.");
	refused_file("bad_short", "shorter than the");
	refused_file("bad_no_run", "required function run is missing");
	refused_file("bad_null_name", "no name (NULL)");
	refused_file("bad_undefined", "undefined symbol: nobody_has_this");
	refused_file("bad_undefined", "bad_undefined.so");
	refused_file("bad_target", "built for target cuda, not host");
	refused_file("bad_option", "option 'threads' has the name of");
	refused_file("nonexistent", "cannot open: No such file");
	refused_file("../../Makefile", "cannot open: No such file");
}

static void not_an_object(void **state)
{
	const struct pkrun_plugin *p;
	const struct pkrun_device *d;

	(void)state;
	assert_int_equal(load_plugin("/etc/passwd", PKRUN_HOST, &p, why, sizeof why), -1);
	assert_non_null(strstr(why, "cannot load: /etc/passwd"));
	assert_int_equal(load_plugin("/tmp", PKRUN_HOST, &p, why, sizeof why), -1);
	assert_non_null(strstr(why, "cannot load: /tmp"));
	assert_int_equal(load_plugin("", PKRUN_HOST, &p, why, sizeof why), -1);
	assert_int_equal(load_device("/etc/passwd", PKRUN_HOST, &d, why, sizeof why), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(descriptor), cmocka_unit_test(options), cmocka_unit_test(metrics),
		cmocka_unit_test(files), cmocka_unit_test(not_an_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
