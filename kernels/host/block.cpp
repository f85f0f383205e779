/* SPDX-License-Identifier: MIT
 *
 * block.cpp - blocks: shared memory, their threads, and which of them are
 * resident.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include "sched.h"

/* ---- shared memory */

void *pkh_shared(const void *key, size_t bytes, const char *name)
{
	block *b = kernel_fiber("PK_SHARED")->block;
	size_t begin, size = b->op->work->dynamic_bytes + PKH_BLOCK_SHARED;

	for (const slot &s : b->slots)
		if (s.key == key)
			return s.p;
	tsan_quiet quiet;
	begin = (b->arena_used + 15) & ~(size_t)15;
	if (begin + bytes > size) {
		fprintf(stderr,
		        "host device: PK_SHARED %s: %zu bytes, but only %zu of %u are left\n", name,
		        bytes, size - begin, PKH_BLOCK_SHARED);
		stop("a block's shared memory is exhausted", b);
	}
	b->slots.push_back({key, b->arena + begin});
	b->arena_used = begin + bytes;
	memset(b->arena + begin, PKH_POISON, bytes);
	return b->arena + begin;
}

void *pkh_shared_dynamic(void)
{
	return kernel_fiber("PK_SHARED_DYN")->block->arena;
}

/* ---- blocks */

#define ARENA_ALIGN 128

static block *block_make(void)
{
	block *b;

	if (sched.spare.empty())
		return new block();
	b = sched.spare.back();
	sched.spare.pop_back();
	return b;
}

/* Under the checker nothing is used twice: what it knows of an address goes with free(). */
static void block_drop(block *b)
{
#ifdef PKH_TSAN
	for (fiber &f : b->fibers) {
		tsan_forget(f.tsan);
		tsan_destroy(f.tsan);
	}
	free(b->arena);
	delete b;
#else
	sched.spare.push_back(b);
#endif
}

static bool same_dim(dim3 a, dim3 b)
{
	return a.x == b.x && a.y == b.y && a.z == b.z;
}

static void block_fibers(block *b, const op_work *w)
{
	unsigned i = 0;

	b->fibers.resize(w->threads);
	b->ready.reserve(w->threads);
	b->round.reserve(w->threads);
	for (unsigned z = 0; z < w->block.z; z++)
		for (unsigned y = 0; y < w->block.y; y++)
			for (unsigned x = 0; x < w->block.x; x++, i++) {
				b->fibers[i] = {{{x, y, z}, &b->place},
				                nullptr,
				                nullptr,
				                b,
				                nullptr,
				                0,
				                FIBER_READY,
				                nullptr};
			}
#ifdef PKH_TSAN
	/* A new fiber inherits the order of its maker: one that knows nothing. */
	tsan_switch(sched.tsan_neutral);
	for (fiber &f : b->fibers)
		f.tsan = tsan_create();
	tsan_switch(sched.tsan);
#endif
}

/* The static arrays get their poison when they are first asked for. */
static void block_arena(block *b, size_t dynamic_bytes)
{
	size_t size =
	        (dynamic_bytes + PKH_BLOCK_SHARED + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);

	if (b->arena_size < size) {
		free(b->arena);
		b->arena = (char *)aligned_alloc(ARENA_ALIGN, size);
		if (b->arena == nullptr)
			stop("no memory for a block's shared memory", nullptr);
		b->arena_size = size;
	}
	memset(b->arena, PKH_POISON, dynamic_bytes);
	b->arena_used = dynamic_bytes;
	b->slots.clear();
	b->slots.reserve(16);
}

/* To be picked from at random, all threads have begun. */
static void block_all_ready(block *b)
{
	fiber *f;

	while ((f = fiber_next_fresh(b)) != nullptr)
		b->ready.push_back((unsigned)(f - b->fibers.data()));
}

static void block_start(op *o)
{
	const op_work *w = o->work.get();
	tsan_quiet quiet;
	block *b = block_make();
	uint64_t n = o->next_block++;

	b->place.block = {(unsigned)(n % w->grid.x), (unsigned)(n / w->grid.x % w->grid.y),
	                  (unsigned)(n / w->grid.x / w->grid.y)};
	if (b->fibers.empty() || !same_dim(b->place.block_dim, w->block)) {
		b->place.block_dim = w->block;
		block_fibers(b, w);
	}
	b->place.grid_dim = w->grid;
	b->op = o;
	b->number = n;
	b->threads = b->alive = w->threads;
	b->arrived = b->generation = 0;
	block_arena(b, w->dynamic_bytes);
	b->fresh = 0;
	if (sched.device->set.seeded)
		block_all_ready(b);
	sched.active.push_back(b);
	sched.share_used += w->share;
	o->resident++;
}

static void block_end(block *b)
{
	op *o = b->op;
	tsan_quiet quiet;

	sched.share_used -= o->work->share;
	sched.refill = true;
	o->resident--;
	block_drop(b);
	if (++o->blocks_done == o->work->blocks)
		stream_finish(o);
}

/* ---- which blocks are resident */

static bool kernel_fits(const op *o)
{
	const op_work *w = o->work.get();
	uint64_t blocks = w->cooperative && o->next_block == 0 ? w->blocks : 1;

	if (o->resident >= w->resident_max)
		return false;
	return sched.share_used + blocks * w->share <= PKH_UNITS * PKH_UNIT_THREADS;
}

/* For the time limit: when did the oldest of the resident kernels begin? */
static void sched_note_oldest(void)
{
	int64_t oldest = 0;

	for (const block *b : sched.active)
		if (oldest == 0 || b->op->began_ns < oldest)
			oldest = b->op->began_ns;
	sched.kernel_began.store(oldest, std::memory_order_relaxed);
}

void sched_fill(void)
{
	sched.refill = false;
	for (size_t i = 0; i < sched.kernels.size();) {
		op *o = sched.kernels[i];

		while (o->next_block < o->work->blocks && kernel_fits(o))
			block_start(o);
		if (o->next_block == o->work->blocks)
			sched.kernels.erase(sched.kernels.begin() + (ptrdiff_t)i);
		else
			i++;
	}
	sched_note_oldest();
}

void sched_begin(op *kernel)
{
	kernel->began_ns = clock_ns();
	sched.kernels.push_back(kernel);
	sched.refill = true;
}

void sched_reap(void)
{
	sched.reap = false;
	for (size_t i = 0; i < sched.active.size();) {
		block *b = sched.active[i];

		if (b->alive != 0) {
			i++;
			continue;
		}
		sched.active[i] = sched.active.back();
		sched.active.pop_back();
		block_end(b);
	}
	sched_note_oldest();
}
