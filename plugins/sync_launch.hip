/* SPDX-License-Identifier: MIT
 *
 * sync_launch - the end of a kernel as the barrier of all blocks: a launch a
 * synchronisation, queued.  What the resident grids' barriers are to beat.
 *
 *	sync = no	one synchronisation with the host at the end
 *	sync = yes	the host waits for each launch
 */
#include "kernels/host_wait.h"
#include "kernels/syncost.h"

struct options {
	int32_t sync;
};

static const struct pkrun_option option_table[] = {
	{"sync", PKRUN_BOOL, offsetof(struct options, sync), "no", 0, 0, NULL, NULL,
	 "the host waits for each launch"},
	{},
};

struct state {
	uint32_t blocks;
	uint64_t launched;
};

/* Launch number s leaves marks, or looks at those of the launch before. */
static __global__ void empty_kernel(struct syncost_args a, uint64_t s, bool mark, bool look,
				    uint64_t *steps)
{
	if (threadIdx.x == 0) {
		(void)__hip_atomic_fetch_add(a.counts + blockIdx.x, (uint64_t)1, __ATOMIC_RELAXED,
					     __HIP_MEMORY_SCOPE_AGENT);
		(void)__hip_atomic_fetch_add(steps + blockIdx.x, (uint64_t)1, __ATOMIC_RELAXED,
					     __HIP_MEMORY_SCOPE_AGENT);
	}
	if (threadIdx.x != blockDim.x - 1)
		return;
	if (look) {
		uint32_t peer = (uint32_t)((blockIdx.x + 1 + s) % gridDim.x);

		if (a.marks[((s - 1) & 1) * gridDim.x + peer] != s)
			a.errors[blockIdx.x] += 1;
	}
	if (mark)
		a.marks[(s & 1) * gridDim.x + blockIdx.x] = s + 1;
}

static int footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	const struct syncost_args *a = pk_args<struct syncost_args>(run, SYNCOST_VERSION);
	int status;

	if (!a)
		return PKRUN_FAIL;
	status = pk_footprint(run, empty_kernel, a->units, 0, PK_AUTO_PER_CU, fp);
	((struct state *)run->state)->blocks = fp->blocks;
	return status;
}

static int start(struct pkrun_run *run)
{
	((struct state *)run->state)->launched = 0;
	return PKRUN_OK;
}

static int run_launches(struct pkrun_run *run, uint64_t iterations)
{
	struct state *st = (struct state *)run->state;
	const struct syncost_args a = *(const struct syncost_args *)run->work->args;
	const int sync = ((const struct options *)run->options)->sync;
	uint64_t end = st->launched + iterations;

	for (; st->launched < end; st->launched++) {
		uint64_t s = st->launched;
		bool mark = a.check_every && s % a.check_every == 0;
		bool look = a.check_every && s && (s - 1) % a.check_every == 0;

		PK_TRY(run, pk_launch(empty_kernel, dim3(st->blocks), dim3(run->threads), 0,
				      pk_stream(run), a, s, mark, look, run->steps));
		if (sync)
			PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
		if (pk_host_aborted_at(run, 0, s)) {
			run->host->say(run, "aborted after launch %llu", (unsigned long long)s);
			return PKRUN_FAIL;
		}
	}
	return PKRUN_OK;
}

static int wait_stream(struct pkrun_run *run)
{
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	return PKRUN_OK;
}

PKRUN_PLUGIN(
	.name = "sync_launch",
	.brief = "the end of a kernel as the barrier: a launch a synchronisation",
	.control = PKRUN_CONTROL_HOST_QUEUE,
	.result = PKRUN_EXACT,
	.flags = 0,
	.state_size = sizeof(struct state),
	.workloads = "syncost",
	.options = option_table,
	.options_size = sizeof(struct options),
	.reserved = 0,
	.probe = pk_no_check,
	.footprint = footprint,
	.setup = NULL,
	.start = start,
	.run = run_launches,
	.wait = wait_stream,
	.stop = NULL,
	.teardown = NULL,
);
