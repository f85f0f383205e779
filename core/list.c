/* SPDX-License-Identifier: MIT
 *
 * list.c - words and ranges.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "list.h"

char *list_trim(char *s)
{
	size_t length;

	s += strspn(s, " \t");
	length = strlen(s);
	while (length && strchr(" \t", s[length - 1]))
		s[--length] = 0;
	return s;
}

/* An integer at *s, blanks after it skipped: 0 and *s behind it, or -1. */
static int take_int(const char **s, int64_t *out)
{
	const char *digit = *s + (**s == '-' || **s == '+');
	char *end;

	if (*digit < '0' || *digit > '9')
		return -1;
	errno = 0;
	*out = strtoll(*s, &end, 10);
	if (errno)
		return -1;
	*s = end + strspn(end, " \t");
	return 0;
}

static uint64_t count_factor(int64_t lo, int64_t hi, int64_t factor)
{
	uint64_t count = 1;

	for (; lo <= hi / factor; lo *= factor)
		count++;
	return count;
}

/* Take `lo..hi+step` or `lo..hi*factor` apart: NULL, or why it is neither. */
static const char *take_range(struct item *i)
{
	const char *s = i->text;
	int64_t hi;
	char op;

	if (take_int(&s, &i->lo) || strncmp(s, "..", 2))
		return "a range is lo..hi+step or lo..hi*factor, of 64-bit integers";
	s += 2 + strspn(s + 2, " \t");
	if (take_int(&s, &hi))
		return "a range is lo..hi+step or lo..hi*factor, of 64-bit integers";
	op = *s;
	if (!op)
		return "a range needs its step: lo..hi+step or lo..hi*factor";
	s += 1 + strspn(s + 1, " \t");
	if ((op != '+' && op != '*') || *s == '+' || take_int(&s, &i->step) || *s)
		return "a range is lo..hi+step or lo..hi*factor, of 64-bit integers";
	if (i->lo > hi)
		return "the range is empty: its first number is above its last";
	if (op == '+' && i->step < 1)
		return "the step of a range must be at least 1";
	if (op == '*' && i->step < 2)
		return "the factor of a range must be at least 2";
	if (op == '*' && i->lo < 1)
		return "a range with a factor must start at 1 or above";
	i->is_range = 1;
	i->is_factor = op == '*';
	if (i->is_factor)
		i->count = count_factor(i->lo, hi, i->step);
	else
		i->count = ((uint64_t)hi - (uint64_t)i->lo) / (uint64_t)i->step + 1;
	if (!i->count)
		i->count = UINT64_MAX;	/* 2^64 */
	return NULL;
}

static int64_t range_value(const struct item *i, uint64_t k)
{
	int64_t value = i->lo;

	if (!i->is_factor)
		return (int64_t)((uint64_t)i->lo + k * (uint64_t)i->step);
	for (; k; k--)
		value *= i->step;
	return value;
}

uint64_t list_saturating_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint64_t list_saturating_multiply(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

void list_split(struct list *l, const char *value)
{
	char *rest, *piece;

	*l = (struct list){.text = strdup(value)};
	rest = l->text;
	if (!rest)
		abort();
	while ((piece = strsep(&rest, ","))) {
		struct item *i;

		/* doubles at powers of two */
		if (!(l->n & (l->n - 1)))
			l->items = realloc(l->items, (l->n ? 2 * l->n : 1) * sizeof *i);
		if (!l->items)
			abort();
		i = &l->items[l->n++];
		*i = (struct item){.text = list_trim(piece), .count = 1};
		if (strstr(i->text, ".."))
			i->wrong = take_range(i);
		l->has_ranges |= i->is_range;
	}
}

void list_free(struct list *l)
{
	free(l->items);
	free(l->text);
	*l = (struct list){0};
}

static uint64_t item_count(const struct item *i, int ranges)
{
	return ranges && i->is_range ? i->count : 1;
}

uint64_t list_count(const struct list *l, int ranges)
{
	uint64_t count = 0;

	for (size_t i = 0; i < l->n; i++)
		count = list_saturating_add(count, item_count(&l->items[i], ranges));
	return count;
}

const char *list_value(const struct list *l, uint64_t k, int ranges, char buf[32])
{
	const struct item *i = l->items;

	if (!l->has_ranges)
		return i[k].text;
	for (; k >= item_count(i, ranges); i++)
		k -= item_count(i, ranges);
	if (!ranges || !i->is_range)
		return i->text;
	snprintf(buf, 32, "%" PRId64, range_value(i, k));
	return buf;
}
