/* SPDX-License-Identifier: MIT
 *
 * gpu.h - the one header that kernels and variants include in place of
 * <hip/hip_runtime.h>.
 *
 * Sources are written in HIP; -DPKRUN_BUILD_HIP, _CUDA or _HOST says what they
 * are compiled for.  Besides HIP's names there are ours, the same on all three:
 *
 *	PK_SHARED(type, name, [8][32])	__shared__ type name[8][32]
 *	PK_SHARED_DYN(type, name)	the dynamic shared memory as type *name,
 *					16-byte aligned
 *	pk_pause()			inside every loop that polls on the device
 *	pk_host_pause()			inside every loop that polls on the host
 *	pk_host_sleep(us)		a host poll that sleeps between two looks
 *	pk_clock_ns()			device: ns of a clock that all blocks share
 *	pk_launch(kernel, grid, block, dynamic_bytes, stream, args...)
 *	pk_launch_coop(...)		the same, all blocks co-resident
 *					both return the launch's hipError_t
 *	PK_TRY(run, call)		a HIP call that must succeed, in a function
 *					of the plugin contract
 *
 * Flags, right on all three and clean under ThreadSanitizer: spin on relaxed
 * loads with pk_pause(), then one acquire load whose value is used; after the
 * work a block barrier, then one release store by one thread.
 *
 * Memory orders and scopes must be constants where they are used.  Nothing may
 * rely on the lockstep of a warp: on the host target a warp is one thread.
 */
#ifndef PKRUN_GPU_H
#define PKRUN_GPU_H

#include <stddef.h>
#include <stdint.h>

#if defined(PKRUN_BUILD_HOST)
#include "host/hip_host.h"
#elif defined(PKRUN_BUILD_HIP)
#include "gpu_hip.h"
#elif defined(PKRUN_BUILD_CUDA)
#include "gpu_cuda.h"
#else
#error "compile with one of -DPKRUN_BUILD_HOST, -DPKRUN_BUILD_HIP, -DPKRUN_BUILD_CUDA"
#endif

#include "../core/plugin.h"

#ifndef PKRUN_BUILD_HOST

#include <time.h>
#include <tuple>
#include <utility>

static inline void pk_host_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("yield");
#endif
}

static inline void pk_host_sleep(unsigned us)
{
	struct timespec t = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};

	nanosleep(&t, nullptr);
}

/* The runtimes take an array of pointers to arguments of exactly the kernel's types. */
template <class... P, size_t... I>
hipError_t pk_launch_packed(bool coop, void (*kernel)(P...), dim3 grid, dim3 block,
			    size_t dynamic_bytes, hipStream_t stream, std::tuple<P...> &args,
			    std::index_sequence<I...>)
{
	void *pointers[] = {static_cast<void *>(&std::get<I>(args))..., nullptr};
	const void *f = reinterpret_cast<const void *>(kernel);

	if (coop)
		return hipLaunchCooperativeKernel(f, grid, block, pointers,
						  (unsigned)dynamic_bytes, stream);
	return hipLaunchKernel(f, grid, block, pointers, dynamic_bytes, stream);
}

template <class... P, class... A>
hipError_t pk_launch(void (*kernel)(P...), dim3 grid, dim3 block, size_t dynamic_bytes,
		     hipStream_t stream, A... args)
{
	std::tuple<P...> packed(args...);

	return pk_launch_packed(false, kernel, grid, block, dynamic_bytes, stream, packed,
				std::index_sequence_for<P...>{});
}

template <class... P, class... A>
hipError_t pk_launch_coop(void (*kernel)(P...), dim3 grid, dim3 block, size_t dynamic_bytes,
			  hipStream_t stream, A... args)
{
	std::tuple<P...> packed(args...);

	return pk_launch_packed(true, kernel, grid, block, dynamic_bytes, stream, packed,
				std::index_sequence_for<P...>{});
}

#endif /* not PKRUN_BUILD_HOST */

#define PK_TRY(run, call)                                                                          \
	do {                                                                                       \
		hipError_t pk_error = (call);                                                      \
		if (pk_error != hipSuccess) {                                                      \
			(run)->host->say((run), "%s:%d: %s: %s", __FILE__, __LINE__, #call,        \
					 hipGetErrorString(pk_error));                             \
			return PKRUN_FAIL;                                                         \
		}                                                                                  \
	} while (0)

#endif
