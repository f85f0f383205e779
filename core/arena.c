/* SPDX-License-Identifier: MIT
 *
 * arena.c - memory of one cell with guard zones around each piece.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arena.h"

#define ALIGN 256

static size_t round_up(size_t n)
{
	return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static int piece_fill(struct arena *a, struct arena_piece *p, size_t from, size_t bytes)
{
	if (p->base_host) {
		memset(p->base_host + from, ARENA_POISON, bytes);
		return 0;
	}
	return a->dev->fill(p->base_dev + from, ARENA_POISON, bytes);
}

int arena_alloc(struct arena *a, const char *name, uint32_t memory, uint32_t use, size_t bytes,
		size_t guard, void **host, void **dev)
{
	struct arena_piece *p = calloc(1, sizeof(*p));
	void *h = NULL, *d = NULL;
	int rc;

	if (!p)
		return -1;
	snprintf(p->name, sizeof(p->name), "%s", name ? name : "?");
	p->memory = memory;
	p->use = use;
	p->bytes = bytes;
	p->guard = round_up(guard > ARENA_GUARD ? guard : ARENA_GUARD);
	p->total = p->guard + round_up(bytes) + p->guard;
	rc = p->total < bytes ? -1 : a->dev->alloc(memory, p->total, &h, &d);
	if (rc) {
		free(p);
		return rc;
	}
	p->base_host = h;
	p->base_dev = d;
	p->next = a->pieces;
	a->pieces = p;
	if (host)
		*host = h ? p->base_host + p->guard : NULL;
	if (dev)
		*dev = d ? p->base_dev + p->guard : NULL;
	return piece_fill(a, p, 0, p->total);
}

int arena_poison(struct arena *a)
{
	struct arena_piece *p;

	for (p = a->pieces; p; p = p->next)
		if (p->use == ARENA_POISONED && piece_fill(a, p, p->guard, p->bytes))
			return -1;
	return 0;
}

/* How many 64-bit words of a zone are no longer poison, and the first such byte. */
static int zone_check(struct arena *a, const struct arena_piece *p, size_t from, size_t bytes,
		      uint64_t *count, uint64_t *first)
{
	uint64_t poison, word;
	size_t i;

	memset(&poison, ARENA_POISON, sizeof(poison));
	*count = *first = 0;
	if (!p->base_host)
		return a->dev->differ((const uint64_t *)(p->base_dev + from), bytes / 8, poison,
				      count, first);
	for (i = 0; i < bytes / 8; i++) {
		memcpy(&word, p->base_host + from + i * 8, 8);
		if (word != poison && (*count)++ == 0)
			*first = i;
	}
	return 0;
}

/* The bytes between the end of the piece and the next multiple of 8 belong to the
 * zone behind it but are not looked at: hosts and devices compare words. */
static int piece_check(struct arena *a, const struct arena_piece *p, char *why, size_t why_size)
{
	size_t end = p->guard + (p->bytes + 7) / 8 * 8;
	uint64_t count, first;

	if (zone_check(a, p, 0, p->guard, &count, &first))
		return -1;
	if (count) {
		snprintf(why, why_size,
			 "%" PRIu64 " words before '%s' were overwritten, the first %" PRIu64
			 " bytes before it", count, p->name, (uint64_t)p->guard - first * 8);
		return 1;
	}
	if (zone_check(a, p, end, p->total - end, &count, &first))
		return -1;
	if (count) {
		snprintf(why, why_size,
			 "%" PRIu64 " words behind '%s' (%zu bytes) were overwritten, the first %"
			 PRIu64 " bytes behind it", count, p->name, p->bytes,
			 (uint64_t)(end - p->guard - p->bytes) + first * 8);
		return 1;
	}
	return 0;
}

int arena_check(struct arena *a, char *why, size_t why_size)
{
	struct arena_piece *p;
	int rc = 0;

	for (p = a->pieces; p && rc == 0; p = p->next)
		rc = piece_check(a, p, why, why_size);
	return rc;
}

void arena_free(struct arena *a)
{
	struct arena_piece *p;

	while ((p = a->pieces)) {
		a->pieces = p->next;
		a->dev->free(p->memory, p->base_host, p->base_dev);
		free(p);
	}
}
