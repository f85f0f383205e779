/* SPDX-License-Identifier: MIT
 *
 * device.cpp - the one host device: settings, properties, memory, errors.
 */
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <unordered_map>
#include "runtime.h"

/* ---- settings */

[[noreturn]] static void setting_refused(const char *name, const char *text, long long min,
                                         long long max)
{
	fprintf(stderr, "host device: %s=%s: not a whole number from %lld to %lld\n", name, text,
	        min, max);
	_exit(PKH_STOPPED);
}

static long long setting(const char *name, long long value, long long min, long long max)
{
	const char *text = getenv(name);
	char *end;
	long long v;

	if (text == nullptr)
		return value;
	errno = 0;
	v = strtoll(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0 || v < min || v > max)
		setting_refused(name, text, min, max);
	return v;
}

void settings_read(settings *s)
{
	s->workers = (int)setting("PKH_WORKERS", 0, 0, 1);
	s->seeded = getenv("PKH_SEED") != nullptr;
	s->seed = (uint64_t)setting("PKH_SEED", 0, 0, LLONG_MAX);
	s->preempt = (unsigned)setting("PKH_PREEMPT", 64, 0, 256);
	s->strict = setting("PKH_STRICT", 1, 0, 1) != 0;
	s->timeout_ns = setting("PKH_TIMEOUT_MS", 0, 0, LLONG_MAX / 1000000) * 1000000;
	s->trace = setting("PKH_TRACE", 0, 0, 1) != 0;
}

static device *device_make(void)
{
	tsan_quiet quiet;
	device *d = new device();

	settings_read(&d->set);
	d->streams.push_back(new pkh_stream());
	sched_start(d);
	return d;
}

device *the_device(void)
{
	static device *d = device_make();

	return d;
}

/* ---- errors */

struct error_text {
	hipError_t error;
	const char *name, *text;
};

static const error_text errors[] = {
        {hipSuccess, "hipSuccess", "no error"},
        {hipErrorInvalidValue, "hipErrorInvalidValue", "invalid argument"},
        {hipErrorOutOfMemory, "hipErrorOutOfMemory", "out of memory"},
        {hipErrorInvalidConfiguration, "hipErrorInvalidConfiguration",
         "invalid configuration argument"},
        {hipErrorInsufficientDriver, "hipErrorInsufficientDriver",
         "driver version is insufficient for runtime version"},
        {hipErrorInvalidDeviceFunction, "hipErrorInvalidDeviceFunction", "invalid device function"},
        {hipErrorNoDevice, "hipErrorNoDevice", "no device is detected"},
        {hipErrorInvalidDevice, "hipErrorInvalidDevice", "invalid device ordinal"},
        {hipErrorNoBinaryForGpu, "hipErrorNoBinaryForGpu", "no kernel image for the device"},
        {hipErrorInvalidHandle, "hipErrorInvalidHandle", "invalid resource handle"},
        {hipErrorNotReady, "hipErrorNotReady", "device not ready"},
        {hipErrorCooperativeLaunchTooLarge, "hipErrorCooperativeLaunchTooLarge",
         "too many blocks in cooperative launch"},
        {hipErrorNotSupported, "hipErrorNotSupported", "operation not supported"},
        {hipErrorStreamCaptureUnsupported, "hipErrorStreamCaptureUnsupported",
         "operation not permitted when stream is capturing"},
        {hipErrorStreamCaptureInvalidated, "hipErrorStreamCaptureInvalidated",
         "operation failed due to a previous error during capture"},
        {hipErrorStreamCaptureUnmatched, "hipErrorStreamCaptureUnmatched",
         "the stream is not being captured"},
        {hipErrorUnknown, "hipErrorUnknown", "unknown error"},
};

static const error_text *error_find(hipError_t error)
{
	for (const error_text &e : errors)
		if (e.error == error)
			return &e;
	return nullptr;
}

const char *hipGetErrorName(hipError_t error)
{
	const error_text *e = error_find(error);

	return e != nullptr ? e->name : "hipErrorUnknown";
}

const char *hipGetErrorString(hipError_t error)
{
	const error_text *e = error_find(error);

	return e != nullptr ? e->text : "unknown error";
}

static __thread hipError_t last_error;

hipError_t set_error(hipError_t e)
{
	last_error = e;
	return e;
}

hipError_t hipGetLastError(void)
{
	hipError_t e = last_error;

	last_error = hipSuccess;
	return e;
}

hipError_t hipPeekAtLastError(void)
{
	return last_error;
}

/* ---- properties */

hipError_t hipGetDeviceCount(int *count)
{
	if (count == nullptr)
		return set_error(hipErrorInvalidValue);
	*count = 1;
	return hipSuccess;
}

hipError_t hipGetDevice(int *device)
{
	if (device == nullptr)
		return set_error(hipErrorInvalidValue);
	*device = 0;
	return hipSuccess;
}

hipError_t hipSetDevice(int device)
{
	return device == 0 ? hipSuccess : set_error(hipErrorInvalidDevice);
}

static size_t memory_bytes(int pages)
{
	long n = sysconf(pages), page = sysconf(_SC_PAGESIZE);

	return n > 0 && page > 0 ? (size_t)n * (size_t)page : 0;
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t *p, int device)
{
	long l2 = sysconf(_SC_LEVEL3_CACHE_SIZE);

	if (p == nullptr)
		return set_error(hipErrorInvalidValue);
	if (device != 0)
		return set_error(hipErrorInvalidDevice);
	memset(p, 0, sizeof(*p));
	snprintf(p->name, sizeof(p->name), "host CPU (%ld cores)", sysconf(_SC_NPROCESSORS_ONLN));
	snprintf(p->gcnArchName, sizeof(p->gcnArchName), "host");
	p->totalGlobalMem = memory_bytes(_SC_PHYS_PAGES);
	p->sharedMemPerBlock = PKH_BLOCK_SHARED;
	p->sharedMemPerBlockOptin = PKH_BLOCK_SHARED_MAX;
	p->warpSize = warpSize;
	p->maxThreadsPerBlock = PKH_BLOCK_THREADS;
	p->maxThreadsPerMultiProcessor = PKH_UNIT_THREADS;
	p->multiProcessorCount = PKH_UNITS;
	p->maxGridSize[0] = INT_MAX;
	p->maxGridSize[1] = p->maxGridSize[2] = 65535;
	p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
	p->maxThreadsDim[2] = 64;
	p->l2CacheSize = l2 > 0 && l2 <= INT_MAX ? (int)l2 : 0;
	p->cooperativeLaunch = 1;
	p->managedMemory = 1;
	p->concurrentManagedAccess = 1;
	return hipSuccess;
}

hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t what, int device)
{
	hipDeviceProp_t p;
	hipError_t e = hipGetDeviceProperties(&p, device);

	if (e != hipSuccess)
		return e;
	if (value == nullptr)
		return set_error(hipErrorInvalidValue);
	switch (what) {
	case hipDeviceAttributeMultiprocessorCount:
		*value = p.multiProcessorCount;
		return hipSuccess;
	case hipDeviceAttributeMaxThreadsPerBlock:
		*value = p.maxThreadsPerBlock;
		return hipSuccess;
	case hipDeviceAttributeMaxThreadsPerMultiProcessor:
		*value = p.maxThreadsPerMultiProcessor;
		return hipSuccess;
	case hipDeviceAttributeWarpSize:
		*value = p.warpSize;
		return hipSuccess;
	case hipDeviceAttributeMaxSharedMemoryPerBlock:
		*value = (int)p.sharedMemPerBlock;
		return hipSuccess;
	case hipDeviceAttributeSharedMemPerBlockOptin:
		*value = (int)p.sharedMemPerBlockOptin;
		return hipSuccess;
	case hipDeviceAttributeClockRate:
		*value = p.clockRate;
		return hipSuccess;
	case hipDeviceAttributeMemoryClockRate:
		*value = p.memoryClockRate;
		return hipSuccess;
	case hipDeviceAttributeL2CacheSize:
		*value = p.l2CacheSize;
		return hipSuccess;
	case hipDeviceAttributeCooperativeLaunch:
		*value = p.cooperativeLaunch;
		return hipSuccess;
	case hipDeviceAttributeComputeCapabilityMajor:
		*value = p.major;
		return hipSuccess;
	case hipDeviceAttributeComputeCapabilityMinor:
		*value = p.minor;
		return hipSuccess;
	case hipDeviceAttributeManagedMemory:
		*value = p.managedMemory;
		return hipSuccess;
	case hipDeviceAttributeConcurrentManagedAccess:
		*value = p.concurrentManagedAccess;
		return hipSuccess;
	}
	return set_error(hipErrorInvalidValue);
}

hipError_t hipDeviceGetPCIBusId(char *id, int size, int device)
{
	if (id == nullptr || size <= 0)
		return set_error(hipErrorInvalidValue);
	if (device != 0)
		return set_error(hipErrorInvalidDevice);
	*id = '\0'; /* it is on no bus */
	return hipSuccess;
}

hipError_t hipDriverGetVersion(int *version)
{
	if (version == nullptr)
		return set_error(hipErrorInvalidValue);
	*version = 1;
	return hipSuccess;
}

hipError_t hipRuntimeGetVersion(int *version)
{
	return hipDriverGetVersion(version);
}

/* ---- memory */

static lock memory_lock;
static std::unordered_map<void *, size_t> &allocations(void)
{
	static auto *map = new std::unordered_map<void *, size_t>();

	return *map;
}

hipError_t pkh_alloc(void **p, size_t bytes)
{
	void *q;

	if (p == nullptr)
		return set_error(hipErrorInvalidValue);
	if (stream_capturing()) {
		stream_break_captures();
		return set_error(hipErrorStreamCaptureUnsupported);
	}
	if (bytes > memory_bytes(_SC_PHYS_PAGES) || posix_memalign(&q, 256, bytes ? bytes : 1) != 0)
		return set_error(hipErrorOutOfMemory);
	memset(q, PKH_POISON, bytes);
	tsan_quiet quiet;
	holding hold(memory_lock);

	allocations()[q] = bytes;
	*p = q;
	return hipSuccess;
}

hipError_t hipFree(void *p)
{
	hipError_t e;

	if (p == nullptr)
		return hipSuccess;
	e = hipDeviceSynchronize();
	if (e != hipSuccess)
		return e;
	{
		tsan_quiet quiet;
		holding hold(memory_lock);

		if (allocations().erase(p) == 0)
			return set_error(hipErrorInvalidValue);
	}
	free(p);
	return hipSuccess;
}

hipError_t hipHostFree(void *p)
{
	return hipFree(p);
}

hipError_t hipMemGetInfo(size_t *free_bytes, size_t *total)
{
	if (free_bytes == nullptr || total == nullptr)
		return set_error(hipErrorInvalidValue);
	*free_bytes = memory_bytes(_SC_AVPHYS_PAGES);
	*total = memory_bytes(_SC_PHYS_PAGES);
	return hipSuccess;
}
