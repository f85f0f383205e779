/* SPDX-License-Identifier: MIT
 *
 * drive.cpp - a plugin of the host target, run as pkrun's child runs it, in a
 * program small enough to be built with ThreadSanitizer.
 *
 *	drive PLUGIN.so [KEY=VALUE...]
 *
 * Keys: workload (poisson2d), trials (1), iterations (5), those of the workload
 * (n = 12), of every variant (threads = 16, blocks, sweep, tile, check) and of
 * this one.  Each trial starts from poison and is verified over the whole array,
 * by the step counters, and by the norm if one is due at its end.
 *
 * Exit code: 0 right, 1 wrong, 2 the plugin would not or could not, 64 usage;
 * from elsewhere 66 a race was reported, 97 the host device stopped it.
 *
 * With abort=MS pkrun's abort word is set after so many ms of a run that would
 * take much longer.  run() and wait() have to return, and the kernels to end,
 * short of steps, though nobody calls stop(); nothing else is verified.
 *
 * A variant that only converges is not compared: its races are what counts here.
 *
 * A wrong trial also says what a spot check of eight points would have said.
 */
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <thread>
#include <vector>
#include "kernels/gpu.h"
extern "C" {
#include "core/load.h"
#include "core/options.h"
#include "kernels/workload.h"
}

#define POISON 0xCB
enum { RIGHT = 0, WRONG = 1, COULD_NOT = 2, USAGE = 64 };

struct piece { /* what the plugin allocated */
	void *p;
	size_t bytes;
};

struct cell {
	const struct workload *workload;
	const struct pkrun_plugin *plugin;
	std::vector<char> problem, options, args;
	struct common_options common;
	long trials;
	long abort_ms; /* 0: no abort */
	struct pkrun_host host;
	struct pkrun_work work;
	struct pkrun_run run;
	int arrays;
	struct workload_array info[WORKLOAD_ARRAYS_MAX];
	void *array[WORKLOAD_ARRAYS_MAX];
	std::vector<uint64_t> initial[WORKLOAD_ARRAYS_MAX], expected[WORKLOAD_ARRAYS_MAX];
	std::vector<piece> pieces;
	double norm; /* reported last */
};

static cell c;

[[noreturn]] static void fail(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(code);
}

static void must(hipError_t e, const char *what)
{
	if (e != hipSuccess)
		fail(COULD_NOT, "%s: %s", what, hipGetErrorString(e));
}

/* ---- the table that a plugin calls back through */

static void say(struct pkrun_run *, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static int metric(struct pkrun_run *, const char *name, double value, const char *)
{
	if (strcmp(name, "residual_norm") == 0)
		c.norm = value;
	return PKRUN_OK;
}

static void kernel_ns(struct pkrun_run *, int64_t)
{
}

static void progress(struct pkrun_run *, uint64_t, uint64_t)
{
}

static int alloc(struct pkrun_run *, const char *, uint32_t memory, size_t bytes, void **host,
                 void **dev)
{
	char *p = nullptr;

	must(hipHostMalloc(&p, bytes, hipHostMallocCoherent), "hipHostMalloc");
	c.pieces.push_back({p, bytes});
	if (host != nullptr)
		*host = memory == PKRUN_MEMORY_DEVICE ? nullptr : p;
	if (dev != nullptr)
		*dev = p;
	return PKRUN_OK;
}

/* ---- options */

static bool option_set(const struct pkrun_option *table, void *base, const char *name,
                       const char *value)
{
	const struct pkrun_option *row = option_find(table, name);
	char why[256];

	if (row == nullptr)
		return false;
	if (option_parse(row, value, base, why, sizeof(why)) != 0)
		fail(USAGE, "%s=%s: %s", name, value, why);
	return true;
}

static void defaults(const struct pkrun_option *table, size_t size, std::vector<char> *out)
{
	char why[256];

	out->assign(size + 1, 0);
	if (table != nullptr && option_defaults(table, out->data(), why, sizeof(why)) != 0)
		fail(USAGE, "%s", why);
}

static void key_set(const std::string &name, const char *value)
{
	if (name == "workload" || name == "trials" || name == "iterations" || name == "abort")
		return;
	if (!option_set(c.workload->options, c.problem.data(), name.c_str(), value) &&
	    !option_set(common_options, &c.common, name.c_str(), value) &&
	    !option_set(c.plugin->options, c.options.data(), name.c_str(), value))
		fail(USAGE, "no option %s", name.c_str());
}

static const char *key_find(int argc, char **argv, const char *name, const char *otherwise)
{
	size_t n = strlen(name);

	for (int i = 2; i < argc; i++)
		if (strncmp(argv[i], name, n) == 0 && argv[i][n] == '=')
			return argv[i] + n + 1;
	return otherwise;
}

static void read_arguments(int argc, char **argv)
{
	char why[256];

	if (argc < 2)
		fail(USAGE, "usage: drive PLUGIN.so [KEY=VALUE...]");
	if (load_plugin(argv[1], PKRUN_HOST, &c.plugin, why, sizeof(why)) != 0)
		fail(USAGE, "%s: %s", argv[1], why);
	c.workload = workload_find(key_find(argc, argv, "workload", "poisson2d"));
	if (c.workload == nullptr)
		fail(USAGE, "no such workload");
	c.trials = atol(key_find(argc, argv, "trials", "1"));
	c.abort_ms = atol(key_find(argc, argv, "abort", "0"));
	c.run.iterations = strtoull(key_find(argc, argv, "iterations", "5"), nullptr, 10);
	defaults(c.workload->options, c.workload->options_size, &c.problem);
	defaults(c.plugin->options, c.plugin->options_size, &c.options);
	if (option_defaults(common_options, &c.common, why, sizeof(why)) != 0)
		fail(USAGE, "%s", why);
	key_set("n", "12");
	key_set("threads", "16");
	for (int i = 2; i < argc; i++) {
		const char *equals = strchr(argv[i], '=');

		if (equals == nullptr)
			fail(USAGE, "%s: not KEY=VALUE", argv[i]);
		key_set(std::string(argv[i], (size_t)(equals - argv[i])), equals + 1);
	}
}

/* ---- the cell */

static void prepare_run(void)
{
	static struct pkrun_watch *watch;
	hipStream_t stream;

	must(hipHostMalloc(&watch, sizeof(*watch), hipHostMallocCoherent), "hipHostMalloc");
	memset(watch, 0, sizeof(*watch));
	must(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), "hipStreamCreate");
	c.host = {sizeof(c.host), PKRUN_ABI_MINOR, say, metric, alloc, kernel_ns, progress};
	c.args.assign(c.workload->args_size, 0);
	c.workload->args(c.problem.data(), 0, c.array, c.args.data());
	c.work.size = sizeof(c.work);
	c.work.version = PKRUN_WORK_VERSION;
	c.work.name = c.workload->name;
	c.work.steps_per_iteration = c.workload->steps_per_iteration(c.problem.data());
	c.work.args_size = c.workload->args_size;
	c.work.args = c.args.data();
	c.work.units =
	        c.workload->units(c.problem.data(), (uint32_t)c.common.sweep.index, c.common.tile);
	c.run.size = sizeof(c.run);
	c.run.host = &c.host;
	c.run.work = &c.work;
	c.run.options = c.options.data();
	c.run.state = calloc(1, c.plugin->state_size + 1);
	c.run.stream = stream;
	c.run.watch = c.run.watch_dev = watch;
	c.run.threads = (uint32_t)c.common.threads;
	c.run.sweep = (uint32_t)c.common.sweep.index;
	c.run.blocks = c.common.blocks;
	c.run.tile[0] = c.common.tile[0];
	c.run.tile[1] = c.common.tile[1];
	c.run.check = (uint64_t)c.common.check;
}

static void prepare_arrays(uint32_t blocks)
{
	void *expected[WORKLOAD_ARRAYS_MAX];

	c.arrays = c.workload->arrays(c.problem.data(), blocks, c.info);
	for (int i = 0; i < c.arrays; i++) {
		c.initial[i].resize(c.info[i].count);
		c.workload->fill(c.problem.data(), blocks, i, c.initial[i].data());
		c.expected[i] = c.initial[i];
		expected[i] = c.expected[i].data();
		must(hipMalloc(&c.array[i], c.info[i].count * 8), "hipMalloc");
	}
	if (c.abort_ms == 0)
		c.workload->advance(c.problem.data(), blocks, expected, c.run.iterations, 1);
	c.workload->args(c.problem.data(), blocks, c.array, c.args.data());
	must(hipMalloc(&c.run.steps, blocks * 8), "hipMalloc");
}

static void call(const char *what, int status)
{
	if (status == PKRUN_SKIP)
		fail(COULD_NOT, "skipped by %s()", what);
	if (status != PKRUN_OK)
		fail(COULD_NOT, "%s() failed", what);
}

/* ---- a trial */

static void restore(uint32_t blocks)
{
	for (int i = 0; i < c.arrays; i++)
		must(hipMemcpy(c.array[i], c.initial[i].data(), c.info[i].count * 8,
		               hipMemcpyHostToDevice),
		     "restore");
	for (const piece &p : c.pieces)
		must(hipMemset(p.p, POISON, p.bytes), "poison");
	must(hipMemset(c.run.steps, 0, blocks * 8), "step counters");
}

static bool steps_right(uint32_t blocks)
{
	std::vector<uint64_t> got(blocks);
	uint64_t want = c.run.iterations * c.work.steps_per_iteration;

	must(hipMemcpy(got.data(), c.run.steps, blocks * 8, hipMemcpyDeviceToHost), "steps");
	for (uint32_t b = 0; b < blocks; b++) {
		if (got[b] == want)
			continue;
		printf("wrong: block %u did %llu steps, not %llu\n", b, (unsigned long long)got[b],
		       (unsigned long long)want);
		return false;
	}
	return true;
}

/* As the report did it: a few points, all of the first wavefront of one block. */
static bool spot_right(const struct workload_array *info, const uint64_t *got, const uint64_t *want)
{
	uint64_t row = info->columns;

	if (row == 0)
		return false;
	for (uint64_t j = 1; j <= 8 && j + 1 < row; j++)
		if (got[row + j] != want[row + j])
			return false;
	return true;
}

static bool array_right(int which)
{
	uint64_t count = c.info[which].count, wrong = 0, first = 0;
	std::vector<uint64_t> got(count);
	const std::vector<uint64_t> &want = c.expected[which];

	/* other bits than the reference on the way; what is looked for here are races */
	if (c.plugin->result == PKRUN_CONVERGES && c.info[which].is_real)
		return true;
	must(hipMemcpy(got.data(), c.array[which], count * 8, hipMemcpyDeviceToHost), "result");
	for (uint64_t i = count; i-- > 0;) {
		if (got[i] == want[i])
			continue;
		wrong++;
		first = i;
	}
	if (wrong == 0)
		return true;
	printf("wrong: %s: %llu of %llu differ, the first at index %llu; spot check %s\n",
	       c.info[which].name, (unsigned long long)wrong, (unsigned long long)count,
	       (unsigned long long)first,
	       spot_right(&c.info[which], got.data(), want.data()) ? "agrees" : "differs");
	return false;
}

/* Sums of the blocks may be rounded in another order. */
static bool norm_right(void)
{
	void *expected[WORKLOAD_ARRAYS_MAX];
	double want;

	if (c.run.check == 0 || c.run.iterations % c.run.check != 0 || c.plugin->result != PKRUN_EXACT)
		return true;
	for (int i = 0; i < c.arrays; i++)
		expected[i] = c.expected[i].data();
	want = c.workload->norm(c.problem.data(), expected);
	if (std::abs(c.norm - want) <= 1e-9 * want)
		return true;
	printf("wrong: a norm of %.17g, not %.17g\n", c.norm, want);
	return false;
}

static bool trial(uint32_t blocks)
{
	bool right;

	restore(blocks);
	c.norm = -1;
	if (c.plugin->start != nullptr)
		call("start", c.plugin->start(&c.run));
	call("run", c.plugin->run(&c.run, c.run.iterations));
	call("wait", c.plugin->wait(&c.run));
	if (c.plugin->stop != nullptr)
		call("stop", c.plugin->stop(&c.run));
	must(hipStreamSynchronize((hipStream_t)c.run.stream), "hipStreamSynchronize");
	right = steps_right(blocks);
	for (int i = 0; i < c.arrays; i++)
		if (c.info[i].role == WORKLOAD_STATE && c.plugin->result == PKRUN_EXACT)
			right &= array_right(i);
	return right && norm_right();
}

static bool left(uint32_t blocks)
{
	uint64_t steps;
	int status;

	restore(blocks);
	if (c.plugin->start != nullptr)
		call("start", c.plugin->start(&c.run));
	std::thread later([] {
		std::this_thread::sleep_for(std::chrono::milliseconds(c.abort_ms));
		__atomic_store_n(&c.run.watch->abort, 1u, __ATOMIC_RELEASE);
	});
	status = c.plugin->run(&c.run, c.run.iterations);
	if (status == PKRUN_OK)
		status = c.plugin->wait(&c.run);
	later.join();
	must(hipStreamSynchronize((hipStream_t)c.run.stream), "hipStreamSynchronize");
	must(hipMemcpy(&steps, c.run.steps, 8, hipMemcpyDeviceToHost), "steps");
	if (steps != c.run.iterations * c.work.steps_per_iteration)
		return true;
	printf("wrong: the run ended before it was aborted, or in spite of it (%d)\n", status);
	return false;
}

int main(int argc, char **argv)
{
	struct pkrun_footprint fp = {};
	bool right = true;

	read_arguments(argc, argv);
	prepare_run();
	if (c.plugin->probe != nullptr)
		call("probe", c.plugin->probe(&c.run));
	fp.size = sizeof(fp);
	call("footprint", c.plugin->footprint(&c.run, &fp));
	prepare_arrays(fp.blocks);
	if (c.plugin->setup != nullptr)
		call("setup", c.plugin->setup(&c.run));
	for (long i = 0; i < c.trials; i++)
		right &= c.abort_ms > 0 ? left(fp.blocks) : trial(fp.blocks);
	if (c.plugin->teardown != nullptr)
		c.plugin->teardown(&c.run);
	printf("%s: %u blocks x %u threads: %s\n", c.plugin->name, fp.blocks, fp.threads,
	       right ? "right" : "wrong");
	fflush(stdout);
	return right ? RIGHT : WRONG;
}
