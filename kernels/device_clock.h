/* SPDX-License-Identifier: MIT
 *
 * device_clock.h - where the device's clock stands against the host's.
 *
 * A kernel of one thread answers a few messages with its clock; the one with
 * the shortest round trip is taken to have been read halfway.  That is wrong by
 * at most half of the round trip (`error`).  Two readings, before and after,
 * also take care of clocks that run at slightly different speeds.
 */
#ifndef PKRUN_DEVICE_CLOCK_H
#define PKRUN_DEVICE_CLOCK_H

#include "host_wait.h"
#include "latency.h"

#define DEVICE_CLOCK_ROUNDS 64

/* Each side writes its own line. */
struct device_clock_lines {
	alignas(PK_LINE_BYTES) uint64_t asked;
	alignas(PK_LINE_BYTES) uint64_t answered, clock;
};

struct device_clock {
	struct device_clock_lines *host, *dev;
};

/* Both clocks at one moment. */
struct device_clock_pair {
	uint64_t host, device, error;
};

static __global__ void device_clock_kernel(struct device_clock_lines *lines,
					   struct pkrun_watch *watch)
{
	for (uint64_t i = 0; i < DEVICE_CLOCK_ROUNDS; i++) {
		uint64_t asked;

		if (!pk_wait<pk_system, pk_orders_relaxed>(
			    &lines->asked, [=](uint64_t v) { return v > i; }, &asked, watch, 0, i))
			return;
		pk_system::put_relaxed(&lines->clock, pk_clock_ns());
		pk_system::put_release(&lines->answered, i + 1);
	}
}

static inline int device_clock_open(struct pkrun_run *run, struct device_clock *c)
{
	return run->host->alloc(run, "clock", PKRUN_MEMORY_HOST, sizeof(*c->host),
				(void **)&c->host, (void **)&c->dev);
}

/* Not while another kernel holds the device. */
static inline int device_clock_read(struct pkrun_run *run, struct device_clock *c,
				    struct device_clock_pair *out)
{
	struct device_clock_lines *lines = c->host;
	struct device_clock_pair best = {0, 0, UINT64_MAX};

	pk_system::put_relaxed(&lines->asked, (uint64_t)0);
	pk_system::put_relaxed(&lines->answered, (uint64_t)0);
	PK_TRY(run, pk_launch(device_clock_kernel, dim3(1), dim3(1), 0, pk_stream(run), c->dev,
			      run->watch_dev));
	for (uint64_t i = 0; i < DEVICE_CLOCK_ROUNDS; i++) {
		uint64_t before = pk_now_ns(), after;
		int status;

		pk_system::put_release(&lines->asked, i + 1);
		status = pk_host_spin(
			run, [=]() { return pk_system::acquire(&lines->answered) == i + 1; },
			"the device's clock", 0, i);
		if (status != PKRUN_OK)
			return status;
		after = pk_now_ns();
		if ((after - before) / 2 >= best.error)
			continue;
		best.error = (after - before) / 2;
		best.host = before + best.error;
		best.device = pk_system::relaxed(&lines->clock);
	}
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	*out = best;
	return PKRUN_OK;
}

/* A time of the device on the host's clock, from readings before and after it. */
static inline uint64_t device_clock_to_host(const struct device_clock_pair *a,
					    const struct device_clock_pair *b, uint64_t device)
{
	double speed = 1;

	if (b->device > a->device && b->host > a->host)
		speed = (double)(b->host - a->host) / (double)(b->device - a->device);
	return (uint64_t)((int64_t)a->host +
			  (int64_t)((double)(int64_t)(device - a->device) * speed));
}

static inline double device_clock_error(const struct device_clock_pair *a,
					const struct device_clock_pair *b)
{
	return (double)(a->error > b->error ? a->error : b->error);
}

#endif
