/* SPDX-License-Identifier: MIT
 *
 * launch.h - the body of the variants that launch a kernel for each step.
 */
#ifndef PKRUN_LAUNCH_H
#define PKRUN_LAUNCH_H

#include "host_wait.h"
#include "norm.h"
#include "stamps.h"

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

/* A stamped step from its start on.  Every replay of a graph has the same arguments, so the
 * block's own count says which step this is: loaded beside the work, used behind it. */
template <class W>
static __device__ __forceinline__ void launch_stamped(const W &work, uint64_t phase, uint64_t *steps,
						      struct pk_step_stamps *stamps)
{
	uint64_t s = threadIdx.x == 0 ? pk_agent::relaxed(steps + blockIdx.x) : 0;

	work.step(blockIdx.x, gridDim.x, phase);
	__syncthreads();
	stamps->take(PK_STAMP_END);
	if (threadIdx.x == 0)
		(void)__hip_atomic_fetch_add(steps + blockIdx.x, (uint64_t)1, __ATOMIC_RELAXED,
					     __HIP_MEMORY_SCOPE_AGENT);
	stamps->take_and_put(PK_STAMP_DONE, s);
}

/* launch_kernel where stamps are asked for. */
template <class W>
static __global__ void stamped_launch_kernel(W work, uint64_t phase, uint64_t *steps,
					     struct pk_stamps to)
{
	struct pk_step_stamps stamps = {to, {}};

	stamps.take_both(PK_STAMP_RECEIVE, PK_STAMP_START);
	launch_stamped(work, phase, steps, &stamps);
}

/* The clock's tick and skew, before a trial. */
static __global__ void launch_clock_kernel(struct pk_stamps stamps)
{
	pk_stamp_clock(stamps);
}

/* First in the options of a variant that takes stamps; LAUNCH_OPTION_STAMPS() is in
 * its table then, and its probe is launch_probe(), or calls it. */
struct launch_options {
	int64_t stamps;
};
#define LAUNCH_OPTION_STAMPS() PK_OPTION_STAMPS(struct launch_options)

/* Begins the state of every variant that launches. */
struct launch_state {
	uint32_t blocks;
	struct pk_norm norm;
	uint64_t iterations;	/* of the run under way */
	int64_t asked;		/* stamps: set by launch_probe() */
	struct pk_stamps_state stamps;
};

static inline int launch_probe(struct pkrun_run *run)
{
	struct launch_state *state = (struct launch_state *)run->state;

	state->asked = ((const struct launch_options *)run->options)->stamps;
	return PKRUN_OK;
}

/* Bands of one row would be rows: where nothing is asked for, they are capped. */
static inline enum pk_auto_blocks launch_auto(const struct pkrun_run *run)
{
	return run->sweep == PKRUN_SWEEP_BANDS ? PK_AUTO_CAPPED : PK_AUTO_UNITS;
}

static inline int launch_footprint_auto(struct pkrun_run *run, enum pk_auto_blocks automatic,
					struct pkrun_footprint *fp)
{
	struct launch_state *state = (struct launch_state *)run->state;
	int status = pk_with_work(run, [=](auto work) -> int {
		return state->asked ? pk_footprint(run, stamped_launch_kernel<decltype(work)>,
						   work.units(), 0, automatic, fp) :
				      pk_footprint(run, launch_kernel<decltype(work)>, work.units(), 0,
						   automatic, fp);
	});

	state->blocks = fp->blocks;
	return status;
}

static inline int launch_footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	return launch_footprint_auto(run, launch_auto(run), fp);
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

/* Queue one step. */
template <class W>
static hipError_t launch_step(struct pkrun_run *run, W work, uint64_t phase, enum launch_kind kind)
{
	const struct launch_state *state = (const struct launch_state *)run->state;
	dim3 grid(state->blocks), threads(run->threads);
	hipStream_t stream = pk_stream(run);

	if (state->asked)
		return kind == LAUNCH_COOP ?
			       pk_launch_coop(stamped_launch_kernel<W>, grid, threads, 0, stream, work,
					      phase, run->steps, state->stamps.dev) :
			       pk_launch(stamped_launch_kernel<W>, grid, threads, 0, stream, work, phase,
					 run->steps, state->stamps.dev);
	return kind == LAUNCH_COOP ?
		       pk_launch_coop(launch_kernel<W>, grid, threads, 0, stream, work, phase,
				      run->steps) :
		       pk_launch(launch_kernel<W>, grid, threads, 0, stream, work, phase, run->steps);
}

/* Queue so many steps; `before` steps went before them. */
template <class W>
static int launch_steps(struct pkrun_run *run, W work, uint64_t before, uint64_t steps,
			enum launch_kind kind)
{
	for (uint64_t s = before; s < before + steps; s++) {
		PK_TRY(run, launch_step(run, work, s % run->work->steps_per_iteration, kind));
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
	int status = pk_norm_setup(run, state->blocks, &state->norm);

	return status == PKRUN_OK ? pk_stamps_setup(run, &state->stamps, state->blocks, state->asked) :
				    status;
}

/* What the stamps need is done before the timed part begins. */
static inline int launch_start_stamps(struct pkrun_run *run)
{
	const struct launch_state *state = (const struct launch_state *)run->state;
	int status = pk_stamps_start(run, &state->stamps);

	if (status != PKRUN_OK)
		return status;
	PK_TRY(run, pk_launch(launch_clock_kernel, dim3(state->blocks), dim3(1), 0, pk_stream(run),
			      state->stamps.dev));
	return launch_sync_stream(run);
}

static inline int launch_start(struct pkrun_run *run)
{
	const struct launch_state *state = (const struct launch_state *)run->state;
	int status = pk_norm_clear(run, &state->norm);

	return status == PKRUN_OK && state->asked ? launch_start_stamps(run) : status;
}

static inline int launch_wait(struct pkrun_run *run)
{
	const struct launch_state *state = (const struct launch_state *)run->state;
	int status = launch_sync_stream(run);

	if (status == PKRUN_OK && state->norm.steps)
		pk_norm_report(run, *state->norm.result, state->iterations);
	return status;
}

static inline int launch_stop(struct pkrun_run *run)
{
	return pk_stamps_report(run, &((const struct launch_state *)run->state)->stamps);
}

#endif
