// SPDX-License-Identifier: MIT
// ABI 1.1, struct pkrun_host: a variant tells its progress to a pkrun that takes
// it, and does not call what the table of an older one does not have.
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>
extern "C" {
#include <cmocka.h>
}
#include "kernels/progress_body.h"

static struct {
	uint64_t calls, done, total;
} told;

static void say(struct pkrun_run *, const char *fmt, ...)
{
	fail_msg("%s", fmt);
}

static int metric(struct pkrun_run *, const char *, double, const char *)
{
	return PKRUN_OK;
}

static int alloc(struct pkrun_run *, const char *, uint32_t memory, size_t bytes, void **host, void **dev)
{
	void *p = nullptr;

	assert_int_equal(hipHostMalloc(&p, bytes, hipHostMallocCoherent), hipSuccess);
	if (host)
		*host = memory == PKRUN_MEMORY_DEVICE ? nullptr : p;
	*dev = p;
	return PKRUN_OK;
}

static void progress(struct pkrun_run *, uint64_t done, uint64_t total)
{
	assert_true(done >= told.done);
	assert_true(done < total);
	told = {told.calls + 1, done, total};
}

/* One trial of a product of `tiles` x `tiles` tiles, under a table that ends after `size` bytes. */
static void trial(uint32_t size, uint64_t tiles)
{
	uint64_t n = tiles * PROGRESS_TILE;
	std::vector<double> b(n * n, 1.0), c(n * n, 0.0);
	std::vector<uint64_t> steps(tiles * tiles, 0);
	struct pkrun_host host = {size, PKRUN_ABI_MINOR, say, metric, alloc, nullptr, progress};
	struct progress_args args = {sizeof(args), PROGRESS_VERSION, n, c.data(), b.data(), b.data()};
	struct progress_options options = {{REPORT_COUNTER, 0, 0}, 1};
	struct pkrun_work work = {sizeof(work), PKRUN_WORK_VERSION, "progress", 1, sizeof(args), &args,
				  (int64_t)(tiles * tiles)};
	struct progress_state state = {};
	struct pkrun_watch watch = {};
	struct pkrun_footprint fp = {};
	struct pkrun_run run = {};
	hipStream_t stream;

	assert_int_equal(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), hipSuccess);
	run.size = sizeof(run);
	run.host = &host;
	run.work = &work;
	run.options = &options;
	run.state = &state;
	run.stream = stream;
	run.watch = run.watch_dev = &watch;
	run.steps = steps.data();
	run.iterations = 2;
	run.threads = 8;
	told = {};
	assert_int_equal(progress_footprint(&run, PK_AUTO_PER_CU, &fp), PKRUN_OK);
	assert_int_equal(progress_setup(&run), PKRUN_OK);
	assert_int_equal(progress_start(&run), PKRUN_OK);
	assert_int_equal(progress_launch(&run, run.iterations), PKRUN_OK);
	assert_int_equal(progress_wait(&run), PKRUN_OK);
	assert_int_equal(progress_stop(&run), PKRUN_OK);
	progress_teardown(&run);
	assert_true(c[0] == 2.0 * (double)n);
	assert_int_equal(hipStreamDestroy(stream), hipSuccess);
}

static void a_variant_tells_its_progress(void **)
{
	trial(sizeof(struct pkrun_host), 16);
	assert_true(told.calls > 0);
	assert_int_equal(told.total, 2 * 16 * 16);
}

static void a_table_of_1_0_has_no_such_field(void **)
{
	struct pkrun_host host = {};

	assert_int_equal(PKRUN_HOST_SIZE_1_0, 8 + 4 * sizeof(void *));
	host.size = PKRUN_HOST_SIZE_1_0;
	assert_true(PKRUN_HOST_HAS(&host, kernel_ns));
	assert_false(PKRUN_HOST_HAS(&host, progress));
	host.size = sizeof(host) - 1;
	assert_false(PKRUN_HOST_HAS(&host, progress));
	host.size = sizeof(host);
	assert_true(PKRUN_HOST_HAS(&host, progress));
}

static void a_variant_does_not_call_what_is_not_there(void **)
{
	trial(PKRUN_HOST_SIZE_1_0, 16);
	assert_int_equal(told.calls, 0);
}

int main()
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_variant_tells_its_progress),
		cmocka_unit_test(a_table_of_1_0_has_no_such_field),
		cmocka_unit_test(a_variant_does_not_call_what_is_not_there),
	};

	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
