/* SPDX-License-Identifier: MIT
 *
 * test_say.c - durations, foreign text, exit codes (cases h10, h11, h13).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/say.h"

static void check_ns(double ns, const char *want)
{
	char buf[32];

	assert_string_equal(say_ns(ns, buf), want);
}

static void test_ns_unit_after_rounding(void **state)
{
	check_ns(999, "999 ns");
	check_ns(999.4, "999 ns");
	check_ns(999.5, "1.00 us");
	check_ns(1000, "1.00 us");
	check_ns(999600, "1.00 ms");
	check_ns(999499, "999 us");
	check_ns(1000e3, "1.00 ms");
	check_ns(999.6e6, "1.00 s");
	check_ns(59.9996e9, "60.0 s");
	check_ns(1.5e9, "1.50 s");
}

static void test_ns_digits(void **state)
{
	check_ns(100.4, "100 ns");
	check_ns(100.3, "100 ns");
	check_ns(3470, "3.47 us");
	check_ns(9.994, "9.99 ns");
	check_ns(9.996, "10.0 ns");
	check_ns(99.94, "99.9 ns");
	check_ns(99.96, "100 ns");
	check_ns(12345e9, "12345 s");
}

static void test_ns_odd(void **state)
{
	check_ns(0, "0 ns");
	check_ns(0.25, "0.25 ns");
	check_ns(-3470, "-3.47 us");
	check_ns(NAN, "n/a");
	check_ns(INFINITY, "n/a");
	check_ns(1e300, "1e+291 s");
}

static void check_text(const char *text, int width, const char *want)
{
	char buf[256];

	assert_string_equal(say_text(text, width, buf, sizeof(buf)), want);
	if (width)
		assert_true(say_columns(buf) <= width);
}

static void test_text_control(void **state)
{
	check_text("\033[31mred", 0, "\\x1b[31mred");
	check_text("two\nlines\tand\rmore", 0, "two\\nlines\\tand\\rmore");
	check_text("bell\a del\177", 0, "bell\\x07 del\\x7f");
	check_text("csi \xc2\x9b", 0, "csi \\x9b");
	check_text("turned \xe2\x80\xae", 0, "turned \\u202e");
	check_text("broken \xff\xc3", 0, "broken \\xff\\xc3");
	check_text("overlong \xc0\xaf", 0, "overlong \\xc0\\xaf");
	check_text("surrogate \xed\xa0\x80", 0, "surrogate \\xed\\xa0\\x80");
}

static void test_text_cut(void **state)
{
	check_text("persistent_neighbour", 20, "persistent_neighbour");
	check_text("persistent_neighbours", 20, "persistent_neighb...");
	check_text("abcd", 3, "...");
	check_text("abcd", 2, "..");
	check_text("abc", 3, "abc");
	check_text("", 3, "");
	/* a character of two columns does not fit into one */
	check_text("\xe6\xa0\xb8\xe5\xbf\x83\xe6\xa0\xb8\xe5\xbf\x83", 8,
		   "\xe6\xa0\xb8\xe5\xbf\x83\xe6\xa0\xb8\xe5\xbf\x83");
	check_text("\xe6\xa0\xb8\xe5\xbf\x83\xe6\xa0\xb8\xe5\xbf\x83", 6, "\xe6\xa0\xb8...");
	check_text("\033\033\033", 9, "\\x1b...");
}

static void test_text_long(void **state)
{
	static char text[10001];
	char buf[64];

	memset(text, 'x', 10000);
	say_text(text, 0, buf, sizeof(buf));
	assert_int_equal(strlen(buf), 63);
	assert_string_equal(buf + 60, "...");
	say_text(text, 300, buf, sizeof(buf));
	assert_int_equal(strlen(buf), 63);
}

static void test_columns(void **state)
{
	assert_int_equal(say_columns("abc"), 3);
	assert_int_equal(say_columns("\xe6\xa0\xb8\xe5\xbf\x83"), 4);
	assert_int_equal(say_columns("\xf0\x9f\x9a\x80"), 2);
	assert_int_equal(say_columns("e\xcc\x81"), 1);
	assert_int_equal(say_columns("\xc3\xa9"), 1);
}

static void test_terminal(void **state)
{
	setenv("COLUMNS", "40", 1);
	assert_int_equal(say_terminal(0), 40);
	setenv("COLUMNS", "forty", 1);
	assert_int_equal(say_terminal(-1), 0);
	unsetenv("COLUMNS");
	assert_int_equal(say_terminal(-1), 0);
}

static void test_exit(void **state)
{
	assert_int_equal(say_exit_worse(0, 0), 0);
	assert_int_equal(say_exit_worse(EXIT_CELL, EXIT_HANG), EXIT_HANG);
	assert_int_equal(say_exit_worse(EXIT_CELL, EXIT_USAGE), EXIT_CELL);
	assert_int_equal(say_exit_worse(EXIT_USAGE, EXIT_ENVIRONMENT), EXIT_USAGE);
	assert_int_equal(say_exit_worse(EXIT_REGRESSION, EXIT_ENVIRONMENT), EXIT_ENVIRONMENT);
	assert_int_equal(say_exit_worse(0, EXIT_REGRESSION), EXIT_REGRESSION);
	assert_int_equal(say_exit_worse(EXIT_SIGINT, EXIT_CELL), EXIT_SIGINT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ns_unit_after_rounding), cmocka_unit_test(test_ns_digits),
		cmocka_unit_test(test_ns_odd), cmocka_unit_test(test_text_control),
		cmocka_unit_test(test_text_cut), cmocka_unit_test(test_text_long),
		cmocka_unit_test(test_columns), cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_exit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
