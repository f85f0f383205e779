/* SPDX-License-Identifier: MIT
 *
 * bench.c - one cell inside the worker: its memory, what is lent to the plugin,
 * and the steps from probe to teardown.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"
#include "child.h"
#include "load.h"
#include "verify.h"
#include "worker.h"

#define PROGRESS_NS INT64_C(100000000)	/* between two messages */

const char *bench_status_name(enum bench_status s)
{
	static const char *const name[] = { "ok", "skipped", "refused", "wrong", "error", "aborted" };

	return name[s];
}

/* ---- what plugins may call (struct pkrun_host) ---- */

__attribute__((format(printf, 2, 3)))
static void lend_say(struct pkrun_run *run, const char *fmt, ...)
{
	struct bench *b = (struct bench *)run;
	struct bench_said *s;
	va_list ap;

	if (b->n_said == BENCH_SAID_MAX) {	/* the last one counts most: it is the reason */
		memmove(b->said, b->said + 1, sizeof(*b->said) * (BENCH_SAID_MAX - 1));
		b->n_said--;
		b->lost_said++;
	}
	s = &b->said[b->n_said++];
	va_start(ap, fmt);
	vsnprintf(s->text, sizeof(s->text), fmt, ap);
	va_end(ap);
}

static int lend_metric(struct pkrun_run *run, const char *name, double value, const char *unit)
{
	struct bench *b = (struct bench *)run;
	struct protocol_metric *m;

	/* cut, two names could be one */
	if (name && strlen(name) >= sizeof(m->name)) {
		lend_say(run, "metric '%.60s...': a name of %zu bytes, at most %zu; not stored", name,
			 strlen(name), sizeof(m->name) - 1);
		return PKRUN_FAIL;
	}
	if (b->n_metrics == BENCH_METRICS_MAX) {
		b->lost_metrics++;
		if (!name || strcmp(name, BENCH_NORM))
			return PKRUN_FAIL;
		b->n_metrics--;	/* it is a part of the result: another one goes */
	}
	m = &b->metrics[b->n_metrics++];
	memset(m, 0, sizeof(*m));
	snprintf(m->name, sizeof(m->name), "%s", name ? name : "?");
	snprintf(m->unit, sizeof(m->unit), "%s", unit ? unit : "");
	m->value = value;
	return PKRUN_OK;
}

static int lend_alloc(struct pkrun_run *run, const char *name, uint32_t memory, size_t bytes,
		      void **host, void **dev)
{
	struct bench *b = (struct bench *)run;
	int rc;

	if (bytes > PTRDIFF_MAX) {
		lend_say(run, "cannot allocate %zu bytes for '%s': more than memory can have", bytes,
			 name ? name : "?");
		return PKRUN_FAIL;
	}
	rc = arena_alloc(&b->arena, name, memory, ARENA_POISONED, bytes, 0, host, dev);
	if (rc == PKRUN_FAIL)
		lend_say(run, "cannot allocate %zu bytes for '%s': %s", bytes, name ? name : "?",
			 b->dev->error());
	return rc;
}

void bench_metric(struct bench *b, const char *name, double value, const char *unit)
{
	lend_metric(&b->run, name, value, unit);
}

static void lend_kernel_ns(struct pkrun_run *run, int64_t ns)
{
	((struct bench *)run)->kernel_ns = ns;
}

/* The one thing that is written while a clock runs, and so the pace is kept here: it costs a
 * trial nothing below 0.1 s, and then about 10 us every 0.1 s. */
static void lend_progress(struct pkrun_run *run, uint64_t done, uint64_t total)
{
	struct bench *b = (struct bench *)run;
	struct protocol_progress m = { done, total };
	int64_t now;

	if (!b->shows_progress)
		return;
	now = child_now();
	if (now - b->progress_ns < PROGRESS_NS)
		return;
	b->progress_ns = now;
	worker_offer(PROTOCOL_PROGRESS, &m, sizeof(m));
}

/* ---- answers ---- */

int bench_aborted(const struct bench *b)
{
	return worker_terminated() ||
	       (b->run.watch && __atomic_load_n(&b->run.watch->abort, __ATOMIC_RELAXED));
}

enum bench_status bench_answer(struct bench *b, const char *call, int rc)
{
	const char *name = b->plugin->name;

	if (bench_aborted(b))
		return BENCH_ABORTED;
	if (rc == PKRUN_OK)
		return BENCH_OK;
	if (b->n_said)
		snprintf(b->reason, sizeof(b->reason), "%s", b->said[--b->n_said].text);
	else if (rc == PKRUN_SKIP || rc == PKRUN_FAIL || rc == PKRUN_WRONG)
		snprintf(b->reason, sizeof(b->reason), "%s: %s() gave no reason", name, call);
	else
		snprintf(b->reason, sizeof(b->reason), "%s: %s() returned %d, which is no status",
			 name, call, rc);
	return rc == PKRUN_SKIP ? BENCH_SKIPPED : rc == PKRUN_WRONG ? BENCH_WRONG : BENCH_ERROR;
}

enum bench_status bench_device_error(struct bench *b, const char *what)
{
	if (bench_aborted(b))
		return BENCH_ABORTED;
	snprintf(b->reason, sizeof(b->reason), "%s: %s", what, b->dev->error());
	return BENCH_ERROR;
}

static enum bench_status wrong_job(struct bench *b, const char *what, const char *why)
{
	snprintf(b->reason, sizeof(b->reason), "%s: %s", what, why);
	return BENCH_ERROR;
}

void bench_flush(struct bench *b, enum protocol_scope scope)
{
	char text[128];
	size_t i;

	for (i = 0; i < b->n_metrics; i++) {
		b->metrics[i].scope = scope;
		worker_send(PROTOCOL_METRIC, &b->metrics[i], sizeof(b->metrics[i]));
	}
	for (i = 0; i < b->n_said; i++)
		worker_send(PROTOCOL_NOTE, b->said[i].text, strlen(b->said[i].text));
	if (b->lost_metrics || b->lost_said) {
		snprintf(text, sizeof(text), "%zu metrics and %zu notes too many were dropped",
			 b->lost_metrics, b->lost_said);
		worker_send(PROTOCOL_NOTE, text, strlen(text));
	}
	b->n_metrics = b->n_said = b->lost_metrics = b->lost_said = 0;
}

/* ---- the steps of bench_open ---- */

static enum bench_status take_options(struct bench *b)
{
	char why[256];

	if (job_options(b->job, "common", common_options, &b->common, why, sizeof(why)))
		return wrong_job(b, "common options", why);
	if (b->plugin->options_size > sizeof(b->variant) ||
	    b->workload->options_size > sizeof(b->problem))
		return wrong_job(b, b->plugin->name, "option struct larger than pkrun has room for");
	if (job_options(b->job, "variant", b->plugin->options, &b->variant, why, sizeof(why)))
		return wrong_job(b, b->plugin->name, why);
	if (job_options(b->job, "workload", b->workload->options, &b->problem, why, sizeof(why)))
		return wrong_job(b, b->workload->name, why);
	return BENCH_OK;
}

static enum bench_status fill_run(struct bench *b)
{
	static void *none[WORKLOAD_ARRAYS_MAX];
	void *args = calloc(1, b->workload->args_size + 1);

	b->run.state = calloc(1, b->plugin->state_size + 1);
	b->work.args = args;
	if (!args || !b->run.state)
		return wrong_job(b, b->plugin->name, "out of memory");
	b->host = (struct pkrun_host){
		.size = sizeof(b->host), .abi_minor = PKRUN_ABI_MINOR, .say = lend_say,
		.metric = lend_metric, .alloc = lend_alloc, .kernel_ns = lend_kernel_ns,
		.progress = lend_progress,
	};
	b->work.size = sizeof(b->work);
	b->work.version = PKRUN_WORK_VERSION;
	b->work.name = b->workload->name;
	b->work.steps_per_iteration = b->workload->steps_per_iteration(&b->problem);
	b->work.args_size = b->workload->args_size;
	b->work.units = b->workload->units(&b->problem, (uint32_t)b->common.sweep.index,
					   b->common.tile);
	b->workload->args(&b->problem, 0, none, args);

	b->run.size = sizeof(b->run);
	b->run.device = (int32_t)job_int(b->job, "device", 0);
	b->run.host = &b->host;
	b->run.work = &b->work;
	b->run.options = b->plugin->options ? &b->variant : NULL;
	b->run.threads = (uint32_t)b->common.threads;
	b->run.sweep = (uint32_t)b->common.sweep.index;
	b->run.blocks = b->common.blocks;
	b->run.tile[0] = b->common.tile[0];
	b->run.tile[1] = b->common.tile[1];
	b->run.check = (uint64_t)b->common.check;
	b->run.seed = (uint64_t)job_int(b->job, "seed", 0);
	return BENCH_OK;
}

static enum bench_status open_watch(struct bench *b)
{
	void *host, *dev;

	if (arena_alloc(&b->arena, "watch", PKRUN_MEMORY_HOST, ARENA_KEEP,
			sizeof(struct pkrun_watch), 0, &host, &dev))
		return bench_device_error(b, "watch word");
	memset(host, 0, sizeof(struct pkrun_watch));
	b->run.watch = host;
	b->run.watch_dev = dev;
	worker_watch(host);
	return BENCH_OK;
}

/* With launches made to wait for their end, a kernel that waits for the host never ends. */
static enum bench_status check_blocking(struct bench *b)
{
	static const struct {
		uint32_t target;
		const char *variable;
	} blocking[] = {
		{ PKRUN_CUDA, "CUDA_LAUNCH_BLOCKING" },
		{ PKRUN_HIP, "HIP_LAUNCH_BLOCKING" },
		{ PKRUN_HIP, "AMD_SERIALIZE_KERNEL" },
	};
	const char *value;
	size_t i;

	for (i = 0; i < sizeof(blocking) / sizeof(blocking[0]); i++) {
		value = getenv(blocking[i].variable);
		if (blocking[i].target != b->dev->target || !value || !*value || *value == '0')
			continue;
		snprintf(b->reason, sizeof(b->reason),
			 "%s=%.20s makes each launch wait for its end; a resident kernel would never return",
			 blocking[i].variable, value);
		return BENCH_SKIPPED;
	}
	return BENCH_OK;
}

/* A variant takes a word that its ABI did not have for any other, and the cell would be stored
 * under a name that is not what ran. */
static enum bench_status check_age(struct bench *b)
{
	if (b->plugin->abi_minor >= 1 || b->common.blocks.index != PKRUN_BLOCKS_PER_CU)
		return BENCH_OK;
	snprintf(b->reason, sizeof(b->reason),
		 "blocks = percu:%" PRId64 ": %s was built for plugin ABI %u.%u, which has it not (1.1 has)",
		 b->common.blocks.arg, b->plugin->name, b->plugin->abi_major, b->plugin->abi_minor);
	return BENCH_SKIPPED;
}

/* A kernel that holds every block until all have come must fit, or it never ends. */
static enum bench_status check_residency(struct bench *b)
{
	const uint32_t needs = PKRUN_COOPERATIVE | PKRUN_RESIDENT;
	struct pkrun_device_info info;
	uint32_t max;

	if (!b->grid.blocks || !b->grid.threads)
		return wrong_job(b, b->plugin->name, "footprint() gave an empty grid");
	if (b->dev->info(b->run.device, &info))
		return bench_device_error(b, "device info");
	if (info.max_threads && b->grid.threads > info.max_threads) {
		snprintf(b->reason, sizeof(b->reason),
			 "%u threads a block, the device takes at most %u", b->grid.threads,
			 info.max_threads);
		return BENCH_REFUSED;
	}
	if (!(b->plugin->flags & needs))
		return BENCH_OK;
	if ((b->plugin->flags & PKRUN_COOPERATIVE) && !info.cooperative) {
		snprintf(b->reason, sizeof(b->reason), "%s has no cooperative launch", info.name);
		return BENCH_SKIPPED;
	}
	if ((b->plugin->flags & PKRUN_RESIDENT) && check_blocking(b))
		return BENCH_SKIPPED;
	max = b->grid.resident_max;
	if (b->grid.blocks <= max)
		return BENCH_OK;
	snprintf(b->reason, sizeof(b->reason),
		 "%u blocks of %u threads do not fit: at most %u can be resident at once on %u compute units",
		 b->grid.blocks, b->grid.threads, max, info.compute_units);
	return BENCH_REFUSED;
}

static enum bench_status find_grid(struct bench *b)
{
	enum bench_status s = BENCH_OK;
	struct workload_counts counts = { 0, 0, 0 };
	struct protocol_grid g;

	worker_phase("probe", PROTOCOL_LIMIT_PLUGIN, 0, 0);
	if (b->plugin->probe)
		s = bench_answer(b, "probe", b->plugin->probe(&b->run));
	if (s)
		return s;
	b->grid.size = sizeof(b->grid);
	s = bench_answer(b, "footprint", b->plugin->footprint(&b->run, &b->grid));
	if (s)
		return s;
	b->workload->counts(&b->problem, &counts);
	memset(&g, 0, sizeof(g));
	g.blocks = b->grid.blocks;
	g.threads = b->grid.threads;
	g.resident_max = b->grid.resident_max;
	g.dynamic_bytes = b->grid.dynamic_bytes;
	g.updates = counts.updates;
	g.flops = counts.flops;
	g.bytes = counts.bytes;
	worker_send(PROTOCOL_GRID, &g, sizeof(g));
	return check_residency(b);
}

/* What there was no room for, and how much that is. */
static enum bench_status no_room(struct bench *b, const char *what, uint64_t bytes)
{
	char text[96];

	snprintf(text, sizeof(text), "%.40s, %" PRIu64 " bytes", what, bytes);
	return bench_device_error(b, text);
}

static enum bench_status no_host_room(struct bench *b)
{
	struct workload_array info[WORKLOAD_ARRAYS_MAX];
	int i, n = b->workload->arrays(&b->problem, b->grid.blocks, info);
	uint64_t bytes = 0;
	char text[96];

	for (i = 0; i < n; i++)
		bytes += info[i].count * 8;
	snprintf(text, sizeof(text), "out of memory for the initial arrays, %" PRIu64 " bytes", bytes);
	return wrong_job(b, b->workload->name, text);
}

static enum bench_status open_array(struct bench *b, int i)
{
	const struct workload_array *a = &b->initial.info[i];
	uint32_t use = a->role == WORKLOAD_SCRATCH ? ARENA_POISONED : ARENA_KEEP;
	size_t bytes = a->count * 8, row = a->columns * 8;

	if (arena_alloc(&b->arena, a->name, PKRUN_MEMORY_DEVICE, use, bytes, row, NULL, &b->array[i]))
		return no_room(b, a->name, bytes);
	if (a->role == WORKLOAD_SCRATCH)
		return BENCH_OK;
	if (b->dev->to_device(b->array[i], b->initial.data[i], bytes))
		return bench_device_error(b, a->name);
	if (a->role != WORKLOAD_STATE)
		return BENCH_OK;
	if (arena_alloc(&b->arena, "pristine copy", PKRUN_MEMORY_DEVICE, ARENA_KEEP, bytes, 0, NULL,
			&b->pristine[i]))
		return no_room(b, "a copy of it to begin from", bytes);
	if (b->dev->to_device(b->pristine[i], b->initial.data[i], bytes))
		return bench_device_error(b, a->name);
	return BENCH_OK;
}

static enum bench_status open_arrays(struct bench *b)
{
	enum bench_status s = BENCH_OK;
	void *steps;
	int i;

	worker_phase("fill", PROTOCOL_LIMIT_NONE, 0, 0);
	if (reference_open(&b->initial, b->workload, &b->problem, b->grid.blocks))
		return no_host_room(b);
	b->input_hash = reference_hash(&b->initial, WORKLOAD_INPUT);
	for (i = 0; i < b->initial.n && !s; i++)
		s = open_array(b, i);
	if (s)
		return s;
	if (arena_alloc(&b->arena, "step counters", PKRUN_MEMORY_DEVICE, ARENA_KEEP,
			(size_t)b->grid.blocks * 8, 0, NULL, &steps))
		return bench_device_error(b, "step counters");
	b->run.steps = steps;
	b->workload->args(&b->problem, b->grid.blocks, b->array, (void *)(uintptr_t)b->work.args);
	return BENCH_OK;
}

static void mix_params(const struct job *job, uint64_t *hash)
{
	size_t at = 0;

	while (at < job->size) {
		const char *key = job->text + at, *value = key + strlen(key) + 1;

		if (strncmp(key, "workload.", 9) == 0) {
			*hash = verify_text_hash(*hash, key);
			*hash = verify_text_hash(*hash, value);
		}
		at += strlen(key) + strlen(value) + 2;
	}
}

static enum bench_status get_reference(struct bench *b)
{
	struct protocol_want want;
	uint64_t h = verify_text_hash(0, b->workload->name);

	if (b->calibrating)
		return BENCH_OK;
	mix_params(b->job, &h);
	h = verify_join(h, reference_hash(&b->initial, WORKLOAD_STATE));
	h = verify_join(h, b->input_hash);
	memset(&want, 0, sizeof(want));
	want.blocks = b->workload->per_block ? b->grid.blocks : 0;
	want.iterations = b->run.iterations;
	snprintf(want.input, sizeof(want.input), "%016" PRIx64, h);
	reference_forget(&b->initial);	/* another process may need the room now */
	worker_send(PROTOCOL_WANT_REFERENCE, &want, sizeof(want));
	if (worker_expect(PROTOCOL_REFERENCE, &b->reference, sizeof(b->reference)))
		return BENCH_ABORTED;
	if (!b->reference.found)
		return wrong_job(b, "reference", b->reference.why);
	return judge_open(b);
}

static enum bench_status set_up(struct bench *b)
{
	enum bench_status s;

	worker_phase("setup", PROTOCOL_LIMIT_PLUGIN, 0, 0);
	b->is_set_up = 1;	/* teardown also undoes half a setup */
	if (!b->plugin->setup)
		return BENCH_OK;
	s = bench_answer(b, "setup", b->plugin->setup(&b->run));
	if (b->calibrating)
		b->n_metrics = 0;	/* of no block */
	bench_flush(b, PROTOCOL_OF_BLOCK);
	return s;
}

static enum bench_status load(struct bench *b)
{
	const char *path = job_get(b->job, "plugin"), *name = job_get(b->job, "workload");
	char why[512];

	worker_phase("load", PROTOCOL_LIMIT_LOAD, 0, 0);
	b->workload = workload_find(name ? name : "");
	if (!b->workload)
		return wrong_job(b, name ? name : "?", "no such workload");
	if (load_plugin(path ? path : "", b->dev->target, &b->plugin, why, sizeof(why)))
		return wrong_job(b, "load", why);
	return BENCH_OK;
}

static enum bench_status open_for(struct bench *b, struct job *job, const struct pkrun_device *dev,
				  void *stream, uint64_t iterations)
{
	enum bench_status (*const step[])(struct bench *) = {
		load, take_options, fill_run, open_watch, check_age, find_grid, open_arrays, get_reference,
		set_up,
	};
	enum bench_status s = BENCH_OK;
	size_t i;

	memset(b, 0, sizeof(*b));
	b->job = job;
	b->calibrating = strcmp(job_get(job, "mode"), "calibrate") == 0;
	b->dev = b->arena.dev = dev;
	b->run.stream = stream;
	b->run.iterations = iterations;
	b->shows_progress = job_int(job, "progress", 0) != 0;
	b->metrics = calloc(BENCH_METRICS_MAX, sizeof(*b->metrics));
	b->said = calloc(BENCH_SAID_MAX, sizeof(*b->said));
	if (!b->metrics || !b->said)
		return wrong_job(b, "worker", "out of memory");
	for (i = 0; i < sizeof(step) / sizeof(step[0]) && s == BENCH_OK; i++) {
		s = step[i](b);
		worker_own_ways();
	}
	if (s == BENCH_OK && bench_aborted(b))
		s = BENCH_ABORTED;
	return s;
}

enum bench_status bench_open(struct bench *b, struct job *job, const struct pkrun_device *dev,
			     void *stream)
{
	return open_for(b, job, dev, stream, (uint64_t)job_int(job, "iterations", 1));
}

enum bench_status bench_reopen(struct bench *b, uint64_t iterations)
{
	const struct pkrun_device *dev = b->dev;
	struct job *job = b->job;
	void *stream = b->run.stream;

	worker_phase("teardown", PROTOCOL_LIMIT_PLUGIN, 0, 0);
	bench_close(b);
	return open_for(b, job, dev, stream, iterations);
}

void bench_close(struct bench *b)
{
	if (b->is_set_up && b->plugin->teardown)
		b->plugin->teardown(&b->run);
	worker_watch(NULL);
	arena_free(&b->arena);
	reference_close(&b->initial);
	judge_close(b);
	free((void *)(uintptr_t)b->work.args);
	free(b->run.state);
	free(b->metrics);
	free(b->said);
}
