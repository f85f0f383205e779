/* SPDX-License-Identifier: MIT
 *
 * stamps.h - when each block received, began, ended and acknowledged each of
 * the first steps of a trial: what `pkrun trace` and the schedule figure draw.
 *
 * Taken by an instantiation of the kernel of its own, so that a plain cell runs
 * the code it always ran; and a cell with `stamps` is another cell (its
 * parameters differ), so that its times are never those of a plain one.
 *
 * What the four mean, all by the clock of thread 0:
 *
 *	steps that are kernels (launch.h: launches and graphs)
 *	receive	the block's first instruction
 *	start	the same.  With launch_pdl a block may be there while the kernel
 *		before still runs: it starts when that one is complete
 *	end	all threads' work is done, by a block barrier that only stamped
 *		kernels have
 *	done	the step was counted.  What follows until the next kernel's first
 *		instruction is the gap between two kernels; of it the stamped one
 *		takes a little to write its stamps
 *	A block of the next step runs where there is room, not where its namesake
 *	ran: one block's line can be that of several compute units and their clocks
 *
 *	steps released by the host (persistent_host.h)
 *	receive	thread 0 saw the block's flag
 *	start	every thread was told; the step's work begins
 *	end	all threads' work is done
 *	done	the answer was stored
 *
 *	persistent_doorbell: the same, but that
 *	receive	thread 0 saw the epoch: block 0 the host's word, the others the one
 *		that block 0 passes on in device memory
 *	done	the block has arrived at the counter; the last one has answered the
 *		host as well
 *	With signals = 1 only an iteration's first step is received so and only its
 *	last one done so.  Between its steps it is as where the device releases:
 *	receive	the block's wait for its neighbours is over
 *	start	the same
 *	done	the block's step counter was stored
 *
 *	steps released by the device (persistent_device.h, persistent_interpreter)
 *	receive	the block's wait for the step is over: all threads know that it
 *		may begin.  For the first step of a release, and always where a
 *		barrier has let the block go, there is nothing left to wait for:
 *		it is when `go` was seen, or when the block came out of the barrier
 *	start	what the neighbours sent has been taken over (_halo, _chaotic,
 *		_resident; nothing elsewhere); the step's work begins
 *	end	all threads' work is done, by a block barrier that only stamped
 *		kernels have (the interpreter's plain kernel has it too)
 *	done	others can know: the block's counter was stored or raised, or it
 *		was counted by the barrier.  The runtime's barrier (barrier = coop)
 *		cannot be looked into: there it is when the block went to it
 *
 * persistent_halo and _chaotic exchange every few steps.  All steps are stamped,
 * but inside such a round a block waits for nobody and tells nobody: receive
 * follows the step before, done follows end, and only the first step of a round
 * is ordered with the neighbours' steps.  Before the `done` of a round's last
 * step lies the copying of the rows that are sent.
 * persistent_interpreter: a `block` is a part of the work, of which an
 * interpreter has `tasks`, one after the other.
 *
 * They reach the database as metrics of the trial, in ns since its first stamp:
 *	stamp_receive_b3_s12	block 3 saw the release of step 12
 *	stamp_start_, stamp_end_, stamp_done_	began, ended, acknowledged it
 *	stamp_tick		the smallest step of the clock that was seen
 *	stamp_skew		by how much the clocks of two blocks contradict the
 *				order in which an atomic counter saw the blocks;
 *				0: not at all.  Launches: both by a kernel before the trial
 */
#ifndef PKRUN_STAMPS_H
#define PKRUN_STAMPS_H

#include <stdio.h>
#include <stdlib.h>
#include "flags.h"

#define PK_STAMPS_MAX 4000 /* a trial; fewer steps are recorded of many blocks */

enum pk_stamp_event { PK_STAMP_RECEIVE = 0, PK_STAMP_START = 1, PK_STAMP_END = 2, PK_STAMP_DONE = 3 };

/* For the kernel: words of device memory, zeroed before a trial. */
struct pk_stamps {
	uint64_t *at;		/* 4 a step, `steps` steps a block */
	uint64_t *order;	/* a counter, the tick, then (before, ticket, after) a block */
	uint64_t steps;
};

#define PK_STAMPS_ORDER_WORDS(blocks) (2 + 3 * (size_t)(blocks))

/* One thread of the block calls; `block`: whose step it is. */
static __device__ inline void pk_stamp_of(const struct pk_stamps &st, uint32_t block, uint64_t s,
					  int event, uint64_t ns)
{
	if (s < st.steps)
		st.at[((uint64_t)block * st.steps + s) * 4 + (uint32_t)event] = ns;
}

static __device__ inline void pk_stamp(const struct pk_stamps &st, uint64_t s, int event, uint64_t ns)
{
	pk_stamp_of(st, blockIdx.x, s, event, ns);
}

/* A step's four, kept by thread 0 until the step is done: a store of one before a release would
 * have to be waited for by it. */
struct pk_step_stamps {
	struct pk_stamps to;
	uint64_t at[4];

	__device__ __forceinline__ void take(enum pk_stamp_event event)
	{
		if (threadIdx.x == 0)
			at[event] = pk_clock_ns();
	}
	/* For a template that tells of an event. */
	__device__ __forceinline__ auto taker(enum pk_stamp_event event)
	{
		return [this, event] { take(event); };
	}
	/* Nothing lies between the two. */
	__device__ __forceinline__ void take_both(enum pk_stamp_event event, enum pk_stamp_event other)
	{
		take(event);
		at[other] = at[event];
	}
	/* The last of step s. */
	__device__ __forceinline__ void take_and_put(enum pk_stamp_event last, uint64_t s)
	{
		take(last);
		for (int event = PK_STAMP_RECEIVE; threadIdx.x == 0 && event <= PK_STAMP_DONE; event++)
			pk_stamp(to, s, event, at[event]);
	}
};

/* In its place in a plain kernel: no code. */
struct pk_no_stamps {
	__device__ __forceinline__ void take(enum pk_stamp_event)
	{
	}
	__device__ __forceinline__ struct pk_untold taker(enum pk_stamp_event)
	{
		return {};
	}
	__device__ __forceinline__ void take_both(enum pk_stamp_event, enum pk_stamp_event)
	{
	}
	__device__ __forceinline__ void take_and_put(enum pk_stamp_event, uint64_t)
	{
	}
};

/* How fine the clock is, and whether those of two blocks agree with an order of events. */
static __device__ inline void pk_stamp_clock(const struct pk_stamps &st)
{
	uint64_t *mine = st.order + 2 + 3 * (size_t)blockIdx.x;
	uint64_t last, now, tick = ~(uint64_t)0;

	mine[0] = pk_clock_ns();
	mine[1] = pk_agent::add_acq_rel(st.order, (uint64_t)1);
	mine[2] = pk_clock_ns();
	if (blockIdx.x)
		return;
	last = pk_clock_ns();
	for (int seen = 0; seen < 8;) {
		now = pk_clock_ns();
		if (now == last) {
			pk_pause();
			continue;
		}
		tick = now - last < tick ? now - last : tick;
		last = now;
		seen++;
	}
	st.order[1] = tick;
}

/* ---- host side ---- */

struct pk_stamps_state {
	struct pk_stamps dev;
	uint32_t blocks;
};

#define PK_OPTION_STAMPS(type)                                                                     \
	{"stamps", PKRUN_INT, offsetof(type, stamps), "0", 0, PK_STAMPS_MAX, NULL, "step",         \
	 "record when each block received, began, ended and acknowledged each of so many steps"}

static inline int pk_stamps_setup(struct pkrun_run *run, struct pk_stamps_state *s, uint32_t blocks,
				  int64_t steps)
{
	uint64_t most = PK_STAMPS_MAX / 4 / blocks;
	int status;

	if (!steps)
		return PKRUN_OK;
	if (!most) {
		run->host->say(run, "stamps of %u blocks do not fit: at most %d", blocks,
			       PK_STAMPS_MAX / 4);
		return PKRUN_SKIP;
	}
	s->blocks = blocks;
	s->dev.steps = (uint64_t)steps < most ? (uint64_t)steps : most;
	status = run->host->alloc(run, "stamps", PKRUN_MEMORY_DEVICE, s->dev.steps * blocks * 4 * 8, NULL,
				  (void **)&s->dev.at);
	if (status != PKRUN_OK)
		return status;
	return run->host->alloc(run, "stamps_order", PKRUN_MEMORY_DEVICE, PK_STAMPS_ORDER_WORDS(blocks) * 8,
				NULL, (void **)&s->dev.order);
}

static inline int pk_stamps_start(struct pkrun_run *run, const struct pk_stamps_state *s)
{
	hipStream_t stream = (hipStream_t)run->stream;

	if (!s->dev.steps)
		return PKRUN_OK;
	PK_TRY(run, hipMemsetAsync(s->dev.at, 0, s->dev.steps * s->blocks * 4 * 8, stream));
	PK_TRY(run, hipMemsetAsync(s->dev.order, 0, PK_STAMPS_ORDER_WORDS(s->blocks) * 8, stream));
	return PKRUN_OK;
}

static inline void pk_stamps_report_clock(struct pkrun_run *run, const struct pk_stamps_state *s,
					  const uint64_t *order)
{
	const uint64_t *block = order + 2;
	uint64_t skew = 0;

	/* an earlier ticket was drawn after its `before` and a later one before its `after` */
	for (uint32_t a = 0; a < s->blocks; a++)
		for (uint32_t b = 0; b < s->blocks; b++)
			if (block[3 * a + 1] < block[3 * b + 1] && block[3 * a] > block[3 * b + 2] &&
			    block[3 * a] - block[3 * b + 2] > skew)
				skew = block[3 * a] - block[3 * b + 2];
	run->host->metric(run, "stamp_tick", (double)order[1], "ns");
	run->host->metric(run, "stamp_skew", (double)skew, "ns");
}

static inline void pk_stamps_report_steps(struct pkrun_run *run, const struct pk_stamps_state *s,
					  const uint64_t *at)
{
	static const char *const names[] = {"receive", "start", "end", "done"};
	size_t n = (size_t)s->dev.steps * s->blocks * 4;
	uint64_t first = UINT64_MAX;
	char name[64];

	for (size_t i = 0; i < n; i++)
		if (at[i] && at[i] < first)
			first = at[i];
	for (size_t i = 0; i < n; i++) {
		if (!at[i] || !at[i | PK_STAMP_DONE]) /* a step that was only waited for */
			continue;
		snprintf(name, sizeof(name), "stamp_%s_b%u_s%u", names[i % 4],
			 (unsigned)(i / 4 / s->dev.steps), (unsigned)(i / 4 % s->dev.steps));
		run->host->metric(run, name, (double)(at[i] - first), "ns");
	}
}

/* After the kernel has ended. */
static inline int pk_stamps_report(struct pkrun_run *run, const struct pk_stamps_state *s)
{
	size_t at_bytes = (size_t)s->dev.steps * s->blocks * 4 * 8;
	size_t order_bytes = PK_STAMPS_ORDER_WORDS(s->blocks) * 8;
	uint64_t *words;

	if (!s->dev.steps)
		return PKRUN_OK;
	words = (uint64_t *)malloc(at_bytes + order_bytes);
	if (!words) {
		run->host->say(run, "no memory to read the stamps");
		return PKRUN_FAIL;
	}
	if (hipMemcpy(words, s->dev.at, at_bytes, hipMemcpyDeviceToHost) != hipSuccess ||
	    hipMemcpy(words + at_bytes / 8, s->dev.order, order_bytes, hipMemcpyDeviceToHost) != hipSuccess) {
		run->host->say(run, "the stamps cannot be copied from the device");
		free(words);
		return PKRUN_FAIL;
	}
	pk_stamps_report_steps(run, s, words);
	pk_stamps_report_clock(run, s, words + at_bytes / 8);
	free(words);
	return PKRUN_OK;
}

#endif
