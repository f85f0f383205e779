/* SPDX-License-Identifier: MIT
 *
 * launch_pdl - launch, with CUDA's programmatic dependent launch.
 *
 * Each kernel lets its successor start at once; the successor's blocks take
 * their places and then wait until the kernel before is complete and its
 * writes are visible.  So the cost of starting a grid runs beside the grid
 * before it.
 *
 * Cost: blocks that wait hold registers and shared memory.  CUDA from sm_90 on;
 * elsewhere it is skipped.
 *
 * With stamps a block receives when it takes its place and starts when the kernel
 * before is complete: it may well receive step s + 1 before others have ended s.
 */
#include "kernels/launch.h"

static const struct pkrun_option options[] = {
	LAUNCH_OPTION_STAMPS(),
	{},
};

#if defined(PKRUN_BUILD_CUDA)

template <class W>
static __global__ void dependent_kernel(W work, uint64_t s, uint64_t *steps)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
	cudaTriggerProgrammaticLaunchCompletion();
	cudaGridDependencySynchronize();
#endif
	work.step(blockIdx.x, gridDim.x, s);
	if (threadIdx.x == 0)
		(void)__hip_atomic_fetch_add(steps + blockIdx.x, (uint64_t)1, __ATOMIC_RELAXED,
					     __HIP_MEMORY_SCOPE_AGENT);
}

template <class W>
static __global__ void stamped_dependent_kernel(W work, uint64_t phase, uint64_t *steps,
						struct pk_stamps to)
{
	struct pk_step_stamps stamps = {to, {}};

	stamps.take(PK_STAMP_RECEIVE);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
	cudaTriggerProgrammaticLaunchCompletion();
	cudaGridDependencySynchronize();
#endif
	stamps.take(PK_STAMP_START);
	launch_stamped(work, phase, steps, &stamps);
}

static int probe(struct pkrun_run *run)
{
	int major = 0, minor = 0, status;

	PK_TRY(run, hipDeviceGetAttribute(&major, hipDeviceAttributeComputeCapabilityMajor,
					  run->device));
	PK_TRY(run, hipDeviceGetAttribute(&minor, hipDeviceAttributeComputeCapabilityMinor,
					  run->device));
	if (major >= 9) {
		/* any of them: all are compiled for the same */
		status = pk_built_for(run, dependent_kernel<null_work>, 90);
		return status == PKRUN_OK ? launch_probe(run) : status;
	}
	run->host->say(run, "programmatic dependent launch begins with sm_90; this device is sm_%d%d",
		       major, minor);
	return PKRUN_SKIP;
}

template <class W>
static cudaError_t launch_dependent(struct pkrun_run *run, W work, uint64_t s)
{
	const struct launch_state *state = (const struct launch_state *)run->state;
	cudaLaunchAttribute overlap = {};
	cudaLaunchConfig_t config = {};

	overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	overlap.val.programmaticStreamSerializationAllowed = 1;
	config.gridDim = dim3(state->blocks);
	config.blockDim = dim3(run->threads);
	config.stream = pk_stream(run);
	config.attrs = &overlap;
	config.numAttrs = 1;
	if (state->asked)
		return cudaLaunchKernelEx(&config, stamped_dependent_kernel<W>, work, s, run->steps,
					  state->stamps.dev);
	return cudaLaunchKernelEx(&config, dependent_kernel<W>, work, s, run->steps);
}

static int footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	struct launch_state *state = (struct launch_state *)run->state;
	int status = pk_with_work(run, [=](auto work) -> int {
		return state->asked ? pk_footprint(run, stamped_dependent_kernel<decltype(work)>,
						   work.units(), 0, launch_auto(run), fp) :
				      pk_footprint(run, dependent_kernel<decltype(work)>, work.units(), 0,
						   launch_auto(run), fp);
	});

	state->blocks = fp->blocks;
	return status;
}

static int run_launches(struct pkrun_run *run, uint64_t iterations)
{
	((struct launch_state *)run->state)->iterations = iterations;
	return pk_with_work(run, [=](auto work) -> int {
		auto steps = [=](uint64_t before, uint64_t n) -> int {
			for (uint64_t s = before; s < before + n; s++) {
				PK_TRY(run, launch_dependent(run, work, s));
				if (launch_aborted(run, s))
					return PKRUN_FAIL;
			}
			return PKRUN_OK;
		};
		return launch_checked(run, work, 0, iterations, steps);
	});
}

#else

static int probe(struct pkrun_run *run)
{
	run->host->say(run, "programmatic dependent launch is CUDA's");
	return PKRUN_SKIP;
}

/* The contract asks for them; behind probe() they are not reached. */
static int footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	(void)fp;
	return probe(run);
}

static int run_launches(struct pkrun_run *run, uint64_t iterations)
{
	(void)iterations;
	return probe(run);
}

#endif

PKRUN_PLUGIN(
	.name = "launch_pdl",
	.brief = "as launch, with CUDA's programmatic dependent launch",
	.control = PKRUN_CONTROL_DEVICE_QUEUE,
	.result = PKRUN_EXACT,
	.flags = 0,
	.state_size = sizeof(struct launch_state),
	.workloads = PK_WORKLOADS,
	.options = options,
	.options_size = sizeof(struct launch_options),
	.reserved = 0,
	.probe = probe,
	.footprint = footprint,
	.setup = launch_setup,
	.start = launch_start,
	.run = run_launches,
	.wait = launch_wait,
	.stop = launch_stop,
	.teardown = NULL,
);
