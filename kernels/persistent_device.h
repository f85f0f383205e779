/* SPDX-License-Identifier: MIT
 *
 * persistent_device.h - the body of the persistent variants that the device
 * controls: the host releases a whole run and learns of its end.
 *
 * Two words in host memory.  `go` is the number of steps to have been done in
 * all, so a release carries its iteration count and a later release only
 * raises it; all ones mean leave.  `done` is what the grid has finished in all:
 * all ones until every block has reported in, then 0, then each `go` in turn.
 * The last block to arrive at a device counter writes it, so the host hears
 * once.  Both only ever grow within a trial: nothing is reset, nothing can be
 * taken for the signal of another run.
 *
 * How steps are ordered between blocks is the variant's `Order`: a struct with
 *	before(c, work, s, left, waited) may this block begin step s?  waited(),
 *				by every thread: the wait is over
 *	after(c, work, s, left, told) this block has done step s.  told(), by
 *				thread 0 at least: others can know; or nobody is to
 *	agree(c, leave, left)	go seen: does any block want to leave?
 *	all(c, number, left, s)	a barrier of all blocks, for norm `number`
 *	look(c, s, left)	now and then: is the run being aborted? Blocks that
 *				never wait long would not see it otherwise
 * called by every thread of a block; false for all its threads when the run is
 * being aborted.  And
 *	begin(work)		before the block reports that it is resident
 *	finish(work)		all of `go` is done; before the block reports that
 * for work that a block keeps to itself between the two.
 *
 * waited and told are for stamped_order, which makes of any order one that writes
 * down when (stamps.h): the plain kernel has no code for either.
 *
 * Where a variant's work comes from, and what it takes of shared memory, is its
 * `Source`: device_source, or one that wraps the workload.
 */
#ifndef PKRUN_PERSISTENT_DEVICE_H
#define PKRUN_PERSISTENT_DEVICE_H

#include "barrier.h"
#include "host_wait.h"
#include "norm.h"
#include "stamps.h"

#define DEVICE_LOOK_EVERY 1024 /* steps */
#define DEVICE_LEAVE UINT64_MAX
#define DEVICE_ABSENT UINT64_MAX

/* Words of the device, each on a line of its own. */
struct device_lines {
	alignas(PK_LINE_BYTES) uint64_t go;	  /* the host's word, passed on by block 0 */
	alignas(PK_LINE_BYTES) uint64_t arrivals; /* blocks that reported, over all rounds */
	alignas(PK_LINE_BYTES) uint64_t barrier;
	alignas(PK_LINE_BYTES) uint64_t norm_barrier;
	alignas(PK_LINE_BYTES) uint32_t leave_agreed; /* persistent_barrier, coop */
	alignas(PK_LINE_BYTES) uint32_t leave_looked;
};
/* Words between host and device, each on a line of its own. */
struct host_lines {
	alignas(PK_LINE_BYTES) uint64_t go;
	alignas(PK_LINE_BYTES) uint64_t done;
};
/* A step counter a block, a line each: persistent_device. */
struct step_line {
	alignas(PK_LINE_BYTES) uint64_t done;
};

/* What a kernel is given. */
struct device_control {
	struct device_lines *lines;
	struct step_line *counters;
	struct host_lines *host;
	struct pkrun_watch *watch;
	uint64_t *steps;
	struct pk_norm norm;
};

/* This block has done all of `go`: the last block says so to the host. */
static __device__ inline void device_report(const struct device_control &c, uint64_t round,
					    uint64_t go)
{
	uint64_t before = pk_agent::add_acq_rel(&c.lines->arrivals, (uint64_t)1);

	if (before + 1 == (round + 1) * gridDim.x)
		pk_system::put_release(&c.host->done, go);
}

/* A release beyond `now`, or LEAVE. Block 0 alone watches the host's word and
 * passes it on, so that one load at a time crosses the bus however many blocks
 * wait, also while blocks that are not done yet still work. */
static __device__ __forceinline__ uint64_t device_go(const struct device_control &c, uint64_t now)
{
	auto other = [=](uint64_t v) { return v != now; };
	uint64_t go;

	if (blockIdx.x > 0)
		return pk_wait<pk_agent, pk_orders_relaxed>(&c.lines->go, other, &go, c.watch,
							 blockIdx.x, now) ?
			       go :
			       DEVICE_LEAVE;
	if (!pk_wait<pk_system, pk_orders_relaxed>(&c.host->go, other, &go, c.watch, 0, now))
		return DEVICE_LEAVE; /* the others see the abort word themselves */
	pk_agent::put_release(&c.lines->go, go);
	return go;
}

/* Thread 0 waits for a release beyond `now`; everybody gets it. */
static __device__ __forceinline__ uint64_t device_next(const struct device_control &c, uint64_t now,
						       uint64_t *shared_go)
{
	if (threadIdx.x == 0)
		*shared_go = device_go(c, now);
	__syncthreads();
	return *shared_go;
}

/*
 * Norm `number`, behind step s - 1: every block adds its share, a barrier, and
 * every block adds the shares up, for each would have to decide whether to go
 * on.  The shares of the norm before are still being read by late blocks, hence
 * two sets in turn; nobody can be two norms ahead, for the barrier.
 */
template <class W, class Order>
static __device__ bool device_norm(const W &work, const Order &order, const struct device_control &c,
				   uint64_t number, uint64_t s, uint32_t *left)
{
	if constexpr (W::has_norm) {
		double sum;

		if (!order.before(c, work, s, left))
			return false;
		sum = pk_norm_partial(work);
		if (threadIdx.x == 0)
			c.norm.partials[(number & 1) * gridDim.x + blockIdx.x] = sum;
		if (!order.all(c, number, left, s))
			return false;
		sum = pk_norm_whole(c.norm, number);
		if (blockIdx.x == 0 && threadIdx.x == 0)
			*c.norm.result_dev = sum;
	}
	return true;
}

/* What most orders have in common. */
struct device_order {
	/* Steps are not ordered by a barrier of all blocks: who leaves decides
	 * alone, since whoever waits for it sees the abort word too. */
	static __device__ __forceinline__ bool agree(const struct device_control &, bool leave,
						     uint32_t *)
	{
		return !leave;
	}
	static __device__ __forceinline__ bool look(const struct device_control &c, uint64_t s,
						    uint32_t *left)
	{
		/* late threads may still be reading `left` behind a barrier of all blocks */
		__syncthreads();
		if (threadIdx.x == 0 && pk_aborted(c.watch)) {
			pk_give_up(c.watch, blockIdx.x, s);
			pk_block::put_relaxed(left, 1u);
		}
		__syncthreads();
		return !pk_block::relaxed(left);
	}
	template <class W> static __device__ __forceinline__ void begin(const W &)
	{
	}
	template <class W> static __device__ __forceinline__ void finish(const W &)
	{
	}
};

/* An order with stamps of its steps; as a kernel's argument it brings them along. */
template <class Order> struct stamped_order : Order {
	struct pk_stamps stamps;

	__device__ __forceinline__ void stamp(uint64_t s, enum pk_stamp_event event) const
	{
		if (threadIdx.x == 0)
			pk_stamp(stamps, s, event, pk_clock_ns());
	}
	template <class W> __device__ __forceinline__ void begin(const W &work) const
	{
		if (threadIdx.x == 0)
			pk_stamp_clock(stamps);
		Order::begin(work);
	}
	/* A norm waits for the step behind it too; that step's own stamps come later. */
	template <class W>
	__device__ __forceinline__ bool before(const struct device_control &c, const W &work,
					       uint64_t s, uint32_t *left) const
	{
		bool on = Order::before(c, work, s, left, [&] { stamp(s, PK_STAMP_RECEIVE); });

		stamp(s, PK_STAMP_START);
		return on;
	}
	template <class W>
	__device__ __forceinline__ bool after(const struct device_control &c, const W &work,
					      uint64_t s, uint32_t *left) const
	{
		__syncthreads();
		stamp(s, PK_STAMP_END);
		return Order::after(c, work, s, left, [&] { stamp(s, PK_STAMP_DONE); });
	}
};
static_assert(PK_STAMPS_MAX / 4 < DEVICE_LOOK_EVERY, "no look between a stamped start and its work");

template <class W, class Order>
static __global__ void device_kernel(W work, Order order, struct device_control c)
{
	PK_SHARED(uint64_t, shared_go, [1]);
	PK_SHARED(uint32_t, left, [1]);
	uint64_t s = 0, norms = 0, until_norm = c.norm.steps; /* 0: counts below 0, never there */
	bool on = true;

	order.begin(work);
	if (threadIdx.x == 0) {
		left[0] = 0;
		device_report(c, 0, 0);
	}
	for (uint64_t round = 1; on; round++) {
		uint64_t go = device_next(c, s, shared_go);

		if (!order.agree(c, go == DEVICE_LEAVE, left))
			break;
		for (; on && s < go; s += on) {
			on = order.before(c, work, s, left);
			if (on && s % DEVICE_LOOK_EVERY == DEVICE_LOOK_EVERY - 1)
				on = order.look(c, s, left);
			if (!on)
				break;
			work.step(blockIdx.x, gridDim.x, s);
			on = order.after(c, work, s, left);
			if (on && --until_norm == 0) {
				on = device_norm(work, order, c, norms++, s + 1, left);
				until_norm = c.norm.steps;
			}
		}
		if (on)
			order.finish(work);
		__syncthreads();
		if (on && threadIdx.x == 0)
			device_report(c, round, go);
	}
	if (threadIdx.x == 0)
		c.steps[blockIdx.x] = s;
}

/* ---- host side ---- */

/* First in the options of a variant whose kernel is device_kernel() or has stamps of its own. */
struct device_options {
	int64_t stamps;
};
#define DEVICE_OPTION_STAMPS() PK_OPTION_STAMPS(struct device_options)

struct device_state {
	uint32_t blocks;
	int resident;		/* a kernel was launched and not yet waited for */
	uint64_t go;		/* last release */
	uint64_t iterations;	/* of the run under way */
	struct pk_norm norm;
	struct host_lines *host, *host_dev;
	struct device_lines *lines;
	struct step_line *counters;
	struct pk_stamps_state stamps;
};

static inline int64_t device_stamps(const struct pkrun_run *run)
{
	return ((const struct device_options *)run->options)->stamps;
}

/* What the protocol needs. */
static inline int device_setup_words(struct pkrun_run *run)
{
	struct device_state *d = (struct device_state *)run->state;
	const struct pkrun_host *host = run->host;
	int status;

	status = host->alloc(run, "go", PKRUN_MEMORY_HOST, sizeof(*d->host), (void **)&d->host,
			     (void **)&d->host_dev);
	if (status == PKRUN_OK)
		status = host->alloc(run, "lines", PKRUN_MEMORY_DEVICE, sizeof(*d->lines), NULL,
				     (void **)&d->lines);
	if (status == PKRUN_OK)
		status = host->alloc(run, "counters", PKRUN_MEMORY_DEVICE,
				     d->blocks * sizeof(*d->counters), NULL, (void **)&d->counters);
	return status == PKRUN_OK ? pk_norm_setup(run, d->blocks, &d->norm) : status;
}

/* And the stamps, for a variant with device_options. */
static inline int device_setup(struct pkrun_run *run)
{
	struct device_state *d = (struct device_state *)run->state;
	int status = device_setup_words(run);

	return status == PKRUN_OK ?
		       pk_stamps_setup(run, &d->stamps, d->blocks, device_stamps(run)) :
		       status;
}

/* Everything that the protocol reads is written here: it was poison. */
static inline int device_clear(struct pkrun_run *run)
{
	struct device_state *d = (struct device_state *)run->state;

	d->go = 0;
	pk_system::put_relaxed(&d->host->go, (uint64_t)0);
	pk_system::put_relaxed(&d->host->done, DEVICE_ABSENT);
	PK_TRY(run, hipMemsetAsync(d->lines, 0, sizeof(*d->lines), pk_stream(run)));
	PK_TRY(run, hipMemsetAsync(d->counters, 0, d->blocks * sizeof(*d->counters),
				   pk_stream(run)));
	return pk_stamps_start(run, &d->stamps);
}

/* Until the grid has done `go` steps in all. */
static inline int device_await(struct pkrun_run *run, uint64_t go, const char *what)
{
	const uint64_t *done = &((struct device_state *)run->state)->host->done;
	struct pk_patience patience = {};

	while (pk_system::acquire(done) != go) {
		int status;

		pk_host_pause();
		pk_host_let_device_say(run);
		status = pk_host_again(run, &patience, what, 0, go);
		if (status != PKRUN_OK)
			return status;
	}
	return PKRUN_OK;
}

/* The workload as it is. */
struct device_source {
	static const enum pk_auto_blocks automatic = PK_AUTO_FILL;

	/* Bands: a block's rows lie together, so of three rows of a point two are
	 * in its compute unit's cache (H200, N = 1001: 8.4 us an iteration, rows 14.3). */
	template <class F> static int with(struct pkrun_run *run, F f)
	{
		return pk_with_work_sweep(run, PKRUN_SWEEP_BANDS, f);
	}
	/* dynamic shared memory a block */
	template <class W> static size_t shared_bytes(const W &, uint32_t)
	{
		return 0;
	}
};

/* f(work, order): the order with stamps where they are asked for. */
template <class Source, class Order, class F>
static int device_with(struct pkrun_run *run, Order order, F f)
{
	const struct device_state *d = (const struct device_state *)run->state;
	stamped_order<Order> stamped = {order, d->stamps.dev};

	return Source::with(run, [=](auto work) -> int {
		return device_stamps(run) ? f(work, stamped) : f(work, order);
	});
}

template <class Order, class Source = device_source>
static int device_start(struct pkrun_run *run, Order order)
{
	struct device_state *d = (struct device_state *)run->state;
	struct device_control c = {d->lines,	   d->counters, d->host_dev,
				   run->watch_dev, run->steps,	d->norm};
	int status = device_clear(run);

	if (status != PKRUN_OK)
		return status;
	status = device_with<Source>(run, order, [=](auto work, auto its_order) -> int {
		PK_TRY(run, pk_launch_coop(device_kernel<decltype(work), decltype(its_order)>,
					   dim3(d->blocks), dim3(run->threads),
					   Source::shared_bytes(work, d->blocks), pk_stream(run),
					   work, its_order, c));
		return PKRUN_OK;
	});
	if (status != PKRUN_OK)
		return status;
	d->resident = 1;
	return device_await(run, 0, "the report that it is resident");
}

static inline int device_run(struct pkrun_run *run, uint64_t iterations)
{
	struct device_state *d = (struct device_state *)run->state;

	d->iterations = iterations;
	d->go += pk_steps(run, iterations);
	pk_system::put_release(&d->host->go, d->go);
	return PKRUN_OK;
}

static inline int device_wait(struct pkrun_run *run)
{
	const struct device_state *d = (const struct device_state *)run->state;
	int status = device_await(run, d->go, "the end of the run");

	if (status == PKRUN_OK && d->norm.steps)
		pk_norm_report(run, *d->norm.result, d->iterations);
	return status;
}

static inline int device_stop(struct pkrun_run *run)
{
	struct device_state *d = (struct device_state *)run->state;

	if (!d->resident)
		return PKRUN_OK;
	d->resident = 0;
	pk_system::put_release(&d->host->go, DEVICE_LEAVE);
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	return pk_stamps_report(run, &d->stamps);
}

/* Also after a start() that failed half-way. */
static inline void device_teardown(struct pkrun_run *run)
{
	(void)device_stop(run);
}

/* The grid is found before the shared memory that depends on it, as if every
 * compute unit held one block. */
template <class Order, class Source = device_source>
static int device_footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	struct device_state *d = (struct device_state *)run->state;
	int status = device_with<Source>(run, Order{}, [=](auto work, auto order) -> int {
		auto kernel = device_kernel<decltype(work), decltype(order)>;
		int units = 0, found;
		size_t bytes;

		PK_TRY(run, hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount,
						  run->device));
		bytes = Source::shared_bytes(work, pk_grid_blocks(run, work.units(), (uint64_t)units,
								  (uint64_t)units, Source::automatic));
		found = pk_allow_shared(run, kernel, bytes);
		if (found != PKRUN_OK)
			return found;
		return pk_footprint(run, kernel, work.units(), bytes, Source::automatic, fp);
	});

	d->blocks = fp->blocks;
	return status;
}

#endif
