/* SPDX-License-Identifier: MIT
 *
 * persistent_host.h - the body of the persistent variants whose every step the
 * host releases: a flag to each block and a flag back, in host memory.
 *
 * A rung is a struct of constants, Rung, and a table of defaults:
 *	Rung::orders		pk_orders_seq_cst or pk_orders_relaxed, for both sides
 *	Rung::all_poll		every thread polls its block's flag, which is taken
 *				back to idle (the first rung); else thread 0 polls
 *
 * Flags are 32-bit words.  Where thread 0 polls they are epochs: the host
 * writes t + 1 to release task t, the block answers t + 1 when it has done it.
 * A task is a step, or after every `check` iterations a share of the residual
 * norm, which both sides know by counting.
 * An epoch differs from the one before, so nothing is reset and a flag can be
 * used again at once.  Where all threads poll, the words are those of the
 * report: idle, a task, leave one way; wait, done the other.
 *
 * Leaving.  The host writes LEAVE when all steps are done.  When the run is
 * aborted it writes nothing more: blocks see the abort word by themselves, so
 * no two threads of a block can disagree on what they saw.
 */
#ifndef PKRUN_PERSISTENT_HOST_H
#define PKRUN_PERSISTENT_HOST_H

#include <stdlib.h>
#include "host_wait.h"
#include "norm.h"
#include "stamps.h"

#define FLAG_LEAVE  UINT32_MAX
#define FLAG_ABSENT (UINT32_MAX - 1) /* a block that has not reported in */
#define FLAG_STEPS_MAX ((uint64_t)UINT32_MAX - 16)

/* The words of the rung on which all threads poll; task t is FLAG_TASK + t. */
#define FLAG_IDLE 0u
#define FLAG_TASK 1u
#define FLAG_WAIT 0u
#define FLAG_DONE 1u

enum host_broadcast { BROADCAST_BARRIER = 0, BROADCAST_ACQUIRE = 1, BROADCAST_WAVEFRONT = 2 };
enum host_schedule { SCHEDULE_LOCKSTEP = 0, SCHEDULE_NEIGHBOUR = 1 };
enum host_flags { FLAGS_HOST = 0, FLAGS_NONCOHERENT = 1, FLAGS_DEVICE = 2 };

struct host_options {
	struct pkrun_choice broadcast, schedule, wait, flags;
	int64_t pad, pin, stamps;
};

/* The rows of the option table; rungs differ in the defaults. */
#define HOST_OPTION_SCHEDULE(dflt)                                                                 \
	{"release", PKRUN_CHOICE, offsetof(struct host_options, schedule), dflt, 0, 0,             \
	 "lockstep|neighbour", NULL,                                                               \
	 "release all blocks together, or each as soon as its neighbours are not behind it"}
#define HOST_OPTION_WAIT(dflt) PK_OPTION_WAIT(struct host_options, dflt)
#define HOST_OPTION_PIN(dflt) PK_OPTION_PIN(struct host_options, dflt)
#define HOST_OPTION_PAD(dflt)                                                                      \
	{"pad", PKRUN_INT, offsetof(struct host_options, pad), dflt, 0, 4096, NULL, "byte",        \
	 "distance of two blocks' flags (0: packed side by side)"}
#define HOST_OPTION_FLAGS(dflt)                                                                    \
	{"flags", PKRUN_CHOICE, offsetof(struct host_options, flags), dflt, 0, 0,                  \
	 "host|noncoherent|device", NULL,                                                          \
	 "where the flags to the blocks live: host memory, coherent or as the platform "           \
	 "defaults, or device memory that the host writes"}
#define HOST_OPTION_STAMPS() PK_OPTION_STAMPS(struct host_options)
#define HOST_OPTION_BROADCAST(dflt)                                                                \
	{"broadcast", PKRUN_CHOICE, offsetof(struct host_options, broadcast), dflt, 0, 0,          \
	 "barrier|acquire|wavefront", NULL,                                                        \
	 "how thread 0 passes the task on: a block barrier, a shared word that the others "        \
	 "acquire, or blocks of one wavefront"}

/* What a kernel is given.  Strides are in words. */
struct host_control {
	uint32_t *to_device, *to_host;
	uint32_t to_device_stride, to_host_stride;
	uint32_t broadcast;
	struct pkrun_watch *watch;
	uint64_t *steps;
	double *norm_shares; /* host memory, one a block */
	uint64_t norm_steps; /* between two norms; 0: never */
	struct pk_stamps stamps;
};

/* Every thread polls.  `left` keeps threads together that saw the abort word
 * and threads that saw a task: all meet at the barrier and then read it. */
template <class Orders, bool Stamped>
static __device__ __forceinline__ uint32_t host_poll_all(const struct host_control &c, uint64_t t,
							 uint64_t s, uint32_t *left)
{
	uint32_t *flag = c.to_device + (uint64_t)blockIdx.x * c.to_device_stride;
	uint32_t task = FLAG_LEAVE;

	if (!pk_wait<pk_system, Orders>(
		    flag, [](uint32_t v) { return v != FLAG_IDLE; }, &task, c.watch, blockIdx.x, t))
		pk_block::put_relaxed(left, 1u);
	if (Stamped && threadIdx.x == 0)
		pk_stamp(c.stamps, s, PK_STAMP_RECEIVE, pk_clock_ns());
	__syncthreads();
	if (pk_block::relaxed(left) || task == FLAG_LEAVE)
		return FLAG_LEAVE;
	if (threadIdx.x == 0)
		Orders::template put<pk_system>(flag, FLAG_IDLE); /* the acknowledgement */
	return task;
}

/* Thread 0 polls and passes the epoch on through the shared word. */
template <class Orders, bool Stamped>
static __device__ __forceinline__ uint32_t host_poll_one(const struct host_control &c, uint64_t t,
							 uint64_t s, uint32_t *shared_task)
{
	const uint32_t *flag = c.to_device + (uint64_t)blockIdx.x * c.to_device_stride;
	const uint32_t before = (uint32_t)t;

	if (threadIdx.x == 0) {
		uint32_t task;

		if (!pk_wait<pk_system, Orders>(
			    flag, [=](uint32_t v) { return v != before; }, &task, c.watch,
			    blockIdx.x, t))
			task = FLAG_LEAVE;
		if (Stamped && task != FLAG_LEAVE)
			pk_stamp(c.stamps, s, PK_STAMP_RECEIVE, pk_clock_ns());
		pk_block::put_release(shared_task, task);
	}
	if (c.broadcast != BROADCAST_ACQUIRE) {
		__syncthreads();
		return pk_block::relaxed(shared_task);
	}
	/* The word still holds the epoch before until thread 0 has written. */
	while (pk_block::relaxed(shared_task) == before)
		pk_pause();
	return pk_block::acquire(shared_task);
}

/* This block's share of a norm, for the host to add up. */
template <class W> static __device__ void host_norm_share(const W &work, const struct host_control &c)
{
	if constexpr (W::has_norm) {
		double sum = pk_norm_partial(work);

		if (threadIdx.x == 0)
			c.norm_shares[blockIdx.x] = sum;
	}
}

/* Stamped: thread 0 also writes down when; see stamps.h. */
template <class W, class Rung, bool Stamped>
static __global__ void host_kernel(W work, struct host_control c)
{
	using orders = typename Rung::orders;
	PK_SHARED(uint32_t, word, [1]); /* `left` or the shared task */
	uint32_t *answer = c.to_host + (uint64_t)blockIdx.x * c.to_host_stride;
	uint64_t s = 0, until_norm = c.norm_steps;

	if (Stamped && threadIdx.x == 0)
		pk_stamp_clock(c.stamps);
	if (threadIdx.x == 0)
		word[0] = 0;
	__syncthreads();
	if (threadIdx.x == 0)
		orders::template put<pk_system>(answer, 0u); /* reports in: 0 steps, or "wait" */
	for (uint64_t t = 0;; t++) {
		uint32_t task = Rung::all_poll ? host_poll_all<orders, Stamped>(c, t, s, word) :
						 host_poll_one<orders, Stamped>(c, t, s, word);
		bool is_norm = c.norm_steps && !until_norm;

		if (task == FLAG_LEAVE)
			break;
		if (is_norm) {
			host_norm_share(work, c);
			until_norm = c.norm_steps;
		} else {
			if (Stamped && threadIdx.x == 0)
				pk_stamp(c.stamps, s, PK_STAMP_START, pk_clock_ns());
			work.step(blockIdx.x, gridDim.x, s++);
			until_norm--;
		}
		__syncthreads(); /* every thread's work before the one store that reports it */
		if (Stamped && threadIdx.x == 0 && !is_norm)
			pk_stamp(c.stamps, s - 1, PK_STAMP_END, pk_clock_ns());
		if (threadIdx.x == 0)
			orders::template put<pk_system>(answer, Rung::all_poll ? FLAG_DONE :
										 (uint32_t)t + 1);
		if (Stamped && threadIdx.x == 0 && !is_norm)
			pk_stamp(c.stamps, s - 1, PK_STAMP_DONE, pk_clock_ns());
	}
	if (threadIdx.x == 0)
		c.steps[blockIdx.x] = s;
}

/* The kernel of a rung; plugins/faulty/ puts kernels of its own here. */
template <class W, class Rung> struct host_kernel_of {
	static auto kernel()
	{
		return host_kernel<W, Rung, false>;
	}
};

/* ---- host side ---- */

struct host_state {
	uint32_t blocks;
	int resident;
	uint32_t *to_device, *to_device_dev, *to_host, *to_host_dev;
	uint32_t to_device_stride, to_host_stride;
	uint64_t released;	/* tasks, on the lockstep schedule and at the end of a run */
	uint64_t norms;		/* of them */
	uint64_t since_norm;	/* steps */
	double *norm_shares, *norm_shares_dev, norm;
	uint64_t *given, *done;	/* tasks of each block: released, answered */
	uint32_t *neighbours;	/* PK_NEIGHBOURS_MAX a block */
	uint8_t *n_neighbours;
	struct pk_settled settled;
	struct pk_stamps_state stamps;
};

static inline const struct host_options *host_options_of(const struct pkrun_run *run)
{
	return (const struct host_options *)run->options;
}

/* The kernel of this cell. */
template <class W, class Rung> static auto host_kernel_for(const struct pkrun_run *run)
{
	return host_options_of(run)->stamps ? host_kernel<W, Rung, true> :
					      host_kernel_of<W, Rung>::kernel();
}

template <class Rung> static int host_footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	struct host_state *h = (struct host_state *)run->state;
	int status = pk_with_work_sweep(run, Rung::sweep, [=](auto work) -> int {
		return pk_footprint(run, host_kernel_for<decltype(work), Rung>(run), work.units(), 0,
				    PK_AUTO_CAPPED, fp);
	});

	h->blocks = fp->blocks;
	return status;
}

static inline int host_probe(struct pkrun_run *run)
{
	const struct host_options *o = host_options_of(run);
	int warp = 0;

	if (o->pad % (int64_t)sizeof(uint32_t)) {
		run->host->say(run, "pad = %lld is no multiple of a flag's %zu bytes",
			       (long long)o->pad, sizeof(uint32_t));
		return PKRUN_SKIP;
	}
	if (pk_probe_pin(run, o->pin) != PKRUN_OK)
		return PKRUN_SKIP;
	if (o->broadcast.index != BROADCAST_WAVEFRONT)
		return PKRUN_OK;
	PK_TRY(run, hipDeviceGetAttribute(&warp, hipDeviceAttributeWarpSize, run->device));
	if (run->threads <= (uint32_t)warp)
		return PKRUN_OK;
	run->host->say(run, "broadcast = wavefront needs threads <= %d, a wavefront of this device; "
			    "threads = %u", warp, run->threads);
	return PKRUN_SKIP;
}

static inline int host_alloc_flags(struct pkrun_run *run, struct host_state *h)
{
	const struct host_options *o = host_options_of(run);
	uint32_t memory = o->flags.index == FLAGS_DEVICE      ? PKRUN_MEMORY_DEVICE_VISIBLE :
			  o->flags.index == FLAGS_NONCOHERENT ? PKRUN_MEMORY_HOST_NONCOHERENT :
								PKRUN_MEMORY_HOST;
	uint32_t back = o->flags.index == FLAGS_NONCOHERENT ? memory : (uint32_t)PKRUN_MEMORY_HOST;
	size_t bytes;
	int status;

	h->to_device_stride = o->pad ? (uint32_t)o->pad / 4 : 1;
	h->to_host_stride = h->to_device_stride;
	bytes = (size_t)h->blocks * h->to_device_stride * 4;
	status = run->host->alloc(run, "to_device", memory, bytes, (void **)&h->to_device,
				  (void **)&h->to_device_dev);
	if (status != PKRUN_OK)
		return status;
	status = run->host->alloc(run, "to_host", back, bytes, (void **)&h->to_host,
				  (void **)&h->to_host_dev);
	if (status != PKRUN_OK || !run->check)
		return status;
	return run->host->alloc(run, "norm_shares", PKRUN_MEMORY_HOST, h->blocks * sizeof(double),
				(void **)&h->norm_shares, (void **)&h->norm_shares_dev);
}

template <class Rung> static int host_setup(struct pkrun_run *run)
{
	struct host_state *h = (struct host_state *)run->state;
	uint32_t blocks = h->blocks;
	int status = host_alloc_flags(run, h);

	if (status == PKRUN_OK)
		status = pk_stamps_setup(run, &h->stamps, blocks, host_options_of(run)->stamps);
	if (status != PKRUN_OK)
		return status;
	h->given = (uint64_t *)calloc(blocks, sizeof(*h->given));
	h->done = (uint64_t *)calloc(blocks, sizeof(*h->done));
	h->neighbours = (uint32_t *)calloc((size_t)blocks * PK_NEIGHBOURS_MAX, sizeof(uint32_t));
	h->n_neighbours = (uint8_t *)calloc(blocks, 1);
	if (!h->given || !h->done || !h->neighbours || !h->n_neighbours) {
		run->host->say(run, "no memory for the host's counts of %u blocks", blocks);
		return PKRUN_FAIL;
	}
	return pk_with_work_sweep(run, Rung::sweep, [=](auto work) -> int {
		for (uint32_t b = 0; b < blocks; b++)
			h->n_neighbours[b] = (uint8_t)work.neighbours(
				b, blocks, h->neighbours + (size_t)b * PK_NEIGHBOURS_MAX);
		return PKRUN_OK;
	});
}

template <class Rung> static uint32_t host_answer(const struct host_state *h, uint32_t b)
{
	using orders = typename Rung::orders;
	const uint32_t *flag = h->to_host + (size_t)b * h->to_host_stride;
	uint32_t polled = orders::template poll<pk_system>(flag);

	return polled;
}

/* The value just polled ends a wait: with the relaxed orders, acquire it. */
template <class Rung> static void host_answered(const struct host_state *h, uint32_t b)
{
	using orders = typename Rung::orders;

	(void)orders::template seen<pk_system>(h->to_host + (size_t)b * h->to_host_stride, 0u);
}

/* Flags are all that lies in device memory, so none has to come before another. */
static inline void host_push(const struct pkrun_run *run)
{
	if (host_options_of(run)->flags.index == FLAGS_DEVICE)
		pk_host_push();
}

/* One pass is over and something is still pending. */
static inline int host_between(struct pkrun_run *run, struct pk_patience *p, uint32_t b, uint64_t s)
{
	pk_host_pass_time(&host_options_of(run)->wait);
	return pk_host_again(run, p, "an answer", b, s);
}

/* Release task t to block b.  The word of the report's first rung names the
 * step's colour; the block knows it by counting, as it does a norm. */
template <class Rung>
static void host_release(struct pkrun_run *run, struct host_state *h, uint32_t b, uint64_t t)
{
	using orders = typename Rung::orders;
	uint64_t phase = (t - h->norms) % run->work->steps_per_iteration;
	uint32_t word = Rung::all_poll ? FLAG_TASK + (uint32_t)phase : (uint32_t)(t + 1);

	h->given[b] = t + 1;
	orders::template put<pk_system>(h->to_device + (size_t)b * h->to_device_stride, word);
}

/* Has block b answered for the last task that it was given? */
template <class Rung> static bool host_has_answered(struct host_state *h, uint32_t b)
{
	using orders = typename Rung::orders;
	uint32_t expected = Rung::all_poll ? FLAG_DONE : (uint32_t)h->given[b];

	if (host_answer<Rung>(h, b) != expected)
		return false;
	host_answered<Rung>(h, b);
	if (Rung::all_poll) /* taken back, as the report does */
		orders::template put<pk_system>(h->to_host + (size_t)b * h->to_host_stride,
						FLAG_WAIT);
	h->done[b] = h->given[b];
	return true;
}

/* All blocks together: release all, then pass over the flags until none is pending. */
template <class Rung> static int host_lockstep(struct pkrun_run *run, uint64_t end)
{
	struct host_state *h = (struct host_state *)run->state;
	struct pk_patience patience = {};

	for (; h->released < end; h->released++) {
		uint32_t pending = h->blocks, late = 0;

		for (uint32_t b = 0; b < h->blocks; b++)
			host_release<Rung>(run, h, b, h->released);
		host_push(run);
		while (pending) {
			int status;

			for (uint32_t b = 0; b < h->blocks; b++)
				if (h->done[b] != h->given[b] && host_has_answered<Rung>(h, b))
					pending--;
				else if (h->done[b] != h->given[b])
					late = b;
			if (!pending)
				break;
			status = host_between(run, &patience, late, h->released);
			if (status != PKRUN_OK)
				return status;
		}
	}
	return PKRUN_OK;
}

/* May block b have its next step? When it has done its last one and no neighbour is behind. */
static inline bool host_may_go(const struct host_state *h, uint32_t b)
{
	const uint32_t *list = h->neighbours + (size_t)b * PK_NEIGHBOURS_MAX;

	if (h->done[b] != h->given[b])
		return false;
	for (uint8_t q = 0; q < h->n_neighbours[b]; q++)
		if (h->done[list[q]] < h->done[b])
			return false;
	return true;
}

/* Each block as soon as it may go; neighbours never differ by more than one step. */
template <class Rung> static int host_by_neighbour(struct pkrun_run *run, uint64_t end)
{
	struct host_state *h = (struct host_state *)run->state;
	struct pk_patience patience = {};

	for (;;) {
		uint32_t finished = 0, late = 0;
		int status;

		for (uint32_t b = 0; b < h->blocks; b++) {
			if (h->done[b] != h->given[b] && !host_has_answered<Rung>(h, b))
				late = b;
			if (h->done[b] == end)
				finished++;
			else if (host_may_go(h, b))
				host_release<Rung>(run, h, b, h->done[b]);
		}
		if (finished == h->blocks)
			break;
		host_push(run);
		status = host_between(run, &patience, late, h->given[late] - 1);
		if (status != PKRUN_OK)
			return status;
	}
	h->released = end;
	return PKRUN_OK;
}

template <class Rung> static int host_drive(struct pkrun_run *run, uint64_t end)
{
	if (host_options_of(run)->schedule.index == SCHEDULE_NEIGHBOUR)
		return host_by_neighbour<Rung>(run, end);
	return host_lockstep<Rung>(run, end);
}

/* Everybody has done the iteration; every block adds its share, the host sums. */
template <class Rung> static int host_norm(struct pkrun_run *run)
{
	struct host_state *h = (struct host_state *)run->state;
	int status = host_lockstep<Rung>(run, h->released + 1);

	if (status != PKRUN_OK)
		return status;
	h->norms++;
	h->since_norm = 0;
	h->norm = 0;
	for (uint32_t b = 0; b < h->blocks; b++)
		h->norm += h->norm_shares[b];
	return PKRUN_OK;
}

template <class Rung> static int host_start(struct pkrun_run *run)
{
	struct host_state *h = (struct host_state *)run->state;
	struct host_control c = {h->to_device_dev,
				 h->to_host_dev,
				 h->to_device_stride,
				 h->to_host_stride,
				 (uint32_t)host_options_of(run)->broadcast.index,
				 run->watch_dev,
				 run->steps,
				 h->norm_shares_dev,
				 pk_steps(run, run->check),
				 h->stamps.dev};
	int status = pk_settle(run, &host_options_of(run)->wait, host_options_of(run)->pin,
			       &h->settled);

	if (status == PKRUN_OK)
		status = pk_stamps_start(run, &h->stamps);
	if (status != PKRUN_OK)
		return status;
	h->released = h->norms = h->since_norm = 0;
	for (uint32_t b = 0; b < h->blocks; b++) {
		h->given[b] = h->done[b] = 0;
		pk_system::put_release(h->to_device + (size_t)b * h->to_device_stride, 0u);
		pk_system::put_release(h->to_host + (size_t)b * h->to_host_stride, FLAG_ABSENT);
	}
	host_push(run);
	status = pk_with_work_sweep(run, Rung::sweep, [=](auto work) -> int {
		PK_TRY(run, pk_launch_coop(host_kernel_for<decltype(work), Rung>(run), dim3(h->blocks),
					   dim3(run->threads), 0, pk_stream(run), work, c));
		return PKRUN_OK;
	});
	if (status != PKRUN_OK)
		return status;
	h->resident = 1;
	for (uint32_t b = 0; b < h->blocks && status == PKRUN_OK; b++)
		status = pk_host_spin(run, [=]() { return host_answer<Rung>(h, b) == 0; },
				      "the report that it is resident", b, 0);
	return status;
}

template <class Rung> static int host_run(struct pkrun_run *run, uint64_t iterations)
{
	struct host_state *h = (struct host_state *)run->state;
	uint64_t steps = pk_steps(run, iterations), every = pk_steps(run, run->check);
	uint64_t tasks = h->released + steps + (every ? steps / every + 1 : 0);

	if (tasks > FLAG_STEPS_MAX) {
		run->host->say(run, "%llu releases do not fit the 32-bit flags of this variant",
			       (unsigned long long)tasks);
		return PKRUN_FAIL;
	}
	while (steps) {
		uint64_t here = every && every - h->since_norm < steps ? every - h->since_norm : steps;
		int status = host_drive<Rung>(run, h->released + here);

		h->since_norm += here;
		if (status == PKRUN_OK && every && h->since_norm == every)
			status = host_norm<Rung>(run);
		if (status != PKRUN_OK)
			return status;
		steps -= here;
	}
	pk_norm_report(run, h->norm, iterations);
	return PKRUN_OK;
}

/* run() returns when the last answer is in. */
static inline int host_wait(struct pkrun_run *run)
{
	(void)run;
	return PKRUN_OK;
}

static inline int host_stop(struct pkrun_run *run)
{
	struct host_state *h = (struct host_state *)run->state;

	pk_unsettle(&h->settled);
	if (!h->resident)
		return PKRUN_OK;
	h->resident = 0;
	if (!pk_host_aborted_at(run, 0, h->released))
		for (uint32_t b = 0; b < h->blocks; b++)
			pk_system::put_seq_cst(h->to_device + (size_t)b * h->to_device_stride,
					       FLAG_LEAVE);
	host_push(run);
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	return pk_stamps_report(run, &h->stamps);
}

static inline void host_teardown(struct pkrun_run *run)
{
	struct host_state *h = (struct host_state *)run->state;

	(void)host_stop(run);
	free(h->given);
	free(h->done);
	free(h->neighbours);
	free(h->n_neighbours);
	h->given = h->done = NULL;
	h->neighbours = NULL;
	h->n_neighbours = NULL;
}

#endif
