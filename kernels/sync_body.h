/* SPDX-License-Identifier: MIT
 *
 * sync_body.h - the body of the sync_* variants: a resident grid that
 * synchronises as often as it is told, by the variant's `Sync`.
 *
 * The host's release and the report of the end are those of
 * persistent_device.h: once a run, so their cost vanishes with the number of
 * iterations.  A Sync is trivially copyable and has
 *	lines(run, blocks)	how many words on lines of their own it needs in
 *				device memory, zero at the start (member `line`)
 *	step(s, c, left)	synchronisation number s, every thread calls it;
 *				false for all threads of a block on abort
 *	agree(c, leave, left)	as in persistent_device.h
 *	witness			what its looks can see: sync_witness_block (threads
 *				of the block) or sync_witness_grid (other blocks)
 *	peer(look)		grid: whose mark to look at
 *
 * Marks have two slots, used in turn.  Look k reads a slot between
 * synchronisations s and s + 1 of the looker; the peer writes it again before
 * its synchronisation s + 2 at the earliest, behind its s + 1, which had to
 * wait for the looker.  So a right synchronisation gives exact marks and no
 * race, even when check_every = 1.
 */
#ifndef PKRUN_SYNC_BODY_H
#define PKRUN_SYNC_BODY_H

#include "persistent_device.h"
#include "syncost.h"

/* The last thread of a block marks and looks: a barrier that forgets threads
 * other than 0 shows. */
struct sync_witness_grid {
	static __device__ __forceinline__ void mark(const struct syncost_args &a, uint64_t look,
						    uint64_t s)
	{
		if (threadIdx.x == blockDim.x - 1)
			a.marks[(look & 1) * gridDim.x + blockIdx.x] = s + 1;
	}
	template <class Sync>
	static __device__ __forceinline__ uint64_t wrong(const struct syncost_args &a,
							 const Sync &sync, uint64_t look, uint64_t s)
	{
		if (threadIdx.x != blockDim.x - 1)
			return 0;
		return a.marks[(look & 1) * gridDim.x + sync.peer(look)] != s + 1;
	}
};

/* Every thread marks in shared memory and looks at the next one's mark. */
struct sync_witness_block {
	static __device__ __forceinline__ uint32_t *slot(uint64_t look)
	{
		PK_SHARED(uint32_t, marks, [2][1024]);

		return marks[look & 1];
	}
	static __device__ __forceinline__ void mark(const struct syncost_args &, uint64_t look,
						    uint64_t s)
	{
		slot(look)[threadIdx.x] = (uint32_t)s + 1;
	}
	template <class Sync>
	static __device__ __forceinline__ uint64_t wrong(const struct syncost_args &, const Sync &,
							 uint64_t look, uint64_t s)
	{
		uint32_t next = threadIdx.x + 1 < blockDim.x ? threadIdx.x + 1 : 0;

		return slot(look)[next] != (uint32_t)s + 1;
	}
};

template <class Sync>
static __global__ void sync_kernel(struct syncost_args a, Sync sync, struct device_control c)
{
	using witness = typename Sync::witness;
	PK_SHARED(uint64_t, shared_go, [1]);
	PK_SHARED(uint32_t, left, [1]);
	uint64_t s = 0, look = 0, until_look = 0, wrong = 0;
	bool on = true;

	if (threadIdx.x == 0) {
		left[0] = 0;
		device_report(c, 0, 0);
	}
	for (uint64_t round = 1; on; round++) {
		uint64_t go = device_next(c, s, shared_go);

		if (!sync.agree(c, go == DEVICE_LEAVE, left))
			break;
		for (; s < go; s++) {
			bool looking = a.check_every && until_look-- == 0;

			if (looking)
				witness::mark(a, look, s);
			on = sync.step(s, c, left);
			if (!on)
				break;
			if (looking) {
				wrong += witness::wrong(a, sync, look++, s);
				until_look = a.check_every - 1;
			}
		}
		__syncthreads();
		if (on && threadIdx.x == 0)
			device_report(c, round, go);
	}
	if (wrong)
		(void)__hip_atomic_fetch_add(a.errors + blockIdx.x, wrong, __ATOMIC_RELAXED,
					     __HIP_MEMORY_SCOPE_AGENT);
	if (threadIdx.x == 0) {
		a.counts[blockIdx.x] += s;
		c.steps[blockIdx.x] = s;
	}
}

/* Any peer will do, a different one each time. */
static __device__ __forceinline__ uint32_t sync_any_peer(uint64_t look)
{
	return (uint32_t)((blockIdx.x + 1 + look) % gridDim.x);
}

/* ---- host side ---- */

struct sync_state {
	struct device_state device; /* first */
	struct step_line *line;
	size_t lines;
};

static inline const struct syncost_args *sync_args(struct pkrun_run *run)
{
	return pk_args<struct syncost_args>(run, SYNCOST_VERSION);
}

template <class Sync> static int sync_footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	struct sync_state *st = (struct sync_state *)run->state;
	const struct syncost_args *a = sync_args(run);
	int status;

	if (!a)
		return PKRUN_FAIL;
	status = pk_footprint(run, sync_kernel<Sync>, a->units, 0, PK_AUTO_PER_CU, fp);
	st->device.blocks = fp->blocks;
	return status;
}

template <class Sync> static int sync_setup(struct pkrun_run *run)
{
	struct sync_state *st = (struct sync_state *)run->state;
	int status = device_setup_words(run);

	st->lines = Sync::lines(run, st->device.blocks);
	if (status == PKRUN_OK && st->lines)
		status = run->host->alloc(run, "sync", PKRUN_MEMORY_DEVICE,
					  st->lines * sizeof(*st->line), NULL, (void **)&st->line);
	return status;
}

static inline int sync_clear(struct pkrun_run *run)
{
	struct sync_state *st = (struct sync_state *)run->state;
	int status = device_clear(run);

	if (status == PKRUN_OK && st->lines)
		PK_TRY(run, hipMemsetAsync(st->line, 0, st->lines * sizeof(*st->line),
					   pk_stream(run)));
	return status;
}

static inline struct device_control sync_control(struct pkrun_run *run)
{
	struct device_state *d = &((struct sync_state *)run->state)->device;
	struct device_control c = {d->lines, d->counters, d->host_dev, run->watch_dev, run->steps};

	return c;
}

template <class Sync> static int sync_start_with(struct pkrun_run *run, Sync sync)
{
	struct sync_state *st = (struct sync_state *)run->state;
	int status = sync_clear(run);

	if (status != PKRUN_OK)
		return status;
	sync.line = st->line;
	PK_TRY(run, pk_launch_coop(sync_kernel<Sync>, dim3(st->device.blocks), dim3(run->threads), 0,
				   pk_stream(run), *sync_args(run), sync, sync_control(run)));
	st->device.resident = 1;
	return device_await(run, 0, "the report that it is resident");
}

template <class Sync> static int sync_start(struct pkrun_run *run)
{
	return sync_start_with(run, Sync{});
}

/* What all of them but the name, the idea and the Sync have in common. */
#define SYNC_PLUGIN(its_name, its_brief, its_control, Sync, its_start, its_run, its_options,       \
		    its_options_size)                                                              \
	PKRUN_PLUGIN(.name = its_name, .brief = its_brief, .control = its_control,                 \
		     .result = PKRUN_EXACT, .flags = PKRUN_COOPERATIVE | PKRUN_RESIDENT,           \
		     .state_size = sizeof(struct sync_state), .workloads = "syncost",              \
		     .options = its_options, .options_size = its_options_size, .reserved = 0,      \
		     .probe = pk_no_check, .footprint = sync_footprint<Sync>, .setup = sync_setup<Sync>,  \
		     .start = its_start, .run = its_run, .wait = device_wait, .stop = device_stop, \
		     .teardown = device_teardown, )

#endif
