/* SPDX-License-Identifier: MIT
 *
 * barrier.cpp - the barriers of a block and of a cooperative grid.
 *
 * Divergence is undefined on a GPU; here it stops the process and says who is
 * where (unless PKH_STRICT=0, when those that are left make the barrier).
 */
#include <cstring>
#include "sched.h"

/* ---- barriers */

static void release_waiting(block *b, fiber_state waiting)
{
	for (unsigned i = 0; i < b->threads; i++) {
		if (b->fibers[i].state != waiting)
			continue;
		b->fibers[i].state = FIBER_READY;
		b->ready.push_back(i);
	}
}

static void barrier_open(block *b)
{
	b->arrived = 0;
	b->generation++;
	release_waiting(b, FIBER_BARRIER);
}

static bool same_place(const char *file, int line, const char *file2, int line2)
{
	return line == line2 && (file == file2 || strcmp(file, file2) == 0);
}

void pkh_barrier(const char *file, int line)
{
	fiber *f = kernel_fiber("__syncthreads()");
	block *b = f->block;
	char *order = &b->order[b->generation & 1];

	f->file = file;
	f->line = line;
	if (b->arrived == 0) {
		b->barrier_file = file;
		b->barrier_line = line;
	} else if (sched.device->set.strict &&
	           !same_place(file, line, b->barrier_file, b->barrier_line)) {
		f->state = FIBER_BARRIER;
		stop("barrier divergence: threads of a block wait at different __syncthreads", b);
	}
	if (sched.device->set.strict && b->alive != b->threads) {
		f->state = FIBER_BARRIER;
		stop("barrier divergence: __syncthreads after a thread of the block has returned",
		     b);
	}
	tsan_release(order);
	if (++b->arrived < b->alive) {
		fiber_leave(f, FIBER_BARRIER);
	} else {
		barrier_open(b);
		if (sched.device->set.seeded)
			fiber_leave(f, FIBER_READY);
	}
	tsan_acquire(order);
}

/* Threads that have not returned. */
static uint64_t grid_threads(const op *o)
{
	return o->work->blocks * o->work->threads - o->threads_done;
}

static void grid_open(op *o)
{
	o->grid.arrived = 0;
	o->grid.generation++;
	for (block *b : sched.active)
		if (b->op == o)
			release_waiting(b, FIBER_GRID);
}

void pkh_grid_barrier(const char *file, int line)
{
	fiber *f = kernel_fiber("this_grid().sync()");
	op *o = f->block->op;
	grid_barrier *g = &o->grid;
	char *order = &g->order[g->generation & 1];

	f->file = file;
	f->line = line;
	if (!o->work->cooperative)
		stop("this_grid().sync() in a kernel that was not launched cooperatively",
		     f->block);
	if (g->arrived == 0) {
		g->file = file;
		g->line = line;
	}
	if (sched.device->set.strict &&
	    (o->threads_done != 0 || !same_place(file, line, g->file, g->line))) {
		f->state = FIBER_GRID;
		stop(o->threads_done != 0
		             ? "barrier divergence: grid barrier after a thread has returned"
		             : "barrier divergence: threads wait at different grid barriers",
		     nullptr);
	}
	tsan_release(order);
	if (++g->arrived < grid_threads(o)) {
		fiber_leave(f, FIBER_GRID);
	} else {
		grid_open(o);
		if (sched.device->set.seeded)
			fiber_leave(f, FIBER_READY);
	}
	tsan_acquire(order);
}

static void block_returned(block *b)
{
	if (sched.device->set.strict)
		stop("barrier divergence: a thread has returned while others of its block wait at "
		     "__syncthreads",
		     b);
	if (b->arrived == b->alive)
		barrier_open(b);
}

static void grid_returned(op *o)
{
	if (sched.device->set.strict)
		stop("barrier divergence: a thread has returned while others wait at the grid "
		     "barrier",
		     nullptr);
	if (o->grid.arrived == grid_threads(o))
		grid_open(o);
}

void barrier_returned(block *b)
{
	if (b->arrived != 0)
		block_returned(b);
	if (b->op->grid.arrived != 0)
		grid_returned(b->op);
}
