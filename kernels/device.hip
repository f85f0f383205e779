/* SPDX-License-Identifier: MIT
 *
 * device.hip - what the core needs of a device (core/device.h), for the target
 * that it is compiled for.
 *
 * Nothing here runs while a kernel is resident: copies and kernels go to one
 * stream of its own, and each function waits for it.
 */
#include <stdio.h>
#include <string.h>
#include "kernels/gpu.h"
#include "core/device.h"

static char last_error[256];
static hipStream_t own_stream;
static hipEvent_t marks[2];
static int current_device;

/* Results of the verification kernels. */
struct sums {
	uint64_t hash, different, first;
};
static struct sums *sums_dev;

static const char *error(void)
{
	return last_error;
}

static int failed(const char *call, hipError_t e)
{
	snprintf(last_error, sizeof(last_error), "%s: %s", call, hipGetErrorString(e));
	(void)hipGetLastError();
	return -1;
}

#define TRY(call)                                                                                  \
	do {                                                                                       \
		hipError_t e = (call);                                                             \
		if (e != hipSuccess)                                                               \
			return failed(#call, e);                                                   \
	} while (0)

/* No driver and a driver too old for the runtime are "no device" too. */
static int count(void)
{
	int n = 0;
	hipError_t e = hipGetDeviceCount(&n);

	if (e != hipSuccess) {
		failed("hipGetDeviceCount", e);
		return 0;
	}
	if (n < 1)
		snprintf(last_error, sizeof(last_error), "the runtime sees no device");
	return n > 0 ? n : 0;
}

static int attribute(hipDeviceAttribute_t which, int device)
{
	int value = 0;

	if (hipDeviceGetAttribute(&value, which, device) != hipSuccess) {
		(void)hipGetLastError();
		return 0;
	}
	return value > 0 ? value : 0;
}

/* What only one runtime tells, or each tells in its own way. */
#if defined(PKRUN_BUILD_CUDA)
static void describe(int device, const hipDeviceProp_t *p, struct pkrun_device_info *out)
{
	int driver = 0, runtime = 0;
	FILE *f = fopen("/proc/driver/nvidia/version", "r");
	char line[256];

	snprintf(out->arch, sizeof(out->arch), "sm_%d%d", p->major, p->minor);
	for (int i = 0; i < 16; i++)
		snprintf(out->uuid + strlen(out->uuid), sizeof(out->uuid) - strlen(out->uuid),
			 i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
			 (unsigned char)p->uuid.bytes[i]);
	out->shared_bytes = (uint64_t)attribute(hipDeviceAttributeSharedMemPerBlockOptin, device);
	(void)hipDriverGetVersion(&driver);
	(void)hipRuntimeGetVersion(&runtime);
	snprintf(out->runtime, sizeof(out->runtime), "CUDA %d.%d", runtime / 1000, runtime % 1000 / 10);
	snprintf(out->driver, sizeof(out->driver), "CUDA %d.%d", driver / 1000, driver % 1000 / 10);
	/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue ..." */
	if (f && fgets(line, sizeof(line), f)) {
		for (char *save, *w = strtok_r(line, " \t\n", &save); w; w = strtok_r(NULL, " \t\n", &save))
			if (w[0] >= '0' && w[0] <= '9' && strchr(w, '.')) {
				snprintf(out->driver, sizeof(out->driver), "%s", w);
				break;
			}
	}
	if (f)
		fclose(f);
}
#elif defined(PKRUN_BUILD_HIP)
static void describe(int device, const hipDeviceProp_t *p, struct pkrun_device_info *out)
{
	int driver = 0, runtime = 0;

	(void)device;
	snprintf(out->arch, sizeof(out->arch), "%s", p->gcnArchName);
	out->shared_bytes = p->sharedMemPerBlock;
	(void)hipDriverGetVersion(&driver);
	(void)hipRuntimeGetVersion(&runtime);
	snprintf(out->driver, sizeof(out->driver), "%d", driver);
	snprintf(out->runtime, sizeof(out->runtime), "HIP %d.%d", runtime / 10000000,
		 runtime / 100000 % 100);
}
#else
static void describe(int device, const hipDeviceProp_t *p, struct pkrun_device_info *out)
{
	(void)device;
	snprintf(out->arch, sizeof(out->arch), "host");
	out->shared_bytes = p->sharedMemPerBlock;
	snprintf(out->runtime, sizeof(out->runtime), "host");
}
#endif

static int info(int device, struct pkrun_device_info *out)
{
	struct pkrun_device_info i = {};
	hipDeviceProp_t p;

	TRY(hipGetDeviceProperties(&p, device));
	snprintf(i.name, sizeof(i.name), "%.127s", p.name);
	i.compute_units = (uint32_t)p.multiProcessorCount;
	i.warp = (uint32_t)p.warpSize;
	i.max_threads = (uint32_t)p.maxThreadsPerBlock;
	i.cooperative = (uint32_t)attribute(hipDeviceAttributeCooperativeLaunch, device);
	i.memory_bytes = p.totalGlobalMem;
	i.l2_bytes = (uint64_t)attribute(hipDeviceAttributeL2CacheSize, device);
	i.clock_khz = (uint32_t)attribute(hipDeviceAttributeClockRate, device);
	i.memory_clock_khz = (uint32_t)attribute(hipDeviceAttributeMemoryClockRate, device);
	if (hipDeviceGetPCIBusId(i.pci, sizeof(i.pci), device) != hipSuccess) {
		(void)hipGetLastError();
		i.pci[0] = 0;
	}
	describe(device, &p, &i);
	*out = i;
	return 0;
}

static int open_device(int device, void **stream)
{
	hipStream_t s;

	TRY(hipSetDevice(device));
	TRY(hipStreamCreateWithFlags(&own_stream, hipStreamNonBlocking));
	TRY(hipEventCreate(&marks[0]));
	TRY(hipEventCreate(&marks[1]));
	TRY(hipMalloc((void **)&sums_dev, sizeof(*sums_dev)));
	TRY(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	current_device = device;
	*stream = s;
	return 0;
}

static void close_device(void *stream)
{
	if (stream)
		(void)hipStreamDestroy((hipStream_t)stream);
	if (sums_dev)
		(void)hipFree(sums_dev);
	for (int i = 0; i < 2; i++)
		if (marks[i])
			(void)hipEventDestroy(marks[i]);
	if (own_stream)
		(void)hipStreamDestroy(own_stream);
	sums_dev = NULL;
	marks[0] = marks[1] = NULL;
	own_stream = NULL;
}

[[maybe_unused]] static int no_memory(const char *what)
{
	snprintf(last_error, sizeof(last_error), "%s", what);
	return PKRUN_SKIP;
}

/* Flags ask for each property by name: on CDNA2 the default is never seen by a
 * running kernel. */
static int alloc_host(unsigned flags, size_t bytes, void **host, void **dev)
{
	void *h, *d;
	hipError_t e;

	TRY(hipHostMalloc(&h, bytes, flags));
	e = hipHostGetDevicePointer(&d, h, 0);
	if (e != hipSuccess) {
		(void)hipHostFree(h);
		return failed("hipHostGetDevicePointer", e);
	}
	*host = h;
	*dev = d;
	return 0;
}

/* Device memory that the host writes: the host target's is the host's own; an
 * AMD device's is on a system with a large BAR; CUDA has none that a plain
 * store of the host may touch. */
static int alloc_visible(size_t bytes, void **host, void **dev)
{
#if defined(PKRUN_BUILD_CUDA)
	(void)bytes;
	(void)host;
	(void)dev;
	return no_memory("CUDA maps no device memory for stores of the host");
#else
	void *d;

#if defined(PKRUN_BUILD_HIP)
	int large_bar = 0;

	(void)hipDeviceGetAttribute(&large_bar, hipDeviceAttributeIsLargeBar, current_device);
	if (!large_bar)
		return no_memory("this device's memory is not visible to the host (no large BAR)");
	TRY(hipExtMallocWithFlags(&d, bytes, hipDeviceMallocFinegrained));
#else
	TRY(hipMalloc(&d, bytes));
#endif
	*host = *dev = d;
	return 0;
#endif
}

static int alloc(uint32_t memory, size_t bytes, void **host, void **dev)
{
	void *d;

	switch (memory) {
	case PKRUN_MEMORY_DEVICE:
		TRY(hipMalloc(&d, bytes));
		*host = NULL;
		*dev = d;
		return 0;
	case PKRUN_MEMORY_HOST:
		return alloc_host(hipHostMallocMapped | hipHostMallocCoherent, bytes, host, dev);
	case PKRUN_MEMORY_HOST_NONCOHERENT:
		return alloc_host(hipHostMallocMapped, bytes, host, dev);
	case PKRUN_MEMORY_DEVICE_VISIBLE:
		return alloc_visible(bytes, host, dev);
	}
	snprintf(last_error, sizeof(last_error), "no memory of kind %u", memory);
	return -1;
}

static void free_memory(uint32_t memory, void *host, void *dev)
{
	if (memory == PKRUN_MEMORY_HOST || memory == PKRUN_MEMORY_HOST_NONCOHERENT)
		(void)hipHostFree(host);
	else
		(void)hipFree(dev);
}

static int move(void *dst, const void *src, size_t bytes, hipMemcpyKind kind)
{
	TRY(hipMemcpyAsync(dst, src, bytes, kind, own_stream));
	TRY(hipStreamSynchronize(own_stream));
	return 0;
}

static int to_device(void *dev, const void *host, size_t bytes)
{
	return move(dev, host, bytes, hipMemcpyHostToDevice);
}

static int to_host(void *host, const void *dev, size_t bytes)
{
	return move(host, dev, bytes, hipMemcpyDeviceToHost);
}

static int copy(void *dst, const void *src, size_t bytes)
{
	return move(dst, src, bytes, hipMemcpyDeviceToDevice);
}

static int fill(void *dev, uint8_t byte, size_t bytes)
{
	TRY(hipMemsetAsync(dev, byte, bytes, own_stream));
	TRY(hipStreamSynchronize(own_stream));
	return 0;
}

static int sync_device(void)
{
	TRY(hipDeviceSynchronize());
	return 0;
}

/* ---- verification ---- */

/* MurmurHash3's finaliser: simpler mixes miss swapped values. */
static __host__ __device__ inline uint64_t fmix64(uint64_t k)
{
	k ^= k >> 33;
	k *= 0xff51afd7ed558ccdull;
	k ^= k >> 33;
	k *= 0xc4ceb9fe1a85ec53ull;
	k ^= k >> 33;
	return k;
}

enum { VERIFY_THREADS = 256, VERIFY_BLOCKS = 1024 };

static __global__ void hash_kernel(const uint64_t *words, uint64_t n, struct sums *out)
{
	uint64_t stride = (uint64_t)gridDim.x * blockDim.x, sum = 0;

	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
		sum += fmix64(words[i] + 0x9E3779B97F4A7C15ull * (i + 1));
	(void)__hip_atomic_fetch_add(&out->hash, sum, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

static __global__ void differ_kernel(const uint64_t *words, uint64_t n, uint64_t value,
				     struct sums *out)
{
	uint64_t stride = (uint64_t)gridDim.x * blockDim.x, different = 0, first = UINT64_MAX;

	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
		if (words[i] == value)
			continue;
		if (!different++)
			first = i;
	}
	if (!different)
		return;
	(void)__hip_atomic_fetch_add(&out->different, different, __ATOMIC_RELAXED,
				     __HIP_MEMORY_SCOPE_AGENT);
	/* `first` begins at all ones; -first grows as first falls */
	(void)__hip_atomic_fetch_max(&out->first, UINT64_MAX - first, __ATOMIC_RELAXED,
				     __HIP_MEMORY_SCOPE_AGENT);
}

static dim3 verify_grid(uint64_t n)
{
	uint64_t blocks = (n + VERIFY_THREADS - 1) / VERIFY_THREADS;

	if (blocks > VERIFY_BLOCKS)
		blocks = VERIFY_BLOCKS;
	return dim3(blocks ? (unsigned)blocks : 1);
}

static int hash(const uint64_t *dev, uint64_t n, uint64_t *out)
{
	struct sums s;

	TRY(hipMemsetAsync(sums_dev, 0, sizeof(s), own_stream));
	TRY(pk_launch(hash_kernel, verify_grid(n), dim3(VERIFY_THREADS), 0, own_stream, dev, n,
		      sums_dev));
	if (to_host(&s, sums_dev, sizeof(s)))
		return -1;
	*out = s.hash;
	return 0;
}

static int differ(const uint64_t *dev, uint64_t n, uint64_t value, uint64_t *different,
		  uint64_t *first)
{
	struct sums s;

	TRY(hipMemsetAsync(sums_dev, 0, sizeof(s), own_stream));
	TRY(pk_launch(differ_kernel, verify_grid(n), dim3(VERIFY_THREADS), 0, own_stream, dev, n,
		      value, sums_dev));
	if (to_host(&s, sums_dev, sizeof(s)))
		return -1;
	*different = s.different;
	*first = s.different ? UINT64_MAX - s.first : n;
	return 0;
}

/* ---- time, probe, cache ---- */

static int mark(int which, void *stream)
{
	TRY(hipEventRecord(marks[which ? 1 : 0], (hipStream_t)stream));
	return 0;
}

static int elapsed_ns(int64_t *ns)
{
	float ms = 0;

	TRY(hipEventSynchronize(marks[1]));
	TRY(hipEventElapsedTime(&ms, marks[0], marks[1]));
	*ns = (int64_t)((double)ms * 1e6 + 0.5);
	return 0;
}

static int probe(void)
{
	static const uint64_t words[2] = {1, 2};
	uint64_t *dev, got = 0;
	int status;

	TRY(hipMalloc((void **)&dev, sizeof(words)));
	status = to_device(dev, words, sizeof(words));
	if (!status)
		status = hash(dev, 2, &got);
	if (!status && got != fmix64(1 + 0x9E3779B97F4A7C15ull) + fmix64(2 + 2 * 0x9E3779B97F4A7C15ull)) {
		snprintf(last_error, sizeof(last_error), "the device answers, with a wrong result");
		status = -1;
	}
	(void)hipFree(dev);
	return status;
}

static int flush_cache(void)
{
	uint64_t bytes = 2 * (uint64_t)attribute(hipDeviceAttributeL2CacheSize, current_device);
	void *scratch;
	int status;

	if (!bytes) {
		snprintf(last_error, sizeof(last_error), "the runtime does not tell the size of the cache");
		return -1;
	}
	TRY(hipMalloc(&scratch, bytes));
	status = fill(scratch, 0, bytes);
	(void)hipFree(scratch);
	return status;
}

struct pkrun_device pkrun_device = {
	.magic = PKRUN_MAGIC,
	.version = PKRUN_DEVICE_VERSION,
	.size = sizeof(struct pkrun_device),
	.target = PKRUN_THIS_TARGET,
	.error = error,
	.count = count,
	.info = info,
	.open = open_device,
	.close = close_device,
	.alloc = alloc,
	.free = free_memory,
	.to_device = to_device,
	.to_host = to_host,
	.copy = copy,
	.fill = fill,
	.sync = sync_device,
	.hash = hash,
	.differ = differ,
	.mark = mark,
	.elapsed_ns = elapsed_ns,
	.probe = probe,
	.flush_cache = flush_cache,
};

/* NVTX 3 is a header that finds the profiler by itself; core/range.c asks for these two. */
#if defined(PKRUN_BUILD_CUDA) && defined(__has_include)
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
extern "C" PKRUN_EXPORT int pkrun_range_push(const char *name)
{
	return nvtxRangePushA(name);
}

extern "C" PKRUN_EXPORT int pkrun_range_pop(void)
{
	return nvtxRangePop();
}
#endif
#endif
