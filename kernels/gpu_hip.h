/* SPDX-License-Identifier: MIT
 *
 * gpu_hip.h - the hip target: HIP's own headers and the few names of ours.
 */
#ifndef PKRUN_GPU_HIP_H
#define PKRUN_GPU_HIP_H

#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>

#define PK_SHARED(type, name, ...) __shared__ type name __VA_ARGS__
#define PK_SHARED_DYN(type, name)                                                                  \
	extern __shared__ __attribute__((aligned(16))) unsigned char pk_dynamic_shared[];          \
	type *name = reinterpret_cast<type *>(pk_dynamic_shared)

/* s_sleep counts in units of 64 clocks. */
#define pk_pause() __builtin_amdgcn_s_sleep(1)

/* The constant 100 MHz counter of gfx9 (and later) data-centre devices. */
static __device__ __forceinline__ uint64_t pk_clock_ns(void)
{
	return 10ull * (uint64_t)__builtin_amdgcn_s_memrealtime();
}

#endif
