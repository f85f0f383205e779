/* SPDX-License-Identifier: MIT
 *
 * relay_round - a message to a resident kernel and its answer, one at a time:
 * the round trip through memory that both sides touch, and each way of it.
 *
 * Protocol.  Two mailboxes, each written by one side only.  The host writes the
 * payload, then flag = i + 1; the kernel's pollers wait for it, the block reads
 * the payload and writes its answer, a block barrier, then thread 0 sets the
 * other flag to i + 1; the host waits for that before it touches its mailbox
 * again.  So at any time one side owns both mailboxes, and each change of owner
 * is a release (the flag's store) that an acquire (the load that saw it) reads:
 * payload accesses can be plain.  On the device the acquire of each poller and
 * the barrier behind it make the host's payload visible to all threads of the
 * block, and the barrier before thread 0's release collects what all of them
 * wrote.  Flags are message numbers and only grow: nothing is reset, the flag
 * of one message is never taken for another's.  UINT64_MAX means leave; it is
 * written when no message is under way, so all pollers of a block agree on it.
 *
 * Verified: every word of every answer by the host (answer = message + 1), and
 * the device's sums by pkrun.
 *
 * Time.  round_trip is on the host's clock alone: from before the payload is
 * written to after the flag of the answer was seen.  to_device and to_host need
 * the device's clock.  Its offset is taken, for each window of messages, from
 * the one with the shortest round trip, on the assumption that this one spent
 * as long on the way there as back; the assumption can be wrong by at most half
 * of that round trip, stored as clock_error.  The sum of the two ways does not
 * depend on it.
 */
#include "kernels/latency.h"
#include "kernels/mapped.h"
#include "kernels/relay.h"

#define LEAVE UINT64_MAX
#define WINDOW 1024 /* messages that share a clock offset */

struct options {
	struct pkrun_choice memory, order, pollers;
};

static const struct pkrun_option option_table[] = {
	MAPPED_OPTION_MEMORY(struct options, memory),
	MAPPED_OPTION_ORDER(struct options, order),
	MAPPED_OPTION_POLLERS(struct options, pollers),
	{},
};

/* The head of a mailbox; its payload follows. */
struct mailbox {
	alignas(PK_LINE_BYTES) uint64_t flag;
	alignas(PK_LINE_BYTES) uint64_t seen, answered; /* device clock, in answers */
};

static PK_FN uint64_t *payload(struct mailbox *box)
{
	return reinterpret_cast<uint64_t *>(box + 1);
}

struct stamps {
	uint64_t sent, seen, answered, received;
};

struct state {
	struct mapped to_device, to_host;
	uint64_t sent;	   /* messages of this trial */
	int resident;
	struct stamps *stamps;
	size_t room;
	struct pk_samples samples;
};

struct control {
	struct mailbox *in, *out;
	uint32_t pollers;
	struct pkrun_watch *watch;
	uint64_t *steps;
};

template <class Orders>
static __global__ void relay_kernel(struct relay_args a, struct control c)
{
	PK_SHARED(uint64_t, go, [1]);
	PK_SHARED(uint32_t, left, [1]);
	const uint64_t *in = payload(c.in);
	uint64_t *out = payload(c.out), i, seen = 0;

	if (threadIdx.x == 0) {
		left[0] = 0;
		Orders::template put<pk_system>(&c.out->flag, (uint64_t)0);
	}
	__syncthreads();
	for (i = 0;; i++) {
		if (threadIdx.x < c.pollers) {
			uint64_t v = LEAVE;

			if (!pk_wait<pk_system, Orders>(
				    &c.in->flag, [=](uint64_t f) { return f > i; }, &v, c.watch, 0,
				    i))
				pk_block::put_relaxed(left, 1u);
			seen = pk_clock_ns();
			if (threadIdx.x == 0)
				go[0] = v;
		}
		__syncthreads();
		if (pk_block::relaxed(left) || go[0] == LEAVE)
			break;
		for (uint64_t k = threadIdx.x; k < a.words; k += blockDim.x) {
			uint64_t word = in[k];

			a.received[k] += word;
			out[k] = word + 1;
		}
		__syncthreads();
		if (threadIdx.x == 0) {
			c.out->seen = seen;
			c.out->answered = pk_clock_ns();
			Orders::template put<pk_system>(&c.out->flag, i + 1);
		}
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

static int probe(struct pkrun_run *run)
{
	int status = pk_no_check(run);

	return status == PKRUN_OK ? mapped_probe(run, &options_of(run)->memory) : status;
}

static int footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	return mapped_with_order(&options_of(run)->order, [=](auto orders) -> int {
		return pk_footprint(run, relay_kernel<decltype(orders)>, 1, 0, PK_AUTO_UNITS, fp);
	});
}

static int setup(struct pkrun_run *run)
{
	struct state *st = (struct state *)run->state;
	const struct relay_args *a = pk_args<struct relay_args>(run, RELAY_VERSION);
	const struct pkrun_choice *memory = &options_of(run)->memory;
	int status;

	if (!a)
		return PKRUN_FAIL;
	status = mapped_open(run, memory, "to_device", &st->to_device,
			     sizeof(struct mailbox) + a->words * 8);
	if (status == PKRUN_OK)
		status = mapped_open(run, memory, "to_host", &st->to_host,
				     sizeof(struct mailbox) + a->words * 8);
	return status;
}

/* Room for the stamps of a run, touched before the clock runs. */
static int want_room(struct pkrun_run *run, uint64_t n)
{
	struct state *st = (struct state *)run->state;
	struct stamps *more;

	if (n <= st->room)
		return PKRUN_OK;
	more = (struct stamps *)realloc(st->stamps, n * sizeof(*more));
	if (!more) {
		run->host->say(run, "no memory for the times of %llu messages",
			       (unsigned long long)n);
		return PKRUN_FAIL;
	}
	memset((void *)more, 0, n * sizeof(*more));
	st->stamps = more;
	st->room = n;
	return PKRUN_OK;
}

template <class Orders> static bool answered(const struct mailbox *box, uint64_t number)
{
	if (Orders::template poll<pk_system>(&box->flag) != number)
		return false;
	return Orders::template seen<pk_system>(&box->flag, number) == number;
}

static int start(struct pkrun_run *run)
{
	struct state *st = (struct state *)run->state;
	const struct relay_args a = *(const struct relay_args *)run->work->args;
	struct control c = {(struct mailbox *)st->to_device.dev, (struct mailbox *)st->to_host.dev,
			    mapped_pollers(run, &options_of(run)->pollers), run->watch_dev,
			    run->steps};
	struct mailbox *in = (struct mailbox *)st->to_device.host;
	struct mailbox *out = (struct mailbox *)st->to_host.host;
	int status = want_room(run, run->iterations);

	if (status != PKRUN_OK)
		return status;
	st->sent = 0;
	pk_system::put_release(&in->flag, (uint64_t)0);
	pk_system::put_release(&out->flag, LEAVE);
	mapped_push(&options_of(run)->memory);
	return mapped_with_order(&options_of(run)->order, [=](auto orders) -> int {
		using O = decltype(orders);

		PK_TRY(run, pk_launch_coop(relay_kernel<O>, dim3(1), dim3(run->threads), 0,
					   pk_stream(run), a, c));
		st->resident = 1;
		return pk_host_spin(run, [=]() { return answered<O>(out, 0); },
				    "the report that it is resident", 0, 0);
	});
}

/* One message there and back. */
template <class Orders> static int relay_one(struct pkrun_run *run, uint64_t words, uint64_t i)
{
	struct state *st = (struct state *)run->state;
	struct mailbox *in = (struct mailbox *)st->to_device.host;
	struct mailbox *out = (struct mailbox *)st->to_host.host;
	const struct pkrun_choice *memory = &options_of(run)->memory;
	struct stamps *t = st->stamps + i;
	int status;

	t->sent = pk_now_ns();
	for (uint64_t k = 0; k < words; k++)
		payload(in)[k] = relay_word(i, k);
	mapped_push(memory);
	Orders::template put<pk_system>(&in->flag, i + 1);
	mapped_push(memory);
	status = pk_host_spin(run, [=]() { return answered<Orders>(out, i + 1); }, "the answer", 0, i);
	if (status != PKRUN_OK)
		return status;
	t->received = pk_now_ns();
	mapped_push(memory);
	t->seen = out->seen;
	t->answered = out->answered;
	for (uint64_t k = 0; k < words; k++)
		if (payload(out)[k] != relay_word(i, k) + 1) {
			run->host->say(run, "message %llu: word %llu came back as %016llx, expected %016llx",
				       (unsigned long long)i, (unsigned long long)k,
				       (unsigned long long)payload(out)[k],
				       (unsigned long long)(relay_word(i, k) + 1));
			return PKRUN_WRONG;
		}
	return PKRUN_OK;
}

static int run_messages(struct pkrun_run *run, uint64_t iterations)
{
	struct state *st = (struct state *)run->state;
	uint64_t words = ((const struct relay_args *)run->work->args)->words;
	uint64_t end = st->sent + iterations;
	int status = want_room(run, end);

	if (status != PKRUN_OK)
		return status;
	return mapped_with_order(&options_of(run)->order, [=](auto orders) -> int {
		for (; st->sent < end; st->sent++) {
			int bad = relay_one<decltype(orders)>(run, words, st->sent);

			if (bad != PKRUN_OK)
				return bad;
		}
		return PKRUN_OK;
	});
}

static int wait_nothing(struct pkrun_run *run)
{
	(void)run;
	return PKRUN_OK;
}

/* Device clock minus host clock, from the message with the shortest round trip. */
static int64_t clock_offset(const struct stamps *t, size_t n, uint64_t *error)
{
	const struct stamps *best = t;

	for (size_t i = 1; i < n; i++)
		if (t[i].received - t[i].sent < best->received - best->sent)
			best = t + i;
	*error = (best->received - best->sent) / 2;
	return ((int64_t)(best->seen - best->sent) + (int64_t)(best->answered - best->received)) / 2;
}

enum leg { ROUND, THERE, BACK };

/* Samples of one leg; a one-way time that the offset makes negative counts as 0. */
static int take_leg(struct pkrun_run *run, enum leg leg, const char *name, uint64_t *worst_error)
{
	struct state *st = (struct state *)run->state;
	int status = pk_samples_begin(run, &st->samples, st->sent);

	if (status != PKRUN_OK)
		return status;
	for (uint64_t w = 0; w < st->sent; w += WINDOW) {
		uint64_t n = st->sent - w < WINDOW ? st->sent - w : WINDOW, error;
		int64_t offset = clock_offset(st->stamps + w, n, &error);

		if (error > *worst_error)
			*worst_error = error;
		for (const struct stamps *t = st->stamps + w; t < st->stamps + w + n; t++) {
			int64_t ns = leg == ROUND ? (int64_t)(t->received - t->sent) :
				     leg == THERE ? (int64_t)(t->seen - t->sent) - offset :
						    (int64_t)(t->received - t->answered) + offset;

			pk_samples_add(&st->samples, ns > 0 ? (uint64_t)ns : 0);
		}
	}
	pk_samples_report(run, &st->samples, name);
	return PKRUN_OK;
}

static int stop(struct pkrun_run *run)
{
	struct state *st = (struct state *)run->state;
	uint64_t error = 0;
	int status;

	if (!st->resident)
		return PKRUN_OK;
	st->resident = 0;
	pk_system::put_release(&((struct mailbox *)st->to_device.host)->flag, LEAVE);
	mapped_push(&options_of(run)->memory);
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	status = take_leg(run, ROUND, "round_trip", &error);
	if (status == PKRUN_OK)
		status = take_leg(run, THERE, "to_device", &error);
	if (status == PKRUN_OK)
		status = take_leg(run, BACK, "to_host", &error);
	if (st->sent)
		run->host->metric(run, "clock_error", (double)error, "ns");
	return status;
}

static void teardown(struct pkrun_run *run)
{
	struct state *st = (struct state *)run->state;

	(void)stop(run);
	mapped_close(&st->to_device);
	mapped_close(&st->to_host);
	pk_samples_free(&st->samples);
	free(st->stamps);
	st->stamps = NULL;
	st->room = 0;
}

static const struct pkrun_metric metrics[] = {
	PK_SAMPLES_METRICS("round_trip", "a message and its answer"),
	PK_SAMPLES_METRICS("to_device", "the way of the message"),
	PK_SAMPLES_METRICS("to_host", "the way of the answer"),
	PK_METRIC_CLOCK_ERROR,
	{},
};

PKRUN_PLUGIN(
	.name = "relay_round",
	.brief = "a message to a resident kernel and its answer: round trip and each way",
	.control = PKRUN_CONTROL_HOST,
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
	.run = run_messages,
	.wait = wait_nothing,
	.stop = stop,
	.teardown = teardown,
	.metrics = metrics,
);
