/* SPDX-License-Identifier: MIT
 *
 * arena.h - memory of one cell with guard zones around each piece.
 */
#ifndef PKRUN_ARENA_H
#define PKRUN_ARENA_H

#include <stddef.h>
#include <stdint.h>
#include "device.h"

#define ARENA_POISON 0xCB
#define ARENA_GUARD  4096	/* bytes before and after, at least */

enum arena_use {
	ARENA_KEEP,		/* never poisoned between trials: state, inputs, counters */
	ARENA_POISONED		/* poisoned before every trial */
};

struct arena_piece {
	struct arena_piece *next;
	char name[64];
	uint32_t memory;	/* enum pkrun_memory */
	uint32_t use;
	size_t bytes, guard, total;
	unsigned char *base_host, *base_dev;	/* either may be NULL */
};

struct arena {
	const struct pkrun_device *dev;
	struct arena_piece *pieces;
};

/* guard: more than ARENA_GUARD if wanted (a row of the grid), else 0.  What device->alloc returned:
 * 0, PKRUN_SKIP (no such memory) or -1 with the reason in dev->error(). */
int arena_alloc(struct arena *a, const char *name, uint32_t memory, uint32_t use, size_t bytes,
		size_t guard, void **host, void **dev);
int arena_poison(struct arena *a);
/* 0 intact; 1 and a sentence in why; -1 the device failed. */
int arena_check(struct arena *a, char *why, size_t why_size);
void arena_free(struct arena *a);

#endif
