/* SPDX-License-Identifier: MIT
 *
 * locality_launch - the two stages as launches.
 *
 *	fused = no	a kernel each: the end of the first is what the second
 *			waits for, and all that lies between goes through device
 *			memory
 *	fused = yes	one kernel an iteration, through shared memory
 */
#include "kernels/locality_body.h"

struct options {
	int32_t fused;
};

static const struct pkrun_option option_table[] = {
	{"fused", PKRUN_BOOL, offsetof(struct options, fused), "no", 0, 0, NULL, NULL,
	 "one kernel for both stages, through shared memory"},
	{},
};

struct state {
	uint32_t blocks;
};

static __global__ void produce_kernel(struct locality_args a)
{
	locality_produce(a, a.between);
}

static __global__ void consume_kernel(struct locality_args a, uint64_t *steps)
{
	locality_consume(a, a.between);
	if (threadIdx.x == 0)
		steps[blockIdx.x] += 1;
}

static __global__ void fused_kernel(struct locality_args a, uint64_t *steps)
{
	locality_fused(a);
	if (threadIdx.x == 0)
		steps[blockIdx.x] += 1;
}

static int is_fused(const struct pkrun_run *run)
{
	return ((const struct options *)run->options)->fused;
}

static int footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	int status;

	if (!locality_args_of(run))
		return PKRUN_FAIL;
	status = is_fused(run) ?
			 pk_footprint(run, fused_kernel, locality_units(run), 0, PK_AUTO_UNITS, fp) :
			 pk_footprint(run, consume_kernel, locality_units(run), 0, PK_AUTO_UNITS, fp);
	((struct state *)run->state)->blocks = fp->blocks;
	return status;
}

static int run_stages(struct pkrun_run *run, uint64_t iterations)
{
	const struct locality_args a = *locality_args_of(run);
	dim3 grid(((struct state *)run->state)->blocks), block(run->threads);

	for (uint64_t i = 0; i < iterations; i++) {
		if (is_fused(run)) {
			PK_TRY(run, pk_launch(fused_kernel, grid, block, 0, pk_stream(run), a,
					      run->steps));
		} else {
			PK_TRY(run, pk_launch(produce_kernel, grid, block, 0, pk_stream(run), a));
			PK_TRY(run, pk_launch(consume_kernel, grid, block, 0, pk_stream(run), a,
					      run->steps));
		}
		if (pk_host_aborted_at(run, 0, i)) {
			run->host->say(run, "aborted after iteration %llu", (unsigned long long)i);
			return PKRUN_FAIL;
		}
	}
	return PKRUN_OK;
}

PKRUN_PLUGIN(
	.name = "locality_launch",
	.brief = "two stages as two launches through device memory, or as one",
	.control = PKRUN_CONTROL_HOST_QUEUE,
	.result = PKRUN_EXACT,
	.flags = 0,
	.state_size = sizeof(struct state),
	.workloads = "locality",
	.options = option_table,
	.options_size = sizeof(struct options),
	.reserved = 0,
	.probe = pk_no_check,
	.footprint = footprint,
	.setup = NULL,
	.start = NULL,
	.run = run_stages,
	.wait = locality_sync,
	.stop = NULL,
	.teardown = NULL,
);
