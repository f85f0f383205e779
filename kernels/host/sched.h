/* SPDX-License-Identifier: MIT
 *
 * sched.h - what the files that schedule share: threads as fibers, blocks, and
 * the device's own state.
 *
 * The device is one thread: whichever host thread waits for it or, with
 * PKH_WORKERS=1, one of its own.  So nothing here is locked.
 *
 *	fiber.cpp	stacks, switching, points where another may run
 *	barrier.cpp	of a block and of the grid
 *	block.cpp	shared memory; which blocks are resident
 *	stop.cpp	who is where, and exit code 97
 *	sched.cpp	rounds, the device's thread, the host's waits
 */
#ifndef PKRUN_HOST_SCHED_H
#define PKRUN_HOST_SCHED_H

#include <boost/context/detail/fcontext.hpp>
#include "runtime.h"

using boost::context::detail::fcontext_t;

enum fiber_state : uint8_t { FIBER_READY, FIBER_PAUSED, FIBER_BARRIER, FIBER_GRID, FIBER_RETURNED };

struct block;

struct fiber {
	pkh_thread self;	/* first: pkh_me points here */
	fcontext_t context;
	char *stack;		/* NULL: has not run yet, or has returned */
	struct block *block;
	const char *file;	/* where it last waited or paused */
	int line;
	fiber_state state;
	void *tsan;
};

struct slot {			/* one PK_SHARED array */
	const void *key;
	char *p;
};

struct block {
	pkh_place place;
	struct op *op;
	uint64_t number;
	unsigned threads, alive;
	unsigned fresh;			/* threads from here on have not begun */
	unsigned arrived;		/* at the barrier */
	unsigned generation;
	const char *barrier_file;
	int barrier_line;
	char order[2];			/* tsan, as in grid_barrier */
	std::vector<fiber> fibers;
	std::vector<unsigned> ready, round;
	std::vector<slot> slots;
	char *arena;			/* dynamic shared memory, then the static arrays */
	size_t arena_size, arena_used;
};

/* All of the device's own state.  Never destroyed: kernels may still run while
 * the process exits. */
struct scheduler {
	struct device *device;
	lock running;			/* workers = 0: one host thread at a time */
	std::vector<op *> kernels;	/* that have blocks left to start */
	std::vector<block *> active;
	std::vector<block *> spare;
	std::vector<char *> stacks;
	unsigned share_used;
	bool refill, reap;
	fiber *current;
	fcontext_t back;		/* the scheduler, while a fiber runs */
	bool hand_over;			/* stacks, from thread to thread: see fiber_main */
	unsigned atomics;		/* since the last switch */
	uint64_t random;
	uint64_t steps, hash;
	void *tsan, *tsan_neutral;
	std::atomic<bool> overdue;
	std::atomic<int64_t> kernel_began;	/* of the oldest resident kernel; 0: none */
};
extern scheduler &sched;

static inline struct fiber *running_fiber(void)
{
	return (fiber *)pkh_me;
}

/* fiber.cpp */
/* The GPU thread that runs now; a stop when it is host code that calls `what`. */
fiber *kernel_fiber(const char *what);
uint32_t random_next(void);
/* Back to the scheduler; returns when the fiber's turn comes again. */
void fiber_leave(fiber *f, fiber_state state);
/* The next thread of the block that has not begun; NULL: none. */
fiber *fiber_next_fresh(block *b);
/* Let thread i of b run; true if it did more than pause.  Another one may come
 * back in its place: see fiber_main. */
bool fiber_step(block *b, unsigned i);

/* barrier.cpp: a thread of b has returned; who waits only for it? */
void barrier_returned(block *b);

/* block.cpp */
void sched_fill(void);		/* start what fits, the oldest kernel first */
void sched_reap(void);		/* end blocks whose threads have all returned */

/* stop.cpp */
[[noreturn]] void stop(const char *why, const block *only);	/* only: NULL for all blocks */
void thread_make(void *(*main)(void *));	/* without the host's signals; or a stop */
void *timeout_main(void *);

#endif
