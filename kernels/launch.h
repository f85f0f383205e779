/* SPDX-License-Identifier: MIT
 *
 * launch.h - the body of the variants that launch a kernel for each step.
 */
#ifndef PKRUN_LAUNCH_H
#define PKRUN_LAUNCH_H

#include "host_wait.h"

/* One step.  The step count is an atomic add without a result, so that no
 * block waits for it. */
template <class W>
static __global__ void launch_kernel(W work, uint64_t s, uint64_t *steps)
{
	work.step(blockIdx.x, gridDim.x, s);
	if (threadIdx.x == 0)
		(void)__hip_atomic_fetch_add(steps + blockIdx.x, (uint64_t)1, __ATOMIC_RELAXED,
					     __HIP_MEMORY_SCOPE_AGENT);
}

/* Begins the state of every variant that launches. */
struct launch_state {
	uint32_t blocks;
};

/* Bands of one row would be rows: where nothing is asked for, they are capped. */
static inline enum pk_auto_blocks launch_auto(const struct pkrun_run *run)
{
	return run->sweep == PKRUN_SWEEP_BANDS ? PK_AUTO_CAPPED : PK_AUTO_UNITS;
}

static inline int launch_footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	struct launch_state *state = (struct launch_state *)run->state;
	int status = pk_with_work(run, [=](auto work) -> int {
		return pk_footprint(run, launch_kernel<decltype(work)>, work.units(), 0,
				    launch_auto(run), fp);
	});

	state->blocks = fp->blocks;
	return status;
}

/* Now and then, behind launch s. */
static inline bool launch_aborted(struct pkrun_run *run, uint64_t s)
{
	if (!pk_host_aborted_at(run, 0, s))
		return false;
	run->host->say(run, "aborted behind launch %llu", (unsigned long long)s);
	return true;
}

enum launch_kind { LAUNCH_ORDINARY, LAUNCH_COOP };

/* Queue steps 0 .. steps - 1 as ordinary launches; `before` steps went before them. */
template <class W>
static int launch_queue(struct pkrun_run *run, W work, uint32_t blocks, uint64_t before,
			uint64_t steps, enum launch_kind kind = LAUNCH_ORDINARY)
{
	dim3 grid(blocks), threads(run->threads);

	for (uint64_t s = 0; s < steps; s++) {
		if (kind == LAUNCH_COOP)
			PK_TRY(run, pk_launch_coop(launch_kernel<W>, grid, threads, 0,
						   pk_stream(run), work, s, run->steps));
		else
			PK_TRY(run, pk_launch(launch_kernel<W>, grid, threads, 0, pk_stream(run),
					      work, s, run->steps));
		if ((before + s) % 256 == 255 && launch_aborted(run, before + s))
			return PKRUN_FAIL;
	}
	return PKRUN_OK;
}

static inline int launch_sync_stream(struct pkrun_run *run)
{
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	return PKRUN_OK;
}

#endif
