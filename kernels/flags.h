/* SPDX-License-Identifier: MIT
 *
 * flags.h - words that one side writes and another waits for.
 *
 * The idiom: spin on relaxed loads, then one acquire load whose value is used;
 * after the work a block barrier, then one release store by one thread.  The
 * barrier makes the store of the one thread speak for all of them, and the
 * acquire of the one thread count for all of them (order is transitive through
 * the barrier).
 *
 * Every device spin looks at run->watch->abort now and then and leaves when it
 * is set; it then says where it stood.  A look goes to host memory, about as
 * long as a poll of a host flag and several polls of a device flag, so device
 * flags are polled more often between two looks.
 */
#ifndef PKRUN_FLAGS_H
#define PKRUN_FLAGS_H

#include "gpu.h"

#ifndef PK_FN
#define PK_FN __host__ __device__ __forceinline__
#endif

/* Polls between two looks at the abort word. */
#define PK_ABORT_POLLS_SYSTEM 64
#define PK_ABORT_POLLS_AGENT  1024

/* Flags are this far apart where nothing else is asked for: a cache line of
 * every GPU in view (64 on some hosts, 128 in GPUs' L2). */
#define PK_LINE_BYTES 128

/* A scope with its orders as functions: HIP's builtins want constants. */
#define PK_DEFINE_SCOPE(name, scope, polls)                                                        \
	struct name {                                                                              \
		static const uint32_t abort_polls = polls;                                         \
		template <class T> static PK_FN T relaxed(const T *p)                              \
		{                                                                                  \
			return __hip_atomic_load(p, __ATOMIC_RELAXED, scope);                      \
		}                                                                                  \
		template <class T> static PK_FN T acquire(const T *p)                              \
		{                                                                                  \
			return __hip_atomic_load(p, __ATOMIC_ACQUIRE, scope);                      \
		}                                                                                  \
		template <class T> static PK_FN T seq_cst(const T *p)                              \
		{                                                                                  \
			return __hip_atomic_load(p, __ATOMIC_SEQ_CST, scope);                      \
		}                                                                                  \
		template <class T> static PK_FN void put_relaxed(T *p, T v)                        \
		{                                                                                  \
			__hip_atomic_store(p, v, __ATOMIC_RELAXED, scope);                         \
		}                                                                                  \
		template <class T> static PK_FN void put_release(T *p, T v)                        \
		{                                                                                  \
			__hip_atomic_store(p, v, __ATOMIC_RELEASE, scope);                         \
		}                                                                                  \
		template <class T> static PK_FN void put_seq_cst(T *p, T v)                        \
		{                                                                                  \
			__hip_atomic_store(p, v, __ATOMIC_SEQ_CST, scope);                         \
		}                                                                                  \
		template <class T> static PK_FN T add_acq_rel(T *p, T v)                           \
		{                                                                                  \
			return __hip_atomic_fetch_add(p, v, __ATOMIC_ACQ_REL, scope);              \
		}                                                                                  \
	}
PK_DEFINE_SCOPE(pk_block, __HIP_MEMORY_SCOPE_WORKGROUP, PK_ABORT_POLLS_AGENT);
PK_DEFINE_SCOPE(pk_agent, __HIP_MEMORY_SCOPE_AGENT, PK_ABORT_POLLS_AGENT);
PK_DEFINE_SCOPE(pk_system, __HIP_MEMORY_SCOPE_SYSTEM, PK_ABORT_POLLS_SYSTEM);

/* Two families of orders, to be chosen by a variant. */
struct pk_orders_seq_cst {
	template <class Scope, class T> static PK_FN T poll(const T *p)
	{
		return Scope::seq_cst(p);
	}
	template <class Scope, class T> static PK_FN T seen(const T *p, T polled)
	{
		(void)p;
		return polled;
	}
	template <class Scope, class T> static PK_FN void put(T *p, T v)
	{
		Scope::put_seq_cst(p, v);
	}
};
struct pk_orders_relaxed {
	template <class Scope, class T> static PK_FN T poll(const T *p)
	{
		return Scope::relaxed(p);
	}
	template <class Scope, class T> static PK_FN T seen(const T *p, T polled)
	{
		(void)polled;
		return Scope::acquire(p);
	}
	template <class Scope, class T> static PK_FN void put(T *p, T v)
	{
		Scope::put_release(p, v);
	}
};

/* For a template that tells somebody of an event (stamps.h): nobody asked. */
struct pk_untold {
	PK_FN void operator()() const
	{
	}
};

/* A device spin gives up: the first one says where it stood. */
static __device__ inline void pk_give_up(struct pkrun_watch *watch, uint32_t block, uint64_t step)
{
	uint32_t none = 0;

	if (!__hip_atomic_compare_exchange_strong(&watch->seen, &none, 1u, __ATOMIC_RELAXED,
						  __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM))
		return;
	pk_system::put_relaxed(&watch->where, 1u);
	pk_system::put_relaxed(&watch->block, block);
	pk_system::put_relaxed(&watch->step, step);
}

static __device__ __forceinline__ bool pk_aborted(const struct pkrun_watch *watch)
{
	return pk_system::relaxed(&watch->abort) != 0;
}

/*
 * Wait until `until(value of *flag)`: true and the value, acquired; or false
 * when the run is being aborted.  One thread's business: tell the others.
 */
template <class Scope, class Orders, class T, class Until>
static __device__ __forceinline__ bool pk_wait(const T *flag, Until until, T *value,
					       struct pkrun_watch *watch, uint32_t block,
					       uint64_t step)
{
	T v = Orders::template poll<Scope>(flag);

	for (uint32_t polls = 1; !until(v); polls++) {
		pk_pause();
		if (polls % Scope::abort_polls == 0 && pk_aborted(watch)) {
			pk_give_up(watch, block, step);
			return false;
		}
		v = Orders::template poll<Scope>(flag);
	}
	*value = Orders::template seen<Scope>(flag, v);
	return true;
}

#endif
