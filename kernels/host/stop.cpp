/* SPDX-License-Identifier: MIT
 *
 * stop.cpp - when the device cannot or may not go on: who is where, and exit
 * code 97.
 */
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include "sched.h"

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
			fprintf(stderr,
			        "host device:   block %llu: %u threads (first: %u) have not "
			        "begun\n",
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

[[noreturn]] void stop(const char *why, const block *only)
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

/* Signals are the host's business. */
void thread_make(void *(*main)(void *))
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

/* A thread that spins without an atomic or a pause never comes back to the
 * scheduler, so the time limit needs a thread of its own. */
void *timeout_main(void *)
{
	int64_t limit = sched.device->set.timeout_ns;
	struct timespec tick = {0, 5000000};

	for (;;) {
		nanosleep(&tick, nullptr);
		/* after the sleep, in which that kernel may have ended */
		int64_t began = sched.kernel_began.load(std::memory_order_relaxed);

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
