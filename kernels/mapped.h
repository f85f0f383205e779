/* SPDX-License-Identifier: MIT
 *
 * mapped.h - memory that host and device both touch while a kernel runs: the
 * kinds a variant can choose from, the orders, and who polls.
 */
#ifndef PKRUN_MAPPED_H
#define PKRUN_MAPPED_H

#include "host_wait.h"

/* ---- orders: two families more beside those of flags.h */

/* A fence that the host, other devices and this one's kernels see. */
static PK_FN void pk_fence_system(void)
{
#if defined(PKRUN_BUILD_HOST) || defined(__CUDA_ARCH__) || \
	(defined(__HIP_DEVICE_COMPILE__) && __HIP_DEVICE_COMPILE__)
	__threadfence_system();
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* Relaxed accesses with fences: what `volatile` and __threadfence_system() of
 * older sources meant, said properly.  The fence after the load orders what
 * follows behind the flag, the fence before the store what precedes. */
struct pk_orders_fence {
	template <class Scope, class T> static PK_FN T poll(const T *p)
	{
		return Scope::relaxed(p);
	}
	template <class Scope, class T> static PK_FN T seen(const T *p, T polled)
	{
		(void)p;
		pk_fence_system();
		return polled;
	}
	template <class Scope, class T> static PK_FN void put(T *p, T v)
	{
		pk_fence_system();
		Scope::put_relaxed(p, v);
	}
};

/* Every poll acquires, so the flag is not read once more when it is seen: a trip
 * over the bus less for a cache invalidation a poll. */
struct pk_orders_acquire : pk_orders_relaxed {
	template <class Scope, class T> static PK_FN T poll(const T *p)
	{
		return Scope::acquire(p);
	}
	template <class Scope, class T> static PK_FN T seen(const T *p, T polled)
	{
		(void)p;
		return polled;
	}
};

enum mapped_order { MAPPED_ACQREL = 0, MAPPED_FENCE = 1, MAPPED_SEQ_CST = 2, MAPPED_ACQUIRE = 3 };
#define MAPPED_OPTION_ORDER(type, field)                                                           \
	{"order", PKRUN_CHOICE, offsetof(type, field), "acqrel", 0, 0, \
	 "acqrel|fence|seq_cst|acquire", NULL,                                                     \
	 "flags: relaxed polls, one acquire, one release; relaxed with system fences; "            \
	 "every access sequentially consistent; every poll an acquire, one release"}

/* Call f(orders) with the family chosen. */
template <class F> static int mapped_with_order(const struct pkrun_choice *order, F f)
{
	switch (order->index) {
	case MAPPED_FENCE:
		return f(pk_orders_fence{});
	case MAPPED_SEQ_CST:
		return f(pk_orders_seq_cst{});
	case MAPPED_ACQUIRE:
		return f(pk_orders_acquire{});
	}
	return f(pk_orders_relaxed{});
}

/* ---- who polls in a block */

enum mapped_pollers { MAPPED_ONE = 0, MAPPED_WARP = 1, MAPPED_BLOCK = 2 };
#define MAPPED_OPTION_POLLERS(type, field)                                                         \
	{"pollers", PKRUN_CHOICE, offsetof(type, field), "one", 0, 0, "one|warp|block", NULL,      \
	 "which threads of the block poll: thread 0, a warp (one thread on the host target), all"}

static inline uint32_t mapped_pollers(struct pkrun_run *run, const struct pkrun_choice *pollers)
{
	int warp = 1;

	if (pollers->index == MAPPED_BLOCK)
		return run->threads;
	if (pollers->index == MAPPED_WARP)
		(void)hipDeviceGetAttribute(&warp, hipDeviceAttributeWarpSize, run->device);
	return (uint32_t)warp < run->threads ? (uint32_t)warp : run->threads;
}

/* ---- kinds of memory */

enum mapped_memory { MAPPED_HOST = 0, MAPPED_NONCOHERENT = 1, MAPPED_MANAGED = 2, MAPPED_DEVICE = 3 };
#define MAPPED_OPTION_MEMORY(type, field)                                                          \
	{"memory", PKRUN_CHOICE, offsetof(type, field), "host", 0, 0,                              \
	 "host|noncoherent|managed|device", NULL,                                                  \
	 "where flags and payload live: pinned host memory, coherent or as the platform "          \
	 "defaults; managed memory kept on the host; device memory that the host reaches"}

/* One piece; `managed` is set when it is ours to free. */
struct mapped {
	void *host, *dev;
	void *managed;
};

/* May this kind be used here at all?  PKRUN_SKIP with the reason. */
static inline int mapped_probe(struct pkrun_run *run, const struct pkrun_choice *memory)
{
#if !defined(PKRUN_BUILD_HOST)
	int concurrent = 0;
#endif

#if defined(PKRUN_BUILD_HIP)
	if (memory->index == MAPPED_NONCOHERENT) {
		run->host->say(run, "memory = noncoherent: stores to it are seen when the kernel "
				    "ends, a resident kernel's never");
		return PKRUN_SKIP;
	}
#endif
#if !defined(PKRUN_BUILD_HOST)
	if (memory->index != MAPPED_MANAGED)
		return PKRUN_OK;
	(void)hipDeviceGetAttribute(&concurrent, hipDeviceAttributeConcurrentManagedAccess,
				    run->device);
	if (!concurrent) {
		run->host->say(run, "memory = managed: host and kernel may not touch it at the "
				    "same time on this device");
		return PKRUN_SKIP;
	}
#endif
	(void)memory;
	return PKRUN_OK;
}

/*
 * Managed memory that does not migrate: it stays on the host, mapped for the
 * device.  Left to itself, a polled page travels back and forth, and a poll
 * may wait for a fault each time.
 */
static inline int mapped_open_managed(struct pkrun_run *run, struct mapped *m, size_t bytes)
{
	PK_TRY(run, hipMallocManaged(&m->managed, bytes));
	m->host = m->dev = m->managed;
#if defined(PKRUN_BUILD_CUDA) && CUDART_VERSION >= 13000
	cudaMemLocation host = {cudaMemLocationTypeHost, 0};
	cudaMemLocation device = {cudaMemLocationTypeDevice, run->device};

	PK_TRY(run, cudaMemAdvise(m->managed, bytes, cudaMemAdviseSetPreferredLocation, host));
	PK_TRY(run, cudaMemAdvise(m->managed, bytes, cudaMemAdviseSetAccessedBy, device));
#elif defined(PKRUN_BUILD_CUDA)
	PK_TRY(run, cudaMemAdvise(m->managed, bytes, cudaMemAdviseSetPreferredLocation,
				  cudaCpuDeviceId));
	PK_TRY(run, cudaMemAdvise(m->managed, bytes, cudaMemAdviseSetAccessedBy, run->device));
#elif defined(PKRUN_BUILD_HIP)
	PK_TRY(run, hipMemAdvise(m->managed, bytes, hipMemAdviseSetPreferredLocation,
				 hipCpuDeviceId));
	PK_TRY(run, hipMemAdvise(m->managed, bytes, hipMemAdviseSetAccessedBy, run->device));
#endif
	memset(m->host, 0xCB, bytes);
	return PKRUN_OK;
}

static inline int mapped_open(struct pkrun_run *run, const struct pkrun_choice *memory,
			      const char *name, struct mapped *m, size_t bytes)
{
	static const uint32_t kind[] = {PKRUN_MEMORY_HOST, PKRUN_MEMORY_HOST_NONCOHERENT, 0,
					PKRUN_MEMORY_DEVICE_VISIBLE};

	int status;

	if (memory->index == MAPPED_MANAGED)
		return mapped_open_managed(run, m, bytes);
	status = run->host->alloc(run, name, kind[memory->index], bytes, &m->host, &m->dev);
	if (status == PKRUN_SKIP)
		run->host->say(run, "memory = device: the host cannot reach this device's memory by "
				    "loads and stores");
	return status;
}

/* See pk_host_push(). */
static inline void mapped_push(const struct pkrun_choice *memory)
{
	if (memory->index == MAPPED_DEVICE)
		pk_host_push();
}

static inline void mapped_close(struct mapped *m)
{
	if (m->managed)
		(void)hipFree(m->managed);
	memset(m, 0, sizeof(*m));
}

#endif
