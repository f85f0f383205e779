/* SPDX-License-Identifier: MIT
 *
 * sync_host - a barrier of all blocks through the host: the last block to
 * arrive says so in host memory, the host answers, the blocks go on.
 *
 *	poll = all	every block polls the host's word
 *	poll = one	block 0 does, and passes it on in device memory
 *
 * Order: arrivals are additions that release and acquire, so the last block
 * has acquired all; its store at system scope releases to the host, whose store
 * releases to the blocks that poll it.
 */
#include "kernels/sync_body.h"

struct options {
	struct pkrun_choice poll;
};

static const struct pkrun_option option_table[] = {
	{"poll", PKRUN_CHOICE, offsetof(struct options, poll), "one", 0, 0, "all|one", NULL,
	 "which blocks poll the host's word: all, or one that passes it on"},
	{},
};

/* A line each: `out` is written by the device, `in` by the host. */
struct door {
	alignas(PK_LINE_BYTES) uint64_t out;
	alignas(PK_LINE_BYTES) uint64_t in;
};

struct host_sync_state {
	struct sync_state sync; /* first */
	struct door *door, *door_dev;
};

struct host_sync {
	using witness = sync_witness_grid;
	struct step_line *line; /* arrivals; what block 0 passes on */
	struct door *door;
	uint32_t all_poll;

	static size_t lines(const struct pkrun_run *, uint32_t)
	{
		return 2;
	}
	__device__ __forceinline__ bool agree(const struct device_control &, bool leave,
					      uint32_t *) const
	{
		return !leave;
	}
	/* Thread 0: until the host has answered s + 1. */
	__device__ __forceinline__ bool answer(uint64_t s, const struct device_control &c) const
	{
		auto more = [=](uint64_t f) { return f > s; };
		uint64_t v;

		if (!all_poll && blockIdx.x != 0)
			return pk_wait<pk_agent, pk_orders_relaxed>(&line[1].done, more, &v, c.watch,
								    blockIdx.x, s);
		if (!pk_wait<pk_system, pk_orders_relaxed>(&door->in, more, &v, c.watch, blockIdx.x,
							   s))
			return false;
		if (!all_poll)
			pk_agent::put_release(&line[1].done, s + 1);
		return true;
	}
	__device__ __forceinline__ bool step(uint64_t s, const struct device_control &c,
					     uint32_t *left) const
	{
		__syncthreads();
		if (threadIdx.x == 0) {
			uint64_t before = pk_agent::add_acq_rel(&line[0].done, (uint64_t)1);

			if (before + 1 == (s + 1) * gridDim.x)
				pk_system::put_release(&door->out, s + 1);
			if (!answer(s, c))
				*left = 1;
		}
		__syncthreads();
		return !*left;
	}
	__device__ __forceinline__ uint32_t peer(uint64_t look) const
	{
		return sync_any_peer(look);
	}
};

static int setup(struct pkrun_run *run)
{
	struct host_sync_state *st = (struct host_sync_state *)run->state;
	int status = sync_setup<host_sync>(run);

	if (status != PKRUN_OK)
		return status;
	return run->host->alloc(run, "door", PKRUN_MEMORY_HOST, sizeof(*st->door),
				(void **)&st->door, (void **)&st->door_dev);
}

static int start(struct pkrun_run *run)
{
	struct host_sync_state *st = (struct host_sync_state *)run->state;
	const struct options *o = (const struct options *)run->options;
	struct host_sync sync = {NULL, st->door_dev, o->poll.index == 0};

	pk_system::put_relaxed(&st->door->out, (uint64_t)0);
	pk_system::put_release(&st->door->in, (uint64_t)0);
	return sync_start_with(run, sync);
}

/* The host's part in each of them. */
static int run_answers(struct pkrun_run *run, uint64_t iterations)
{
	struct host_sync_state *st = (struct host_sync_state *)run->state;
	struct door *door = st->door;
	uint64_t s = st->sync.device.go;
	int status = device_run(run, iterations);

	for (; status == PKRUN_OK && s < st->sync.device.go; s++) {
		status = pk_host_spin(
			run, [=]() { return pk_system::relaxed(&door->out) > s; },
			"the arrival of all blocks", 0, s);
		if (status == PKRUN_OK && pk_system::acquire(&door->out) > s)
			pk_system::put_release(&door->in, s + 1);
	}
	return status;
}

PKRUN_PLUGIN(
	.name = "sync_host",
	.brief = "a barrier of all blocks through the host",
	.control = PKRUN_CONTROL_HOST,
	.result = PKRUN_EXACT,
	.flags = PKRUN_COOPERATIVE | PKRUN_RESIDENT,
	.state_size = sizeof(struct host_sync_state),
	.workloads = "syncost",
	.options = option_table,
	.options_size = sizeof(struct options),
	.reserved = 0,
	.probe = pk_no_check,
	.footprint = sync_footprint<host_sync>,
	.setup = setup,
	.start = start,
	.run = run_answers,
	.wait = device_wait,
	.stop = device_stop,
	.teardown = device_teardown,
);
