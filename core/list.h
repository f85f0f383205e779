/* SPDX-License-Identifier: MIT
 *
 * list.h - the value of a key as a list: words, and ranges of integers
 * lo..hi+step and lo..hi*factor, which are counted and computed, never written out.
 */
#ifndef PKRUN_LIST_H
#define PKRUN_LIST_H

#include <stddef.h>
#include <stdint.h>

/* One item of a list: a word, or a range of integers. */
struct item {
	const char *text;	/* without blanks around it; "" is a mistake */
	const char *wrong;	/* has `..` but is no range: why */
	int is_range, is_factor;
	int64_t lo, step;
	uint64_t count;
};

struct list {
	char *text;		/* what the items point into */
	size_t n;
	struct item *items;
	int has_ranges;		/* else value number k is item number k */
};

/* Take a value apart; never fails: what is wrong is with the item. */
void list_split(struct list *l, const char *value);
void list_free(struct list *l);
/* How many values, UINT64_MAX for that and more.  ranges: 0 if `..` is nothing special here (a path). */
uint64_t list_count(const struct list *l, int ranges);
/* Value number k < list_count(), in the list or in buf. */
const char *list_value(const struct list *l, uint64_t k, int ranges, char buf[32]);
/* Blanks at both ends taken away, in place. */
char *list_trim(char *s);

uint64_t list_saturating_multiply(uint64_t a, uint64_t b);
uint64_t list_saturating_add(uint64_t a, uint64_t b);

#endif
