/* SPDX-License-Identifier: MIT
 *
 * persistent_doorbell - one word in, one word out, however many blocks.
 *
 * Against persistent_padded: the host no longer writes and reads a flag a
 * block.  Block 0 polls the door in host memory and passes the epoch on in
 * device memory, where the other blocks poll; blocks count themselves in at a
 * counter in device memory, which only grows, and the last one answers.  So a
 * step crosses the bus twice, and the gathering makes it a barrier of the grid.
 *
 *	signals = 2	a release a step (a half-sweep)
 *	signals = 1	a release an iteration; its steps are ordered among the
 *			blocks by neighbours' step counters (persistent_device)
 *
 * With no flag a block, blocks no longer cost the host anything: from here on
 * auto is as many as keep a compute unit busy, in bands of rows.
 *
 * Cost: two more hops through the device's cache a release, and no block may
 * run ahead of the slowest.
 */
#include "kernels/neighbour_order.h"

#define LEAVE UINT64_MAX
#define ABSENT UINT64_MAX

struct doorbell_options {
	struct pkrun_choice wait;
	int64_t pin, signals, stamps;
};

static const struct pkrun_option options[] = {
	{"signals", PKRUN_INT, offsetof(struct doorbell_options, signals), "2", 1, 2, NULL, NULL,
	 "2: the host releases each step; 1: each iteration"},
	PK_OPTION_WAIT(struct doorbell_options, "spin"),
	PK_OPTION_PIN(struct doorbell_options, "-1"),
	PK_OPTION_STAMPS(struct doorbell_options),
	{},
};

/* The two words of the host, a line each. Epochs count releases. */
struct door {
	alignas(PK_LINE_BYTES) uint64_t in;
	alignas(PK_LINE_BYTES) uint64_t out;
};
struct hall {
	alignas(PK_LINE_BYTES) uint64_t epoch;
	alignas(PK_LINE_BYTES) uint64_t arrivals;
};

#define NO_NORM UINT64_MAX

struct doorbell_control {
	struct door *door;
	struct hall *hall;
	struct step_line *counters;
	struct pkrun_watch *watch;
	uint64_t *steps;
	struct pk_norm norm;
	uint32_t steps_a_signal;
};

/* The kernel that is given this one writes down when (kernels/stamps.h). */
struct stamped_doorbell : doorbell_control {
	struct pk_stamps stamps;
};
static __device__ __forceinline__ struct pk_no_stamps stamps_of(const struct doorbell_control &)
{
	return {};
}
static __device__ __forceinline__ struct pk_step_stamps stamps_of(const struct stamped_doorbell &c)
{
	if (threadIdx.x == 0)
		pk_stamp_clock(c.stamps);
	return {c.stamps, {}};
}

/* Thread 0: the next epoch, or LEAVE.  saw(): there it is. */
template <class Saw>
static __device__ uint64_t next_epoch(const struct doorbell_control &c, uint64_t seen, uint64_t s,
				      Saw saw)
{
	auto other = [=](uint64_t v) { return v != seen; };
	uint64_t epoch;

	if (blockIdx.x > 0)
		return pk_wait<pk_agent, pk_orders_relaxed>(&c.hall->epoch, other, &epoch, c.watch,
							    blockIdx.x, s) ?
			       (saw(), epoch) :
			       LEAVE;
	if (!pk_wait<pk_system, pk_orders_relaxed>(&c.door->in, other, &epoch, c.watch, 0, s))
		return LEAVE; /* the others see the abort word themselves */
	saw();
	pk_agent::put_release(&c.hall->epoch, epoch);
	return epoch;
}

/* Thread 0, behind a barrier: this block is done with `epoch`.  The last block
 * adds the shares of a norm up before it answers. */
static __device__ void arrive(const struct doorbell_control &c, uint64_t epoch,
			      uint64_t norm = NO_NORM)
{
	uint64_t before = pk_agent::add_acq_rel(&c.hall->arrivals, (uint64_t)1);
	double sum = 0;

	if (before + 1 != (epoch + 1) * gridDim.x)
		return;
	if (norm != NO_NORM) {
		for (uint32_t b = 0; b < gridDim.x; b++)
			sum += c.norm.partials[(norm & 1) * gridDim.x + b];
		*c.norm.result_dev = sum;
	}
	pk_system::put_release(&c.door->out, epoch);
}

/* The release after so many steps asks for a norm. */
template <class W>
static __device__ void give_norm(const W &work, const struct doorbell_control &c, uint64_t epoch,
				 uint64_t number)
{
	if constexpr (W::has_norm) {
		double sum = pk_norm_partial(work);

		if (threadIdx.x == 0) {
			c.norm.partials[(number & 1) * gridDim.x + blockIdx.x] = sum;
			arrive(c, epoch, number);
		}
	}
}

template <class W, class Control> static __global__ void doorbell_kernel(W work, Control c)
{
	PK_SHARED(uint64_t, shared_epoch, [1]);
	PK_SHARED(struct neighbour_list, near, [1]);
	uint64_t s = 0, epoch = 0, norms = 0, until_norm = c.norm.steps;
	auto stamps = stamps_of(c);
	bool on = true;

	pk_neighbours_find(work, near);
	if (threadIdx.x == 0)
		arrive(c, 0); /* resident */
	while (on) {
		if (threadIdx.x == 0)
			shared_epoch[0] = next_epoch(c, epoch, s, stamps.taker(PK_STAMP_RECEIVE));
		__syncthreads();
		epoch = shared_epoch[0];
		if (epoch == LEAVE)
			break;
		if (c.norm.steps && !until_norm) {
			give_norm(work, c, epoch, norms++);
			until_norm = c.norm.steps;
			continue;
		}
		stamps.take(PK_STAMP_START);
		until_norm -= c.steps_a_signal;
		for (uint32_t q = 0; q < c.steps_a_signal; q++, s++) {
			/* the first step of a release: every block has done the one before */
			if (q > 0 && !(on = pk_neighbours_wait(c.counters, near, s, c.watch)))
				break;
			if (q > 0)
				stamps.take_both(PK_STAMP_RECEIVE, PK_STAMP_START);
			work.step(blockIdx.x, gridDim.x, s);
			__syncthreads();
			stamps.take(PK_STAMP_END);
			if (c.steps_a_signal > 1 && threadIdx.x == 0)
				pk_agent::put_release(&c.counters[blockIdx.x].done, s + 1);
			if (q + 1 < c.steps_a_signal)
				stamps.take_and_put(PK_STAMP_DONE, s);
		}
		if (on && threadIdx.x == 0)
			arrive(c, epoch);
		if (on)
			stamps.take_and_put(PK_STAMP_DONE, s - 1);
	}
	if (threadIdx.x == 0)
		c.steps[blockIdx.x] = s;
}

/* ---- host side ---- */

struct doorbell_state {
	uint32_t blocks;
	int resident;
	uint64_t epoch;
	struct door *door, *door_dev;
	struct hall *hall;
	struct step_line *counters;
	struct pk_norm norm;
	struct pk_stamps_state stamps;
	uint64_t since_norm;
	struct pk_settled settled;
	struct pk_patience patience; /* over all waits of a run: each may be short */
};

static const struct doorbell_options *options_of(const struct pkrun_run *run)
{
	return (const struct doorbell_options *)run->options;
}

static int probe(struct pkrun_run *run)
{
	return pk_probe_pin(run, options_of(run)->pin);
}

static int footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	int status = pk_with_work_sweep(run, PKRUN_SWEEP_BANDS, [=](auto work) -> int {
		return options_of(run)->stamps ?
			       pk_footprint(run, doorbell_kernel<decltype(work), struct stamped_doorbell>,
					    work.units(), 0, PK_AUTO_FILL, fp) :
			       pk_footprint(run, doorbell_kernel<decltype(work), struct doorbell_control>,
					    work.units(), 0, PK_AUTO_FILL, fp);
	});

	((struct doorbell_state *)run->state)->blocks = fp->blocks;
	return status;
}

static int setup(struct pkrun_run *run)
{
	struct doorbell_state *d = (struct doorbell_state *)run->state;
	const struct pkrun_host *host = run->host;
	int status = host->alloc(run, "door", PKRUN_MEMORY_HOST, sizeof(*d->door),
				 (void **)&d->door, (void **)&d->door_dev);

	if (status == PKRUN_OK)
		status = host->alloc(run, "hall", PKRUN_MEMORY_DEVICE, sizeof(*d->hall), NULL,
				     (void **)&d->hall);
	if (status == PKRUN_OK)
		status = host->alloc(run, "counters", PKRUN_MEMORY_DEVICE,
				     d->blocks * sizeof(*d->counters), NULL, (void **)&d->counters);
	if (status == PKRUN_OK)
		status = pk_stamps_setup(run, &d->stamps, d->blocks, options_of(run)->stamps);
	return status == PKRUN_OK ? pk_norm_setup(run, d->blocks, &d->norm) : status;
}

/* Until every block has arrived for the last epoch. */
static int answered(struct pkrun_run *run)
{
	struct doorbell_state *d = (struct doorbell_state *)run->state;

	while (pk_system::relaxed(&d->door->out) != d->epoch) {
		int status;

		pk_host_pass_time(&options_of(run)->wait);
		status = pk_host_again(run, &d->patience, "the answer to a release", 0, d->epoch);
		if (status != PKRUN_OK)
			return status;
	}
	(void)pk_system::acquire(&d->door->out);
	return PKRUN_OK;
}

static uint32_t steps_a_signal(const struct pkrun_run *run)
{
	return options_of(run)->signals == 1 ? run->work->steps_per_iteration : 1;
}

template <class Control> static int launch(struct pkrun_run *run, Control c)
{
	uint32_t blocks = ((const struct doorbell_state *)run->state)->blocks;

	return pk_with_work_sweep(run, PKRUN_SWEEP_BANDS, [=](auto work) -> int {
		PK_TRY(run, pk_launch_coop(doorbell_kernel<decltype(work), Control>, dim3(blocks),
					   dim3(run->threads), 0, pk_stream(run), work, c));
		return PKRUN_OK;
	});
}

static int start(struct pkrun_run *run)
{
	struct doorbell_state *d = (struct doorbell_state *)run->state;
	struct doorbell_control c = {d->door_dev, d->hall, d->counters,	    run->watch_dev,
				     run->steps,  d->norm, steps_a_signal(run)};
	struct stamped_doorbell stamped = {c, d->stamps.dev};
	int status = pk_settle(run, &options_of(run)->wait, options_of(run)->pin, &d->settled);

	if (status != PKRUN_OK)
		return status;
	d->epoch = d->since_norm = 0;
	pk_system::put_relaxed(&d->door->in, (uint64_t)0);
	pk_system::put_relaxed(&d->door->out, ABSENT);
	PK_TRY(run, hipMemsetAsync(d->hall, 0, sizeof(*d->hall), pk_stream(run)));
	PK_TRY(run, hipMemsetAsync(d->counters, 0, d->blocks * sizeof(*d->counters),
				   pk_stream(run)));
	status = pk_stamps_start(run, &d->stamps);
	if (status == PKRUN_OK)
		status = d->stamps.dev.steps ? launch(run, stamped) : launch(run, c);
	if (status != PKRUN_OK)
		return status;
	d->resident = 1;
	return answered(run);
}

/* Ring, and wait for the answer. */
static int ring(struct pkrun_run *run)
{
	struct doorbell_state *d = (struct doorbell_state *)run->state;

	d->epoch++;
	pk_system::put_release(&d->door->in, d->epoch);
	return answered(run);
}

static int run_releases(struct pkrun_run *run, uint64_t iterations)
{
	struct doorbell_state *d = (struct doorbell_state *)run->state;
	uint64_t releases = pk_steps(run, iterations) / steps_a_signal(run);

	for (uint64_t r = 0; r < releases; r++) {
		int status = ring(run);

		d->since_norm += steps_a_signal(run);
		if (status == PKRUN_OK && d->norm.steps && d->since_norm == d->norm.steps) {
			status = ring(run); /* for the norm */
			d->since_norm = 0;
		}
		if (status != PKRUN_OK)
			return status;
	}
	if (d->norm.steps)
		pk_norm_report(run, *d->norm.result, iterations);
	return PKRUN_OK;
}

static int wait(struct pkrun_run *run)
{
	(void)run;
	return PKRUN_OK;
}

static int stop(struct pkrun_run *run)
{
	struct doorbell_state *d = (struct doorbell_state *)run->state;

	pk_unsettle(&d->settled);
	if (!d->resident)
		return PKRUN_OK;
	d->resident = 0;
	pk_system::put_release(&d->door->in, LEAVE);
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	return pk_stamps_report(run, &d->stamps);
}

static void teardown(struct pkrun_run *run)
{
	(void)stop(run);
}

PKRUN_PLUGIN(
	.name = "persistent_doorbell",
	.brief = "one host word in, one out, fanned out and gathered in device memory",
	.control = PKRUN_CONTROL_HOST,
	.result = PKRUN_EXACT,
	.flags = PKRUN_COOPERATIVE | PKRUN_RESIDENT,
	.state_size = sizeof(struct doorbell_state),
	.workloads = PK_WORKLOADS,
	.options = options,
	.options_size = sizeof(struct doorbell_options),
	.reserved = 0,
	.probe = probe,
	.footprint = footprint,
	.setup = setup,
	.start = start,
	.run = run_releases,
	.wait = wait,
	.stop = stop,
	.teardown = teardown,
);
