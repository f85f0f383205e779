/* SPDX-License-Identifier: MIT
 *
 * persistent_barrier - one release for all iterations; the resident blocks
 * order the steps by a barrier of the whole grid.
 *
 * Against the host-controlled rungs: no step crosses the bus.  Cost: a barrier
 * of all blocks a step, which waits for the slowest of them.
 *
 *	barrier = coop		the runtime's this_grid().sync()
 *	barrier = counter	one counter in device memory that only grows
 *				(kernels/barrier.h)
 */
#include "kernels/persistent_device.h"

enum { BARRIER_COOP = 0, BARRIER_COUNTER = 1 };

struct barrier_options {
	struct device_options device;
	struct pkrun_choice barrier;
};

static const struct pkrun_option options[] = {
	{"barrier", PKRUN_CHOICE, offsetof(struct barrier_options, barrier), "coop", 0, 0,
	 "coop|counter", NULL, "the runtime's grid barrier, or a counter in device memory"},
	DEVICE_OPTION_STAMPS(),
	{},
};

/* Who is out of a step's barrier may begin the next. */
struct barrier_order : device_order {
	template <class W, class Waited = struct pk_untold>
	static __device__ __forceinline__ bool before(const struct device_control &, const W &,
						      uint64_t, uint32_t *, Waited waited = {})
	{
		waited();
		return true;
	}
};

struct counter_order : barrier_order {
	template <class W, class Told = struct pk_untold>
	static __device__ __forceinline__ bool after(const struct device_control &c, const W &,
						     uint64_t s, uint32_t *left, Told told = {})
	{
		return pk_barrier_counter(&c.lines->barrier, s, gridDim.x, left, c.watch, s, told);
	}
	static __device__ __forceinline__ bool all(const struct device_control &c, uint64_t number,
						   uint32_t *left, uint64_t s)
	{
		return pk_barrier_counter(&c.lines->norm_barrier, number, gridDim.x, left, c.watch,
					  s);
	}
};

/*
 * The runtime's barrier cannot be left alone, so blocks leave together: who
 * wants to leave says so in a device word before a barrier, and all look at it
 * behind that barrier.  Between a look and the next write of the same word
 * lies at least one more barrier, which the looker has to reach first; that is
 * why releases and the look in between steps have a word each.
 */
struct coop_order : barrier_order {
	static __device__ __forceinline__ bool sync_and_look(const uint32_t *leave)
	{
		cooperative_groups::this_grid().sync();
		return !pk_agent::relaxed(leave);
	}
	static __device__ __forceinline__ bool agree(const struct device_control &c, bool leave,
						     uint32_t *)
	{
		if (leave && threadIdx.x == 0)
			pk_agent::put_relaxed(&c.lines->leave_agreed, 1u);
		return sync_and_look(&c.lines->leave_agreed);
	}
	template <class W, class Told = struct pk_untold>
	static __device__ __forceinline__ bool after(const struct device_control &, const W &,
						     uint64_t, uint32_t *, Told told = {})
	{
		told();
		cooperative_groups::this_grid().sync();
		return true;
	}
	static __device__ __forceinline__ bool look(const struct device_control &c, uint64_t s,
						    uint32_t *)
	{
		if (blockIdx.x == 0 && threadIdx.x == 0 && pk_aborted(c.watch)) {
			pk_give_up(c.watch, 0, s);
			pk_agent::put_relaxed(&c.lines->leave_looked, 1u);
		}
		return sync_and_look(&c.lines->leave_looked);
	}
	static __device__ __forceinline__ bool all(const struct device_control &, uint64_t, uint32_t *,
						   uint64_t)
	{
		cooperative_groups::this_grid().sync();
		return true;
	}
};

static int is_coop(const struct pkrun_run *run)
{
	return ((const struct barrier_options *)run->options)->barrier.index == BARRIER_COOP;
}

static int footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	return is_coop(run) ? device_footprint<coop_order>(run, fp) :
			      device_footprint<counter_order>(run, fp);
}

static int start(struct pkrun_run *run)
{
	return is_coop(run) ? device_start(run, coop_order{}) : device_start(run, counter_order{});
}

PKRUN_PLUGIN(
	.name = "persistent_barrier",
	.brief = "one release for all iterations; a barrier of all blocks between steps",
	.control = PKRUN_CONTROL_DEVICE,
	.result = PKRUN_EXACT,
	.flags = PKRUN_COOPERATIVE | PKRUN_RESIDENT,
	.state_size = sizeof(struct device_state),
	.workloads = PK_WORKLOADS,
	.options = options,
	.options_size = sizeof(struct barrier_options),
	.reserved = 0,
	.probe = NULL,
	.footprint = footprint,
	.setup = device_setup,
	.start = start,
	.run = device_run,
	.wait = device_wait,
	.stop = device_stop,
	.teardown = device_teardown,
);
