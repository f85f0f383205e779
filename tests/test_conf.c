/* SPDX-License-Identifier: MIT
 *
 * test_conf.c - reading INI files: nothing cut, joined or skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "ini/conf.h"

static char said[20000];

static void hear(void *user, const char *message)
{
	(void)user;
	strncat(said, message, sizeof said - strlen(said) - 2);
	strcat(said, "\n");
}

static int read_sized(struct conf *c, const char *text, size_t size)
{
	said[0] = 0;
	return conf_read_buffer(c, "a.ini", text, size, hear, NULL);
}

static int read_text(struct conf *c, const char *text)
{
	return read_sized(c, text, strlen(text));
}

static const char *value(const struct conf *c, const char *section, const char *key)
{
	const struct conf_section *s = conf_section(c, section);

	for (size_t i = 0; s && i < s->n_entries; i++)
		if (!strcmp(s->entries[i].key, key))
			return s->entries[i].value;
	return NULL;
}

static void refused(const char *text, const char *with)
{
	struct conf c;

	assert_int_equal(read_text(&c, text), -1);
	if (!strstr(said, with))
		print_error("expected '%s' in: %s", with, said);
	assert_non_null(strstr(said, with));
}

static void plain(void **state)
{
	struct conf c;

	(void)state;
	assert_int_equal(read_text(&c, "; head\n# too\n\n[global]\nn = 3 ; why\n\n[a b]\nso=/opt/v:2/x.so\n"
				   "label = a;b\n[last]\nk = v"), 0);
	assert_int_equal(c.n_sections, 3);
	assert_string_equal(value(&c, "global", "n"), "3");
	assert_string_equal(value(&c, "a b", "so"), "/opt/v:2/x.so");
	assert_string_equal(value(&c, "a b", "label"), "a;b");
	assert_string_equal(value(&c, "last", "k"), "v");
	assert_int_equal(c.sections[1].line, 7);
	assert_int_equal(c.sections[1].entries[1].line, 9);
	conf_free(&c);
}

/* a01: a list of 80 numbers, and lines of every length around inih's limit */
static void long_lines(void **state)
{
	char text[70000];
	struct conf c;

	(void)state;
	for (int length = 190; length < 210; length++) {
		for (int end = 0; end < 3; end++) {
			const char *const ends[] = {"\n", "\r\n", ""};
			int n = sprintf(text, "[m]\nn = ");

			memset(text + n, '7', (size_t)length - 4);
			sprintf(text + n + length - 4, "%s", ends[end]);
			assert_int_equal(read_text(&c, text), 0);
			assert_int_equal(strlen(value(&c, "m", "n")), length - 4);
			conf_free(&c);
		}
	}
	memset(text, '7', sizeof text);
	memcpy(text, "[m]\nn = ", 8);
	text[4 + 65000] = '\n';
	text[4 + 65001] = 0;
	assert_int_equal(read_text(&c, text), 0);
	assert_int_equal(strlen(value(&c, "m", "n")), 65000 - 4);
	conf_free(&c);
	text[4 + 65000] = '7';
	text[4 + 65001] = 0;
	refused(text, "a.ini:2: the line has 65001 bytes; at most 65000");
}

/* a02: every bad line is named, and the keys behind a bad header go nowhere */
static void bad_lines(void **state)
{
	struct conf c;

	(void)state;
	assert_int_equal(read_text(&c, "[m]\nn = 64\nbroken line\nreps = 3\n[unclosed\nm = 1\nm = 2\n"), -1);
	assert_string_equal(said, "a.ini:3: neither [section] nor `key = value`: 'broken line'\n"
				  "a.ini:5: neither [section] nor `key = value`: '[unclosed'\n");
	refused("k = 1\n[m]\nn=1\n", "a.ini:1: 'k' stands before the first [section]");
	refused("[m] x\nn = 1\n", "a.ini:1: text after the section's ']'");
	refused("[]\nn = 1\n", "a.ini:1: a section name that is empty");
	refused("[ m]\nn = 1\n", "a.ini:1: a section name that is empty or has blanks");
	refused("[m]\n= 3\n", "a.ini:2: expected `key = value`");
	refused("[m\nn]\nn=1\n", "a.ini:1: neither");
}

static void section_names(void **state)
{
	char text[100];
	struct conf c;

	(void)state;
	for (int length = 45; length < 55; length++) {
		memset(text, 'a', sizeof text);
		text[0] = '[';
		strcpy(text + 1 + length, "]\nn = 1\n");
		if (length <= 49) {
			assert_int_equal(read_text(&c, text), 0);
			assert_int_equal(strlen(c.sections[0].name), length);
			conf_free(&c);
		} else {
			refused(text, "a.ini:1: section name too long");
		}
	}
	assert_int_equal(read_text(&c, "[tile(8,16) \"fast\"]\nn = 1\n[=x]\nn = 2\n[\u6f22.y]\nn = 3\n"), 0);
	assert_string_equal(c.sections[0].name, "tile(8,16) \"fast\"");
	assert_string_equal(value(&c, "=x", "n"), "2");
	conf_free(&c);
}

/* a03 */
static void indented(void **state)
{
	(void)state;
	refused("[m]\nn = 64\n  tile = 16\nreps = 3\n", "a.ini:3: an indented line");
	refused("[m]\nn = 64\n\n; c\n\ttile = 16\n", "a.ini:5: an indented line");
	refused("[m]\nn = 64\n ; c\n", "a.ini:3: an indented line");
}

static void blank_lines(void **state)
{
	struct conf c;

	(void)state;
	assert_int_equal(read_text(&c, "[m]\n   \nn = 64\n\t\n"), 0);
	assert_string_equal(value(&c, "m", "n"), "64");
	conf_free(&c);
}

/* a06 */
static void twice(void **state)
{
	(void)state;
	refused("[m]\nn = 64\nn = 128\n", "a.ini:3: 'n' was already set at line 2");
	refused("[m]\nn = 1\n[o]\nx = 3\n[m]\nr = 3\n", "a.ini:5: section [m] was already opened at line 1");
	refused("[m]\nn = 1\n[m]\nr = 3\n", "a.ini:3: section [m] was already opened at line 1");
}

/* a08 */
static void comments(void **state)
{
	(void)state;
	refused("[m]\nn = 64 # points\n", "a.ini:2: '#' does not begin a comment");
	refused("[m]\nn = # points\n", "a.ini:2: '#' does not begin a comment");
	refused("[m]\nmode:graph = 1\n", "a.ini:2: expected `key = value`: 'mode:graph = 1'");
	refused("[m]\nmode : graph\n", "a.ini:2: expected `key = value`");
	refused("[m]\nn ; = 1\n", "a.ini:2: neither");
}

/* a09 */
static void encodings(void **state)
{
	struct conf c;

	(void)state;
	assert_int_equal(read_text(&c, "\xef\xbb\xbf[m]\r\nn = 64\r\nso = ./v.so\r\n"), 0);
	assert_string_equal(value(&c, "m", "n"), "64");
	assert_string_equal(value(&c, "m", "so"), "./v.so");
	conf_free(&c);
	assert_int_equal(read_sized(&c, "\xff\xfe[\0m\0]\0\n\0", 10), -1);
	assert_non_null(strstr(said, "UTF-16"));
	assert_int_equal(read_sized(&c, "[\0m\0]\0\n\0n\0=\0", 12), -1);
	assert_non_null(strstr(said, "NUL"));
	refused("[m]\rn = 1\r", "a.ini:1: a carriage return within the line");
	refused("[m]\n\xef\xbb\xbfn = 1\n", "a.ini:2: a byte order mark");
	refused("[m]\nn = \xe9t\xe9\n", "a.ini:2: not UTF-8 (byte 0xe9)");
	refused("[m]\nn = \033[31m\n", "a.ini:2: a control character (0x1b)");
}

/* a10 */
static void no_content(void **state)
{
	struct conf c;
	char dir[] = "/tmp/test_conf.XXXXXX", path[100];

	(void)state;
	refused("", "a.ini: the file is empty");
	refused("; only\n# comments\n\n", "a.ini: no [section]");
	refused("[m]\n", "a.ini:1: section [m] has no keys");
	refused("[m]\n[o]\nn = 1\n", "a.ini:1: section [m] has no keys");
	said[0] = 0;
	assert_int_equal(conf_read(&c, "/tmp", hear, NULL), -1);
	assert_string_equal(said, "/tmp: is a directory, not a matrix\n");
	said[0] = 0;
	assert_int_equal(conf_read(&c, "/dev/null", hear, NULL), -1);
	assert_string_equal(said, "/dev/null: the file is empty\n");
	said[0] = 0;
	assert_int_equal(conf_read(&c, "/nonexistent/a.ini", hear, NULL), -1);
	assert_string_equal(said, "/nonexistent/a.ini: cannot read: No such file or directory\n");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/a.ini", dir);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs("[m]\nn = 1\n", f);
	fclose(f);
	assert_int_equal(conf_read(&c, path, hear, NULL), 0);
	assert_string_equal(c.text, "[m]\nn = 1\n");
	conf_free(&c);
	if (geteuid()) {
		chmod(path, 0);
		said[0] = 0;
		assert_int_equal(conf_read(&c, path, hear, NULL), -1);
		assert_non_null(strstr(said, "Permission denied"));
	}
	unlink(path);
	rmdir(dir);
}

/* a13 */
static void empty_values(void **state)
{
	struct conf c;

	(void)state;
	assert_int_equal(read_text(&c, "[m]\nn = 64\nreps=\ntile =\t\nx = ; y\nmode = "), -1);
	assert_string_equal(said, "a.ini:3: 'reps' has no value\na.ini:4: 'tile' has no value\n"
				  "a.ini:5: 'x' has no value\na.ini:6: 'mode' has no value\n");
}

static void limits(void **state)
{
	static char text[200000];
	size_t n;

	(void)state;
	n = 0;
	for (int i = 0; i < 1001; i++)
		n += (size_t)sprintf(text + n, "[s%d]\nn = 1\n", i);
	refused(text, "more than 1000 sections");
	n = (size_t)sprintf(text, "[s]\n");
	for (int i = 0; i < 201; i++)
		n += (size_t)sprintf(text + n, "k%d = 1\n", i);
	refused(text, "more than 200 keys in [s]");
	n = 0;
	for (int i = 0; i < 2000; i++)
		n += (size_t)sprintf(text + n, "x\n");
	refused(text, "too many errors; the rest was not read");
}

static void set(void **state)
{
	struct conf c;

	(void)state;
	assert_int_equal(read_text(&c, "[a]\nn = 1\n[a.b]\nn = 2\n"), 0);
	assert_int_equal(conf_set(&c, "a.n=5", hear, NULL), 0);
	assert_int_equal(conf_set(&c, "a.b.n=6", hear, NULL), 0);
	assert_int_equal(conf_set(&c, "a.new = x=y.z", hear, NULL), 0);
	assert_int_equal(conf_set(&c, "global.g=7", hear, NULL), 0);
	assert_string_equal(value(&c, "a", "n"), "5");
	assert_string_equal(value(&c, "a.b", "n"), "6");
	assert_string_equal(value(&c, "a", "new"), "x=y.z");
	assert_string_equal(value(&c, "global", "g"), "7");
	static const char *const bad[] = {"c.n=1", "n=1", "a.n", "a.n=", "a.=1", "a. n=1", "", ".",
					  "a.n=1\nm=2", "a.[x]=", "a.[x]", "a.;n=1", "a.n=\033", "a.n=1 # x"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		said[0] = 0;
		assert_int_equal(conf_set(&c, bad[i], hear, NULL), -1);
		assert_true(said[0]);
	}
	assert_string_equal(value(&c, "a", "n"), "5");
	conf_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain),	 cmocka_unit_test(long_lines),
		cmocka_unit_test(bad_lines),	 cmocka_unit_test(section_names),
		cmocka_unit_test(indented),	 cmocka_unit_test(blank_lines),
		cmocka_unit_test(twice),	 cmocka_unit_test(comments),
		cmocka_unit_test(encodings),	 cmocka_unit_test(no_content),
		cmocka_unit_test(empty_values),	 cmocka_unit_test(limits),
		cmocka_unit_test(set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
