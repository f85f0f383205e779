/* SPDX-License-Identifier: MIT
 *
 * faulty_volatile - flags are volatile words with fences, not atomics.
 *
 * The second report's flags.  To the language this is a data race: a volatile
 * access is neither atomic nor ordered with other threads, whatever fence
 * stands beside it.  On the GPUs in view it happens to work.
 */
#include "faulty.h"

static PK_FN void volatile_fence()
{
#if defined(PKRUN_BUILD_HOST) || defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
	__threadfence_system();
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

struct orders_volatile {
	template <class Scope, class T> static PK_FN T poll(const T *p)
	{
		return *static_cast<const volatile T *>(p);
	}
	template <class Scope, class T> static PK_FN T seen(const T *p, T polled)
	{
		(void)p;
		volatile_fence();
		return polled;
	}
	template <class Scope, class T> static PK_FN void put(T *p, T v)
	{
		volatile_fence();
		*static_cast<volatile T *>(p) = v;
	}
};

struct rung {
	using orders = orders_volatile;
	static const bool all_poll = false;
	static const uint32_t sweep = PKRUN_SWEEP_ROWS;
};

FAULTY_PLUGIN("faulty_volatile", "volatile flags with fences in place of atomics");
