/* SPDX-License-Identifier: MIT
 *
 * say.c - messages, the progress line, durations and foreign text.
 *
 * Widths are computed here from UTF-8, not by wcwidth(): the answer must not
 * depend on the user's locale, and pkrun stays in the C locale for numbers.
 */
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "say.h"

int say_quiet;

static int progress_shown;	/* a progress line stands on the terminal */

/* Colour on a terminal that can, unless the user says no (no-color.org). */
static int say_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && *no) && term && strcmp(term, "dumb") && isatty(STDERR_FILENO);
}

static void say_clear(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = 0;
}

static void say_line(const char *colour, const char *prefix, const char *fmt, va_list ap)
{
	int colours = *colour && say_colour();

	say_clear();
	fprintf(stderr, "%s%s%s", colours ? colour : "", prefix, colours ? "\033[0m" : "");
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	fflush(stderr);
}

void say_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_line("\033[31m", "pkrun: ", fmt, ap);
	va_end(ap);
}

void say_note(const char *fmt, ...)
{
	va_list ap;

	if (say_quiet)
		return;
	va_start(ap, fmt);
	say_line("", "", fmt, ap);
	va_end(ap);
}

int say_shows_progress(void)
{
	return !say_quiet && isatty(STDERR_FILENO);
}

void say_progress(const char *fmt, ...)
{
	char line[1024], safe[1024];
	va_list ap;

	if (!say_shows_progress())
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	fprintf(stderr, "\r\033[K%s", say_text(line, say_terminal(STDERR_FILENO) - 1, safe,
					       sizeof(safe)));
	fflush(stderr);
	progress_shown = 1;
}

void say_progress_end(void)
{
	say_clear();
	fflush(stderr);
}

/* 4 over 3 over 2 over 5 over 1 over 0; an interrupt tells more than any of them. */
int say_exit_worse(int a, int b)
{
	static const int order[] = {
		EXIT_SIGINT, EXIT_SIGTERM, EXIT_HANG, EXIT_CELL, EXIT_USAGE, EXIT_ENVIRONMENT,
		EXIT_REGRESSION,
	};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (a == order[i] || b == order[i])
			return order[i];
	return a ? a : b;
}

const char *say_ns(double ns, char buf[32])
{
	static const struct { const char *name; double ns; } units[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
	};
	double size = fabs(ns);
	char number[24];
	int i = 0, digits;

	if (!isfinite(ns))
		return strcpy(buf, "n/a");
	/* 999.5 of a unit rounds to 1000 of it, which is 1.00 of the next */
	while (i < 3 && size >= 999.5 * units[i].ns)
		i++;
	size /= units[i].ns;
	digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
	if ((size < 1 && i == 0) || size >= 1e6)
		snprintf(number, sizeof(number), "%.3g", size);
	else
		snprintf(number, sizeof(number), "%.*f", digits, size);
	snprintf(buf, 32, "%s%s %s", ns < 0 ? "-" : "", number, units[i].name);
	return buf;
}

/* ---- text ---- */

/* One character of UTF-8: its length, or 0 if the bytes are none. */
static int utf8_decode(const unsigned char *s, uint32_t *out)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	int n = *s < 0x80 ? 1 : *s >> 5 == 6 ? 2 : *s >> 4 == 14 ? 3 : *s >> 3 == 30 ? 4 : 0;
	uint32_t c = n == 1 ? *s : n ? *s & (0xffu >> (n + 1)) : 0;

	for (int i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (n && (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)))
		return 0;
	*out = c;
	return n;
}

struct range { uint32_t first, last; };

static int in_ranges(uint32_t c, const struct range *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (c >= r[i].first && c <= r[i].last)
			return 1;
	return 0;
}

/* Columns of a character, after Unicode's East Asian Width; combining marks take none. */
static int utf8_columns(uint32_t c)
{
	static const struct range none[] = {
		{ 0x300, 0x36f }, { 0x483, 0x489 }, { 0x591, 0x5bd }, { 0x610, 0x61a },
		{ 0x64b, 0x65f }, { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff }, { 0x200b, 0x200d },
		{ 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f }, { 0xe0100, 0xe01ef },
	};
	static const struct range wide[] = {
		{ 0x1100, 0x115f }, { 0x231a, 0x231b }, { 0x23e9, 0x23f3 }, { 0x25fd, 0x25fe },
		{ 0x2614, 0x2615 }, { 0x26a1, 0x26a1 }, { 0x2705, 0x2705 }, { 0x274c, 0x274c },
		{ 0x2e80, 0x303e }, { 0x3041, 0xa4cf }, { 0xa960, 0xa97c }, { 0xac00, 0xd7a3 },
		{ 0xf900, 0xfaff }, { 0xfe30, 0xfe6f }, { 0xff00, 0xff60 }, { 0xffe0, 0xffe6 },
		{ 0x1f004, 0x1f004 }, { 0x1f0cf, 0x1f0cf }, { 0x1f18e, 0x1f18e },
		{ 0x1f191, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f7e0, 0x1f7eb },
		{ 0x1f900, 0x1f9ff }, { 0x1fa70, 0x1faff }, { 0x20000, 0x3fffd },
	};

	if (c < 0x300)
		return 1;
	if (in_ranges(c, none, sizeof(none) / sizeof(none[0])))
		return 0;
	return 1 + in_ranges(c, wide, sizeof(wide) / sizeof(wide[0]));
}

/* Characters that would move the cursor, hide, or turn the direction of the text around. */
static int is_control(uint32_t c)
{
	static const struct range bad[] = {
		{ 0, 0x1f }, { 0x7f, 0x9f }, { 0x200e, 0x200f }, { 0x2028, 0x202e },
		{ 0x2066, 0x2069 }, { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb },
	};

	return in_ranges(c, bad, sizeof(bad) / sizeof(bad[0]));
}

/* The printable form of the next character; returns the bytes it took of the text. */
static int say_next(const char *text, char out[16], int *columns)
{
	const unsigned char *s = (const unsigned char *)text;
	uint32_t c;
	int n = utf8_decode(s, &c);

	if (n && !is_control(c)) {
		memcpy(out, text, (size_t)n);
		out[n] = 0;
		*columns = utf8_columns(c);
		return n;
	}
	if (n && (c == '\n' || c == '\t' || c == '\r'))
		snprintf(out, 16, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
	else if (n && c > 0xff)
		snprintf(out, 16, "\\u%04x", (unsigned)c);
	else
		snprintf(out, 16, "\\x%02x", n ? (unsigned)c : *s);
	*columns = (int)strlen(out);
	return n ? n : 1;
}

/* The last place at which "..." still fits is remembered on the way. */
const char *say_text(const char *text, int width, char *buf, unsigned long buf_size)
{
	unsigned long used = 0, cut = 0;
	int columns = 0, n, wide;
	char one[16];

	buf[0] = 0;
	for (; *text; text += n) {
		n = say_next(text, one, &wide);
		if (columns + 3 <= width && used + 4 <= buf_size)
			cut = used;
		else if (!width && used + 4 <= buf_size)
			cut = used;
		if ((width && columns + wide > width) || used + strlen(one) + 1 > buf_size) {
			snprintf(buf + cut, buf_size - cut, "%.*s",
				 width && width < 3 ? width : 3, "...");
			return buf;
		}
		strcpy(buf + used, one);
		used += strlen(one);
		columns += wide;
	}
	return buf;
}

int say_columns(const char *text)
{
	int columns = 0, n, wide;
	char one[16];

	for (; *text; text += n) {
		n = say_next(text, one, &wide);
		columns += wide;
	}
	return columns;
}

int say_terminal(int fd)
{
	const char *env = getenv("COLUMNS");
	char *end;
	long n = env ? strtol(env, &end, 10) : 0;
	struct winsize size;

	if (env && *env && !*end && n >= 20 && n <= 10000)
		return (int)n;
	if (!isatty(fd))
		return 0;
	if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_col >= 20)
		return size.ws_col;
	return 100;
}
