/* SPDX-License-Identifier: MIT
 *
 * atomic_host.h - HIP's atomics and fences on the CPU, in kernels and in a
 * plugin's host code.
 *
 * In a plain build they are the compiler's own and scopes do not matter.  With
 * -DPKH_TSAN the access itself is relaxed (ThreadSanitizer still sees an
 * atomic) and its order comes from notes to model_tsan.cpp, which knows scopes
 * and fences.  Either way an atomic is a point where another fiber may run: a
 * loop that polls without pk_pause() lets the others on.
 */
#ifndef PKRUN_ATOMIC_HOST_H
#define PKRUN_ATOMIC_HOST_H

#define __HIP_MEMORY_SCOPE_SINGLETHREAD 1
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5

PKH_EXPORT void pkh_point(void);

#ifdef PKH_TSAN
PKH_EXPORT void pkh_note_store(const volatile void *p, int order, int scope);
PKH_EXPORT void pkh_note_load(const volatile void *p, int order, int scope);
PKH_EXPORT void pkh_note_fence(int order, int scope);
#define PKH_ORDER(order) ((void)(order), __ATOMIC_RELAXED)
#define pkh_keep_place() __atomic_signal_fence(__ATOMIC_SEQ_CST)
#else
static inline void pkh_note_store(const volatile void *, int, int)
{
}
static inline void pkh_note_load(const volatile void *, int, int)
{
}
static __forceinline__ void pkh_note_fence(int order, int)
{
	__atomic_thread_fence(order);
}
#define PKH_ORDER(order) (order)
#define pkh_keep_place() ((void)0)
#endif

template <class T> __forceinline__ T pkh_load(const volatile T *p, int order, int scope)
{
	T value;

	pkh_point();
	pkh_keep_place();
	__atomic_load(const_cast<T *>(p), &value, PKH_ORDER(order));
	pkh_note_load(p, order, scope);
	pkh_keep_place();
	return value;
}

template <class T>
__forceinline__ void pkh_store(volatile T *p, std::common_type_t<T> value, int order, int scope)
{
	pkh_keep_place();
	pkh_note_store(p, order, scope);
	__atomic_store(const_cast<T *>(p), &value, PKH_ORDER(order));
	pkh_keep_place();
	pkh_point();
}

/* A read-modify-write: release before it, acquire after it, a switch point on either side. */
template <class T, class F>
__forceinline__ auto pkh_modify(volatile T *p, int order, int scope, F access)
{
	pkh_point();
	pkh_keep_place();
	pkh_note_store(p, order, scope);
	auto result = access(const_cast<T *>(p));
	pkh_note_load(p, order, scope);
	pkh_keep_place();
	pkh_point();
	return result;
}

/* Any operation as a compare-and-swap loop, for floating point, min and max. */
template <class T, class F> __forceinline__ T pkh_swap_loop(T *p, int order, F make)
{
	T old, wanted;

	__atomic_load(p, &old, __ATOMIC_RELAXED);
	do {
		wanted = make(old);
	} while (!__atomic_compare_exchange(p, &old, &wanted, false, PKH_ORDER(order),
					    __ATOMIC_RELAXED));
	return old;
}

template <class T>
__forceinline__ T pkh_exchange(volatile T *p, std::common_type_t<T> value, int order, int scope)
{
	return pkh_modify(p, order, scope, [&](T *q) {
		T old;

		__atomic_exchange(q, &value, &old, PKH_ORDER(order));
		return old;
	});
}

template <class T>
__forceinline__ T pkh_fetch_add(volatile T *p, std::common_type_t<T> value, int order, int scope)
{
	return pkh_modify(p, order, scope, [&](T *q) {
		if constexpr (std::is_integral<T>::value)
			return __atomic_fetch_add(q, value, PKH_ORDER(order));
		else
			return pkh_swap_loop(q, order, [&](T old) { return old + value; });
	});
}

template <class T>
__forceinline__ T pkh_fetch_max(volatile T *p, std::common_type_t<T> value, int order, int scope)
{
	return pkh_modify(p, order, scope, [&](T *q) {
		return pkh_swap_loop(q, order, [&](T old) { return old < value ? value : old; });
	});
}

template <class T>
__forceinline__ T pkh_fetch_min(volatile T *p, std::common_type_t<T> value, int order, int scope)
{
	return pkh_modify(p, order, scope, [&](T *q) {
		return pkh_swap_loop(q, order, [&](T old) { return value < old ? value : old; });
	});
}

template <class T>
__forceinline__ T pkh_fetch_or(volatile T *p, std::common_type_t<T> value, int order, int scope)
{
	return pkh_modify(p, order, scope,
			  [&](T *q) { return __atomic_fetch_or(q, value, PKH_ORDER(order)); });
}

template <class T>
__forceinline__ T pkh_fetch_and(volatile T *p, std::common_type_t<T> value, int order, int scope)
{
	return pkh_modify(p, order, scope,
			  [&](T *q) { return __atomic_fetch_and(q, value, PKH_ORDER(order)); });
}

template <class T>
__forceinline__ T pkh_fetch_xor(volatile T *p, std::common_type_t<T> value, int order, int scope)
{
	return pkh_modify(p, order, scope,
			  [&](T *q) { return __atomic_fetch_xor(q, value, PKH_ORDER(order)); });
}

template <class T>
__forceinline__ bool pkh_compare_exchange(volatile T *p, T *expected, std::common_type_t<T> value,
					  int order, int failure, int scope)
{
	(void)failure;
	return pkh_modify(p, order, scope, [&](T *q) {
		return __atomic_compare_exchange(q, expected, &value, false, PKH_ORDER(order),
						 PKH_ORDER(failure));
	});
}

#define __hip_atomic_load(p, order, scope) pkh_load((p), (order), (scope))
#define __hip_atomic_store(p, v, order, scope) pkh_store((p), (v), (order), (scope))
#define __hip_atomic_exchange(p, v, order, scope) pkh_exchange((p), (v), (order), (scope))
#define __hip_atomic_fetch_add(p, v, order, scope) pkh_fetch_add((p), (v), (order), (scope))
#define __hip_atomic_fetch_max(p, v, order, scope) pkh_fetch_max((p), (v), (order), (scope))
#define __hip_atomic_fetch_min(p, v, order, scope) pkh_fetch_min((p), (v), (order), (scope))
#define __hip_atomic_fetch_or(p, v, order, scope) pkh_fetch_or((p), (v), (order), (scope))
#define __hip_atomic_fetch_and(p, v, order, scope) pkh_fetch_and((p), (v), (order), (scope))
#define __hip_atomic_fetch_xor(p, v, order, scope) pkh_fetch_xor((p), (v), (order), (scope))
#define __hip_atomic_compare_exchange_strong(p, expected, v, success, failure, scope)              \
	pkh_compare_exchange((p), (expected), (v), (success), (failure), (scope))
#define __hip_atomic_compare_exchange_weak(p, expected, v, success, failure, scope)                \
	pkh_compare_exchange((p), (expected), (v), (success), (failure), (scope))

/* The older names: relaxed, at device scope. */
#define PKH_DEFINE_ATOMIC(name, does)                                                              \
	template <class T> __forceinline__ T name(T *p, std::common_type_t<T> value)               \
	{                                                                                          \
		return does(p, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);                 \
	}
PKH_DEFINE_ATOMIC(atomicAdd, pkh_fetch_add)
PKH_DEFINE_ATOMIC(atomicMax, pkh_fetch_max)
PKH_DEFINE_ATOMIC(atomicMin, pkh_fetch_min)
PKH_DEFINE_ATOMIC(atomicAnd, pkh_fetch_and)
PKH_DEFINE_ATOMIC(atomicOr, pkh_fetch_or)
PKH_DEFINE_ATOMIC(atomicXor, pkh_fetch_xor)
PKH_DEFINE_ATOMIC(atomicExch, pkh_exchange)

template <class T>
__forceinline__ T atomicCAS(T *p, std::common_type_t<T> expected, std::common_type_t<T> value)
{
	T seen = expected;

	pkh_compare_exchange(p, &seen, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
			     __HIP_MEMORY_SCOPE_AGENT);
	return seen;
}

#define __threadfence_block() pkh_note_fence(__ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_WORKGROUP)
#define __threadfence() pkh_note_fence(__ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_AGENT)
#define __threadfence_system() pkh_note_fence(__ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM)

#endif
