/* SPDX-License-Identifier: MIT
 *
 * progress_body.h - the tiled product, its reports, and the host that watches.
 *
 *	report = none	what the others are to be compared with
 *	report = slots	after every `every` tiles (counted in device memory) the
 *			block that completes them writes the time into the next
 *			slot in host memory; the slot is its own flag
 *	report = counter	the second report's way: each block adds to one
 *			counter in host memory, after `every` tiles of its own
 *
 * The counter is advanced by atomic additions across the bus, which only the
 * device makes; the host only reads.  Where the bus has no atomic operations
 * some are lost: the product is right all the same, the host's view ends with
 * the kernel, and `missed` says what it did not see.
 *
 * Slots are written once each, so the host sees them in order however they
 * arrive, and a store cannot be overtaken by an older one.  seen_late_* is from
 * the device's time in a slot to when the host saw it, on the host's clock
 * (device_clock.h; right to clock_error).
 */
#ifndef PKRUN_PROGRESS_BODY_H
#define PKRUN_PROGRESS_BODY_H

#include "device_clock.h"
#include "progress.h"

enum progress_report { REPORT_NONE = 0, REPORT_SLOTS = 1, REPORT_COUNTER = 2 };

struct progress_options {
	struct pkrun_choice report;
	int64_t every;
};

static const struct pkrun_option progress_options[] = {
	{"report", PKRUN_CHOICE, offsetof(struct progress_options, report), "slots", 0, 0,
	 "none|slots|counter", NULL, "how the host learns how far it is"},
	{"every", PKRUN_INT, offsetof(struct progress_options, every), "1", 1, 1 << 20, NULL,
	 "tile", "tiles between two reports"},
	{},
};

struct progress_control {
	uint64_t *done;		/* device: tiles, in all */
	uint64_t *slots;	/* host: the device's time */
	uint64_t *counter;	/* host: tiles */
	uint64_t every;
	uint32_t report;
	uint64_t *steps;
};

/* One tile; every thread of the block, however many there are. */
static __device__ __forceinline__ void progress_tile(const struct progress_args &p, uint64_t tile)
{
	constexpr uint32_t T = PROGRESS_TILE;
	PK_SHARED(double, a, [T][T]);
	PK_SHARED(double, b, [T][T]);
	PK_SHARED(double, sum, [T][T]);
	uint64_t side = (p.n - 1) / T + 1, top = tile / side * T, left = tile % side * T;

	for (uint32_t e = threadIdx.x; e < T * T; e += blockDim.x)
		sum[e / T][e % T] = 0;
	for (uint64_t k0 = 0; k0 < p.n; k0 += T) {
		uint32_t depth = p.n - k0 < T ? (uint32_t)(p.n - k0) : T;

		__syncthreads();
		for (uint32_t e = threadIdx.x; e < T * T; e += blockDim.x) {
			uint32_t y = e / T, x = e % T;

			a[y][x] = top + y < p.n && x < depth ? p.a[(top + y) * p.n + k0 + x] : 0;
			b[y][x] = y < depth && left + x < p.n ? p.b[(k0 + y) * p.n + left + x] : 0;
		}
		__syncthreads();
		for (uint32_t e = threadIdx.x; e < T * T; e += blockDim.x) {
			double s = sum[e / T][e % T];

			for (uint32_t k = 0; k < depth; k++)
				s = s + a[e / T][k] * b[k][e % T];
			sum[e / T][e % T] = s;
		}
	}
	for (uint32_t e = threadIdx.x; e < T * T; e += blockDim.x) {
		uint64_t y = top + e / T, x = left + e % T;

		if (y < p.n && x < p.n)
			p.c[y * p.n + x] = p.c[y * p.n + x] + sum[e / T][e % T];
	}
	__syncthreads(); /* all of the tile is done, and `sum` may be used again */
}

/* Thread 0: a tile is done; `mine` counts those of this block. */
static __device__ __forceinline__ void progress_tell(const struct progress_control &c, uint64_t mine)
{
	if (c.report == REPORT_SLOTS) {
		uint64_t done = pk_agent::add_acq_rel(c.done, (uint64_t)1) + 1;

		if (done % c.every == 0)
			pk_system::put_release(c.slots + done / c.every - 1, pk_clock_ns());
	} else if (c.report == REPORT_COUNTER && mine % c.every == 0) {
		(void)__hip_atomic_fetch_add(c.counter, c.every, __ATOMIC_RELEASE,
					     __HIP_MEMORY_SCOPE_SYSTEM);
	}
}

/* A tile belongs to one block, so iterations need no order between blocks. */
static __global__ void progress_kernel(struct progress_args p, struct progress_control c,
				       uint64_t iterations, uint64_t before)
{
	uint64_t side = (p.n - 1) / PROGRESS_TILE + 1, tiles = side * side, mine = 0;

	if (blockIdx.x < tiles) /* of the launches before */
		mine = before * ((tiles - 1 - blockIdx.x) / gridDim.x + 1);
	for (uint64_t it = 0; it < iterations; it++)
		for (uint64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
			progress_tile(p, t);
			mine++;
			if (threadIdx.x == 0)
				progress_tell(c, mine);
		}
	if (threadIdx.x == 0)
		c.steps[blockIdx.x] += iterations;
}

/* ---- host side ---- */

struct progress_state {
	uint32_t blocks;
	struct device_clock clock;
	struct device_clock_pair before, after;
	uint64_t *done, *slots, *slots_dev, *counter, *counter_dev;
	uint64_t room;		/* slots */
	uint64_t iterations;	/* of this trial */
	uint64_t reports, seen, last;
	uint64_t *seen_at;	/* host time, by slot */
	struct pk_samples late;
};

static inline struct progress_state *progress_state_of(struct pkrun_run *run)
{
	return (struct progress_state *)run->state;
}

static inline const struct progress_options *progress_options_of(const struct pkrun_run *run)
{
	return (const struct progress_options *)run->options;
}

static inline const struct progress_args *progress_args_of(struct pkrun_run *run)
{
	return pk_args<struct progress_args>(run, PROGRESS_VERSION);
}

static inline uint64_t progress_tiles(struct pkrun_run *run)
{
	uint64_t side = (progress_args_of(run)->n - 1) / PROGRESS_TILE + 1;

	return side * side;
}

static inline int progress_footprint(struct pkrun_run *run, enum pk_auto_blocks automatic,
				     struct pkrun_footprint *fp)
{
	int status;

	if (!progress_args_of(run))
		return PKRUN_FAIL;
	status = pk_footprint(run, progress_kernel, progress_tiles(run), 0, automatic, fp);
	progress_state_of(run)->blocks = fp->blocks;
	return status;
}

static inline int progress_setup(struct pkrun_run *run)
{
	struct progress_state *st = progress_state_of(run);
	const struct pkrun_host *host = run->host;
	int status;

	st->room = run->iterations * progress_tiles(run) / (uint64_t)progress_options_of(run)->every + 1;
	st->seen_at = (uint64_t *)calloc(st->room, sizeof(*st->seen_at));
	if (!st->seen_at) {
		run->host->say(run, "no memory for %llu reports", (unsigned long long)st->room);
		return PKRUN_FAIL;
	}
	status = device_clock_open(run, &st->clock);
	if (status == PKRUN_OK)
		status = host->alloc(run, "done", PKRUN_MEMORY_DEVICE, PK_LINE_BYTES, NULL,
				     (void **)&st->done);
	if (status == PKRUN_OK)
		status = host->alloc(run, "slots", PKRUN_MEMORY_HOST, st->room * sizeof(*st->slots),
				     (void **)&st->slots, (void **)&st->slots_dev);
	if (status == PKRUN_OK)
		status = host->alloc(run, "counter", PKRUN_MEMORY_HOST, PK_LINE_BYTES,
				     (void **)&st->counter, (void **)&st->counter_dev);
	return status;
}

static inline int progress_start(struct pkrun_run *run)
{
	struct progress_state *st = progress_state_of(run);
	int status = device_clock_read(run, &st->clock, &st->before);

	if (status != PKRUN_OK)
		return status;
	st->iterations = st->reports = st->seen = st->last = 0;
	for (uint64_t i = 0; i < st->room; i++)
		pk_system::put_relaxed(&st->slots[i], (uint64_t)0);
	pk_system::put_release(st->counter, (uint64_t)0);
	PK_TRY(run, hipMemsetAsync(st->done, 0, PK_LINE_BYTES, pk_stream(run)));
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	return pk_samples_begin(run, &st->late, st->room);
}

/* How many there will have been, of the iterations so far. */
static inline uint64_t progress_reports(struct pkrun_run *run)
{
	struct progress_state *st = progress_state_of(run);
	uint64_t every = (uint64_t)progress_options_of(run)->every, n = 0;
	uint64_t tiles = progress_tiles(run);

	if (progress_options_of(run)->report.index == REPORT_SLOTS)
		return st->iterations * tiles / every;
	for (uint64_t b = 0; b < st->blocks && b < tiles; b++)
		n += st->iterations * ((tiles - 1 - b) / st->blocks + 1) / every;
	return n;
}

static inline int progress_launch(struct pkrun_run *run, uint64_t iterations)
{
	struct progress_state *st = progress_state_of(run);
	const struct progress_options *o = progress_options_of(run);
	struct progress_control c = {st->done, st->slots_dev, st->counter_dev, (uint64_t)o->every,
				     (uint32_t)o->report.index, run->steps};

	PK_TRY(run, pk_launch(progress_kernel, dim3(st->blocks), dim3(run->threads), 0,
			      pk_stream(run), *progress_args_of(run), c, iterations, st->iterations));
	st->iterations += iterations;
	st->reports = progress_reports(run);
	return PKRUN_OK;
}

/* One look; how many reports have been seen. */
static inline uint64_t progress_look(struct pkrun_run *run)
{
	struct progress_state *st = progress_state_of(run);

	if (progress_options_of(run)->report.index == REPORT_SLOTS) {
		while (st->seen < st->reports && st->seen < st->room &&
		       pk_system::relaxed(&st->slots[st->seen]))
			st->seen_at[st->seen++] = pk_now_ns();
		return st->seen;
	}
	st->last = pk_system::relaxed(st->counter);
	return st->last / (uint64_t)progress_options_of(run)->every;
}

/*
 * The host watches until all has been reported, or the kernels have left, and
 * tells pkrun how far it is: after one look in 64, since a call may read a clock
 * (it writes 10 times a second at most, and only where a progress line is shown).
 */
static inline int progress_wait(struct pkrun_run *run)
{
	struct progress_state *st = progress_state_of(run);
	int watches = progress_options_of(run)->report.index != REPORT_NONE;
	uint64_t seen;

	for (uint64_t looks = 1; watches && (seen = progress_look(run)) < st->reports; looks++) {
		pk_host_pause();
		if (looks % 64)
			continue;
		if (pk_host_aborted_at(run, 0, seen)) {
			run->host->say(run, "aborted after %llu reports", (unsigned long long)seen);
			return PKRUN_FAIL;
		}
		if (PKRUN_HOST_HAS(run->host, progress))
			run->host->progress(run, seen, st->reports);
		if (looks % 1024 == 0 && hipStreamQuery(pk_stream(run)) != hipErrorNotReady)
			break;
	}
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	return PKRUN_OK;
}

static const struct pkrun_metric progress_metrics[] = {
	{"reports", "count", "reports that the device made"},
	{"missed", "count", "of them, those that the host never saw"},
	PK_METRIC_CLOCK_ERROR,
	PK_SAMPLES_METRICS("seen_late", "a report, from when it was written to when the host saw it"),
	{},
};

static inline int progress_stop(struct pkrun_run *run)
{
	struct progress_state *st = progress_state_of(run);
	uint64_t seen;
	int status;

	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	if (progress_options_of(run)->report.index == REPORT_NONE || !st->reports)
		return PKRUN_OK;
	seen = progress_look(run);
	run->host->metric(run, "reports", (double)st->reports, "count");
	run->host->metric(run, "missed", st->reports > seen ? (double)(st->reports - seen) : 0,
			  "count");
	if (progress_options_of(run)->report.index != REPORT_SLOTS)
		return PKRUN_OK;
	status = device_clock_read(run, &st->clock, &st->after);
	if (status != PKRUN_OK)
		return status;
	for (uint64_t i = 0; i < st->seen; i++) {
		uint64_t at = device_clock_to_host(&st->before, &st->after,
						   pk_system::acquire(&st->slots[i]));

		pk_samples_add(&st->late, st->seen_at[i] > at ? st->seen_at[i] - at : 0);
	}
	run->host->metric(run, "clock_error", device_clock_error(&st->before, &st->after), "ns");
	pk_samples_report(run, &st->late, "seen_late");
	return PKRUN_OK;
}

static inline void progress_teardown(struct pkrun_run *run)
{
	struct progress_state *st = progress_state_of(run);

	pk_samples_free(&st->late);
	free(st->seen_at);
	st->seen_at = NULL;
}

#endif
