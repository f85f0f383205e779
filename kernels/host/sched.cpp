/* SPDX-License-Identifier: MIT
 *
 * sched.cpp - blocks and fibers: who runs next, barriers, shared memory, stops.
 *
 * The device is one thread: whichever host thread waits for it or, with
 * PKH_WORKERS=1, one of its own.  So nothing here is locked.  It goes round the resident blocks and
 * runs each thread that is ready until that thread pauses, waits or returns;
 * between two rounds it looks at the queues, so that a copy in one stream
 * proceeds while a kernel of another spins.
 *
 * A thread gets a stack when it first runs and hands it to the next one of its
 * block when it returns: a kernel without barriers and pauses needs one stack,
 * and no switch, however large it is.
 */
#include <boost/context/detail/fcontext.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include "runtime.h"

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

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
static scheduler &sched = *new scheduler();

__thread const pkh_thread *pkh_me __attribute__((tls_model("initial-exec")));

int64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

uint64_t pkh_clock_ns(void)
{
	return (uint64_t)clock_ns();
}

static uint32_t random_next(void)
{
	sched.random ^= sched.random << 13;
	sched.random ^= sched.random >> 7;
	sched.random ^= sched.random << 17;
	return (uint32_t)(sched.random >> 16);
}

static struct fiber *running_fiber(void)
{
	return (fiber *)pkh_me;
}

int64_t sched_block(void)
{
	const fiber *f = running_fiber();

	return f != nullptr ? (int64_t)f->block->number : -1;
}

/* ---- a stop: where everybody is, then exit code 97 */

static const char *const state_text[] = {"ready", "pause", "wait at __syncthreads",
					 "wait at the grid barrier", "have returned"};

/* One line for each place where threads of the block are. */
static void stop_table(const block *b)
{
	std::vector<bool> told(b->threads);

	for (unsigned i = 0; i < b->threads; i++) {
		const fiber *f = &b->fibers[i];
		unsigned count = 0;

		if (i == b->fresh) {
			fprintf(stderr, "host device:   block %llu: %u threads (first: %u) have not begun\n",
				(unsigned long long)b->number, b->threads - i, i);
			return;
		}
		if (told[i])
			continue;
		for (unsigned k = i; k < b->fresh; k++) {
			const fiber *g = &b->fibers[k];

			if (g->state != f->state ||
			    (f->state != FIBER_RETURNED && g->line != f->line))
				continue;
			told[k] = true;
			count++;
		}
		fprintf(stderr, "host device:   block %llu: %u thread%s (first: %u) %s",
			(unsigned long long)b->number, count, count == 1 ? "" : "s", i,
			state_text[f->state]);
		if (f->state != FIBER_RETURNED && f->file != nullptr)
			fprintf(stderr, ", last seen at %s:%d", f->file, f->line);
		fprintf(stderr, "\n");
	}
}

/* `only`: NULL for all resident blocks. */
[[noreturn]] static void stop(const char *why, const block *only)
{
	unsigned told = 0;

	fprintf(stderr, "host device: stopped: %s\n", why);
	for (const block *b : sched.active) {
		if (only != nullptr && b != only)
			continue;
		if (told++ == 16) {
			fprintf(stderr, "host device:   ... and %zu resident blocks in all\n",
				sched.active.size());
			break;
		}
		stop_table(b);
	}
	fflush(stderr);
	_exit(PKH_STOPPED);
}

/* ---- stacks: 64 KB over a guard page, kept for reuse */

#define STACK_BYTES ((size_t)64 << 10)
#define GUARD_BYTES ((size_t)4 << 10)
#define STACKS_AT_ONCE 32

static void stacks_more(void)
{
	const size_t each = STACK_BYTES + GUARD_BYTES;
	char *p = (char *)mmap(nullptr, STACKS_AT_ONCE * each, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		stop("no memory for thread stacks (mmap)", nullptr);
	for (unsigned i = STACKS_AT_ONCE; i-- > 0;) {
		if (mprotect(p + i * each, GUARD_BYTES, PROT_NONE) != 0)
			stop("no guard page for a thread's stack (mprotect; is vm.max_map_count "
			     "below 65530?)",
			     nullptr);
		sched.stacks.push_back(p + i * each + GUARD_BYTES);
	}
}

static char *stack_take(void)
{
	char *stack;

	if (sched.stacks.empty())
		stacks_more();
	stack = sched.stacks.back();
	sched.stacks.pop_back();
	return stack;
}

/* ---- fibers */

/* Back to the scheduler; returns when the fiber's turn comes again. */
static void fiber_leave(fiber *f, fiber_state state)
{
	f->state = state;
	tsan_switch(sched.tsan);
	sched.back = jump_fcontext(sched.back, nullptr).fctx;
}

static void fiber_returned(block *b);

/* Note in the schedule's hash that thread f of its block goes on, or begins. */
static void fiber_enter(fiber *f)
{
	const block *b = f->block;
	uint64_t which = b->number * 4096 + (uint64_t)(f - b->fibers.data());

	sched.steps++;
	sched.hash = (sched.hash ^ which) * UINT64_C(1099511628211);
	sched.atomics = 0;
	sched.current = f;
	pkh_me = &f->self;
}

/* The next thread of the block that has not begun; NULL: none. */
static fiber *fiber_next_fresh(block *b)
{
	fiber *f;

	if (b->fresh == b->threads)
		return nullptr;
	f = &b->fibers[b->fresh++];
	f->state = FIBER_READY;
	f->file = nullptr;
	return f;
}

static void fiber_run_kernel(fiber *f)
{
	op *o = f->block->op;

	tsan_acquire(&o->order);
	tsan_acquire(&o->stream->order);
	o->work->call(o->work->args.get());
	tsan_release(&o->stream->order);
}

/* One thread and, in turn, those that begin on its stack after it. */
static void fiber_main(transfer_t from)
{
	fiber *f = sched.current, *next;

	sched.back = from.fctx;
	for (;;) {
		fiber_run_kernel(f);
		if (!sched.hand_over || (next = fiber_next_fresh(f->block)) == nullptr)
			break;
		f->state = FIBER_RETURNED;
		next->stack = f->stack;
		f->stack = nullptr;
		fiber_returned(f->block);
		f = next;
		fiber_enter(f);
	}
	fiber_leave(f, FIBER_RETURNED);
	abort();
}

/* Threads of a block begin 64 bytes apart, or their hot lines would all map to one cache set. */
static void fiber_first(fiber *f, unsigned i)
{
	size_t offset = (i & 15) * 64;

	f->stack = stack_take();
	f->context = make_fcontext(f->stack + STACK_BYTES - offset, STACK_BYTES - offset,
				   fiber_main);
}

static void barrier_open(block *b);
static void grid_open(op *o);

/* Let thread i of b run; true if it did more than pause.  Another one may come
 * back in its place: see fiber_main. */
static bool fiber_step(block *b, unsigned i)
{
	fiber *f = &b->fibers[i];
	fcontext_t context;

	if (f->stack == nullptr)
		fiber_first(f, i);
	fiber_enter(f);
	tsan_switch(f->tsan);
	context = jump_fcontext(f->context, nullptr).fctx;
	f = sched.current;
	f->context = context;
	pkh_me = nullptr;
	sched.current = nullptr;
	switch (f->state) {
	case FIBER_PAUSED:
	case FIBER_READY:
		b->ready.push_back((unsigned)(f - b->fibers.data()));
		break;
	case FIBER_RETURNED:
		sched.stacks.push_back(f->stack);
		f->stack = nullptr;
		fiber_returned(b);
		break;
	default:
		break;
	}
	return f->state != FIBER_PAUSED;
}

static void fiber_returned(block *b)
{
	op *o = b->op;

	b->alive--;
	o->threads_done++;
	sched.reap |= b->alive == 0;
	if (b->arrived != 0) {
		if (sched.device->set.strict)
			stop("barrier divergence: a thread has returned while others of its block "
			     "wait at __syncthreads",
			     b);
		if (b->arrived == b->alive)
			barrier_open(b);
	}
	if (o->grid.arrived != 0) {
		if (sched.device->set.strict)
			stop("barrier divergence: a thread has returned while others wait at the "
			     "grid barrier",
			     nullptr);
		if (o->grid.arrived == o->work->blocks * o->work->threads - o->threads_done)
			grid_open(o);
	}
}

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
	fiber *f = running_fiber();
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
	fiber *f = running_fiber();
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
	if (++g->arrived < o->work->blocks * o->work->threads - o->threads_done) {
		fiber_leave(f, FIBER_GRID);
	} else {
		grid_open(o);
		if (sched.device->set.seeded)
			fiber_leave(f, FIBER_READY);
	}
	tsan_acquire(order);
}

/* ---- points where another may run */

void pkh_pause(const char *file, int line)
{
	fiber *f = running_fiber();

	if (f == nullptr) {
		pkh_host_pause();
		return;
	}
	f->file = file;
	f->line = line;
	fiber_leave(f, FIBER_PAUSED);
}

void pkh_host_pause(void)
{
	static __thread unsigned pauses;

	if (the_device()->set.workers == 0)
		sched_pump();
	else if (++pauses % 32 == 0)
		sched_yield();
	else
		__builtin_ia32_pause();
}

void pkh_host_sleep(unsigned us)
{
	struct timespec t = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};

	if (the_device()->set.workers == 0)
		sched_pump();
	else
		nanosleep(&t, nullptr);
}

#define ATOMICS_WITHOUT_SWITCH 64

/* An atomic of the host's own: a poll without a pause lets the device on too. */
static void host_point(void)
{
	static __thread unsigned atomics;
	const settings *set = &the_device()->set;

	if (set->workers != 0)
		return;
	if (set->seeded ? (random_next() & 255) < set->preempt :
			  ++atomics % ATOMICS_WITHOUT_SWITCH == 0)
		sched_pump();
}

/* An atomic.  Without a seed only a long row of them, a poll without a pause, is a switch. */
void pkh_point(void)
{
	fiber *f = running_fiber();
	const settings *set;

	if (f == nullptr) {
		host_point();
		return;
	}
	set = &sched.device->set;
	if (set->seeded) {
		if ((random_next() & 255) < set->preempt)
			fiber_leave(f, FIBER_READY);
	} else if (++sched.atomics >= ATOMICS_WITHOUT_SWITCH) {
		fiber_leave(f, FIBER_PAUSED);
	}
}

/* ---- shared memory */

void *pkh_shared(const void *key, size_t bytes, const char *name)
{
	block *b = running_fiber()->block;
	size_t begin, size = b->op->work->dynamic_bytes + PKH_BLOCK_SHARED;

	for (const slot &s : b->slots)
		if (s.key == key)
			return s.p;
	tsan_quiet quiet;
	begin = (b->arena_used + 15) & ~(size_t)15;
	if (begin + bytes > size) {
		fprintf(stderr, "host device: PK_SHARED %s: %zu bytes, but only %zu of %u are left\n",
			name, bytes, size - begin, PKH_BLOCK_SHARED);
		stop("a block's shared memory is exhausted", b);
	}
	b->slots.push_back({key, b->arena + begin});
	b->arena_used = begin + bytes;
	memset(b->arena + begin, PKH_POISON, bytes);
	return b->arena + begin;
}

void *pkh_shared_dynamic(void)
{
	return running_fiber()->block->arena;
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
				b->fibers[i] = {{{x, y, z}, &b->place}, nullptr, nullptr, b,
						nullptr, 0, FIBER_READY, nullptr};
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
	size_t size = (dynamic_bytes + PKH_BLOCK_SHARED + ARENA_ALIGN - 1) &
		      ~(size_t)(ARENA_ALIGN - 1);

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

/* Start what fits, the oldest kernel first. */
static void sched_fill(void)
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

static void sched_reap(void)
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

/* ---- rounds */

enum round_result { ROUND_IDLE, ROUND_PAUSED, ROUND_PROGRESS };

/* Every thread that is ready, in turn. */
static round_result round_in_turn(void)
{
	bool ran = false, progress = false;
	fiber *f;

	for (block *b : sched.active) {
		b->round.swap(b->ready);
		ran |= !b->round.empty() || b->fresh < b->threads;
		for (unsigned i : b->round)
			progress |= fiber_step(b, i);
		b->round.clear();
		while ((f = fiber_next_fresh(b)) != nullptr)
			progress |= fiber_step(b, (unsigned)(f - b->fibers.data()));
	}
	return !ran ? ROUND_IDLE : progress ? ROUND_PROGRESS : ROUND_PAUSED;
}

/* One thread that is ready, at random. */
static round_result round_at_random(void)
{
	size_t ready = 0, pick;

	for (const block *b : sched.active)
		ready += b->ready.size();
	if (ready == 0)
		return ROUND_IDLE;
	pick = random_next() % ready;
	for (block *b : sched.active) {
		if (pick < b->ready.size()) {
			unsigned i = b->ready[pick];

			b->ready[pick] = b->ready.back();
			b->ready.pop_back();
			return fiber_step(b, i) ? ROUND_PROGRESS : ROUND_PAUSED;
		}
		pick -= b->ready.size();
	}
	return ROUND_IDLE;
}

/* Look at the queues, then let threads run: all that are ready or, with a seed, one. */
static round_result sched_round(void)
{
	device *d = sched.device;
	round_result r;

	if (sched.overdue.load(std::memory_order_relaxed))
		stop("a kernel was resident for longer than PKH_TIMEOUT_MS", nullptr);
	if (d->look.exchange(false, std::memory_order_acq_rel))
		streams_advance();
	if (sched.refill)
		sched_fill();
	r = d->set.seeded ? round_at_random() : round_in_turn();
	if (sched.reap)
		sched_reap();
	if (r == ROUND_IDLE && !sched.active.empty())
		stop("deadlock: every thread waits at a barrier that cannot open", nullptr);
	return r;
}

/* ---- the device's thread */

/* The checker writes a thread's local memory when it starts; the fibers read
 * pkh_me there, so they must come after that. */
static void worker_known_to_fibers(void)
{
	static char started;

	tsan_release(&started);
	tsan_switch(sched.tsan_neutral);
	tsan_acquire(&started);
	tsan_switch(sched.tsan);
}

static void *worker_main(void *)
{
	device *d = sched.device;

	sched.tsan = tsan_current();
	worker_known_to_fibers();
	for (;;) {
		uint32_t ticket = d->posted.ticket();
		round_result r = sched_round();

		if (r == ROUND_PAUSED)
			sched_yield();
		else if (r == ROUND_IDLE && !sched.refill &&
			 !d->look.load(std::memory_order_acquire))
			d->posted.wait(ticket);
	}
	return nullptr;
}

/* A thread that spins without an atomic or a pause never comes back to the
 * scheduler, so the time limit needs a thread of its own. */
static void *timeout_main(void *)
{
	int64_t limit = sched.device->set.timeout_ns;
	struct timespec tick = {0, 5000000};

	for (;;) {
		int64_t began = sched.kernel_began.load(std::memory_order_relaxed);

		nanosleep(&tick, nullptr);
		if (began == 0 || clock_ns() - began < limit)
			continue;
		sched.overdue.store(true, std::memory_order_relaxed);
		for (int i = 0; i < 200; i++)
			nanosleep(&tick, nullptr);
		fprintf(stderr, "host device: stopped: a kernel was resident for longer than "
				"PKH_TIMEOUT_MS and one of its threads neither pauses nor uses an "
				"atomic (a spin on a volatile?)\n");
		_exit(PKH_STOPPED);
	}
	return nullptr;
}

/* Signals are the host's business. */
static void thread_make(void *(*main)(void *))
{
	sigset_t all, old;
	pthread_t thread;
	int error;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGTRAP);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&thread, nullptr, main, nullptr);
	pthread_sigmask(SIG_SETMASK, &old, nullptr);
	if (error != 0) {
		fprintf(stderr, "host device: pthread_create: %s\n", strerror(error));
		_exit(PKH_STOPPED);
	}
	pthread_detach(thread);
}

static void trace_print(void)
{
	fprintf(stderr, "host device: %llu steps, schedule hash %016llx\n",
		(unsigned long long)sched.steps, (unsigned long long)sched.hash);
}

void sched_start(device *d)
{
	sched.device = d;
	sched.hash = UINT64_C(14695981039346656037);
	sched.random = (d->set.seed + 1) * UINT64_C(0x9E3779B97F4A7C15) | 1;
	for (int i = 0; i < 8; i++)
		random_next();
#ifndef PKH_TSAN
	sched.hand_over = !d->set.seeded;
#endif
	sched.tsan_neutral = tsan_create();
	if (d->set.trace)
		atexit(trace_print);
	if (d->set.workers != 0)
		thread_make(worker_main);
	if (d->set.timeout_ns != 0)
		thread_make(timeout_main);
}

/* ---- the host's side */

static void pump_rounds(unsigned rounds)
{
	if (!sched.running.try_take()) {
		sched_yield();		/* another host thread is at it */
		return;
	}
	sched.tsan = tsan_current();
	while (rounds-- > 0 && sched_round() != ROUND_IDLE)
		;
	sched.running.give();
}

void sched_pump(void)
{
	if (running_fiber() != nullptr)
		return;
	pump_rounds(the_device()->set.seeded ? 1 + random_next() % 64 : 1);
}

void sched_wait(bool (*check)(void *), void *arg)
{
	device *d = sched.device;

	for (;;) {
		uint32_t ticket = d->done.ticket();

		d->lock.take();
		bool enough = check(arg);
		d->lock.give();
		if (enough)
			return;
		if (d->set.workers == 0)
			pump_rounds(256);
		else
			d->done.wait(ticket);
	}
}
