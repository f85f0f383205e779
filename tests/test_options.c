/* SPDX-License-Identifier: MIT
 *
 * test_options.c - values by their rows: read, checked, spelled, in whatever
 * locale.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/options.h"

struct values {
	int64_t count, any;
	double tol;
	int32_t flag;
	struct pkrun_choice how;
	int64_t tile[2];
	const char *label;
};
#define AT(field) offsetof(struct values, field)

static const struct pkrun_option table[] = {
	{"count", PKRUN_INT, AT(count), "3", 1, 100, NULL, "step", "how many"},
	{"any", PKRUN_INT, AT(any), "-20", 0, 0, NULL, NULL, "unbounded"},
	{"tol", PKRUN_REAL, AT(tol), "0.5", 1e-12, 1, NULL, NULL, "tolerance"},
	{"flag", PKRUN_BOOL, AT(flag), "yes", 0, 0, NULL, NULL, "switch"},
	{"how", PKRUN_CHOICE, AT(how), "spin", 0, 1000, "usleep:N|spin|N|spinner", "us", "wait"},
	{"tile", PKRUN_PAIR, AT(tile), "37x27", 1, 1024, NULL, NULL, "shape"},
	{"label", PKRUN_TEXT, AT(label), "a b", 0, 0, NULL, NULL, "text"},
	{NULL},
};

static struct values v;
static char why[200];

static int parse(const char *name, const char *text)
{
	why[0] = 0;
	return option_parse(option_find(table, name), text, &v, why, sizeof why);
}

static const char *spell(const char *name)
{
	static char out[100];

	assert_int_equal(option_spell(option_find(table, name), &v, out, sizeof out), 0);
	return out;
}

static void defaults(void **state)
{
	(void)state;
	memset(&v, 0xcb, sizeof v);
	assert_int_equal(option_defaults(table, &v, why, sizeof why), 0);
	assert_int_equal(v.count, 3);
	assert_int_equal(v.any, -20);
	assert_true(v.tol == 0.5);
	assert_int_equal(v.flag, 1);
	assert_int_equal(v.how.index, 1);
	assert_int_equal(v.tile[0], 37);
	assert_int_equal(v.tile[1], 27);
	assert_string_equal(v.label, "a b");
	assert_int_equal(option_defaults(common_options, &(struct common_options){0}, why, sizeof why), 0);
}

static void good(void **state)
{
	static const struct { const char *name, *text, *spelled; } cases[] = {
		{"count", "1", "1"}, {"count", "100", "100"}, {"count", "+7", "7"}, {"count", "007", "7"},
		{"any", "-9223372036854775808", "-9223372036854775808"},
		{"any", "9223372036854775807", "9223372036854775807"}, {"any", "-0", "0"},
		{"tol", "1e-3", "0.001"}, {"tol", "1E-12", "1e-12"}, {"tol", ".5", "0.5"}, {"tol", "0.1", "0.1"},
		{"tol", "0.30000000000000004", "0.30000000000000004"},
		{"flag", "no", "no"}, {"flag", "on", "yes"}, {"flag", "0", "no"}, {"flag", "true", "yes"},
		{"how", "spin", "spin"}, {"how", "spinner", "spinner"}, {"how", "usleep:25", "usleep:25"},
		{"how", "64", "64"}, {"how", "usleep:0", "usleep:0"},
		{"tile", "1x1024", "1x1024"}, {"label", "x,y = z", "x,y = z"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (parse(cases[i].name, cases[i].text))
			fail_msg("%s = %s: %s", cases[i].name, cases[i].text, why);
		assert_string_equal(spell(cases[i].name), cases[i].spelled);
	}
}

static void bad(void **state)
{
	static const struct { const char *name, *text, *why; } cases[] = {
		{"count", "0", "'0' is outside 1..100"}, {"count", "101", "outside 1..100"},
		{"count", "-1", "outside"}, {"count", "", "not an integer"}, {"count", "1x", "not an integer"},
		{"count", "1.0", "not an integer"}, {"count", "1e1", "not an integer"}, {"count", "0x10", "not an"},
		{"count", "+", "not an integer"}, {"count", " 1", "not an integer"}, {"count", "1 ", "not an"},
		{"count", "--1", "not an integer"}, {"count", "\u0663", "not an integer"},
		{"any", "9223372036854775808", "does not fit in 64 bits"},
		{"any", "-9223372036854775809", "does not fit in 64 bits"},
		{"tol", "2", "'2' is outside 1e-12..1"}, {"tol", "0", "outside"}, {"tol", "nan", "not a number"},
		{"tol", "inf", "not a number"}, {"tol", "0x1p-1", "not a number"}, {"tol", "1e", "not a number"},
		{"tol", "1,5", "not a number"}, {"tol", "", "not a number"}, {"tol", "1e-400", "does not fit"},
		{"tol", "1e400", "does not fit"}, {"tol", "-", "not a number"}, {"tol", "1 ", "not a number"},
		{"flag", "Yes", "neither yes nor no"}, {"flag", "", "neither"}, {"flag", "2", "neither"},
		{"how", "usleep", "'usleep' is none of usleep:N|spin|N|spinner"}, {"how", "usleep:", "'usleep:': '' is not an integer"},
		{"how", "usleep:x", "not an integer"}, {"how", "usleep:1001", "'usleep:1001': '1001' is outside 0..1000"},
		{"how", "N", "none of"}, {"how", "spi", "none of"}, {"how", "1001", "outside"}, {"how", "-1", "outside"},
		{"how", "", "none of"}, {"how", "3x", "not an integer"}, {"how", "usleep:N", "not an integer"},
		{"tile", "37", "not a pair HxW"}, {"tile", "x27", "not an integer"}, {"tile", "37x", "not an integer"},
		{"tile", "0x27", "'0x27': '0' is outside 1..1024"}, {"tile", "37x27x1", "'37x27x1': '27x1' is not an integer"}, {"tile", "37X27", "not a pair"},
		{"tile", "11111111111111111111111111111111111111x1", "not a pair"},
	};
	struct values before;

	(void)state;
	assert_int_equal(option_defaults(table, &v, why, sizeof why), 0);
	before = v;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(parse(cases[i].name, cases[i].text), -1);
		if (!strstr(why, cases[i].why))
			fail_msg("%s = '%s': %s", cases[i].name, cases[i].text, why);
	}
	/* nothing is half set */
	assert_memory_equal(&v, &before, sizeof v);
}

/* What is taken can be spelt: else the worker would not hear of it and take the default. */
static void the_longest_text(void **state)
{
	char text[OPTION_SPELT + 1], spelt[OPTION_SPELT];
	const struct pkrun_option *row = option_find(table, "label");

	(void)state;
	memset(text, 'x', sizeof text);
	text[OPTION_SPELT] = 0;
	assert_int_equal(option_parse(row, text, &v, why, sizeof why), -1);
	assert_non_null(strstr(why, "x...' has 1024 bytes, at most 1023"));
	assert_int_equal(option_parse(row, text + 1, &v, why, sizeof why), 0);
	assert_int_equal(option_spell(row, &v, spelt, sizeof spelt), 0);
	assert_string_equal(spelt, text + 1);
}

/* A locale with a decimal comma, made here where localedef can: 0, or -1. */
static int take_comma_locale(char *folder)
{
	char command[300], number[20];

	if (!mkdtemp(folder))
		return -1;
	snprintf(command, sizeof command,
		 "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
	if (system(command) < 0)
		return -1;
	setenv("LOCPATH", folder, 1);
	if (!setlocale(LC_ALL, "de_DE.UTF-8"))
		return -1;
	snprintf(number, sizeof number, "%.1f", 0.5);
	return strcmp(number, "0,5") ? -1 : 0;
}

/* Whatever the user's locale, or one that a plugin set: numbers keep their point. */
static void locales(void **state)
{
	char folder[] = "/tmp/test_options.XXXXXX", command[100];
	int taken = take_comma_locale(folder);

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", folder);
	assert_int_equal(system(command), 0);
	if (taken)
		skip();
	assert_int_equal(parse("tol", "0.25"), 0);
	assert_true(v.tol == 0.25);
	assert_string_equal(spell("tol"), "0.25");
	assert_int_equal(parse("tol", "0,25"), -1);
	assert_int_equal(parse("tol", "2.5"), -1);
	assert_string_equal(why, "'2.5' is outside 1e-12..1");
	setlocale(LC_ALL, "C");
}

static void no_room(void **state)
{
	char small[3];

	(void)state;
	v.count = 100;
	assert_int_equal(option_spell(option_find(table, "count"), &v, small, sizeof small), -1);
	v.how.index = 9;
	assert_int_equal(option_spell(option_find(table, "how"), &v, small, sizeof small), -1);
}

static void help(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	assert_non_null(f);
	option_help(table, f);
	fclose(f);
	assert_non_null(strstr(text, "count = 3                  how many (1..100; step)\n"));
	assert_non_null(strstr(text, "how = spin                 wait (usleep:N|spin|N|spinner, N in 0..1000; us)\n"));
	assert_non_null(strstr(text, "tol = 0.5                  tolerance (1e-12..1)\n"));
	assert_non_null(strstr(text, "flag = yes                 switch (yes | no)\n"));
	free(text);
}

/* No line of more than 100 columns, and no word lost. */
static void long_help(void **state)
{
	static const struct pkrun_option rows[] = {
		{"blocks", PKRUN_INT, 0, "1", 1, 9, NULL, "block",
		 "one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
		 "fifteen sixteen seventeen eighteen nineteen twenty"},
		{}};
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	assert_non_null(f);
	option_help(rows, f);
	fclose(f);
	assert_string_equal(text,
		"  blocks = 1                 one two three four five six seven eight nine ten eleven "
		"twelve thirteen\n"
		"                             fourteen fifteen sixteen seventeen eighteen nineteen twenty (1..9;\n"
		"                             block)\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults), cmocka_unit_test(good),    cmocka_unit_test(bad),
		cmocka_unit_test(the_longest_text),
		cmocka_unit_test(locales),  cmocka_unit_test(no_room), cmocka_unit_test(help),
		cmocka_unit_test(long_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
