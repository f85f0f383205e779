/* SPDX-License-Identifier: MIT
 *
 * locality_persistent - the two stages for all iterations in one cooperative
 * launch.
 *
 *	through = shared	fused: nothing lies between in device memory, and no
 *				block waits for another
 *	through = device	the intermediate result in device memory, a barrier
 *				of all blocks between the stages
 *
 * Order with `device`: there are two sets of intermediate words, used in turn.
 * Stage 1 of iteration i + 2 writes the set that stage 2 of iteration i reads;
 * between them lies the barrier of iteration i + 1, which a block passes only
 * when all have arrived, that is, have done with their stage 2 of iteration i.
 * So one barrier an iteration is enough.
 */
#include "kernels/barrier.h"
#include "kernels/locality_body.h"

enum { THROUGH_SHARED = 0, THROUGH_DEVICE = 1 };

struct options {
	struct pkrun_choice through;
};

static const struct pkrun_option option_table[] = {
	{"through", PKRUN_CHOICE, offsetof(struct options, through), "shared", 0, 0,
	 "shared|device", NULL, "where the intermediate result lives"},
	{},
};

struct state {
	uint32_t blocks;
	uint64_t *barrier;	/* device */
};

static __global__ void shared_kernel(struct locality_args a, uint64_t iterations,
				     struct pkrun_watch *watch, uint64_t *steps)
{
	PK_SHARED(uint32_t, left, [1]);
	uint64_t i;

	if (threadIdx.x == 0)
		left[0] = 0;
	__syncthreads();
	for (i = 0; i < iterations; i++) {
		/* Looked at before the barriers inside, read behind them. */
		if (threadIdx.x == 0 && i % PK_ABORT_POLLS_SYSTEM == 0 && pk_aborted(watch)) {
			pk_give_up(watch, blockIdx.x, i);
			pk_block::put_relaxed(left, 1u);
		}
		__syncthreads();
		if (pk_block::relaxed(left))
			break;
		locality_fused(a); /* ends with a barrier if it did anything */
	}
	if (threadIdx.x == 0)
		steps[blockIdx.x] += i;
}

static __global__ void device_kernel(struct locality_args a, uint64_t iterations, uint64_t *barrier,
				     struct pkrun_watch *watch, uint64_t *steps)
{
	PK_SHARED(uint32_t, left, [1]);
	uint64_t i;

	if (threadIdx.x == 0)
		left[0] = 0;
	__syncthreads();
	for (i = 0; i < iterations; i++) {
		uint64_t *between = a.between + (i & 1) * a.n;

		locality_produce(a, between);
		if (!pk_barrier_counter(barrier, i, gridDim.x, left, watch, i))
			break;
		locality_consume(a, between);
	}
	if (threadIdx.x == 0)
		steps[blockIdx.x] += i;
}

static int through_device(const struct pkrun_run *run)
{
	return ((const struct options *)run->options)->through.index == THROUGH_DEVICE;
}

static int footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	int status;

	if (!locality_args_of(run))
		return PKRUN_FAIL;
	status = through_device(run) ?
			 pk_footprint(run, device_kernel, locality_units(run), 0, PK_AUTO_CAPPED, fp) :
			 pk_footprint(run, shared_kernel, locality_units(run), 0, PK_AUTO_CAPPED, fp);
	((struct state *)run->state)->blocks = fp->blocks;
	return status;
}

static int setup(struct pkrun_run *run)
{
	return run->host->alloc(run, "barrier", PKRUN_MEMORY_DEVICE, PK_LINE_BYTES, NULL,
				(void **)&((struct state *)run->state)->barrier);
}

static int start(struct pkrun_run *run)
{
	PK_TRY(run, hipMemsetAsync(((struct state *)run->state)->barrier, 0, PK_LINE_BYTES,
				   pk_stream(run)));
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	return PKRUN_OK;
}

static int run_stages(struct pkrun_run *run, uint64_t iterations)
{
	const struct state *st = (const struct state *)run->state;
	const struct locality_args a = *locality_args_of(run);

	if (through_device(run))
		PK_TRY(run, pk_launch_coop(device_kernel, dim3(st->blocks), dim3(run->threads), 0,
					   pk_stream(run), a, iterations, st->barrier, run->watch_dev,
					   run->steps));
	else
		PK_TRY(run, pk_launch_coop(shared_kernel, dim3(st->blocks), dim3(run->threads), 0,
					   pk_stream(run), a, iterations, run->watch_dev, run->steps));
	return PKRUN_OK;
}

PKRUN_PLUGIN(
	.name = "locality_persistent",
	.brief = "two stages in one launch for all iterations, through shared or device memory",
	.control = PKRUN_CONTROL_DEVICE,
	.result = PKRUN_EXACT,
	.flags = PKRUN_COOPERATIVE,
	.state_size = sizeof(struct state),
	.workloads = "locality",
	.options = option_table,
	.options_size = sizeof(struct options),
	.reserved = 0,
	.probe = pk_no_check,
	.footprint = footprint,
	.setup = setup,
	.start = start,
	.run = run_stages,
	.wait = locality_sync,
	.stop = NULL,
	.teardown = NULL,
);
