/* SPDX-License-Identifier: MIT
 *
 * sched.cpp - who runs next.
 *
 * The device goes round the resident blocks and runs each thread that is ready
 * until that thread pauses, waits or returns; between two rounds it looks at
 * the queues, so that a copy in one stream proceeds while a kernel of another
 * spins.
 */
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <time.h>
#include "sched.h"

scheduler &sched = *new scheduler();

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

int64_t sched_block(void)
{
	const fiber *f = running_fiber();

	return f != nullptr ? (int64_t)f->block->number : -1;
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
		sched_yield(); /* another host thread is at it */
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
