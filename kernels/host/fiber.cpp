/* SPDX-License-Identifier: MIT
 *
 * fiber.cpp - threads of the GPU as fibers: stacks, switching, and the points
 * where another may run.
 *
 * A thread gets a stack when it first runs and hands it to the next one of its
 * block when it returns: a kernel without barriers and pauses needs one stack,
 * and no switch, however large it is.
 */
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include "sched.h"

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

__thread const pkh_thread *pkh_me __attribute__((tls_model("initial-exec")));

fiber *kernel_fiber(const char *what)
{
	fiber *f = running_fiber();

	if (f != nullptr)
		return f;
	fprintf(stderr, "host device: %s outside a kernel\n", what);
	stop("host code called what only kernels may", nullptr);
}

uint32_t random_next(void)
{
	sched.random ^= sched.random << 13;
	sched.random ^= sched.random >> 7;
	sched.random ^= sched.random << 17;
	return (uint32_t)(sched.random >> 16);
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

void fiber_leave(fiber *f, fiber_state state)
{
	f->state = state;
	tsan_switch(sched.tsan);
	sched.back = jump_fcontext(sched.back, nullptr).fctx;
}

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

fiber *fiber_next_fresh(block *b)
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

static void fiber_returned(block *b)
{
	b->alive--;
	b->op->threads_done++;
	sched.reap |= b->alive == 0;
	barrier_returned(b);
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
	f->context =
	        make_fcontext(f->stack + STACK_BYTES - offset, STACK_BYTES - offset, fiber_main);
}

bool fiber_step(block *b, unsigned i)
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
	if (set->seeded ? (random_next() & 255) < set->preempt
	                : ++atomics % ATOMICS_WITHOUT_SWITCH == 0)
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
