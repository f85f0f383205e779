/* SPDX-License-Identifier: MIT
 *
 * queue_ring - tasks go through a bounded ring in host-visible memory, from
 * any number of host threads to resident workers: one worker a block.
 *
 * Protocol, after Vyukov's bounded queue with a sequence number an entry.  Entry
 * p % capacity at position p:
 *	seq == 2 p		free: the producer that has ticket p may fill it
 *	seq == 2 p + 1		full: the worker that has ticket p may read it
 *	seq == 2 (p + capacity)	free again, a lap later
 * (Doubled, so that a ring of one entry can tell full from free a lap later.)
 * Producers take tickets from a counter in host memory, workers from one in
 * device memory, so that no read-modify-write crosses the bus (it would not be
 * atomic there on every system); between host and device there are only loads
 * and stores of `seq`, whose owner changes with each store.  A store of seq
 * releases the payload (or that it was read), the load that ends a wait
 * acquires it.  A ticket is taken before its entry is full: a worker that has
 * one waits, and gets that very entry.  So nothing is lost or taken twice.
 *
 * Start: the last worker to come says so in a word of host memory, before the
 * clock starts.
 *
 * Back-pressure: a producer whose entry is not free waits (`full_waits`).  So it
 * does when as many tasks are under way as there are completion words
 * (queue_body.h).  Neither can lock up: a full ring is emptied by workers, who
 * never wait for the host but at an empty ring.
 *
 * Stop: right behind the last task, while tasks are in the ring and under way,
 * the host pushes one pill a worker.  Positions are served in their order and a
 * worker leaves with its first pill, so each gets one, after every task has
 * been taken; the pill says how many iterations there were.  On abort workers
 * leave from wherever they wait.
 *
 * gap > 0: a task every `gap` ns, whether or not there is room; latency then
 * counts from when the task was due, so a stalled producer hides nothing.
 */
#include <pthread.h>
#include <stdlib.h>
#include "kernels/queue_body.h"

#define PILL UINT64_MAX

struct options {
	int64_t capacity, producers, gap;
};

static const struct pkrun_option option_table[] = {
	{"capacity", PKRUN_INT, offsetof(struct options, capacity), "256", 1, 1 << 20, NULL, "task",
	 "entries of the ring"},
	{"producers", PKRUN_INT, offsetof(struct options, producers), "1", 1, 64, NULL, "thread",
	 "host threads that hand tasks over"},
	{"gap", PKRUN_INT, offsetof(struct options, gap), "0", 0, 1000000000, NULL, "ns",
	 "time between two tasks of a producer (0: as fast as the ring takes them)"},
	{},
};

struct entry {
	alignas(PK_LINE_BYTES) uint64_t seq;
	uint64_t task, length, position;
};

struct ring {
	struct entry *entries;
	uint64_t capacity;
	uint64_t *present; /* on a line of its own: all workers are there */
};

/* The producers' side; `waits` and `tail` are shared by them. */
struct ring_state {
	struct queue_state queue; /* first */
	struct ring ring, ring_dev;
	uint64_t *lengths;	  /* host copy */
	uint64_t tail, end, waits;
	uint32_t given_up;
	int resident;
};

static PK_FN uint64_t ring_free(uint64_t p)
{
	return 2 * p;
}

static PK_FN uint64_t ring_full(uint64_t p)
{
	return 2 * p + 1;
}

/* Thread 0: the entry of the next ticket, or a pill when the run is being aborted. */
static __device__ inline struct entry take(const struct queue_control &c, const struct ring &r)
{
	uint64_t p = __hip_atomic_fetch_add(&c.lines->head, (uint64_t)1, __ATOMIC_RELAXED,
					    __HIP_MEMORY_SCOPE_AGENT);
	struct entry *e = r.entries + p % r.capacity, got;
	uint64_t seq;

	got.task = PILL;
	got.length = 0;
	if (!pk_wait<pk_system, pk_orders_relaxed>(
		    &e->seq, [=](uint64_t v) { return v == ring_full(p); }, &seq, c.watch, blockIdx.x, p))
		return got;
	got.task = e->task;
	got.length = e->length;
	got.position = e->position;
	pk_system::put_release(&e->seq, ring_free(p + r.capacity));
	return got;
}

static __global__ void worker_kernel(struct queue_args a, struct queue_control c, struct ring r)
{
	PK_SHARED(struct entry, work, [1]);
	uint64_t done = 0;

	if (threadIdx.x == 0)
		pk_tell_present(&c.lines->present, r.present);
	for (;;) {
		if (threadIdx.x == 0)
			work[0] = take(c, r);
		__syncthreads();
		if (work[0].task == PILL)
			break;
		queue_do(a, work[0].task, work[0].length);
		queue_complete(c, work[0].position); /* its barrier: `work` has been read */
		done++;
	}
	if (threadIdx.x == 0) {
		c.done_by[blockIdx.x] = done;
		c.steps[blockIdx.x] = work[0].length;
	}
}

/* ---- host side ---- */

static const struct options *options_of(const struct pkrun_run *run)
{
	return (const struct options *)run->options;
}

static int probe(struct pkrun_run *run)
{
#if defined(PKRUN_BUILD_HOST)
	const char *workers = getenv("PKH_WORKERS");

	if (options_of(run)->producers > 1 && workers && !strcmp(workers, "0")) {
		run->host->say(run, "producers = %lld: with PKH_WORKERS=0 one host thread runs all",
			       (long long)options_of(run)->producers);
		return PKRUN_SKIP;
	}
#endif
	return queue_args_of(run) ? pk_no_check(run) : PKRUN_FAIL;
}

static int footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	int status = pk_footprint(run, worker_kernel, queue_args_of(run)->tasks, 0, PK_AUTO_PER_CU, fp);

	queue_state_of(run)->blocks = fp->blocks;
	return status;
}

static int setup(struct pkrun_run *run)
{
	struct ring_state *st = (struct ring_state *)run->state;
	const struct queue_args *a = queue_args_of(run);
	uint64_t capacity = (uint64_t)options_of(run)->capacity;
	int status;

	st->lengths = (uint64_t *)malloc(a->tasks * sizeof(*st->lengths));
	if (!st->lengths) {
		run->host->say(run, "no memory for %llu lengths", (unsigned long long)a->tasks);
		return PKRUN_FAIL;
	}
	st->ring.capacity = st->ring_dev.capacity = capacity;
	status = queue_setup(run, 4 * (capacity + st->queue.blocks));
	if (status != PKRUN_OK)
		return status;
	status = run->host->alloc(run, "ring", PKRUN_MEMORY_HOST, capacity * sizeof(struct entry),
				  (void **)&st->ring.entries, (void **)&st->ring_dev.entries);
	if (status != PKRUN_OK)
		return status;
	return run->host->alloc(run, "present", PKRUN_MEMORY_HOST, PK_LINE_BYTES,
				(void **)&st->ring.present, (void **)&st->ring_dev.present);
}

static int start(struct pkrun_run *run)
{
	struct ring_state *st = (struct ring_state *)run->state;
	const struct queue_args *a = queue_args_of(run);
	int status;

	PK_TRY(run, hipMemcpyAsync(st->lengths, a->lengths, a->tasks * sizeof(*st->lengths),
				   hipMemcpyDeviceToHost, pk_stream(run)));
	status = queue_clear(run); /* waits for the copy too */
	if (status != PKRUN_OK)
		return status;
	st->tail = st->waits = st->given_up = 0;
	for (uint64_t i = 0; i < st->ring.capacity; i++)
		pk_system::put_release(&st->ring.entries[i].seq, ring_free(i));
	pk_system::put_release(st->ring.present, (uint64_t)0);
	PK_TRY(run, pk_launch_coop(worker_kernel, dim3(st->queue.blocks), dim3(run->threads), 0,
				   pk_stream(run), *a, queue_control_of(run),
				   st->ring_dev));
	st->resident = 1;
	return pk_await_present(run, st->ring.present);
}

/* Is the entry of position p free? */
static bool free_at(const struct ring_state *st, uint64_t p)
{
	const uint64_t *seq = &st->ring.entries[p % st->ring.capacity].seq;

	return pk_system::relaxed(seq) == ring_free(p) && pk_system::acquire(seq) == ring_free(p);
}

/* And may another task be under way? */
static bool has_room(const struct ring_state *st, uint64_t p)
{
	return free_at(st, p) && queue_may_submit(&st->queue, p + 1);
}

static void put(struct ring_state *st, uint64_t p, uint64_t task, uint64_t length)
{
	struct entry *e = &st->ring.entries[p % st->ring.capacity];

	e->task = task;
	e->length = length;
	e->position = p;
	pk_system::put_release(&e->seq, ring_full(p));
}

/* The task of a position, with the time of its hand-over. */
static void put_task(struct pkrun_run *run, uint64_t p, uint64_t due)
{
	struct ring_state *st = (struct ring_state *)run->state;
	uint64_t task = p % ((const struct queue_args *)run->work->args)->tasks;

	st->queue.sent[p] = due ? due : pk_now_ns();
	put(st, p, task, st->lengths[task]);
}

/* Until a task is due: when that was, 0 where there is no timetable or the run
 * is being aborted. */
static uint64_t pace(struct pkrun_run *run, uint64_t *due)
{
	uint64_t gap = (uint64_t)options_of(run)->gap, now;

	if (!gap)
		return 0;
	now = pk_now_ns();
	if (!*due)
		*due = now;
	for (; now < *due; now = pk_now_ns()) {
		pk_host_pause();
		if (pk_system::relaxed(&run->watch->abort))
			return 0;
	}
	*due += gap;
	return *due - gap;
}

/* A producer of its own: it neither drains nor says anything. */
static void *producer(void *arg)
{
	struct pkrun_run *run = (struct pkrun_run *)arg;
	struct ring_state *st = (struct ring_state *)run->state;
	uint64_t due = 0;

	for (;;) {
		uint64_t p = __hip_atomic_fetch_add(&st->tail, (uint64_t)1, __ATOMIC_RELAXED,
						    __HIP_MEMORY_SCOPE_SYSTEM);
		uint64_t when = p < st->end ? pace(run, &due) : 0;

		if (p >= st->end)
			return NULL;
		if (!has_room(st, p))
			(void)__hip_atomic_fetch_add(&st->waits, (uint64_t)1, __ATOMIC_RELAXED,
						     __HIP_MEMORY_SCOPE_SYSTEM);
		while (!has_room(st, p)) {
			pk_host_pause();
			if (pk_system::relaxed(&st->given_up))
				return NULL;
		}
		if (pk_system::relaxed(&run->watch->abort))
			return NULL;
		put_task(run, p, when);
	}
}

/* Several producers; this thread drains. */
static int run_producers(struct pkrun_run *run)
{
	struct ring_state *st = (struct ring_state *)run->state;
	struct queue_state *q = &st->queue;
	pthread_t threads[64];
	int64_t n = 0;
	int status = PKRUN_OK;

	for (; n < options_of(run)->producers; n++)
		if (pthread_create(&threads[n], NULL, producer, run)) {
			run->host->say(run, "cannot create producer thread %lld", (long long)n);
			status = PKRUN_FAIL;
			break;
		}
	if (status == PKRUN_OK)
		status = queue_drain_until(run, [=]() { return q->drained == st->end; },
					   "completions", true);
	if (status != PKRUN_OK)
		pk_system::put_relaxed(&st->given_up, 1u);
	while (n-- > 0)
		(void)pthread_join(threads[n], NULL);
	st->tail = st->end; /* tickets beyond the end were not used */
	return status;
}

/* One producer, which is also the one that drains. */
static int run_alone(struct pkrun_run *run)
{
	struct ring_state *st = (struct ring_state *)run->state;
	uint64_t due = 0;

	for (; st->tail < st->end; st->tail++) {
		uint64_t p = st->tail, when = pace(run, &due);

		if ((options_of(run)->gap || p % 1024 == 1023) && pk_host_aborted_at(run, 0, p)) {
			run->host->say(run, "aborted before task %llu", (unsigned long long)p);
			return PKRUN_FAIL;
		}
		if (!has_room(st, p)) {
			int status = queue_drain_until(run, [=]() { return has_room(st, p); },
						       "room in the ring", true);

			st->waits++;
			if (status != PKRUN_OK)
				return status;
		}
		put_task(run, p, when);
		queue_drain(&st->queue);
	}
	return PKRUN_OK;
}

/* One pill a worker, behind the last task. */
static int send_pills(struct pkrun_run *run)
{
	struct ring_state *st = (struct ring_state *)run->state;
	uint64_t iterations = st->end / queue_args_of(run)->tasks;

	for (uint32_t b = 0; b < st->queue.blocks; b++, st->tail++) {
		uint64_t p = st->tail;
		int status = queue_drain_until(run, [=]() { return free_at(st, p); },
					       "room for a pill", true);

		if (status != PKRUN_OK)
			return status;
		put(st, p, PILL, iterations);
	}
	st->resident = 0;
	return PKRUN_OK;
}

static int run_tasks(struct pkrun_run *run, uint64_t iterations)
{
	struct ring_state *st = (struct ring_state *)run->state;
	int status;

	st->end = st->tail + iterations * queue_args_of(run)->tasks;
	status = queue_room(run, st->end);
	if (status != PKRUN_OK)
		return status;
	st->queue.first = pk_now_ns();
	st->queue.submitted = st->end;
	return options_of(run)->producers > 1 ? run_producers(run) : run_alone(run);
}

static int wait_tasks(struct pkrun_run *run)
{
	struct ring_state *st = (struct ring_state *)run->state;
	struct queue_state *q = &st->queue;
	int status = send_pills(run);

	if (status != PKRUN_OK)
		return status;
	return queue_drain_until(run, [=]() { return q->drained == st->end; }, "completions", true);
}

static int stop(struct pkrun_run *run)
{
	struct ring_state *st = (struct ring_state *)run->state;
	int status = PKRUN_OK;

	if (st->resident)
		status = send_pills(run);
	if (status != PKRUN_OK)
		return status;
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	if (st->end)
		run->host->metric(run, "full_waits", (double)st->waits, "count");
	return queue_report(run);
}

static void teardown(struct pkrun_run *run)
{
	struct ring_state *st = (struct ring_state *)run->state;

	if (st->resident)
		(void)stop(run);
	queue_free(run);
	free(st->lengths);
	st->lengths = NULL;
}

static const struct pkrun_metric metrics[] = {
	QUEUE_METRICS,
	{"full_waits", "count", "times that a producer waited for room in the ring"},
	{},
};

PKRUN_PLUGIN(
	.name = "queue_ring",
	.brief = "a bounded ring in host-visible memory, served by resident workers",
	.control = PKRUN_CONTROL_HOST,
	.result = PKRUN_EXACT,
	.flags = PKRUN_COOPERATIVE | PKRUN_RESIDENT,
	.state_size = sizeof(struct ring_state),
	.workloads = "queue",
	.options = option_table,
	.options_size = sizeof(struct options),
	.reserved = 0,
	.probe = probe,
	.footprint = footprint,
	.setup = setup,
	.start = start,
	.run = run_tasks,
	.wait = wait_tasks,
	.stop = stop,
	.teardown = teardown,
	.metrics = metrics,
);
