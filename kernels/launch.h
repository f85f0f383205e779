/* SPDX-License-Identifier: MIT
 *
 * launch.h - the body of the variants that launch a kernel for each step.
 */
#ifndef PKRUN_LAUNCH_H
#define PKRUN_LAUNCH_H

#include "host_wait.h"
#include "norm.h"

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
	struct pk_norm norm;
	uint64_t iterations;	/* of the run under way */
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

static inline int launch_sync_stream(struct pkrun_run *run)
{
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	return PKRUN_OK;
}

/* Behind each launch: one may take as long as a full queue takes to have room. */
static inline bool launch_aborted(struct pkrun_run *run, uint64_t s)
{
	if (!pk_host_aborted_at(run, 0, s))
		return false;
	run->host->say(run, "aborted behind launch %llu", (unsigned long long)s);
	return true;
}

enum launch_kind { LAUNCH_ORDINARY, LAUNCH_COOP };

/* Queue so many steps as ordinary launches; `before` steps went before them. */
template <class W>
static int launch_steps(struct pkrun_run *run, W work, uint64_t before, uint64_t steps,
			enum launch_kind kind)
{
	dim3 grid(((struct launch_state *)run->state)->blocks), threads(run->threads);

	for (uint64_t s = before; s < before + steps; s++) {
		uint64_t phase = s % run->work->steps_per_iteration;

		if (kind == LAUNCH_COOP)
			PK_TRY(run, pk_launch_coop(launch_kernel<W>, grid, threads, 0,
						   pk_stream(run), work, phase, run->steps));
		else
			PK_TRY(run, pk_launch(launch_kernel<W>, grid, threads, 0, pk_stream(run),
					      work, phase, run->steps));
		if (launch_aborted(run, s))
			return PKRUN_FAIL;
	}
	return PKRUN_OK;
}

/* Queue a norm. */
template <class W> static int launch_norm(struct pkrun_run *run, W work)
{
	struct launch_state *state = (struct launch_state *)run->state;

	PK_TRY(run, pk_launch(norm_kernel<W>, dim3(state->blocks), dim3(run->threads), 0,
			      pk_stream(run), work, state->norm));
	return PKRUN_OK;
}

/* Iterations from `first` on, with the norms that `check` asks for: for each
 * the queue runs dry, since the host has to see it before it goes on. */
template <class W, class Steps>
static int launch_checked(struct pkrun_run *run, W work, uint64_t first, uint64_t iterations,
			  Steps steps)
{
	uint64_t end = first + iterations;

	while (first < end) {
		uint64_t stop = run->check ? (first / run->check + 1) * run->check : end;
		uint64_t here = stop < end ? stop : end;
		int status = steps(pk_steps(run, first), pk_steps(run, here - first));

		if (status == PKRUN_OK && here == stop && run->check) {
			status = launch_norm(run, work);
			if (status == PKRUN_OK)
				status = launch_sync_stream(run);
		}
		if (status != PKRUN_OK)
			return status;
		first = here;
	}
	return PKRUN_OK;
}

/* The run() of the variants that queue launches. */
static inline int launch_run(struct pkrun_run *run, uint64_t iterations, enum launch_kind kind)
{
	((struct launch_state *)run->state)->iterations = iterations;
	return pk_with_work(run, [=](auto work) -> int {
		return launch_checked(run, work, 0, iterations, [=](uint64_t before, uint64_t n) {
			return launch_steps(run, work, before, n, kind);
		});
	});
}

static inline int launch_setup(struct pkrun_run *run)
{
	struct launch_state *state = (struct launch_state *)run->state;

	return pk_norm_setup(run, state->blocks, &state->norm);
}

static inline int launch_start(struct pkrun_run *run)
{
	return pk_norm_clear(run, &((struct launch_state *)run->state)->norm);
}

static inline int launch_wait(struct pkrun_run *run)
{
	const struct launch_state *state = (const struct launch_state *)run->state;
	int status = launch_sync_stream(run);

	if (status == PKRUN_OK && state->norm.steps)
		pk_norm_report(run, *state->norm.result, state->iterations);
	return status;
}

#endif
