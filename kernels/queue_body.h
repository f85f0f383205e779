/* SPDX-License-Identifier: MIT
 *
 * queue_body.h - what the queue_* variants share: how a block does a task, how
 * the host learns of its end, and what is told of the times.
 *
 * Completions.  Whoever does a task takes a ticket from a counter in device
 * memory and writes the task's position into the word of that ticket, in host
 * memory; the host reads the words in their order.  So there are many writers,
 * one reader, and no atomic operation crosses the bus.  A word carries its lap
 * around the ring in its upper bits and its position in the lower, in one
 * store: it is its own flag and never has to be reset.  Before the store a
 * block barrier joins what the threads of the block did, and the store releases
 * it at system scope.
 *
 * The writer never waits: the host keeps the number of tasks given out and not
 * yet read below the number of words (`queue_may_submit`), so the word of a
 * ticket was read a lap ago.
 *
 * Times.  The latency of a task runs on the host's clock, from when it was
 * handed over to when its completion was read.
 */
#ifndef PKRUN_QUEUE_BODY_H
#define PKRUN_QUEUE_BODY_H

#include "host_wait.h"
#include "latency.h"
#include "queue.h"

#define QUEUE_POSITION_BITS 40
#define QUEUE_POSITION_MASK (((uint64_t)1 << QUEUE_POSITION_BITS) - 1)

/* Two words of different writers do not share a line of the host. */
struct completion {
	alignas(64) uint64_t word;
};

/* Counters of the device, each on a line of its own; zero at the start. */
struct queue_lines {
	alignas(PK_LINE_BYTES) uint64_t completed; /* tickets for completions */
	alignas(PK_LINE_BYTES) uint64_t head;	   /* tickets for work */
	alignas(PK_LINE_BYTES) uint64_t present;   /* queue_ring: blocks */
};

struct queue_control {
	struct queue_lines *lines;
	struct completion *completions;
	uint64_t mask;		/* completions - 1, a power of two less one */
	uint32_t shift;		/* its logarithm */
	uint64_t *done_by;	/* tasks, one a block */
	struct pkrun_watch *watch;
	uint64_t *steps;
};

static PK_FN uint64_t queue_word(uint64_t ticket, uint32_t shift, uint64_t position)
{
	return (((ticket >> shift) + 1) << QUEUE_POSITION_BITS) | (position & QUEUE_POSITION_MASK);
}

/* Every thread of the block.  Additions, for two blocks may do the same task of
 * two iterations at once. */
static __device__ __forceinline__ void queue_do(const struct queue_args &a, uint64_t task,
						uint64_t length)
{
	for (uint64_t j = threadIdx.x; j < a.width; j += blockDim.x)
		(void)__hip_atomic_fetch_add(a.results + task * a.width + j,
					     pk_chain_work(queue_seed(task, j), length),
					     __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
	if (threadIdx.x == 0)
		(void)__hip_atomic_fetch_add(a.times + task, (uint64_t)1, __ATOMIC_RELAXED,
					     __HIP_MEMORY_SCOPE_AGENT);
}

/* Every thread of the block: the task at this position is done. */
static __device__ __forceinline__ void queue_complete(const struct queue_control &c, uint64_t position)
{
	__syncthreads();
	if (threadIdx.x == 0) {
		uint64_t ticket = __hip_atomic_fetch_add(&c.lines->completed, (uint64_t)1,
							 __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);

		pk_system::put_release(&c.completions[ticket & c.mask].word,
				       queue_word(ticket, c.shift, position));
	}
}

/* ---- host side ---- */

/* Begins the state of every queue variant. */
struct queue_state {
	uint32_t blocks;
	struct queue_lines *lines;
	struct completion *completions, *completions_dev;
	uint64_t capacity;	/* completions; a power of two */
	uint32_t shift;
	uint64_t *done_by;
	uint64_t submitted;	/* positions given out in this trial */
	uint64_t drained;	/* completions read; also looked at by producer threads */
	uint64_t *sent;		/* when, by position */
	uint64_t room;
	uint64_t first, last;	/* of the trial: first hand-over, last completion */
	struct pk_samples latency;
};

static inline struct queue_state *queue_state_of(struct pkrun_run *run)
{
	return (struct queue_state *)run->state;
}

static inline const struct queue_args *queue_args_of(struct pkrun_run *run)
{
	return pk_args<struct queue_args>(run, QUEUE_VERSION);
}

/* Completions for at least `outstanding` tasks under way. */
static inline int queue_setup(struct pkrun_run *run, uint64_t outstanding)
{
	struct queue_state *q = queue_state_of(run);
	const struct pkrun_host *host = run->host;
	int status;

	for (q->shift = 6; ((uint64_t)1 << q->shift) < outstanding; q->shift++)
		;
	q->capacity = (uint64_t)1 << q->shift;
	status = host->alloc(run, "completions", PKRUN_MEMORY_HOST,
			     q->capacity * sizeof(*q->completions), (void **)&q->completions,
			     (void **)&q->completions_dev);
	if (status == PKRUN_OK)
		status = host->alloc(run, "lines", PKRUN_MEMORY_DEVICE, sizeof(*q->lines), NULL,
				     (void **)&q->lines);
	if (status == PKRUN_OK)
		status = host->alloc(run, "done_by", PKRUN_MEMORY_DEVICE,
				     q->blocks * sizeof(*q->done_by), NULL, (void **)&q->done_by);
	return status;
}

/* Everything that the protocol reads; and room for the times of the trial. */
static inline int queue_clear(struct pkrun_run *run)
{
	struct queue_state *q = queue_state_of(run);
	uint64_t all = run->iterations * queue_args_of(run)->tasks;

	if (all > q->room) {
		uint64_t *more = (uint64_t *)realloc(q->sent, all * sizeof(*more));

		if (!more) {
			run->host->say(run, "no memory for the times of %llu tasks",
				       (unsigned long long)all);
			return PKRUN_FAIL;
		}
		memset(more, 0, all * sizeof(*more));
		q->sent = more;
		q->room = all;
	}
	q->submitted = q->first = q->last = 0;
	pk_system::put_relaxed(&q->drained, (uint64_t)0);
	for (uint64_t i = 0; i < q->capacity; i++)
		pk_system::put_relaxed(&q->completions[i].word, (uint64_t)0);
	PK_TRY(run, hipMemsetAsync(q->lines, 0, sizeof(*q->lines), pk_stream(run)));
	PK_TRY(run, hipMemsetAsync(q->done_by, 0, q->blocks * sizeof(*q->done_by), pk_stream(run)));
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	return pk_samples_begin(run, &q->latency, all);
}

static inline struct queue_control queue_control_of(struct pkrun_run *run)
{
	struct queue_state *q = queue_state_of(run);
	struct queue_control c = {q->lines, q->completions_dev, q->capacity - 1, q->shift,
				  q->done_by, run->watch_dev, run->steps};

	return c;
}

/* Positions that this trial may have: those whose times have room. */
static inline int queue_room(struct pkrun_run *run, uint64_t end)
{
	struct queue_state *q = queue_state_of(run);

	if (end <= q->room)
		return PKRUN_OK;
	run->host->say(run, "room for the times of %llu tasks, %llu asked for",
		       (unsigned long long)q->room, (unsigned long long)end);
	return PKRUN_FAIL;
}

/* May positions up to and without `end` be under way?  With several producers
 * later positions may be done before `end` is given out: no subtraction here. */
static inline bool queue_may_submit(const struct queue_state *q, uint64_t end)
{
	return end <= pk_system::relaxed(&q->drained) + q->capacity;
}

/* Read what has come. */
static inline void queue_drain(struct queue_state *q)
{
	for (;;) {
		uint64_t ticket = q->drained;
		const uint64_t *word = &q->completions[ticket & (q->capacity - 1)].word;
		uint64_t lap = queue_word(ticket, q->shift, 0), seen = pk_system::relaxed(word);

		if ((seen & ~QUEUE_POSITION_MASK) != (lap & ~QUEUE_POSITION_MASK))
			return;
		seen = pk_system::acquire(word);
		q->last = pk_now_ns();
		pk_samples_add(&q->latency, q->last - q->sent[seen & QUEUE_POSITION_MASK]);
		pk_system::put_relaxed(&q->drained, ticket + 1);
	}
}

/*
 * Drain until `until()`.  `resident`: a kernel that has left without having
 * done so is an error; else only an abort ends the wait.
 */
template <class Until>
static int queue_drain_until(struct pkrun_run *run, Until until, const char *what, bool resident)
{
	struct queue_state *q = queue_state_of(run);
	struct pk_patience patience = {};

	for (uint64_t looks = 1;; looks++) {
		queue_drain(q);
		if (until())
			return PKRUN_OK;
		pk_host_pause();
		if (resident) {
			int status = pk_host_again(run, &patience, what, 0, q->drained);

			if (status != PKRUN_OK)
				return status;
		} else if (looks % 64 == 0 && pk_host_aborted_at(run, 0, q->drained)) {
			run->host->say(run, "aborted while the host waited for %s, %llu tasks done",
				       what, (unsigned long long)q->drained);
			return PKRUN_FAIL;
		}
	}
}

#define QUEUE_METRICS \
	{"tasks_per_s", "task/s", "from the first task handed over to the last completion read"}, \
	{"tasks_of_a_block_min", "task", "tasks of the block that did fewest"}, \
	{"tasks_of_a_block_max", "task", "tasks of the block that did most"}, \
	PK_SAMPLES_METRICS("latency", "a task, from when it is handed over to when its completion is read")

/* What became of the trial: after the last completion, and after the kernel. */
static inline int queue_report(struct pkrun_run *run)
{
	struct queue_state *q = queue_state_of(run);
	uint64_t *by, least = UINT64_MAX, most = 0;

	if (!q->submitted)
		return PKRUN_OK;
	by = (uint64_t *)calloc(q->blocks, sizeof(*by));
	if (by && q->blocks > 1) {
		hipError_t e = hipMemcpyAsync(by, q->done_by, q->blocks * sizeof(*by),
					      hipMemcpyDeviceToHost, pk_stream(run));

		if (e == hipSuccess)
			e = hipStreamSynchronize(pk_stream(run));
		for (uint32_t b = 0; e == hipSuccess && b < q->blocks; b++) {
			least = by[b] < least ? by[b] : least;
			most = by[b] > most ? by[b] : most;
		}
		if (e == hipSuccess) {
			run->host->metric(run, "tasks_of_a_block_min", (double)least, "task");
			run->host->metric(run, "tasks_of_a_block_max", (double)most, "task");
		}
	}
	free(by);
	if (q->last > q->first)
		run->host->metric(run, "tasks_per_s",
				  (double)q->drained * 1e9 / (double)(q->last - q->first), "task/s");
	pk_samples_report(run, &q->latency, "latency");
	return PKRUN_OK;
}

static inline void queue_free(struct pkrun_run *run)
{
	struct queue_state *q = queue_state_of(run);

	pk_samples_free(&q->latency);
	free(q->sent);
	q->sent = NULL;
	q->room = 0;
}

#endif
