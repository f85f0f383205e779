/* SPDX-License-Identifier: MIT
 *
 * relay_counter - one side advances a counter in memory that both touch, the
 * other watches it: one way only, nobody answers.
 *
 * The second report's first system is direction = to_host: a resident kernel
 * advances the counter once every `gap` ns and the host watches.  to_device is
 * its mirror image.  A watcher need not see every value: those between two
 * looks are `skipped`, and the age of a value is taken for those that were seen.
 *
 * Protocol.  The counter has one writer and only grows, so a load gives some
 * value not older than the last one seen.  to_host: the host first raises `go`
 * to the value at which the kernel has to pause.  to_device: the last value of
 * a run has the top bit set, so that the kernel need not look at a second word;
 * it then answers once, in `done`.  LEAVE (all ones) is above every value and
 * is written when the other side is at rest, so that all pollers of a block
 * agree on it: a poller that sees another value than its neighbours must not
 * decide anything, so the block acts on thread 0's value only.
 *
 * Age = time seen - time written, one on the host's and one on the device's
 * clock (device_clock.h): right to clock_error, which is stored.  The device's
 * times are copied to the host after the kernel has left.
 */
#include "kernels/device_clock.h"
#include "kernels/mapped.h"
#include "kernels/relay.h"

#define LEAVE UINT64_MAX
#define LAST ((uint64_t)1 << 63) /* in to_device: the last value of a run */

enum direction { TO_HOST = 0, TO_DEVICE = 1 };

struct options {
	struct pkrun_choice direction, memory, order, pollers;
	int64_t gap;
};

static const struct pkrun_option option_table[] = {
	{"direction", PKRUN_CHOICE, offsetof(struct options, direction), "to_host", 0, 0,
	 "to_host|to_device", NULL, "who watches: the host, or the kernel"},
	MAPPED_OPTION_MEMORY(struct options, memory),
	MAPPED_OPTION_ORDER(struct options, order),
	MAPPED_OPTION_POLLERS(struct options, pollers),
	{"gap", PKRUN_INT, offsetof(struct options, gap), "1000", 0, 1000000000, NULL, "ns",
	 "time between two values (0: as fast as it goes)"},
	{},
};

/* Each line has one writer: the host writes `go`, the kernel `done`, and the
 * counter belongs to the side that advances it. */
struct lines {
	alignas(PK_LINE_BYTES) uint64_t counter;
	alignas(PK_LINE_BYTES) uint64_t go;
	alignas(PK_LINE_BYTES) uint64_t done;
};

struct sighting {
	uint64_t value, ns;
};

struct state {
	struct mapped shared;
	struct device_clock clock;
	struct device_clock_pair before, after;
	uint64_t *stamps;		/* device: its time for each value, 0 for none */
	uint64_t room;
	uint64_t value;			/* of the counter, at the end of the last run */
	int resident;
	uint64_t *times;		/* host: stamps copied back */
	uint64_t *sent;			/* host: its time for each value */
	struct sighting *seen;
	size_t n_seen;
	struct pk_samples samples;
};

struct control {
	struct lines *lines;
	uint64_t *stamps;
	uint64_t gap;
	uint32_t pollers;
	struct pkrun_watch *watch;
	uint64_t *steps;
};

/* Messages from..to-1, which were not carried but counted. */
static __device__ __forceinline__ void account(const struct relay_args &a, uint64_t from, uint64_t to)
{
	for (uint64_t k = threadIdx.x; k < a.words; k += blockDim.x)
		for (uint64_t i = from; i < to; i++)
			a.received[k] += relay_word(i, k);
}

/* Thread 0 waits for a word above `value`; everybody gets it, or LEAVE. */
template <class Orders>
static __device__ __forceinline__ uint64_t next_word(const uint64_t *word, uint64_t value,
						     const struct control &c, uint32_t pollers,
						     uint64_t *shared_word, uint32_t *left)
{
	if (threadIdx.x < pollers) {
		uint64_t v = LEAVE;

		if (!pk_wait<pk_system, Orders>(
			    word, [=](uint64_t f) { return f != value; }, &v, c.watch, 0, value))
			pk_block::put_relaxed(left, 1u);
		if (threadIdx.x == 0)
			*shared_word = v;
	}
	__syncthreads();
	return pk_block::relaxed(left) ? LEAVE : *shared_word;
}

/* Until the device's clock says `due`; false when the run is being aborted. */
static __device__ __forceinline__ bool wait_until(uint64_t due, const struct control &c, uint64_t i)
{
	for (uint32_t looks = 1; pk_clock_ns() < due; looks++) {
		pk_pause();
		if (looks % PK_ABORT_POLLS_SYSTEM == 0 && pk_aborted(c.watch)) {
			pk_give_up(c.watch, 0, i);
			return false;
		}
	}
	return true;
}

/* The kernel advances. */
template <class Orders>
static __global__ void advance_kernel(struct relay_args a, struct control c)
{
	PK_SHARED(uint64_t, go, [1]);
	PK_SHARED(uint64_t, leave_at, [1]);
	PK_SHARED(uint32_t, left, [1]);
	uint64_t i = 0, due = 0;

	if (threadIdx.x == 0) {
		left[0] = 0;
		leave_at[0] = LEAVE;
		pk_system::put_release(&c.lines->done, (uint64_t)0);
	}
	__syncthreads();
	for (;;) {
		uint64_t end = next_word<pk_orders_relaxed>(&c.lines->go, i, c, 1, go, left);

		if (end == LEAVE)
			break;
		for (; i < end; i++) {
			account(a, i, i + 1);
			/* A number, not a flag: a thread that looks late must not
			 * take the next value's answer for this one's. */
			if (threadIdx.x == 0 && !wait_until(due, c, i))
				pk_block::put_relaxed(leave_at, i);
			__syncthreads(); /* the sums before the counter that speaks for them */
			if (pk_block::relaxed(leave_at) == i)
				break;
			if (threadIdx.x == 0) {
				c.stamps[i] = pk_clock_ns();
				due = c.stamps[i] + c.gap;
				Orders::template put<pk_system>(&c.lines->counter, i + 1);
			}
		}
		if (i < end)
			break;
		__syncthreads(); /* `go` has been read before it is written again */
	}
	if (threadIdx.x == 0) {
		a.count[0] += i;
		c.steps[0] = i;
	}
}

/* The kernel watches. */
template <class Orders>
static __global__ void watch_kernel(struct relay_args a, struct control c)
{
	PK_SHARED(uint64_t, word, [1]);
	PK_SHARED(uint32_t, left, [1]);
	uint64_t raw = 0, i = 0;

	if (threadIdx.x == 0) {
		left[0] = 0;
		pk_system::put_release(&c.lines->done, (uint64_t)0);
	}
	__syncthreads();
	for (;;) {
		uint64_t value;

		raw = next_word<Orders>(&c.lines->counter, raw, c, c.pollers, word, left);
		if (raw == LEAVE)
			break;
		value = raw & ~LAST;
		if (threadIdx.x == 0)
			c.stamps[value - 1] = pk_clock_ns();
		account(a, i, value);
		i = value;
		__syncthreads();
		if (threadIdx.x == 0 && (raw & LAST))
			pk_system::put_release(&c.lines->done, value);
	}
	if (threadIdx.x == 0) {
		a.count[0] += i;
		c.steps[0] = i;
	}
}

/* ---- host side ---- */

static const struct options *options_of(const struct pkrun_run *run)
{
	return (const struct options *)run->options;
}

static int to_device(const struct pkrun_run *run)
{
	return options_of(run)->direction.index == TO_DEVICE;
}

static int probe(struct pkrun_run *run)
{
	int status = pk_no_check(run);

	return status == PKRUN_OK ? mapped_probe(run, &options_of(run)->memory) : status;
}

static int footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	return mapped_with_order(&options_of(run)->order, [=](auto orders) -> int {
		using O = decltype(orders);

		if (to_device(run))
			return pk_footprint(run, watch_kernel<O>, 1, 0, PK_AUTO_UNITS, fp);
		return pk_footprint(run, advance_kernel<O>, 1, 0, PK_AUTO_UNITS, fp);
	});
}

static int setup(struct pkrun_run *run)
{
	struct state *st = (struct state *)run->state;
	size_t bytes = run->iterations * sizeof(uint64_t);
	int status;

	if (!pk_args<struct relay_args>(run, RELAY_VERSION))
		return PKRUN_FAIL;
	st->room = run->iterations;
	st->times = (uint64_t *)calloc(st->room, sizeof(*st->times));
	st->sent = (uint64_t *)calloc(st->room, sizeof(*st->sent));
	st->seen = (struct sighting *)calloc(st->room, sizeof(*st->seen));
	if (!st->times || !st->sent || !st->seen) {
		run->host->say(run, "no memory for the times of %llu values",
			       (unsigned long long)st->room);
		return PKRUN_FAIL;
	}
	status = mapped_open(run, &options_of(run)->memory, "lines", &st->shared,
			     sizeof(struct lines));
	if (status == PKRUN_OK)
		status = device_clock_open(run, &st->clock);
	if (status == PKRUN_OK)
		status = run->host->alloc(run, "stamps", PKRUN_MEMORY_DEVICE, bytes, NULL,
					  (void **)&st->stamps);
	return status;
}

static int start(struct pkrun_run *run)
{
	struct state *st = (struct state *)run->state;
	const struct relay_args a = *(const struct relay_args *)run->work->args;
	struct lines *lines = (struct lines *)st->shared.host;
	struct control c = {(struct lines *)st->shared.dev, st->stamps,
			    (uint64_t)options_of(run)->gap,
			    mapped_pollers(run, &options_of(run)->pollers), run->watch_dev,
			    run->steps};
	int status = device_clock_read(run, &st->clock, &st->before);

	if (status != PKRUN_OK)
		return status;
	st->value = 0;
	st->n_seen = 0;
	memset(st->seen, 0, st->room * sizeof(*st->seen));
	pk_system::put_relaxed(&lines->counter, (uint64_t)0);
	pk_system::put_relaxed(&lines->go, (uint64_t)0);
	pk_system::put_release(&lines->done, LEAVE);
	mapped_push(&options_of(run)->memory);
	PK_TRY(run, hipMemsetAsync(st->stamps, 0, st->room * sizeof(*st->stamps), pk_stream(run)));
	status = mapped_with_order(&options_of(run)->order, [=](auto orders) -> int {
		using O = decltype(orders);

		PK_TRY(run, pk_launch_coop(to_device(run) ? watch_kernel<O> : advance_kernel<O>,
					   dim3(1), dim3(run->threads), 0, pk_stream(run), a, c));
		return PKRUN_OK;
	});
	if (status != PKRUN_OK)
		return status;
	st->resident = 1;
	return pk_host_spin(run, [=]() { return pk_system::acquire(&lines->done) == 0; },
			    "the report that it is resident", 0, 0);
}

/* The host watches until the counter stands at `end`. */
template <class Orders> static int watch_counter(struct pkrun_run *run, uint64_t end)
{
	struct state *st = (struct state *)run->state;
	struct lines *lines = (struct lines *)st->shared.host;
	uint64_t value = st->value;

	pk_system::put_release(&lines->go, end);
	mapped_push(&options_of(run)->memory);
	while (value < end) {
		uint64_t now = value;
		int status = pk_host_spin(
			run,
			[&now, value, lines]() {
				now = Orders::template poll<pk_system>(&lines->counter);
				return now != value;
			},
			"the next value of the counter", 0, value);

		if (status != PKRUN_OK)
			return status;
		value = Orders::template seen<pk_system>(&lines->counter, now);
		st->seen[st->n_seen++] = {value, pk_now_ns()};
	}
	st->value = end;
	return PKRUN_OK;
}

static int gave_up(struct pkrun_run *run, uint64_t i)
{
	run->host->say(run, "aborted before value %llu of the counter", (unsigned long long)i + 1);
	return PKRUN_FAIL;
}

/* The host advances the counter to `end`. */
template <class Orders> static int advance_counter(struct pkrun_run *run, uint64_t end)
{
	struct state *st = (struct state *)run->state;
	struct lines *lines = (struct lines *)st->shared.host;
	uint64_t gap = (uint64_t)options_of(run)->gap, due = 0;

	for (uint64_t i = st->value; i < end; i++) {
		uint64_t now = pk_now_ns();

		if (i % 1024 == 1023 && pk_host_aborted_at(run, 0, i))
			return gave_up(run, i);
		for (; now < due; now = pk_now_ns()) {
			pk_host_pause();
			if (pk_host_aborted_at(run, 0, i))
				return gave_up(run, i);
		}
		st->sent[i] = now;
		due = now + gap;
		Orders::template put<pk_system>(&lines->counter, i + 1 == end ? end | LAST : i + 1);
		mapped_push(&options_of(run)->memory);
	}
	st->value = end;
	return pk_host_spin(run, [=]() { return pk_system::acquire(&lines->done) == end; },
			    "the report that it has seen the last value", 0, end);
}

static int run_counter(struct pkrun_run *run, uint64_t iterations)
{
	struct state *st = (struct state *)run->state;
	uint64_t end = st->value + iterations;

	if (end > st->room) {
		run->host->say(run, "room for the times of %llu values, %llu asked for",
			       (unsigned long long)st->room, (unsigned long long)end);
		return PKRUN_FAIL;
	}
	if (!iterations)
		return PKRUN_OK;
	return mapped_with_order(&options_of(run)->order, [=](auto orders) -> int {
		using O = decltype(orders);

		return to_device(run) ? advance_counter<O>(run, end) : watch_counter<O>(run, end);
	});
}

static int wait_nothing(struct pkrun_run *run)
{
	(void)run;
	return PKRUN_OK;
}

static void add_age(struct state *st, uint64_t written, uint64_t seen)
{
	pk_samples_add(&st->samples, seen > written ? seen - written : 0);
}

static int report(struct pkrun_run *run)
{
	struct state *st = (struct state *)run->state;
	const struct device_clock_pair *a = &st->before, *b = &st->after;
	int status = pk_samples_begin(run, &st->samples, st->value);

	if (status != PKRUN_OK)
		return status;
	if (to_device(run)) {
		for (uint64_t i = 0; i < st->value; i++)
			if (st->times[i])
				add_age(st, st->sent[i], device_clock_to_host(a, b, st->times[i]));
	} else {
		for (size_t q = 0; q < st->n_seen; q++)
			add_age(st, device_clock_to_host(a, b, st->times[st->seen[q].value - 1]),
				st->seen[q].ns);
	}
	run->host->metric(run, "values", (double)st->value, "count");
	run->host->metric(run, "skipped", (double)(st->value - st->samples.n), "count");
	run->host->metric(run, "clock_error", device_clock_error(a, b), "ns");
	pk_samples_report(run, &st->samples, to_device(run) ? "to_device" : "to_host");
	return PKRUN_OK;
}

/* The kernel leaves. */
static int leave(struct pkrun_run *run)
{
	struct state *st = (struct state *)run->state;
	struct lines *lines = (struct lines *)st->shared.host;

	st->resident = 0;
	pk_system::put_release(to_device(run) ? &lines->counter : &lines->go, LEAVE);
	mapped_push(&options_of(run)->memory);
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	return PKRUN_OK;
}

static int stop(struct pkrun_run *run)
{
	struct state *st = (struct state *)run->state;
	int status;

	if (!st->resident)
		return PKRUN_OK;
	status = leave(run);
	if (status == PKRUN_OK)
		status = device_clock_read(run, &st->clock, &st->after);
	if (status != PKRUN_OK || !st->value)
		return status;
	PK_TRY(run, hipMemcpyAsync(st->times, st->stamps, st->value * sizeof(*st->times),
				   hipMemcpyDeviceToHost, pk_stream(run)));
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	return report(run);
}

static void teardown(struct pkrun_run *run)
{
	struct state *st = (struct state *)run->state;

	if (st->resident)
		(void)leave(run);
	mapped_close(&st->shared);
	pk_samples_free(&st->samples);
	free(st->times);
	free(st->sent);
	free(st->seen);
}

static const struct pkrun_metric metrics[] = {
	{"values", "count", "values that the counter took"},
	{"skipped", "count", "of them, those that the watcher did not see, for it saw a later one"},
	PK_METRIC_CLOCK_ERROR,
	PK_SAMPLES_METRICS("to_host", "a value, from when the kernel wrote it to when the host saw it"),
	PK_SAMPLES_METRICS("to_device", "a value, from when the host wrote it to when the kernel saw it"),
	{},
};

PKRUN_PLUGIN(
	.name = "relay_counter",
	.brief = "one side advances a counter, the other watches it: one-way latency",
	.control = PKRUN_CONTROL_DEVICE,
	.result = PKRUN_EXACT,
	.flags = PKRUN_COOPERATIVE | PKRUN_RESIDENT,
	.state_size = sizeof(struct state),
	.workloads = "relay",
	.options = option_table,
	.options_size = sizeof(struct options),
	.reserved = 0,
	.probe = probe,
	.footprint = footprint,
	.setup = setup,
	.start = start,
	.run = run_counter,
	.wait = wait_nothing,
	.stop = stop,
	.teardown = teardown,
	.metrics = metrics,
);
