/* SPDX-License-Identifier: MIT
 *
 * test_host_device.cpp - the host target's runtime: launches, waves, barriers,
 * streams, graphs, refusals, stops, replay.
 *
 * Stops end the process, so those tests run this program again (argv[1] names
 * the kernel to launch) and look at its exit code and what it said.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include "kernels/gpu.h"
extern "C" {
#include <cmocka.h>
}

#define SYS __HIP_MEMORY_SCOPE_SYSTEM
#define OK(call) assert_int_equal((call), hipSuccess)

template <class T> static T *on_device(size_t count)
{
	T *p = nullptr;

	OK(hipMalloc(&p, count * sizeof(T)));
	return p;
}

static hipStream_t stream_new(void)
{
	hipStream_t s = nullptr;

	OK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	return s;
}

/* ---- kernels */

__global__ void number_all(uint32_t *out, uint32_t add)
{
	uint64_t block = blockIdx.x + (uint64_t)gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
	unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
	unsigned threads = blockDim.x * blockDim.y * blockDim.z;

	out[block * threads + thread] += (uint32_t)(block * threads + thread) + add;
}

/* How many blocks are in the kernel at once, at most? */
__global__ void count_resident(uint32_t *now, uint32_t *most)
{
	uint32_t n =
	        1 + __hip_atomic_fetch_add(now, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);

	__hip_atomic_fetch_max(most, n, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
	for (int i = 0; i < 3; i++)
		pk_pause();
	__hip_atomic_fetch_add(now, -1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

/* Reverse within a block, through shared memory; also tells what it held before. */
__global__ void reverse(uint32_t *data, uint32_t *poison)
{
	PK_SHARED(uint32_t, tile, [2][32]);
	PK_SHARED_DYN(uint32_t, extra);
	static_assert(sizeof(tile) == 2 * 32 * 4, "a true array");
	unsigned t = threadIdx.x, n = blockDim.x;
	uint32_t *mine = data + blockIdx.x * n;

	if (t == 0)
		poison[blockIdx.x] = tile[1][31] & extra[0];
	__syncthreads();
	tile[t & 1][t / 2] = mine[t];
	extra[t] = t;
	__syncthreads();
	mine[t] = tile[(n - 1 - t) & 1][(n - 1 - t) / 2] + 0 * extra[n - 1 - t];
}

/* Each thread adds its neighbour's value of the step before: wrong without a grid barrier. */
__global__ void grid_steps(uint32_t *a, uint32_t *b, int steps)
{
	unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;

	for (int s = 0; s < steps; s++) {
		b[i] = a[(i + 1) % n] + 1;
		cooperative_groups::this_grid().sync();
		a[i] = b[i];
		cooperative_groups::this_grid().sync();
	}
}

__global__ void wait_for(const uint32_t *flag, uint32_t value, uint32_t *seen)
{
	while (__hip_atomic_load(flag, __ATOMIC_RELAXED, SYS) != value)
		pk_pause();
	seen[blockIdx.x * blockDim.x + threadIdx.x] =
	        __hip_atomic_load(flag, __ATOMIC_ACQUIRE, SYS);
}

/* The same without the pause: atomics alone must let the others on */
__global__ void wait_hard(const uint32_t *flag, uint32_t value)
{
	while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, SYS) != value)
		;
}

__global__ void add_one(uint32_t *p)
{
	if (threadIdx.x == 0)
		__hip_atomic_fetch_add(p, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

__global__ void say(uint32_t *flag, uint32_t value)
{
	if (threadIdx.x == 0)
		__hip_atomic_store(flag, value, __ATOMIC_RELEASE, SYS);
}

__global__ void multiply(uint32_t *p, uint32_t by)
{
	*p *= by;
}

__global__ void diverge_return(unsigned n)
{
	if (threadIdx.x >= n)
		return;
	__syncthreads();
}

__global__ void diverge_place(void)
{
	if (threadIdx.x & 1)
		__syncthreads();
	else
		__syncthreads();
}

__global__ void spin_volatile(volatile uint32_t *p)
{
	while (*p != 1)
		;
}

__global__ void too_much_shared(void)
{
	PK_SHARED(char, large, [49 << 10]);

	large[threadIdx.x] = 0;
}

__global__ void grid_sync_anyway(void)
{
	cooperative_groups::this_grid().sync();
}

/* ---- launches */

static void test_every_thread_once(void **)
{
	const dim3 grid(5, 3, 2), block(8, 4, 2);
	const size_t n = 5 * 3 * 2 * 8 * 4 * 2;
	uint32_t *d = on_device<uint32_t>(n), back[n];
	hipStream_t s = stream_new();

	OK(hipMemsetAsync(d, 0, sizeof(back), s));
	OK(pk_launch(number_all, grid, block, 0, s, d, 7u));
	OK(hipMemcpyAsync(back, d, sizeof(back), hipMemcpyDeviceToHost, s));
	OK(hipStreamSynchronize(s));
	for (size_t i = 0; i < n; i++)
		assert_int_equal(back[i], i + 7);
	OK(hipFree(d));
	OK(hipStreamDestroy(s));
}

static void test_waves(void **)
{
	uint32_t *d = on_device<uint32_t>(2), back[2];
	hipDeviceProp_t p;
	int unit;

	OK(hipGetDeviceProperties(&p, 0));
	OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&unit, count_resident, 1, 0));
	OK(hipMemset(d, 0, sizeof(back)));
	OK(pk_launch(count_resident, 3 * unit * p.multiProcessorCount + 1, 1, 0, nullptr, d,
	             d + 1));
	OK(hipMemcpy(back, d, sizeof(back), hipMemcpyDeviceToHost));
	assert_int_equal(back[0], 0);
	assert_int_equal(back[1], unit * p.multiProcessorCount);
	OK(hipFree(d));
}

static void test_shared(void **)
{
	uint32_t *d = on_device<uint32_t>(256 + 4), back[256 + 4];

	for (int i = 0; i < 256; i++)
		back[i] = (uint32_t)i;
	OK(hipMemcpy(d, back, 256 * 4, hipMemcpyHostToDevice));
	for (int round = 0; round < 2; round++)
		OK(pk_launch(reverse, 4, 64, 64 * 4, nullptr, d, d + 256));
	OK(hipMemcpy(back, d, sizeof(back), hipMemcpyDeviceToHost));
	for (int i = 0; i < 256; i++)
		assert_int_equal(back[i], i);
	for (int i = 0; i < 4; i++)
		assert_int_equal(back[256 + i], 0xCBCBCBCB);
	OK(hipFree(d));
}

static void test_grid_barrier(void **)
{
	const unsigned n = 6 * 32;
	uint32_t *d = on_device<uint32_t>(2 * n), back[n], expected[n];

	for (unsigned i = 0; i < n; i++)
		expected[i] = back[i] = i * i;
	OK(hipMemcpy(d, back, sizeof(back), hipMemcpyHostToDevice));
	OK(pk_launch_coop(grid_steps, 6, 32, 0, nullptr, d, d + n, 5));
	OK(hipMemcpy(back, d, sizeof(back), hipMemcpyDeviceToHost));
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(back[i], ((i + 5) % n) * ((i + 5) % n) + 5);
	(void)expected;
	OK(hipFree(d));
}

static void test_refusals(void **)
{
	uint32_t *d = on_device<uint32_t>(1);
	int unit;
	hipDeviceProp_t p;

	OK(hipGetDeviceProperties(&p, 0));
	assert_int_equal(pk_launch(add_one, 0, 32, 0, nullptr, d), hipErrorInvalidConfiguration);
	assert_int_equal(hipPeekAtLastError(), hipErrorInvalidConfiguration);
	assert_int_equal(hipGetLastError(), hipErrorInvalidConfiguration);
	assert_int_equal(hipGetLastError(), hipSuccess);
	assert_int_equal(pk_launch(add_one, 1, 0, 0, nullptr, d), hipErrorInvalidConfiguration);
	assert_int_equal(pk_launch(add_one, 1, p.maxThreadsPerBlock + 1, 0, nullptr, d),
	                 hipErrorInvalidConfiguration);
	assert_int_equal(pk_launch(add_one, dim3(1, 65536), 1, 0, nullptr, d),
	                 hipErrorInvalidConfiguration);
	assert_int_equal(pk_launch(add_one, 1, 1, p.sharedMemPerBlock + 1, nullptr, d),
	                 hipErrorInvalidValue);
	OK(hipFuncSetAttribute((const void *)add_one, hipFuncAttributeMaxDynamicSharedMemorySize,
	                       (int)p.sharedMemPerBlockOptin));
	OK(hipMemset(d, 0, 4));
	OK(pk_launch(add_one, 1, 1, p.sharedMemPerBlockOptin, nullptr, d));
	assert_int_equal(hipFuncSetAttribute((const void *)add_one,
	                                     hipFuncAttributeMaxDynamicSharedMemorySize,
	                                     (int)p.sharedMemPerBlockOptin + 1),
	                 hipErrorInvalidValue);
	OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&unit, add_one, 128, 0));
	OK(pk_launch_coop(add_one, unit * p.multiProcessorCount, 128, 0, nullptr, d));
	assert_int_equal(
	        pk_launch_coop(add_one, unit * p.multiProcessorCount + 1, 128, 0, nullptr, d),
	        hipErrorCooperativeLaunchTooLarge);
	assert_string_equal(hipGetErrorName(hipErrorCooperativeLaunchTooLarge),
	                    "hipErrorCooperativeLaunchTooLarge");
	assert_int_equal(hipSetDevice(1), hipErrorInvalidDevice);
	assert_int_equal(hipFree((char *)d + 4), hipErrorInvalidValue);
	OK(hipFree(d));
}

/* Shared memory bounds the occupancy too. */
static void test_occupancy(void **)
{
	int small, large;

	OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&small, add_one, 64, 0));
	OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&large, add_one, 64, 100 << 10));
	assert_true(small > 2);
	assert_int_equal(large, 2);
	OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&large, add_one, 64, 300 << 10));
	assert_int_equal(large, 0);
}

/* ---- streams and events */

static void test_copy_beside_spinning_kernel(void **)
{
	uint32_t *flag = on_device<uint32_t>(1), *seen = on_device<uint32_t>(128), back[128];
	uint32_t seven = 7;
	hipStream_t a = stream_new(), b = stream_new();

	OK(hipMemset(flag, 0, 4));
	OK(pk_launch_coop(wait_for, 4, 32, 0, a, flag, 7u, seen));
	assert_int_equal(hipStreamQuery(a), hipErrorNotReady);
	OK(hipMemcpyAsync(flag, &seven, 4, hipMemcpyHostToDevice, b));
	OK(hipStreamSynchronize(b));
	OK(hipStreamSynchronize(a));
	OK(hipStreamQuery(a));
	OK(hipMemcpy(back, seen, sizeof(back), hipMemcpyDeviceToHost));
	for (unsigned v : back)
		assert_int_equal(v, 7);
	OK(hipFree(flag));
	OK(hipFree(seen));
	OK(hipStreamDestroy(a));
	OK(hipStreamDestroy(b));
}

static void test_host_flag(void **)
{
	uint32_t *flag, *dev;
	hipStream_t s = stream_new();

	OK(hipHostMalloc(&flag, 4, hipHostMallocMapped | hipHostMallocCoherent));
	OK(hipHostGetDevicePointer(&dev, flag, 0));
	*flag = 0;
	OK(pk_launch(wait_hard, 3, 64, 0, s, dev, 5u));
	for (int i = 0; i < 100; i++)
		pk_host_pause();
	assert_int_equal(hipStreamQuery(s), hipErrorNotReady);
	__hip_atomic_store(flag, 5u, __ATOMIC_RELEASE, SYS);
	while (hipStreamQuery(s) == hipErrorNotReady)
		pk_host_sleep(10);
	OK(hipStreamSynchronize(s));
	OK(hipHostFree(flag));
	OK(hipStreamDestroy(s));
}

/* A host poll without a pause, too, must let the device on. */
static void test_host_polls_hard(void **)
{
	uint32_t *flag;

	OK(hipHostMalloc(&flag, 4, hipHostMallocCoherent));
	*flag = 0;
	OK(pk_launch(say, 1, 32, 0, nullptr, flag, 3u));
	while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, SYS) != 3)
		;
	OK(hipDeviceSynchronize());
	OK(hipHostFree(flag));
}

static void test_events(void **)
{
	uint32_t *p = on_device<uint32_t>(2), back[2] = {};
	hipStream_t a = stream_new(), b = stream_new();
	hipEvent_t begin, end;
	float ms = -1;

	OK(hipMemset(p, 0, 8));
	OK(hipEventCreate(&begin));
	OK(hipEventCreateWithFlags(&end, hipEventDefault));
	assert_int_equal(hipEventElapsedTime(&ms, begin, end), hipErrorInvalidHandle);
	OK(hipEventRecord(begin, a));
	OK(pk_launch(wait_for, 1, 1, 0, a, p, 1u, p + 1));
	OK(hipEventRecord(end, a));
	OK(hipStreamWaitEvent(b, end, 0));
	OK(pk_launch(add_one, 1, 1, 0, b, p + 1)); /* only after seen[0] = 1 */
	assert_int_equal(hipEventQuery(end), hipErrorNotReady);
	assert_int_equal(hipEventElapsedTime(&ms, begin, end), hipErrorNotReady);
	OK(pk_launch(add_one, 1, 1, 0, nullptr, p)); /* releases it */
	OK(hipEventSynchronize(end));
	OK(hipEventElapsedTime(&ms, begin, end));
	assert_true(ms > 0);
	OK(hipStreamSynchronize(b));
	OK(hipMemcpy(back, p, 8, hipMemcpyDeviceToHost));
	assert_int_equal(back[1], 2);
	OK(hipEventDestroy(begin));
	OK(hipEventDestroy(end));
	OK(hipStreamDestroy(a));
	OK(hipStreamDestroy(b));
	OK(hipFree(p));
}

/* An event stands for its latest record; who waited for an earlier one goes on waiting for that. */
static void test_event_recorded_anew(void **)
{
	uint32_t *p = on_device<uint32_t>(2), back[2] = {};
	hipStream_t slow = stream_new(), fast = stream_new(), third = stream_new();
	hipEvent_t event, never;

	OK(hipMemset(p, 0, 8));
	OK(hipEventCreate(&event));
	OK(hipEventCreate(&never));
	OK(hipStreamWaitEvent(fast, never, 0));
	OK(hipEventQuery(never));
	OK(hipEventSynchronize(never));
	OK(pk_launch(wait_for, 1, 1, 0, slow, p, 1u, p + 1));
	OK(hipEventRecord(event, slow));
	OK(hipStreamWaitEvent(third, event, 0));
	OK(pk_launch(add_one, 1, 1, 0, third, p + 1)); /* only after seen[0] = 1 */
	OK(hipEventRecord(event, fast));
	OK(hipEventSynchronize(event));
	for (int i = 0; i < 100; i++)
		pk_host_pause();
	assert_int_equal(hipStreamQuery(third), hipErrorNotReady);
	OK(pk_launch(add_one, 1, 1, 0, nullptr, p)); /* releases it */
	OK(hipStreamSynchronize(third));
	OK(hipStreamSynchronize(slow)); /* the record of before takes nothing back */
	OK(hipEventQuery(event));
	OK(hipMemcpy(back, p, 8, hipMemcpyDeviceToHost));
	assert_int_equal(back[1], 2);
	OK(hipEventDestroy(event));
	OK(hipEventDestroy(never));
	OK(hipStreamDestroy(slow));
	OK(hipStreamDestroy(fast));
	OK(hipStreamDestroy(third));
	OK(hipFree(p));
}

/* ---- graphs */

static void test_graph(void **)
{
	uint32_t *p = on_device<uint32_t>(1), value = 99;
	hipStream_t s = stream_new();
	hipGraph_t graph;
	hipGraphExec_t exec;
	size_t nodes = 0;

	OK(hipMemset(p, 0, 4));
	OK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
	OK(pk_launch(multiply, 1, 1, 0, s, p, 3u));
	OK(pk_launch(add_one, 1, 32, 0, s, p));
	OK(hipStreamEndCapture(s, &graph));
	OK(hipStreamSynchronize(s));
	OK(hipMemcpy(&value, p, 4, hipMemcpyDeviceToHost));
	assert_int_equal(value, 0); /* captured, not run */
	OK(hipGraphGetNodes(graph, nullptr, &nodes));
	assert_int_equal(nodes, 2);
	OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	OK(hipGraphDestroy(graph));
	for (int i = 0; i < 4; i++)
		OK(hipGraphLaunch(exec, s));
	OK(hipGraphExecDestroy(exec)); /* launches in flight keep what they need */
	OK(hipStreamSynchronize(s));
	OK(hipMemcpy(&value, p, 4, hipMemcpyDeviceToHost));
	assert_int_equal(value, 40); /* ((1 * 3 + 1) * 3 + 1) * 3 + 1 */
	OK(hipStreamDestroy(s));
	OK(hipFree(p));
}

static void test_capture_errors(void **)
{
	uint32_t *p = on_device<uint32_t>(1), *q = nullptr;
	hipStream_t s = stream_new();
	hipGraph_t graph;

	assert_int_equal(hipStreamEndCapture(s, &graph), hipErrorStreamCaptureUnmatched);
	OK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
	assert_int_equal(hipStreamSynchronize(s), hipErrorStreamCaptureUnsupported);
	assert_int_equal(hipStreamEndCapture(s, &graph), hipErrorStreamCaptureInvalidated);
	OK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
	assert_int_equal(hipMalloc(&q, 4), hipErrorStreamCaptureUnsupported);
	assert_int_equal(hipFree(p), hipErrorStreamCaptureUnsupported);
	assert_null(q);
	assert_int_equal(hipStreamEndCapture(s, &graph), hipErrorStreamCaptureInvalidated);
	OK(hipStreamSynchronize(s));
	OK(hipStreamDestroy(s));
	OK(hipFree(p));
}

/* ---- atomics */

template <class T> static void atomics_of(void)
{
	T v = 5, expected = 9;

	assert_true(__hip_atomic_fetch_add(&v, 2, __ATOMIC_RELAXED, SYS) == 5);
	assert_true(__hip_atomic_fetch_max(&v, 9, __ATOMIC_ACQ_REL, SYS) == 7);
	assert_true(__hip_atomic_fetch_min(&v, 3, __ATOMIC_RELAXED, SYS) == 9);
	assert_true(__hip_atomic_exchange(&v, 4, __ATOMIC_ACQ_REL, SYS) == 3);
	assert_false(__hip_atomic_compare_exchange_strong(&v, &expected, 1, __ATOMIC_ACQ_REL,
	                                                  __ATOMIC_ACQUIRE, SYS));
	assert_true(expected == 4);
	assert_true(__hip_atomic_compare_exchange_strong(&v, &expected, 1, __ATOMIC_ACQ_REL,
	                                                 __ATOMIC_RELAXED, SYS));
	__hip_atomic_store(&v, v + 1, __ATOMIC_SEQ_CST, SYS);
	assert_true(__hip_atomic_load((const T *)&v, __ATOMIC_ACQUIRE, SYS) == 2);
}

static void test_atomics(void **)
{
	uint32_t bits = 5;

	atomics_of<uint32_t>();
	atomics_of<int32_t>();
	atomics_of<uint64_t>();
	atomics_of<double>();
	__hip_atomic_fetch_or(&bits, 2u, __ATOMIC_RELAXED, SYS);
	__hip_atomic_fetch_and(&bits, 6u, __ATOMIC_RELAXED, SYS);
	__hip_atomic_fetch_xor(&bits, 1u, __ATOMIC_RELAXED, SYS);
	assert_int_equal(bits, 7);
	assert_int_equal(atomicAdd(&bits, 3), 7);
	assert_int_equal(atomicMax(&bits, 12), 10);
	assert_int_equal(atomicMin(&bits, 4), 12);
	assert_int_equal(atomicExch(&bits, 6), 4);
	assert_int_equal(atomicCAS(&bits, 5, 9), 6);
	assert_int_equal(atomicCAS(&bits, 6, 9), 6);
	assert_int_equal(bits, 9);
	__threadfence();
	__threadfence_block();
	__threadfence_system();
}

/* ---- stops and replay: this program again, in a child */

static int program_kernel(const std::string &name)
{
	uint32_t *p = nullptr;
	hipError_t e = hipMalloc(&p, 256);

	if (e == hipSuccess)
		e = hipMemset(p, 0, 256);
	if (name == "return")
		e = pk_launch(diverge_return, 2, 64, 0, nullptr, 40u);
	else if (name == "place")
		e = pk_launch(diverge_place, 1, 64, 0, nullptr);
	else if (name == "flag")
		e = pk_launch(wait_for, 2, 16, 0, nullptr, p, 9u, p + 1);
	else if (name == "volatile")
		e = pk_launch(spin_volatile, 1, 1, 0, nullptr, p);
	else if (name == "shared")
		e = pk_launch(too_much_shared, 1, 1, 0, nullptr);
	else if (name == "host")
		__syncthreads();
	else if (name == "grid")
		e = pk_launch(grid_sync_anyway, 1, 1, 0, nullptr);
	if (e == hipSuccess)
		e = hipDeviceSynchronize();
	return e == hipSuccess ? 0 : 1;
}

/* A protocol between host and kernel: the host answers each step. */
__global__ void answer(uint32_t *ask, uint32_t *reply, int steps)
{
	PK_SHARED(uint32_t, seen, [1]);

	for (int s = 1; s <= steps; s++) {
		if (threadIdx.x == 0) {
			while (__hip_atomic_load(ask, __ATOMIC_RELAXED, SYS) < (uint32_t)s)
				pk_pause();
			seen[0] = __hip_atomic_load(ask, __ATOMIC_ACQUIRE, SYS);
		}
		__syncthreads();
		uint32_t v = seen[0];
		__syncthreads();
		if (threadIdx.x == 0)
			__hip_atomic_store(&reply[blockIdx.x], v, __ATOMIC_RELEASE, SYS);
	}
}

static int program_replay(void)
{
	uint32_t *flags;
	hipError_t e = hipHostMalloc(&flags, 5 * 4, hipHostMallocCoherent);

	if (e != hipSuccess)
		return 1;
	memset(flags, 0, 5 * 4);
	e = pk_launch_coop(answer, 4, 16, 0, nullptr, flags + 4, flags, 20);
	for (uint32_t s = 1; e == hipSuccess && s <= 20; s++) {
		__hip_atomic_store(flags + 4, s, __ATOMIC_RELEASE, SYS);
		for (int b = 0; b < 4; b++)
			while (__hip_atomic_load(flags + b, __ATOMIC_ACQUIRE, SYS) < s)
				pk_host_pause();
	}
	return e != hipSuccess || hipDeviceSynchronize() != hipSuccess;
}

/* exit() with a kernel that never ends: the process must end, at once and with its own code */
static int program_exit(void)
{
	uint32_t *p = nullptr;

	if (hipMalloc(&p, 256) != hipSuccess || hipMemset(p, 0, 256) != hipSuccess)
		return 1;
	if (pk_launch(wait_for, 2, 16, 0, nullptr, p, 9u, p + 1) != hipSuccess)
		return 1;
	for (int i = 0; i < 1000; i++)
		pk_host_pause();
	exit(42);
}

static const char *self;

static int run_self(const char *environment, const char *what, std::string *said)
{
	std::string command = std::string(environment) + " '" + self + "' " + what + " 2>&1";
	FILE *f = popen(command.c_str(), "r");
	char line[512];
	int status;

	assert_non_null(f);
	said->clear();
	while (fgets(line, sizeof(line), f) != nullptr)
		*said += line;
	status = pclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void expect_stop(const char *environment, const char *what, const char *text)
{
	std::string said;
	int code = run_self(environment, what, &said);

	if (code != 97 || said.find(text) == std::string::npos)
		fail_msg("%s %s: exit code %d, said: %s", environment, what, code, said.c_str());
}

static void test_stops(void **)
{
	expect_stop("", "return", "barrier divergence");
	expect_stop("", "return", "40 threads");
	expect_stop("", "place", "different __syncthreads");
	expect_stop("", "place", "test_host_device.cpp:");
	expect_stop("PKH_SEED=1", "return", "barrier divergence");
	expect_stop("", "shared", "PK_SHARED large");
	expect_stop("", "host", "__syncthreads() outside a kernel");
	expect_stop("", "grid", "not launched cooperatively");
	expect_stop("PKH_TIMEOUT_MS=50", "flag", "16 threads");
	expect_stop("PKH_TIMEOUT_MS=50", "flag", "PKH_TIMEOUT_MS");
	expect_stop("PKH_TIMEOUT_MS=50", "volatile", "volatile");
	expect_stop("PKH_SEED=x", "replay", "PKH_SEED=x");
	expect_stop("PKH_WORKERS=2", "replay", "PKH_WORKERS=2");
}

static void test_not_strict(void **)
{
	std::string said;

	assert_int_equal(run_self("PKH_STRICT=0", "return", &said), 0);
	assert_int_equal(run_self("PKH_STRICT=0", "place", &said), 0);
	assert_string_equal(said.c_str(), "");
}

static void test_replay(void **)
{
	std::string first, again, other;

	for (const char *env :
	     {"PKH_TRACE=1 PKH_WORKERS=0", "PKH_TRACE=1 PKH_WORKERS=0 PKH_SEED=3"}) {
		assert_int_equal(run_self(env, "replay", &first), 0);
		assert_true(first.find("schedule hash") != std::string::npos);
		for (int i = 0; i < 2; i++) {
			assert_int_equal(run_self(env, "replay", &again), 0);
			assert_string_equal(first.c_str(), again.c_str());
		}
	}
	assert_int_equal(run_self("PKH_TRACE=1 PKH_WORKERS=0 PKH_SEED=4", "replay", &other), 0);
	assert_string_not_equal(first.c_str(), other.c_str());
}

static void test_exit(void **)
{
	std::string said;

	for (int i = 0; i < 20; i++)
		assert_int_equal(run_self("", "exit", &said), 42);
	assert_string_equal(said.c_str(), "");
}

/* All of it twice: the device on a thread of its own (in a child), then on this one. */
template <class F> static int run_with_workers(F run)
{
	pid_t child = fork();
	int status = 0, failed;

	if (child == 0) {
		setenv("PKH_WORKERS", "1", 1);
		exit(run());
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	setenv("PKH_WORKERS", "0", 1);
	failed = run();
	return failed + (status != 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_every_thread_once),
	        cmocka_unit_test(test_waves),
	        cmocka_unit_test(test_shared),
	        cmocka_unit_test(test_grid_barrier),
	        cmocka_unit_test(test_refusals),
	        cmocka_unit_test(test_occupancy),
	        cmocka_unit_test(test_copy_beside_spinning_kernel),
	        cmocka_unit_test(test_host_flag),
	        cmocka_unit_test(test_host_polls_hard),
	        cmocka_unit_test(test_events),
	        cmocka_unit_test(test_event_recorded_anew),
	        cmocka_unit_test(test_graph),
	        cmocka_unit_test(test_capture_errors),
	        cmocka_unit_test(test_atomics),
	        cmocka_unit_test(test_stops),
	        cmocka_unit_test(test_not_strict),
	        cmocka_unit_test(test_replay),
	        cmocka_unit_test(test_exit),
	};

	self = argv[0];
	if (argc > 1) {
		std::string what = argv[1];

		return what == "replay" ? program_replay()
		       : what == "exit" ? program_exit()
		                        : program_kernel(what);
	}
	for (const char *name :
	     {"PKH_SEED", "PKH_PREEMPT", "PKH_STRICT", "PKH_TIMEOUT_MS", "PKH_TRACE"})
		unsetenv(name);
	return run_with_workers([&] { return cmocka_run_group_tests(tests, nullptr, nullptr); });
}
