/* SPDX-License-Identifier: MIT
 *
 * pingpong_body.h - what the pingpong_* variants share: how a grid fills a
 * buffer, how the host consumes one, and what is told of the times.
 *
 * A buffer is filled when the last of its blocks has counted itself in, at the
 * counter of that buffer in device memory, which only grows.  (One counter for
 * both would be wrong: while a late block still fills buffer i, an early one
 * may already count itself in for i + 1.  For i + 2 it may not, for that needs
 * the host to have consumed i.)  The additions release and acquire, so the last
 * block has acquired what all of them wrote; it counts the buffer and says how
 * long it took, on the device's clock from block 0's begin.
 *
 * Metrics of a trial: produce, copy and validate (sums of ns: how long each of
 * the three keeps its part of the machine busy; a copy counts what it takes on
 * an idle device, measured beforehand), overlap (their sum over the wall time:
 * 1 or less when they come one after another, up to 3 when all run beside each
 * other), bandwidth, and latency_* (a buffer, from when its filling was allowed
 * to when it was found right).
 */
#ifndef PKRUN_PINGPONG_BODY_H
#define PKRUN_PINGPONG_BODY_H

#include "host_wait.h"
#include "latency.h"
#include "pingpong.h"

/* Of the device; zero at the start. */
struct pingpong_buffer_lines {
	alignas(PK_LINE_BYTES) uint64_t arrivals;
	alignas(PK_LINE_BYTES) uint64_t started; /* block 0's clock */
};
struct pingpong_lines {
	struct pingpong_buffer_lines buffer[2];
	/* pingpong_persistent */
	alignas(PK_LINE_BYTES) uint64_t gate; /* passed on by block 0 */
	alignas(PK_LINE_BYTES) uint64_t present; /* blocks */
};

/* In host memory, written by the device: one for each of the two buffers. */
struct pingpong_full {
	alignas(PK_LINE_BYTES) uint64_t number; /* of the buffer, from 1 */
	uint64_t produce_ns;
};

struct pingpong_control {
	struct pingpong_lines *lines;
	struct pingpong_full *full;
	struct pkrun_watch *watch;
	uint64_t *steps;
};

/* The block's part of buffer i; every thread calls it. */
static __device__ __forceinline__ void pingpong_fill(const struct pingpong_args &a,
						     const struct pingpong_control &c, uint64_t i)
{
	uint64_t *buffer = a.buffers + (i & 1) * a.words;
	struct pingpong_buffer_lines *lines = &c.lines->buffer[i & 1];
	uint64_t first = pingpong_word(i, 0);

	if (blockIdx.x == 0 && threadIdx.x == 0)
		pk_agent::put_relaxed(&lines->started, pk_clock_ns());
	for (uint64_t k = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; k < a.words;
	     k += (uint64_t)gridDim.x * blockDim.x)
		buffer[k] = first + k * PK_GOLDEN;
	__syncthreads();
	if (threadIdx.x == 0 && pk_agent::add_acq_rel(&lines->arrivals, (uint64_t)1) + 1 ==
					(i / 2 + 1) * gridDim.x) {
		struct pingpong_full *full = c.full + (i & 1);

		a.count[0] = i + 1;
		pk_system::put_relaxed(&full->produce_ns,
				       pk_clock_ns() - pk_agent::relaxed(&lines->started));
		pk_system::put_release(&full->number, i + 1);
	}
}

/* ---- host side ---- */

/* Begins the state of each of them. */
struct pingpong_state {
	uint32_t blocks;
	struct pingpong_lines *lines;
	struct pingpong_full *full, *full_dev;
	uint64_t *staging[2];		/* pinned: where the host reads buffers */
	hipStream_t copies;
	uint64_t produced, consumed;	/* buffers allowed or launched; validated */
	uint64_t allowed_at[2];		/* host time, by buffer */
	uint64_t copy_alone_ns;		/* one copy on an idle device */
	uint64_t begin, end, produce_ns, validate_ns;
	struct pk_samples latency;
};

static inline struct pingpong_state *pingpong_state_of(struct pkrun_run *run)
{
	return (struct pingpong_state *)run->state;
}

static inline const struct pingpong_args *pingpong_args_of(struct pkrun_run *run)
{
	return pk_args<struct pingpong_args>(run, PINGPONG_VERSION);
}

template <class Kernel>
static int pingpong_footprint(struct pkrun_run *run, Kernel kernel, struct pkrun_footprint *fp)
{
	const struct pingpong_args *a = pingpong_args_of(run);
	int status;

	if (!a)
		return PKRUN_FAIL;
	status = pk_footprint(run, kernel, (a->words - 1) / 256 + 1, 0, PK_AUTO_PER_CU, fp);
	pingpong_state_of(run)->blocks = fp->blocks;
	return status;
}

/* Queue the copy of buffer i. */
static inline int pingpong_copy(struct pkrun_run *run, uint64_t i, hipStream_t stream)
{
	const struct pingpong_args *a = pingpong_args_of(run);
	struct pingpong_state *st = pingpong_state_of(run);

	PK_TRY(run, hipMemcpyAsync(st->staging[i & 1], a->buffers + (i & 1) * a->words,
				   a->words * sizeof(uint64_t), hipMemcpyDeviceToHost, stream));
	return PKRUN_OK;
}

/* The shortest of a few copies. */
static inline int pingpong_time_copy(struct pkrun_run *run)
{
	struct pingpong_state *st = pingpong_state_of(run);

	st->copy_alone_ns = UINT64_MAX;
	for (int i = 0; i < 5; i++) {
		uint64_t begin = pk_now_ns(), ns;
		int status = pingpong_copy(run, 0, st->copies);

		if (status != PKRUN_OK)
			return status;
		PK_TRY(run, hipStreamSynchronize(st->copies));
		ns = pk_now_ns() - begin;
		if (ns < st->copy_alone_ns)
			st->copy_alone_ns = ns;
	}
	return PKRUN_OK;
}

static inline int pingpong_setup(struct pkrun_run *run)
{
	struct pingpong_state *st = pingpong_state_of(run);
	size_t bytes = pingpong_args_of(run)->words * sizeof(uint64_t);
	const struct pkrun_host *host = run->host;
	int status;

	PK_TRY(run, hipStreamCreateWithFlags(&st->copies, hipStreamNonBlocking));
	status = host->alloc(run, "lines", PKRUN_MEMORY_DEVICE, sizeof(*st->lines), NULL,
			     (void **)&st->lines);
	if (status == PKRUN_OK)
		status = host->alloc(run, "full", PKRUN_MEMORY_HOST, 2 * sizeof(*st->full),
				     (void **)&st->full, (void **)&st->full_dev);
	for (int i = 0; i < 2 && status == PKRUN_OK; i++)
		status = host->alloc(run, "staging", PKRUN_MEMORY_HOST, bytes,
				     (void **)&st->staging[i], NULL);
	return status == PKRUN_OK ? pingpong_time_copy(run) : status;
}

static inline int pingpong_clear(struct pkrun_run *run)
{
	struct pingpong_state *st = pingpong_state_of(run);

	st->produced = st->consumed = 0;
	st->begin = st->end = st->produce_ns = st->validate_ns = 0;
	for (int i = 0; i < 2; i++)
		pk_system::put_release(&st->full[i].number, (uint64_t)0);
	PK_TRY(run, hipMemsetAsync(st->lines, 0, sizeof(*st->lines), pk_stream(run)));
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	return pk_samples_begin(run, &st->latency, run->iterations);
}

static inline struct pingpong_control pingpong_control_of(struct pkrun_run *run)
{
	struct pingpong_state *st = pingpong_state_of(run);
	struct pingpong_control c = {st->lines, st->full_dev, run->watch_dev, run->steps};

	return c;
}

/* Every word of buffer i, which has been copied and may be being filled again;
 * its filling was allowed at `allowed_at`. */
static inline int pingpong_validate(struct pkrun_run *run, uint64_t i, uint64_t allowed_at)
{
	struct pingpong_state *st = pingpong_state_of(run);
	const uint64_t *got = st->staging[i & 1], words = pingpong_args_of(run)->words;
	uint64_t begin = pk_now_ns(), expected = pingpong_word(i, 0), different = 0, k = 0;

	for (; k < words; k++, expected += PK_GOLDEN)
		different |= got[k] ^ expected;
	st->end = pk_now_ns();
	st->validate_ns += st->end - begin;
	st->consumed = i + 1;
	pk_samples_add(&st->latency, st->end - allowed_at);
	if (!different)
		return PKRUN_OK;
	for (k = 0; got[k] == pingpong_word(i, k);)
		k++;
	run->host->say(run, "buffer %llu, word %llu: got %016llx, expected %016llx",
		       (unsigned long long)i, (unsigned long long)k, (unsigned long long)got[k],
		       (unsigned long long)pingpong_word(i, k));
	return PKRUN_WRONG;
}

static inline bool pingpong_aborted(struct pkrun_run *run, uint64_t i)
{
	if (!pk_host_aborted_at(run, 0, i))
		return false;
	run->host->say(run, "aborted before buffer %llu", (unsigned long long)i);
	return true;
}

static inline int pingpong_wait(struct pkrun_run *run)
{
	(void)run;
	return PKRUN_OK;
}

static const struct pkrun_metric pingpong_metrics[] = {
	{"produce", "ns", "sum over the buffers: the device fills them"},
	{"copy", "ns", "the copies, each with the time that it takes on an idle device"},
	{"validate", "ns", "sum over the buffers: the host checks them"},
	{"overlap", "ratio",
	 "these three over the wall time: 1 one after another, up to 3 all at once"},
	{"bandwidth", "B/s", "bytes of all buffers over the wall time"},
	PK_SAMPLES_METRICS("latency", "a buffer, from when it may be filled to when it was found right"),
	{},
};

static inline int pingpong_report(struct pkrun_run *run)
{
	struct pingpong_state *st = pingpong_state_of(run);
	double wall = (double)(st->end - st->begin);
	double copy = (double)st->copy_alone_ns * (double)st->consumed;

	if (!st->consumed || wall <= 0)
		return PKRUN_OK;
	run->host->metric(run, "produce", (double)st->produce_ns, "ns");
	run->host->metric(run, "copy", copy, "ns");
	run->host->metric(run, "validate", (double)st->validate_ns, "ns");
	run->host->metric(run, "overlap",
			  ((double)(st->produce_ns + st->validate_ns) + copy) / wall, "ratio");
	run->host->metric(run, "bandwidth",
			  8e9 * (double)st->consumed * (double)pingpong_args_of(run)->words / wall,
			  "B/s");
	pk_samples_report(run, &st->latency, "latency");
	return PKRUN_OK;
}

static inline void pingpong_free(struct pkrun_run *run)
{
	struct pingpong_state *st = pingpong_state_of(run);

	if (st->copies)
		(void)hipStreamDestroy(st->copies);
	st->copies = NULL;
	pk_samples_free(&st->latency);
}

#endif
