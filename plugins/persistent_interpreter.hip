/* SPDX-License-Identifier: MIT
 *
 * persistent_interpreter - resident interpreters run an instruction stream.
 *
 * Against persistent_device: what a block does is no longer compiled in.  Each
 * block fetches instructions from device memory and runs them in order; an
 * instruction waits until dependency counters have reached their targets, works,
 * and raises a counter.  One stream is an iteration, another a residual norm
 * (check = k); both are run again and again, and targets grow with each run of
 * a stream, so counters are never reset.
 *
 *	SWEEP	one step of one part of the work
 *	SHARE	a part's share of the norm
 *	SUM	all shares added up
 *	COPY	a few words elsewhere: the norm to where the host sees it
 *
 * The work is cut into parts (what other variants call blocks), `tasks` of them
 * an interpreter.  Its stream goes through its parts step by step, so the
 * earliest unfinished step always has an instruction that can run.
 *
 * Cost: an instruction's fetch and decoding, and an atomic add where
 * persistent_device has a store.
 */
#include <stdlib.h>
#include "kernels/neighbour_order.h"

enum opcode { OP_SWEEP, OP_SHARE, OP_SUM, OP_COPY };

/* Wait until counter `counter` stands at run * every + offset, in run number `run`. */
struct dependency {
	uint32_t counter;
	uint32_t every, offset;
};
struct instruction {
	uint32_t op, part, phase;
	uint32_t raises; /* a counter; NOTHING: none */
	uint32_t n_waits;
	struct dependency wait[PK_NEIGHBOURS_MAX];
	const double *from; /* COPY, SUM */
	double *to;
	uint32_t count;
};
#define NOTHING UINT32_MAX

/* An interpreter's instructions: first an iteration's, then a norm's. */
struct stream {
	uint32_t begin, norm, end;
};

struct interpreter_options {
	struct device_options device;
	int64_t tasks;
};
static const struct pkrun_option options[] = {
	{"tasks", PKRUN_INT, offsetof(struct interpreter_options, tasks), "1", 1, 1024, NULL, NULL,
	 "parts of the work an interpreter (parts are what `blocks` counts)"},
	DEVICE_OPTION_STAMPS(),
	{},
};

struct interpreter_state {
	struct device_state device; /* first; its `blocks` are the parts */
	uint32_t interpreters;
	struct instruction *program, *program_dev;
	struct stream *streams, *streams_dev;
	uint32_t n_instructions;
	double *sums; /* device: one an interpreter */
};

struct interpreter_control {
	struct device_control device;
	const struct instruction *program;
	const struct stream *streams;
	uint32_t parts, steps_an_iteration;
	uint64_t iterations_a_norm; /* 0: never */
};

/* The kernel that is given this one writes down when (kernels/stamps.h). */
struct stamped_control : interpreter_control {
	struct pk_stamps stamps;
};
static __device__ __forceinline__ void stamp_clock(const struct interpreter_control &)
{
}
static __device__ __forceinline__ void stamp_clock(const struct stamped_control &c)
{
	if (threadIdx.x == 0)
		pk_stamp_clock(c.stamps);
}
static __device__ __forceinline__ void stamp(const struct interpreter_control &,
					     const struct instruction &, uint64_t, enum pk_stamp_event)
{
}
/* Of the part's step in the run-th iteration. */
static __device__ __forceinline__ void stamp(const struct stamped_control &c,
					     const struct instruction &in, uint64_t run,
					     enum pk_stamp_event event)
{
	if (threadIdx.x == 0 && in.op == OP_SWEEP)
		pk_stamp_of(c.stamps, in.part, run * c.steps_an_iteration + in.phase, event,
			    pk_clock_ns());
}

/* Wait for what the instruction depends on; false when the run is being aborted. */
static __device__ bool ready(const struct interpreter_control &c, const struct instruction &in,
			     uint64_t run, uint32_t *left)
{
	for (uint32_t q = threadIdx.x; q < in.n_waits; q += blockDim.x) {
		uint64_t target = run * in.wait[q].every + in.wait[q].offset, seen;

		if (!pk_wait<pk_agent, pk_orders_relaxed>(
			    &c.device.counters[in.wait[q].counter].done,
			    [=](uint64_t v) { return v >= target; }, &seen, c.device.watch,
			    blockIdx.x, target))
			pk_block::put_relaxed(left, 1u);
	}
	__syncthreads();
	return !pk_block::relaxed(left);
}

template <class W>
static __device__ void share(const W &work, const struct interpreter_control &c,
			     const struct instruction &in, uint64_t run)
{
	if constexpr (W::has_norm) {
		double sum = pk_block_sum(work.norm(in.part, c.parts));

		if (threadIdx.x == 0)
			c.device.norm.partials[(run & 1) * c.parts + in.part] = sum;
	}
}

static __device__ void sum_up(const struct interpreter_control &c, const struct instruction &in,
			      uint64_t run)
{
	const double *shares = c.device.norm.partials + (run & 1) * c.parts;
	double v = 0;

	for (uint32_t p = threadIdx.x; p < c.parts; p += blockDim.x)
		v += shares[p];
	v = pk_block_sum(v);
	if (threadIdx.x == 0)
		*in.to = v;
}

/* Instructions begin .. end - 1, for the run-th time; false: aborted. */
template <class W, class Control>
static __device__ bool interpret(const W &work, const Control &c, uint32_t begin, uint32_t end,
				 uint64_t run, uint32_t *left)
{
	for (uint32_t pc = begin; pc < end; pc++) {
		const struct instruction &in = c.program[pc];

		if (!ready(c, in, run, left))
			return false;
		stamp(c, in, run, PK_STAMP_RECEIVE);
		switch (in.op) {
		case OP_SWEEP:
			stamp(c, in, run, PK_STAMP_START);
			work.step(in.part, c.parts, in.phase);
			if (threadIdx.x == 0)
				c.device.steps[in.part] += 1;
			break;
		case OP_SHARE:
			share(work, c, in, run);
			break;
		case OP_SUM:
			sum_up(c, in, run);
			break;
		case OP_COPY:
			for (uint32_t q = threadIdx.x; q < in.count; q += blockDim.x)
				in.to[q] = in.from[q];
			break;
		}
		__syncthreads();
		stamp(c, in, run, PK_STAMP_END);
		if (threadIdx.x == 0 && in.raises != NOTHING)
			(void)pk_agent::add_acq_rel(&c.device.counters[in.raises].done, (uint64_t)1);
		stamp(c, in, run, PK_STAMP_DONE);
	}
	return true;
}

template <class W, class Control> static __global__ void interpreter_kernel(W work, Control c)
{
	PK_SHARED(uint64_t, shared_go, [1]);
	PK_SHARED(uint32_t, left, [1]);
	struct stream mine = c.streams[blockIdx.x];
	uint64_t iteration = 0, norms = 0, until_norm = c.iterations_a_norm, now = 0;

	stamp_clock(c);
	if (threadIdx.x == 0) {
		left[0] = 0;
		device_report(c.device, 0, 0);
	}
	for (uint64_t round = 1;; round++) {
		uint64_t go = device_next(c.device, now, shared_go);

		if (go == DEVICE_LEAVE)
			return;
		for (; now < go; now += c.steps_an_iteration) {
			if (iteration % DEVICE_LOOK_EVERY == DEVICE_LOOK_EVERY - 1 &&
			    !device_order::look(c.device, now, left))
				return;
			if (!interpret(work, c, mine.begin, mine.norm, iteration++, left))
				return;
			if (--until_norm)
				continue;
			if (!interpret(work, c, mine.norm, mine.end, norms++, left))
				return;
			until_norm = c.iterations_a_norm;
		}
		__syncthreads();
		if (threadIdx.x == 0)
			device_report(c.device, round, go);
	}
}

/* ---- host side: the program ---- */

static uint64_t tasks(const struct pkrun_run *run)
{
	return (uint64_t)((const struct interpreter_options *)run->options)->tasks;
}

/* The parts next to `part` must have reached the target. */
template <class W>
static void depend_on_neighbours(const W &work, struct instruction *in, uint32_t parts,
				 uint32_t every, uint32_t offset)
{
	uint32_t near[PK_NEIGHBOURS_MAX];
	int n = work.neighbours(in->part, parts, near);

	for (int q = 0; q < n; q++)
		in->wait[q] = {near[q], every, offset};
	in->n_waits = (uint32_t)n;
}

/* Steps of an iteration, each for all parts of the interpreter. */
template <class W>
static struct instruction *write_iteration(const struct pkrun_run *run, const W &work, uint32_t parts,
					   uint32_t first, uint32_t end, struct instruction *in)
{
	uint32_t steps = run->work->steps_per_iteration;

	for (uint32_t phase = 0; phase < steps; phase++)
		for (uint32_t part = first; part < end; part++, in++) {
			in->op = OP_SWEEP;
			in->part = in->raises = part;
			in->phase = phase;
			depend_on_neighbours(work, in, parts, steps, phase);
		}
	return in;
}

/* Shares, then the sum by everybody, for each would have to decide; the first
 * interpreter hands it to the host.  Counter `parts` counts shares. */
template <class W>
static struct instruction *write_norm(struct pkrun_run *run, const W &work, uint32_t parts,
				      uint32_t interpreter, uint32_t first, uint32_t end,
				      struct instruction *in)
{
	struct interpreter_state *state = (struct interpreter_state *)run->state;
	uint32_t steps = (uint32_t)pk_steps(run, run->check);

	for (uint32_t part = first; part < end; part++, in++) {
		in->op = OP_SHARE;
		in->part = part;
		in->raises = parts;
		depend_on_neighbours(work, in, parts, steps, steps);
	}
	in->op = OP_SUM;
	in->raises = NOTHING;
	in->n_waits = 1;
	in->wait[0] = {parts, parts, parts};
	in->to = state->sums + interpreter;
	in++;
	if (interpreter == 0) {
		in->op = OP_COPY;
		in->raises = NOTHING;
		in->from = state->sums;
		in->to = state->device.norm.result_dev;
		in->count = 1;
		in++;
	}
	return in;
}

template <class W> static int write_program(struct pkrun_run *run, const W &work)
{
	struct interpreter_state *state = (struct interpreter_state *)run->state;
	uint32_t parts = state->device.blocks;
	size_t most = (size_t)parts * (run->work->steps_per_iteration + 1) + 2 * state->interpreters;
	struct instruction *in;

	state->program = (struct instruction *)calloc(most, sizeof(*state->program));
	state->streams = (struct stream *)calloc(state->interpreters, sizeof(*state->streams));
	if (!state->program || !state->streams) {
		run->host->say(run, "no memory for a program of %zu instructions", most);
		return PKRUN_FAIL;
	}
	in = state->program;
	for (uint32_t i = 0; i < state->interpreters; i++) {
		uint32_t first = (uint32_t)pk_share_begin(parts, state->interpreters, i);
		uint32_t end = (uint32_t)pk_share_begin(parts, state->interpreters, (uint64_t)i + 1);

		state->streams[i].begin = (uint32_t)(in - state->program);
		in = write_iteration(run, work, parts, first, end, in);
		state->streams[i].norm = (uint32_t)(in - state->program);
		if (run->check)
			in = write_norm(run, work, parts, i, first, end, in);
		state->streams[i].end = (uint32_t)(in - state->program);
	}
	state->n_instructions = (uint32_t)(in - state->program);
	return PKRUN_OK;
}

/* ---- host side: the contract ---- */

static int probe(struct pkrun_run *run)
{
	if (pk_steps(run, run->check) <= UINT32_MAX)
		return PKRUN_OK;
	run->host->say(run, "check = %llu is more than an instruction can count",
		       (unsigned long long)run->check);
	return PKRUN_SKIP;
}

/* Parts are the blocks of the division; those that can be co-resident are
 * `tasks` for each block that can. */
static int footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	struct interpreter_state *state = (struct interpreter_state *)run->state;
	int status = pk_with_work_sweep(run, PKRUN_SWEEP_BANDS, [=](auto work) -> int {
		int units = 0, found;

		PK_TRY(run, hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount,
						  run->device));
		found = device_stamps(run) ?
				pk_footprint(run, interpreter_kernel<decltype(work), struct stamped_control>,
					     work.units(), 0, PK_AUTO_FILL, fp) :
				pk_footprint(run, interpreter_kernel<decltype(work), struct interpreter_control>,
					     work.units(), 0, PK_AUTO_FILL, fp);
		if (found != PKRUN_OK)
			return found;
		fp->resident_max *= (uint32_t)tasks(run);
		fp->blocks = pk_grid_blocks(run, work.units(), fp->resident_max,
					    (uint64_t)units * tasks(run), PK_AUTO_FILL);
		return PKRUN_OK;
	});

	state->device.blocks = fp->blocks;
	state->interpreters = (uint32_t)((fp->blocks + tasks(run) - 1) / tasks(run));
	return status;
}

static int setup(struct pkrun_run *run)
{
	struct interpreter_state *state = (struct interpreter_state *)run->state;
	const struct pkrun_host *host = run->host;
	int status = PKRUN_OK;

	state->device.blocks++; /* one counter more, for the shares of a norm */
	status = device_setup_words(run);
	state->device.blocks--;
	if (status == PKRUN_OK)
		status = pk_stamps_setup(run, &state->device.stamps, state->device.blocks,
					 device_stamps(run));
	if (status == PKRUN_OK)
		status = host->alloc(run, "sums", PKRUN_MEMORY_DEVICE,
				     state->interpreters * sizeof(double), NULL,
				     (void **)&state->sums);
	if (status == PKRUN_OK)
		status = pk_with_work_sweep(run, PKRUN_SWEEP_BANDS, [=](auto work) -> int {
			return write_program(run, work);
		});
	if (status == PKRUN_OK)
		status = host->alloc(run, "program", PKRUN_MEMORY_DEVICE,
				     state->n_instructions * sizeof(*state->program), NULL,
				     (void **)&state->program_dev);
	if (status == PKRUN_OK)
		status = host->alloc(run, "streams", PKRUN_MEMORY_DEVICE,
				     state->interpreters * sizeof(*state->streams), NULL,
				     (void **)&state->streams_dev);
	return status;
}

template <class Control> static int launch(struct pkrun_run *run, Control c)
{
	uint32_t interpreters = ((const struct interpreter_state *)run->state)->interpreters;

	return pk_with_work_sweep(run, PKRUN_SWEEP_BANDS, [=](auto work) -> int {
		PK_TRY(run, pk_launch_coop(interpreter_kernel<decltype(work), Control>, dim3(interpreters),
					   dim3(run->threads), 0, pk_stream(run), work, c));
		return PKRUN_OK;
	});
}

static int start(struct pkrun_run *run)
{
	struct interpreter_state *state = (struct interpreter_state *)run->state;
	struct device_state *d = &state->device;
	struct interpreter_control c = {
		{d->lines, d->counters, d->host_dev, run->watch_dev, run->steps, d->norm},
		state->program_dev,
		state->streams_dev,
		d->blocks,
		run->work->steps_per_iteration,
		run->check};
	struct stamped_control stamped = {c, d->stamps.dev};
	int status = device_clear(run);

	if (status != PKRUN_OK)
		return status;
	PK_TRY(run, hipMemsetAsync(d->counters + d->blocks, 0, sizeof(*d->counters), pk_stream(run)));
	PK_TRY(run, hipMemcpyAsync(state->program_dev, state->program,
				   state->n_instructions * sizeof(*state->program),
				   hipMemcpyHostToDevice, pk_stream(run)));
	PK_TRY(run, hipMemcpyAsync(state->streams_dev, state->streams,
				   state->interpreters * sizeof(*state->streams),
				   hipMemcpyHostToDevice, pk_stream(run)));
	status = device_stamps(run) ? launch(run, stamped) : launch(run, c);
	if (status != PKRUN_OK)
		return status;
	d->resident = 1;
	return device_await(run, 0, "the report that it is resident");
}

static void teardown(struct pkrun_run *run)
{
	struct interpreter_state *state = (struct interpreter_state *)run->state;

	device_teardown(run);
	free(state->program);
	free(state->streams);
	state->program = NULL;
	state->streams = NULL;
}

PKRUN_PLUGIN(
	.name = "persistent_interpreter",
	.brief = "resident interpreters run an instruction stream with dependency counters",
	.control = PKRUN_CONTROL_DEVICE,
	.result = PKRUN_EXACT,
	.flags = PKRUN_COOPERATIVE | PKRUN_RESIDENT,
	.state_size = sizeof(struct interpreter_state),
	.workloads = PK_WORKLOADS,
	.options = options,
	.options_size = sizeof(struct interpreter_options),
	.reserved = 0,
	.probe = probe,
	.footprint = footprint,
	.setup = setup,
	.start = start,
	.run = device_run,
	.wait = device_wait,
	.stop = device_stop,
	.teardown = teardown,
);
