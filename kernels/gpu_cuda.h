/* SPDX-License-Identifier: MIT
 *
 * gpu_cuda.h - the cuda target: HIP's names onto CUDA's.
 *
 * Names only, just those in use; no logic.  (HIP's own headers for CUDA do not
 * compile with CUDA 13.)  Atomics go through cuda::atomic_ref, so that host
 * code of a plugin uses the same spelling for flags in host memory.
 */
#ifndef PKRUN_GPU_CUDA_H
#define PKRUN_GPU_CUDA_H

#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cuda/atomic>

/* ---- ours */
#define PK_SHARED(type, name, ...) __shared__ type name __VA_ARGS__
#define PK_SHARED_DYN(type, name)                                                                  \
	extern __shared__ __align__(16) unsigned char pk_dynamic_shared[];                         \
	type *name = reinterpret_cast<type *>(pk_dynamic_shared)

#define pk_pause() __nanosleep(20)

static __device__ __forceinline__ uint64_t pk_clock_ns(void)
{
	uint64_t ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

/* ---- atomics: __hip_atomic_*(p, ..., order, scope) */
#define __HIP_MEMORY_SCOPE_SINGLETHREAD cuda::thread_scope_thread
#define __HIP_MEMORY_SCOPE_WAVEFRONT cuda::thread_scope_block
#define __HIP_MEMORY_SCOPE_WORKGROUP cuda::thread_scope_block
#define __HIP_MEMORY_SCOPE_AGENT cuda::thread_scope_device
#define __HIP_MEMORY_SCOPE_SYSTEM cuda::thread_scope_system

template <int order> struct pk_order;
template <> struct pk_order<__ATOMIC_RELAXED> {
	static constexpr auto value = cuda::memory_order_relaxed;
};
template <> struct pk_order<__ATOMIC_CONSUME> {
	static constexpr auto value = cuda::memory_order_acquire;
};
template <> struct pk_order<__ATOMIC_ACQUIRE> {
	static constexpr auto value = cuda::memory_order_acquire;
};
template <> struct pk_order<__ATOMIC_RELEASE> {
	static constexpr auto value = cuda::memory_order_release;
};
template <> struct pk_order<__ATOMIC_ACQ_REL> {
	static constexpr auto value = cuda::memory_order_acq_rel;
};
template <> struct pk_order<__ATOMIC_SEQ_CST> {
	static constexpr auto value = cuda::memory_order_seq_cst;
};

/* HIP's pointers may be to const or volatile; atomic_ref wants neither. */
template <cuda::thread_scope scope, class T>
__host__ __device__ __forceinline__ cuda::atomic_ref<T, scope> pk_atomic(const volatile T *p)
{
	return cuda::atomic_ref<T, scope>(*const_cast<T *>(p));
}

/* The value converts to the pointer's type, as HIP has it. */
#define __hip_atomic_load(p, order, scope) (pk_atomic<scope>(p).load(pk_order<order>::value))
#define __hip_atomic_store(p, v, order, scope)                                                     \
	(pk_atomic<scope>(p).store((v), pk_order<order>::value))
#define __hip_atomic_exchange(p, v, order, scope)                                                  \
	(pk_atomic<scope>(p).exchange((v), pk_order<order>::value))
#define __hip_atomic_fetch_add(p, v, order, scope)                                                 \
	(pk_atomic<scope>(p).fetch_add((v), pk_order<order>::value))
#define __hip_atomic_fetch_and(p, v, order, scope)                                                 \
	(pk_atomic<scope>(p).fetch_and((v), pk_order<order>::value))
#define __hip_atomic_fetch_or(p, v, order, scope)                                                  \
	(pk_atomic<scope>(p).fetch_or((v), pk_order<order>::value))
#define __hip_atomic_fetch_xor(p, v, order, scope)                                                 \
	(pk_atomic<scope>(p).fetch_xor((v), pk_order<order>::value))
#define __hip_atomic_fetch_max(p, v, order, scope)                                                 \
	(pk_atomic<scope>(p).fetch_max((v), pk_order<order>::value))
#define __hip_atomic_fetch_min(p, v, order, scope)                                                 \
	(pk_atomic<scope>(p).fetch_min((v), pk_order<order>::value))
#define __hip_atomic_compare_exchange_strong(p, expected, v, success, failure, scope)              \
	(pk_atomic<scope>(p).compare_exchange_strong(                                              \
		*(expected), (v), pk_order<success>::value, pk_order<failure>::value))
#define __hip_atomic_compare_exchange_weak(p, expected, v, success, failure, scope)                \
	(pk_atomic<scope>(p).compare_exchange_weak(                                                \
		*(expected), (v), pk_order<success>::value, pk_order<failure>::value))

/* ---- errors */
#define hipError_t cudaError_t
#define hipSuccess cudaSuccess
#define hipErrorInvalidValue cudaErrorInvalidValue
#define hipErrorOutOfMemory cudaErrorMemoryAllocation
#define hipErrorInvalidConfiguration cudaErrorInvalidConfiguration
#define hipErrorInvalidDevice cudaErrorInvalidDevice
#define hipErrorInsufficientDriver cudaErrorInsufficientDriver
#define hipErrorNoDevice cudaErrorNoDevice
#define hipErrorNoBinaryForGpu cudaErrorNoKernelImageForDevice
#define hipErrorInvalidDeviceFunction cudaErrorInvalidDeviceFunction
#define hipErrorNotReady cudaErrorNotReady
#define hipErrorNotSupported cudaErrorNotSupported
#define hipErrorCooperativeLaunchTooLarge cudaErrorCooperativeLaunchTooLarge
#define hipErrorStreamCaptureUnsupported cudaErrorStreamCaptureUnsupported
#define hipErrorStreamCaptureInvalidated cudaErrorStreamCaptureInvalidated
#define hipErrorUnknown cudaErrorUnknown
#define hipGetErrorName cudaGetErrorName
#define hipGetErrorString cudaGetErrorString
#define hipGetLastError cudaGetLastError
#define hipPeekAtLastError cudaPeekAtLastError

/* ---- devices */
#define hipDeviceProp_t cudaDeviceProp
#define hipGetDeviceProperties cudaGetDeviceProperties
#define hipGetDeviceCount cudaGetDeviceCount
#define hipGetDevice cudaGetDevice
#define hipSetDevice cudaSetDevice
#define hipDeviceSynchronize cudaDeviceSynchronize
#define hipDeviceReset cudaDeviceReset
#define hipDeviceGetPCIBusId cudaDeviceGetPCIBusId
#define hipDriverGetVersion cudaDriverGetVersion
#define hipRuntimeGetVersion cudaRuntimeGetVersion
#define hipDeviceGetAttribute cudaDeviceGetAttribute
#define hipDeviceAttribute_t cudaDeviceAttr
#define hipDeviceAttributeMultiprocessorCount cudaDevAttrMultiProcessorCount
#define hipDeviceAttributeMaxThreadsPerBlock cudaDevAttrMaxThreadsPerBlock
#define hipDeviceAttributeMaxThreadsPerMultiProcessor cudaDevAttrMaxThreadsPerMultiProcessor
#define hipDeviceAttributeWarpSize cudaDevAttrWarpSize
#define hipDeviceAttributeMaxSharedMemoryPerBlock cudaDevAttrMaxSharedMemoryPerBlock
#define hipDeviceAttributeSharedMemPerBlockOptin cudaDevAttrMaxSharedMemoryPerBlockOptin
#define hipDeviceAttributeClockRate cudaDevAttrClockRate
#define hipDeviceAttributeMemoryClockRate cudaDevAttrMemoryClockRate
#define hipDeviceAttributeL2CacheSize cudaDevAttrL2CacheSize
#define hipDeviceAttributeCooperativeLaunch cudaDevAttrCooperativeLaunch
#define hipDeviceAttributeComputeCapabilityMajor cudaDevAttrComputeCapabilityMajor
#define hipDeviceAttributeComputeCapabilityMinor cudaDevAttrComputeCapabilityMinor
#define hipDeviceAttributeManagedMemory cudaDevAttrManagedMemory
#define hipDeviceAttributeConcurrentManagedAccess cudaDevAttrConcurrentManagedAccess
#define hipOccupancyMaxActiveBlocksPerMultiprocessor cudaOccupancyMaxActiveBlocksPerMultiprocessor
#define hipFuncSetAttribute cudaFuncSetAttribute
#define hipFuncAttributeMaxDynamicSharedMemorySize cudaFuncAttributeMaxDynamicSharedMemorySize
#define hipFuncAttributes cudaFuncAttributes
#define hipFuncGetAttributes cudaFuncGetAttributes

/* ---- memory */
#define hipMalloc cudaMalloc
#define hipMallocManaged cudaMallocManaged
#define hipFree cudaFree
#define hipHostMalloc cudaHostAlloc
#define hipHostFree cudaFreeHost
#define hipHostMallocDefault cudaHostAllocDefault
#define hipHostMallocPortable cudaHostAllocPortable
#define hipHostMallocMapped cudaHostAllocMapped
#define hipHostMallocWriteCombined cudaHostAllocWriteCombined
#define hipHostMallocCoherent cudaHostAllocDefault	/* always so */
#define hipHostMallocNonCoherent cudaHostAllocDefault	/* there is no such kind */
#define hipHostGetDevicePointer cudaHostGetDevicePointer
#define hipMemGetInfo cudaMemGetInfo
#define hipMemcpy cudaMemcpy
#define hipMemcpyAsync cudaMemcpyAsync
#define hipMemcpyKind cudaMemcpyKind
#define hipMemcpyHostToHost cudaMemcpyHostToHost
#define hipMemcpyHostToDevice cudaMemcpyHostToDevice
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hipMemcpyDeviceToDevice cudaMemcpyDeviceToDevice
#define hipMemcpyDefault cudaMemcpyDefault
#define hipMemset cudaMemset
#define hipMemsetAsync cudaMemsetAsync

/* ---- streams and events */
#define hipStream_t cudaStream_t
#define hipStreamDefault cudaStreamDefault
#define hipStreamNonBlocking cudaStreamNonBlocking
#define hipStreamCreate cudaStreamCreate
#define hipStreamCreateWithFlags cudaStreamCreateWithFlags
#define hipStreamDestroy cudaStreamDestroy
#define hipStreamSynchronize cudaStreamSynchronize
#define hipStreamQuery cudaStreamQuery
#define hipStreamWaitEvent cudaStreamWaitEvent
#define hipEvent_t cudaEvent_t
#define hipEventDefault cudaEventDefault
#define hipEventDisableTiming cudaEventDisableTiming
#define hipEventBlockingSync cudaEventBlockingSync
#define hipEventCreate cudaEventCreate
#define hipEventCreateWithFlags cudaEventCreateWithFlags
#define hipEventDestroy cudaEventDestroy
#define hipEventRecord cudaEventRecord
#define hipEventSynchronize cudaEventSynchronize
#define hipEventQuery cudaEventQuery
#define hipEventElapsedTime cudaEventElapsedTime

/* ---- launches */
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define hipLaunchKernelGGL(kernel, grid, block, bytes, stream, ...)                                \
	(kernel<<<(grid), (block), (bytes), (stream)>>>(__VA_ARGS__))
#define hipLaunchKernel cudaLaunchKernel
#define hipLaunchCooperativeKernel cudaLaunchCooperativeKernel

/* ---- graphs */
#define hipGraph_t cudaGraph_t
#define hipGraphExec_t cudaGraphExec_t
#define hipGraphNode_t cudaGraphNode_t
#define hipStreamCaptureMode cudaStreamCaptureMode
#define hipStreamCaptureModeGlobal cudaStreamCaptureModeGlobal
#define hipStreamCaptureModeThreadLocal cudaStreamCaptureModeThreadLocal
#define hipStreamCaptureModeRelaxed cudaStreamCaptureModeRelaxed
#define hipStreamBeginCapture cudaStreamBeginCapture
#define hipStreamEndCapture cudaStreamEndCapture
#define hipGraphInstantiate(exec, graph, node, log, size) cudaGraphInstantiate((exec), (graph), 0)
#define hipGraphLaunch cudaGraphLaunch
#define hipGraphUpload cudaGraphUpload
#define hipGraphExecDestroy cudaGraphExecDestroy
#define hipGraphDestroy cudaGraphDestroy
#define hipGraphGetNodes cudaGraphGetNodes

#endif
