/* SPDX-License-Identifier: MIT
 *
 * params.c - compare texts of parameters.
 */
#include <string.h>
#include "params.h"

size_t params_length(const char *text)
{
	size_t n = strcspn(text, " "), next;

	while (text[n]) {
		next = strcspn(text + n + 1, " =");
		if (text[n + 1 + next] == '=')
			break;
		n += 1 + next;
	}
	return n;
}

static int params_has(const char *text, const char *one, size_t length)
{
	for (size_t n; *text; text += n + (text[n] == ' ')) {
		n = params_length(text);
		if (n == length && !memcmp(text, one, n))
			return 1;
	}
	return 0;
}

static void params_filter(char *text, const char *other, int keep)
{
	char *to = text;
	const char *next;

	for (const char *at = text; *at; at = next) {
		size_t n = params_length(at);

		next = at + n + (at[n] == ' ');
		if (params_has(other, at, n) != keep)
			continue;
		if (to != text)
			*to++ = ' ';
		memmove(to, at, n);
		to += n;
	}
	*to = 0;
}

void params_keep(char *text, const char *other)
{
	params_filter(text, other, 1);
}

void params_drop(char *text, const char *other)
{
	params_filter(text, other, 0);
}
