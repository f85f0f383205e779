/* SPDX-License-Identifier: MIT
 *
 * pingpong_persistent - a resident producer and a consuming host, with two
 * buffers between them; after the second report's ping-pong.
 *
 * Protocol.  Two words, each with one writer.  `allowed` (host): how many
 * buffers may have been filled, in all; it is never more than two ahead of
 * those consumed, so the device is at most one buffer ahead.  full[i & 1]
 * (device): the number of the buffer that is complete there.  All only grow, so
 * nothing is reset; all ones in `allowed` mean leave.  A third word says once,
 * before the clock starts, that all blocks are there.
 *
 *	device: wait for allowed > i; fill buffer i & 1; all blocks count
 *	themselves in, the last one stores full[i & 1] = i + 1 (release)
 *	host: wait for it (acquire); copy on a second stream; wait for the copy;
 *	raise allowed (release); check every word
 *
 * The block fills only after an acquire of `allowed`, which the host raised
 * only after the copy of the buffer's last contents was complete.  The copy
 * begins only after the acquire of full, which the last block stored at system
 * scope after it had acquired all blocks' writes.
 *
 *	poll = one	block 0 polls the host's word and passes it on
 *	poll = all	every block does
 */
#include "kernels/pingpong_body.h"

#define LEAVE UINT64_MAX

struct options {
	struct pkrun_choice poll;
};

static const struct pkrun_option option_table[] = {
	{"poll", PKRUN_CHOICE, offsetof(struct options, poll), "one", 0, 0, "one|all", NULL,
	 "which blocks poll the host's word: one that passes it on, or all"},
	{},
};

/* A line each: the host's, and the device's once, when all blocks are there. */
struct door {
	alignas(PK_LINE_BYTES) uint64_t allowed;
	alignas(PK_LINE_BYTES) uint64_t present;
};

struct persistent_state {
	struct pingpong_state pingpong; /* first */
	struct door *door, *door_dev;
	int resident;
};

/* Thread 0: how many may have been filled, more than i; LEAVE also on abort. */
static __device__ inline uint64_t allowed(const struct pingpong_control &c, const struct door *door,
					  bool all_poll, uint64_t i)
{
	auto more = [=](uint64_t v) { return v > i; };
	uint64_t v;

	if (!all_poll && blockIdx.x != 0)
		return pk_wait<pk_agent, pk_orders_relaxed>(&c.lines->gate, more, &v, c.watch,
							    blockIdx.x, i) ?
			       v :
			       LEAVE;
	if (!pk_wait<pk_system, pk_orders_relaxed>(&door->allowed, more, &v, c.watch, blockIdx.x, i))
		return LEAVE;
	if (!all_poll)
		pk_agent::put_release(&c.lines->gate, v);
	return v;
}

static __global__ void producer_kernel(struct pingpong_args a, struct pingpong_control c,
				       struct door *door, bool all_poll)
{
	PK_SHARED(uint64_t, go, [1]);
	uint64_t i = 0;

	if (threadIdx.x == 0)
		pk_tell_present(&c.lines->present, &door->present);
	for (;; i++) {
		if (threadIdx.x == 0)
			go[0] = allowed(c, door, all_poll, i);
		__syncthreads();
		if (go[0] == LEAVE)
			break;
		pingpong_fill(a, c, i); /* its barrier: `go` has been read */
	}
	if (threadIdx.x == 0)
		c.steps[blockIdx.x] = i;
}

static int footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	return pingpong_footprint(run, producer_kernel, fp);
}

static int setup(struct pkrun_run *run)
{
	struct persistent_state *st = (struct persistent_state *)run->state;
	int status = pingpong_setup(run);

	if (status != PKRUN_OK)
		return status;
	return run->host->alloc(run, "door", PKRUN_MEMORY_HOST, sizeof(*st->door),
				(void **)&st->door, (void **)&st->door_dev);
}

static int start(struct pkrun_run *run)
{
	struct persistent_state *st = (struct persistent_state *)run->state;
	bool all_poll = ((const struct options *)run->options)->poll.index == 1;
	int status = pingpong_clear(run);

	if (status != PKRUN_OK)
		return status;
	pk_system::put_release(&st->door->allowed, (uint64_t)0);
	pk_system::put_release(&st->door->present, (uint64_t)0);
	PK_TRY(run, pk_launch_coop(producer_kernel, dim3(st->pingpong.blocks), dim3(run->threads), 0,
				   pk_stream(run), *pingpong_args_of(run), pingpong_control_of(run),
				   st->door_dev, all_poll));
	st->resident = 1;
	return pk_await_present(run, &st->door->present);
}

/* Two ahead of what is consumed, not beyond the end. */
static void allow(struct persistent_state *st, uint64_t consumed, uint64_t end)
{
	struct pingpong_state *p = &st->pingpong;
	uint64_t to = consumed + 2 < end ? consumed + 2 : end;

	for (; p->produced < to; p->produced++)
		p->allowed_at[p->produced & 1] = pk_now_ns();
	pk_system::put_release(&st->door->allowed, to);
}

static int run_buffers(struct pkrun_run *run, uint64_t iterations)
{
	struct persistent_state *st = (struct persistent_state *)run->state;
	struct pingpong_state *p = &st->pingpong;
	uint64_t end = p->consumed + iterations;

	p->begin = pk_now_ns();
	allow(st, p->consumed, end);
	for (uint64_t i = p->consumed; i < end; i++) {
		const uint64_t *full = &p->full[i & 1].number;
		uint64_t latest = p->allowed_at[i & 1];
		int status = pk_host_spin(run, [=]() { return pk_system::acquire(full) == i + 1; },
					  "a full buffer", 0, i);

		if (status != PKRUN_OK)
			return status;
		status = pingpong_copy(run, i, p->copies);
		if (status != PKRUN_OK)
			return status;
		PK_TRY(run, hipStreamSynchronize(p->copies));
		p->produce_ns += pk_system::relaxed(&p->full[i & 1].produce_ns);
		allow(st, i + 1, end);
		status = pingpong_validate(run, i, latest);
		if (status != PKRUN_OK)
			return status;
	}
	return PKRUN_OK;
}

/* The kernel leaves. */
static int leave(struct pkrun_run *run)
{
	struct persistent_state *st = (struct persistent_state *)run->state;

	if (!st->resident)
		return PKRUN_OK;
	st->resident = 0;
	pk_system::put_release(&st->door->allowed, LEAVE);
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	return PKRUN_OK;
}

static int stop(struct pkrun_run *run)
{
	int status = leave(run);

	return status == PKRUN_OK ? pingpong_report(run) : status;
}

static void teardown(struct pkrun_run *run)
{
	(void)leave(run);
	pingpong_free(run);
}

PKRUN_PLUGIN(
	.name = "pingpong_persistent",
	.brief = "a resident producer, two buffers, the host copies on a second stream",
	.control = PKRUN_CONTROL_HOST,
	.result = PKRUN_EXACT,
	.flags = PKRUN_COOPERATIVE | PKRUN_RESIDENT,
	.state_size = sizeof(struct persistent_state),
	.workloads = "pingpong",
	.options = option_table,
	.options_size = sizeof(struct options),
	.reserved = 0,
	.probe = pk_no_check,
	.footprint = footprint,
	.setup = setup,
	.start = start,
	.run = run_buffers,
	.wait = pingpong_wait,
	.stop = stop,
	.teardown = teardown,
	.metrics = pingpong_metrics,
);
