/* SPDX-License-Identifier: MIT
 *
 * hip_host.h - the part of HIP that pkrun uses, on the CPU.
 *
 * In place of <hip/hip_runtime.h> when a source is compiled for the host
 * target; the runtime behind it is libpkhost.so.  Every GPU thread is a fiber,
 * all blocks of a cooperative launch are co-resident, an ordinary launch runs
 * in waves of at most R resident blocks, __syncthreads() is a barrier of a
 * block's fibers, and pk_pause() lets the others run.  One device, "host CPU".
 *
 * Where it is stricter than a GPU: shared and allocated memory is poisoned
 * (0xCB), a barrier that some threads of a block miss stops the process (exit
 * code 97, with a table of where the threads are), and a warp is one thread.
 * Where it is laxer: host and device share one address space.  All streams are
 * independent, as if created with hipStreamNonBlocking; the null stream too.
 *
 * Environment (a value that cannot be is refused at the first call):
 *	PKH_WORKERS	0: the host thread runs the device (default), in
 *			pk_host_pause(), HIP's waits and queries, and when it
 *			polls with atomics alone.  Nothing depends on the
 *			machine's own scheduler: a run repeats itself exactly
 *			1: a thread of its own runs it, beside the host
 *	PKH_SEED	pick the next thread at random, from this seed;
 *			without it, in turn
 *	PKH_PREEMPT	of 256 atomics, how many are switch points with a seed (64)
 *	PKH_STRICT	0: do not stop at a divergent barrier
 *	PKH_TIMEOUT_MS	stop with a table and exit code 97 when a kernel is
 *			resident longer than this; 0: never (default)
 *	PKH_TRACE	1: at exit, the number of steps and a hash of the schedule
 */
#ifndef PKRUN_HIP_HOST_H
#define PKRUN_HIP_HOST_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <tuple>
#include <type_traits>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __shared__ use_PK_SHARED_in_place_of_shared
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))

#define PKH_EXPORT __attribute__((visibility("default")))

/* ---- where a thread is */

struct uint3 {
	unsigned x, y, z;
};

struct dim3 {
	unsigned x, y, z;
	constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
	{
	}
};

struct pkh_place {		/* one a block */
	uint3 block;
	dim3 block_dim, grid_dim;
};

struct pkh_thread {		/* one a GPU thread */
	uint3 thread;
	const struct pkh_place *place;
};

/* The GPU thread that runs now; NULL in host code.  __thread, not thread_local:
 * the latter asks at each use whether it was initialised. */
extern PKH_EXPORT __thread const pkh_thread *pkh_me __attribute__((tls_model("initial-exec")));

#define threadIdx (pkh_me->thread)
#define blockIdx (pkh_me->place->block)
#define blockDim (pkh_me->place->block_dim)
#define gridDim (pkh_me->place->grid_dim)
constexpr int warpSize = 1;

/* ---- errors (HIP's numbers) */

enum hipError_t {
	hipSuccess = 0,
	hipErrorInvalidValue = 1,
	hipErrorOutOfMemory = 2,
	hipErrorInvalidConfiguration = 9,
	hipErrorInsufficientDriver = 35,
	hipErrorInvalidDeviceFunction = 98,
	hipErrorNoDevice = 100,
	hipErrorInvalidDevice = 101,
	hipErrorNoBinaryForGpu = 209,
	hipErrorInvalidHandle = 400,
	hipErrorNotReady = 600,
	hipErrorCooperativeLaunchTooLarge = 720,
	hipErrorNotSupported = 801,
	hipErrorStreamCaptureUnsupported = 900,
	hipErrorStreamCaptureInvalidated = 901,
	hipErrorStreamCaptureUnmatched = 903,
	hipErrorUnknown = 999
};

PKH_EXPORT const char *hipGetErrorName(hipError_t error);
PKH_EXPORT const char *hipGetErrorString(hipError_t error);
PKH_EXPORT hipError_t hipGetLastError(void);	/* and forget it */
PKH_EXPORT hipError_t hipPeekAtLastError(void);

/* ---- devices */

struct hipDeviceProp_t {
	char name[256];			/* "host CPU (2 cores)" */
	char gcnArchName[256];		/* "host" */
	size_t totalGlobalMem;
	size_t sharedMemPerBlock;	/* without hipFuncSetAttribute */
	size_t sharedMemPerBlockOptin;
	int warpSize;
	int maxThreadsPerBlock;
	int maxThreadsPerMultiProcessor;
	int multiProcessorCount;
	int maxGridSize[3];
	int maxThreadsDim[3];
	int clockRate;			/* kHz; 0: not known */
	int memoryClockRate;
	int l2CacheSize;
	int cooperativeLaunch;
	int major, minor;
	int pciBusID, pciDeviceID, pciDomainID;
	int managedMemory;
	int concurrentManagedAccess;
};

enum hipDeviceAttribute_t {
	hipDeviceAttributeMultiprocessorCount,
	hipDeviceAttributeMaxThreadsPerBlock,
	hipDeviceAttributeMaxThreadsPerMultiProcessor,
	hipDeviceAttributeWarpSize,
	hipDeviceAttributeMaxSharedMemoryPerBlock,
	hipDeviceAttributeSharedMemPerBlockOptin,
	hipDeviceAttributeClockRate,
	hipDeviceAttributeMemoryClockRate,
	hipDeviceAttributeL2CacheSize,
	hipDeviceAttributeCooperativeLaunch,
	hipDeviceAttributeComputeCapabilityMajor,
	hipDeviceAttributeComputeCapabilityMinor,
	hipDeviceAttributeManagedMemory,
	hipDeviceAttributeConcurrentManagedAccess
};

PKH_EXPORT hipError_t hipGetDeviceCount(int *count);
PKH_EXPORT hipError_t hipGetDevice(int *device);
PKH_EXPORT hipError_t hipSetDevice(int device);
PKH_EXPORT hipError_t hipGetDeviceProperties(hipDeviceProp_t *prop, int device);
PKH_EXPORT hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t what, int device);
PKH_EXPORT hipError_t hipDeviceGetPCIBusId(char *id, int size, int device);
PKH_EXPORT hipError_t hipDriverGetVersion(int *version);
PKH_EXPORT hipError_t hipRuntimeGetVersion(int *version);
PKH_EXPORT hipError_t hipDeviceSynchronize(void);

/* ---- memory: poisoned with 0xCB, of exactly the size asked for */

enum hipMemcpyKind {
	hipMemcpyHostToHost,
	hipMemcpyHostToDevice,
	hipMemcpyDeviceToHost,
	hipMemcpyDeviceToDevice,
	hipMemcpyDefault
};

#define hipHostMallocDefault 0x0u
#define hipHostMallocPortable 0x1u
#define hipHostMallocMapped 0x2u
#define hipHostMallocWriteCombined 0x4u
#define hipHostMallocCoherent 0x40000000u
#define hipHostMallocNonCoherent 0x80000000u
#define hipMemAttachGlobal 0x1u

typedef struct pkh_stream *hipStream_t;
typedef struct pkh_event *hipEvent_t;

PKH_EXPORT hipError_t pkh_alloc(void **p, size_t bytes);
PKH_EXPORT hipError_t hipFree(void *p);		/* waits for the whole device, as a GPU's does */
PKH_EXPORT hipError_t hipHostFree(void *p);
PKH_EXPORT hipError_t hipMemGetInfo(size_t *free_bytes, size_t *total);
PKH_EXPORT hipError_t hipMemcpy(void *dst, const void *src, size_t bytes, hipMemcpyKind kind);
PKH_EXPORT hipError_t hipMemcpyAsync(void *dst, const void *src, size_t bytes, hipMemcpyKind kind,
				     hipStream_t stream = nullptr);
PKH_EXPORT hipError_t hipMemset(void *dst, int byte, size_t bytes);
PKH_EXPORT hipError_t hipMemsetAsync(void *dst, int byte, size_t bytes,
				     hipStream_t stream = nullptr);

template <class T> hipError_t hipMalloc(T **p, size_t bytes)
{
	return pkh_alloc(reinterpret_cast<void **>(p), bytes);
}

template <class T> hipError_t hipMallocManaged(T **p, size_t bytes, unsigned = hipMemAttachGlobal)
{
	return pkh_alloc(reinterpret_cast<void **>(p), bytes);
}

template <class T> hipError_t hipHostMalloc(T **p, size_t bytes, unsigned = hipHostMallocDefault)
{
	return pkh_alloc(reinterpret_cast<void **>(p), bytes);
}

template <class T> hipError_t hipHostGetDevicePointer(T **dev, void *host, unsigned)
{
	*dev = static_cast<T *>(host);
	return hipSuccess;
}

/* ---- streams and events */

#define hipStreamDefault 0x0u
#define hipStreamNonBlocking 0x1u
#define hipEventDefault 0x0u
#define hipEventBlockingSync 0x1u
#define hipEventDisableTiming 0x2u

PKH_EXPORT hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags);
PKH_EXPORT hipError_t hipStreamDestroy(hipStream_t stream);	/* waits for its work */
PKH_EXPORT hipError_t hipStreamSynchronize(hipStream_t stream);
PKH_EXPORT hipError_t hipStreamQuery(hipStream_t stream);
PKH_EXPORT hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags = 0);
PKH_EXPORT hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags);
PKH_EXPORT hipError_t hipEventDestroy(hipEvent_t event);
PKH_EXPORT hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream = nullptr);
PKH_EXPORT hipError_t hipEventSynchronize(hipEvent_t event);
PKH_EXPORT hipError_t hipEventQuery(hipEvent_t event);
PKH_EXPORT hipError_t hipEventElapsedTime(float *ms, hipEvent_t begin, hipEvent_t end);

static inline hipError_t hipStreamCreate(hipStream_t *stream)
{
	return hipStreamCreateWithFlags(stream, hipStreamDefault);
}

static inline hipError_t hipEventCreate(hipEvent_t *event)
{
	return hipEventCreateWithFlags(event, hipEventDefault);
}

/* ---- launches */

/* One launch: `call(args)` is one thread's run of the kernel.  The runtime
 * copies the `size` bytes at args. */
struct pkh_launch_params {
	void (*call)(const void *args);
	const void *args;
	size_t size;
	const void *kernel;		/* identity, for hipFuncSetAttribute */
	dim3 grid, block;
	size_t dynamic_bytes;
	int cooperative;
};

PKH_EXPORT hipError_t pkh_launch(const pkh_launch_params *launch, hipStream_t stream);

template <class... P> struct pkh_call {
	void (*kernel)(P...);
	std::tuple<P...> args;

	static void run(const void *p)
	{
		const pkh_call *c = static_cast<const pkh_call *>(p);

		std::apply(c->kernel, c->args);
	}
};

template <class... P>
hipError_t pkh_launch_packed(bool cooperative, void (*kernel)(P...), dim3 grid, dim3 block,
			     size_t dynamic_bytes, hipStream_t stream, std::tuple<P...> args)
{
	static_assert((std::is_trivially_copyable<P>::value && ...),
		      "kernel arguments are copied byte by byte");
	pkh_call<P...> c = {kernel, args};
	pkh_launch_params launch = {pkh_call<P...>::run, &c, sizeof(c),
				    reinterpret_cast<const void *>(kernel), grid, block,
				    dynamic_bytes, cooperative};

	return pkh_launch(&launch, stream);
}

template <class... P, class... A>
hipError_t pk_launch(void (*kernel)(P...), dim3 grid, dim3 block, size_t dynamic_bytes,
		     hipStream_t stream, A... args)
{
	return pkh_launch_packed(false, kernel, grid, block, dynamic_bytes, stream,
				 std::tuple<P...>(args...));
}

template <class... P, class... A>
hipError_t pk_launch_coop(void (*kernel)(P...), dim3 grid, dim3 block, size_t dynamic_bytes,
			  hipStream_t stream, A... args)
{
	return pkh_launch_packed(true, kernel, grid, block, dynamic_bytes, stream,
				 std::tuple<P...>(args...));
}

/* As HIP has it, the error of this one is in hipGetLastError(). */
#define HIP_KERNEL_NAME(...) __VA_ARGS__
template <class... P, class... A>
void hipLaunchKernelGGL(void (*kernel)(P...), dim3 grid, dim3 block, size_t dynamic_bytes,
			hipStream_t stream, A... args)
{
	(void)pk_launch(kernel, grid, block, dynamic_bytes, stream, args...);
}

template <class... P, size_t... I>
std::tuple<P...> pkh_unpack(void **args, std::index_sequence<I...>)
{
	(void)args;
	return std::tuple<P...>(*static_cast<std::remove_reference_t<P> *>(args[I])...);
}

template <class... P>
hipError_t hipLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **args,
			   size_t dynamic_bytes, hipStream_t stream)
{
	return pkh_launch_packed(false, kernel, grid, block, dynamic_bytes, stream,
				 pkh_unpack<P...>(args, std::index_sequence_for<P...>{}));
}

template <class... P>
hipError_t hipLaunchCooperativeKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **args,
				      unsigned dynamic_bytes, hipStream_t stream)
{
	return pkh_launch_packed(true, kernel, grid, block, dynamic_bytes, stream,
				 pkh_unpack<P...>(args, std::index_sequence_for<P...>{}));
}

enum hipFuncAttribute { hipFuncAttributeMaxDynamicSharedMemorySize = 8 };

PKH_EXPORT hipError_t hipFuncSetAttribute(const void *kernel, hipFuncAttribute what, int value);
/* R is this times multiProcessorCount. */
PKH_EXPORT hipError_t pkh_occupancy(int *blocks, int threads, size_t dynamic_bytes);

template <class F>
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, F, int threads,
							size_t dynamic_bytes)
{
	return pkh_occupancy(blocks, threads, dynamic_bytes);
}

/* ---- graphs: launches, copies and sets of one stream, in their order */

typedef struct pkh_graph *hipGraph_t;
typedef struct pkh_graph *hipGraphExec_t;
typedef struct pkh_graph_node *hipGraphNode_t;

enum hipStreamCaptureMode {
	hipStreamCaptureModeGlobal,
	hipStreamCaptureModeThreadLocal,
	hipStreamCaptureModeRelaxed
};

PKH_EXPORT hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode);
PKH_EXPORT hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *graph);
PKH_EXPORT hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count);
PKH_EXPORT hipError_t hipGraphInstantiate(hipGraphExec_t *exec, hipGraph_t graph,
					  hipGraphNode_t *error_node, char *log, size_t log_size);
PKH_EXPORT hipError_t hipGraphUpload(hipGraphExec_t exec, hipStream_t stream);
PKH_EXPORT hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream);
PKH_EXPORT hipError_t hipGraphExecDestroy(hipGraphExec_t exec);
PKH_EXPORT hipError_t hipGraphDestroy(hipGraph_t graph);

/* ---- shared memory: a reference to a true array in the block's arena */

PKH_EXPORT void *pkh_shared(const void *key, size_t bytes, const char *name);
PKH_EXPORT void *pkh_shared_dynamic(void);

#define PK_SHARED(type, name, ...)                                                                 \
	static const char name##_pkh_key = 0;                                                      \
	auto &name = *(type(*) __VA_ARGS__)pkh_shared(&name##_pkh_key, sizeof(type __VA_ARGS__),   \
						      #name)
#define PK_SHARED_DYN(type, name) type *name = static_cast<type *>(pkh_shared_dynamic())

/* ---- barriers and pauses; the place of the call goes into a stop's table */

PKH_EXPORT void pkh_barrier(const char *file, int line);
PKH_EXPORT void pkh_grid_barrier(const char *file, int line);
PKH_EXPORT void pkh_pause(const char *file, int line);
PKH_EXPORT void pkh_host_pause(void);
PKH_EXPORT void pkh_host_sleep(unsigned us);
PKH_EXPORT uint64_t pkh_clock_ns(void);

#define __syncthreads() pkh_barrier(__FILE__, __LINE__)
#define pk_pause() pkh_pause(__FILE__, __LINE__)
#define pk_host_pause() pkh_host_pause()
#define pk_host_sleep(us) pkh_host_sleep(us)
#define pk_clock_ns() pkh_clock_ns()

namespace cooperative_groups
{
struct grid_group {
	void sync(const char *file = __builtin_FILE(), int line = __builtin_LINE()) const
	{
		pkh_grid_barrier(file, line);
	}
};

static inline grid_group this_grid()
{
	return {};
}
} // namespace cooperative_groups

#include "atomic_host.h"

#endif
