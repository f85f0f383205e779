/* SPDX-License-Identifier: MIT
 *
 * relay_launch - the conventional way to pass a message and get its answer: a
 * kernel launch and a synchronisation for each.
 *
 * What relay_round is to be compared with.  `through = mapped`: the kernel
 * reads and writes pinned host memory itself; `through = copies`: a copy in, a
 * kernel, a copy out.  A launch and a synchronisation order everything, so no
 * flag is needed.  Verified as relay_round is.
 */
#include "kernels/host_wait.h"
#include "kernels/latency.h"
#include "kernels/relay.h"

enum through { MAPPED = 0, COPIES = 1 };

struct options {
	struct pkrun_choice through;
};

static const struct pkrun_option option_table[] = {
	{"through", PKRUN_CHOICE, offsetof(struct options, through), "mapped", 0, 0,
	 "mapped|copies", NULL, "payload through mapped host memory, or copied in and out"},
	{},
};

struct state {
	uint64_t *in, *in_dev, *out, *out_dev;	/* mapped, or staging and device copy */
	uint64_t sent;
	struct pk_samples samples;
};

static __global__ void message_kernel(struct relay_args a, const uint64_t *in, uint64_t *out,
				      uint64_t *steps)
{
	for (uint64_t k = threadIdx.x; k < a.words; k += blockDim.x) {
		uint64_t word = in[k];

		a.received[k] += word;
		out[k] = word + 1;
	}
	if (threadIdx.x == 0) {
		a.count[0] += 1;
		steps[0] += 1;
	}
}

static int copies(const struct pkrun_run *run)
{
	return ((const struct options *)run->options)->through.index == COPIES;
}

static int footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	return pk_footprint(run, message_kernel, 1, 0, PK_AUTO_UNITS, fp);
}

static int setup(struct pkrun_run *run)
{
	struct state *st = (struct state *)run->state;
	const struct pkrun_host *host = run->host;
	const struct relay_args *a = pk_args<struct relay_args>(run, RELAY_VERSION);
	size_t bytes;
	int status;

	if (!a)
		return PKRUN_FAIL;
	bytes = a->words * 8;
	status = host->alloc(run, "in", PKRUN_MEMORY_HOST, bytes, (void **)&st->in,
			     (void **)&st->in_dev);
	if (status == PKRUN_OK)
		status = host->alloc(run, "out", PKRUN_MEMORY_HOST, bytes, (void **)&st->out,
				     (void **)&st->out_dev);
	if (status != PKRUN_OK || !copies(run))
		return status;
	status = host->alloc(run, "in_copy", PKRUN_MEMORY_DEVICE, bytes, NULL,
			     (void **)&st->in_dev);
	if (status == PKRUN_OK)
		status = host->alloc(run, "out_copy", PKRUN_MEMORY_DEVICE, bytes, NULL,
				     (void **)&st->out_dev);
	return status;
}

static int start(struct pkrun_run *run)
{
	struct state *st = (struct state *)run->state;

	st->sent = 0;
	return pk_samples_begin(run, &st->samples, run->iterations);
}

static int message(struct pkrun_run *run, const struct relay_args &a, uint64_t i)
{
	struct state *st = (struct state *)run->state;
	size_t bytes = a.words * 8;
	uint64_t sent = pk_now_ns();

	for (uint64_t k = 0; k < a.words; k++)
		st->in[k] = relay_word(i, k);
	if (copies(run))
		PK_TRY(run, hipMemcpyAsync(st->in_dev, st->in, bytes, hipMemcpyHostToDevice,
					   pk_stream(run)));
	PK_TRY(run, pk_launch(message_kernel, dim3(1), dim3(run->threads), 0, pk_stream(run), a,
			      st->in_dev, st->out_dev, run->steps));
	if (copies(run))
		PK_TRY(run, hipMemcpyAsync(st->out, st->out_dev, bytes, hipMemcpyDeviceToHost,
					   pk_stream(run)));
	PK_TRY(run, hipStreamSynchronize(pk_stream(run)));
	pk_samples_add(&st->samples, pk_now_ns() - sent);
	for (uint64_t k = 0; k < a.words; k++)
		if (st->out[k] != relay_word(i, k) + 1) {
			run->host->say(run, "message %llu: word %llu came back as %016llx, expected %016llx",
				       (unsigned long long)i, (unsigned long long)k,
				       (unsigned long long)st->out[k],
				       (unsigned long long)(relay_word(i, k) + 1));
			return PKRUN_WRONG;
		}
	return PKRUN_OK;
}

static int run_messages(struct pkrun_run *run, uint64_t iterations)
{
	struct state *st = (struct state *)run->state;
	const struct relay_args a = *(const struct relay_args *)run->work->args;
	uint64_t end = st->sent + iterations;

	for (; st->sent < end; st->sent++) {
		int status = message(run, a, st->sent);

		if (status != PKRUN_OK)
			return status;
		if (pk_host_aborted_at(run, 0, st->sent)) {
			run->host->say(run, "aborted after message %llu",
				       (unsigned long long)st->sent);
			return PKRUN_FAIL;
		}
	}
	return PKRUN_OK;
}

static int wait_nothing(struct pkrun_run *run)
{
	(void)run;
	return PKRUN_OK;
}

static int stop(struct pkrun_run *run)
{
	pk_samples_report(run, &((struct state *)run->state)->samples, "round_trip");
	return PKRUN_OK;
}

static void teardown(struct pkrun_run *run)
{
	pk_samples_free(&((struct state *)run->state)->samples);
}

static const struct pkrun_metric metrics[] = {
	PK_SAMPLES_METRICS("round_trip", "a message and its answer"),
	{},
};

PKRUN_PLUGIN(
	.name = "relay_launch",
	.brief = "a launch and a synchronisation for each message",
	.control = PKRUN_CONTROL_HOST,
	.result = PKRUN_EXACT,
	.flags = 0,
	.state_size = sizeof(struct state),
	.workloads = "relay",
	.options = option_table,
	.options_size = sizeof(struct options),
	.reserved = 0,
	.probe = pk_no_check,
	.footprint = footprint,
	.setup = setup,
	.start = start,
	.run = run_messages,
	.wait = wait_nothing,
	.stop = stop,
	.teardown = teardown,
	.metrics = metrics,
);
