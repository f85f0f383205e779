/* SPDX-License-Identifier: MIT
 *
 * host_wait.h - the host's side of a wait: abort, a kernel that died, and how
 * to pass the time between two looks.
 *
 * The core's watchdog sets run->watch->abort; a kernel that has left, or a
 * device that has failed, is found by asking the stream now and then.  Both
 * end the wait with PKRUN_FAIL and a text that says what was waited for.
 */
#ifndef PKRUN_HOST_WAIT_H
#define PKRUN_HOST_WAIT_H

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>
#include "flags.h"
#include "variant.h"

/* Is the run being aborted?  Then the watch says that the host stood at `step`. */
static inline bool pk_host_aborted_at(struct pkrun_run *run, uint32_t block, uint64_t step)
{
	uint32_t none = 0;

	if (!__hip_atomic_load(&run->watch->abort, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM))
		return false;
	if (__hip_atomic_compare_exchange_strong(&run->watch->seen, &none, 1u, __ATOMIC_RELAXED,
						 __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM)) {
		pk_system::put_relaxed(&run->watch->where, 2u);
		pk_system::put_relaxed(&run->watch->block, block);
		pk_system::put_relaxed(&run->watch->step, step);
	}
	return true;
}

/*
 * Where the device releases its own steps, the host only knows that the end has
 * not come.  When the run is being aborted, give the blocks time to say first
 * where they stood: by the clock, for a sleep may be as long as a step.
 */
static inline void pk_host_let_device_say(struct pkrun_run *run)
{
	enum { MS = 100 };
	struct timespec from, t;

	if (!__hip_atomic_load(&run->watch->abort, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM))
		return;
	clock_gettime(CLOCK_MONOTONIC, &from);
	do {
		pk_host_sleep(1000);
		clock_gettime(CLOCK_MONOTONIC, &t);
	} while (!pk_system::relaxed(&run->watch->seen) &&
		 (t.tv_sec - from.tv_sec) * 1000 + (t.tv_nsec - from.tv_nsec) / 1000000 < MS);
}

/*
 * Where device memory is the host's to write (HIP, over a large BAR), x86 combines stores to it:
 * they get there in no order, and as late as the CPU likes; loads from it are in no order either.
 * In front of a flag's store there and behind it, and behind the load that saw one.
 */
static inline void pk_host_push(void)
{
#if defined(PKRUN_BUILD_HIP) && defined(__x86_64__)
	__builtin_ia32_mfence();
#endif
}

/* What a host loop keeps while it waits. */
struct pk_patience {
	uint32_t looks;
	struct timespec asked; /* when the stream was last asked */
};

/* Has the resident kernel left, or the device failed? Asked every 0.2 s at most. */
static inline int pk_host_kernel_lost(struct pkrun_run *run, struct pk_patience *p,
				      const char *what, uint32_t block, uint64_t step)
{
	struct timespec t;
	hipError_t state;

	clock_gettime(CLOCK_MONOTONIC, &t);
	if (!p->asked.tv_sec)
		p->asked = t;
	if ((t.tv_sec - p->asked.tv_sec) * 1000 + (t.tv_nsec - p->asked.tv_nsec) / 1000000 < 200)
		return PKRUN_OK;
	p->asked = t;
	state = hipStreamQuery(pk_stream(run));
	if (state == hipErrorNotReady)
		return PKRUN_OK;
	run->host->say(run, "the resident kernel is gone (%s) while the host waited for %s of block %u, step %llu",
		       state == hipSuccess ? "it returned" : hipGetErrorString(state), what, block,
		       (unsigned long long)step);
	return PKRUN_FAIL;
}

/* After each look in vain: PKRUN_OK to look again.  Each one looks at the abort word,
 * which is in the host's own cache: nobody knows how long the caller slept since the last. */
static inline int pk_host_again(struct pkrun_run *run, struct pk_patience *p, const char *what,
				uint32_t block, uint64_t step)
{
	if (pk_host_aborted_at(run, block, step)) {
		run->host->say(run, "aborted while the host waited for %s of block %u, step %llu",
			       what, block, (unsigned long long)step);
		return PKRUN_FAIL;
	}
	if (++p->looks % 1024 == 0)
		return pk_host_kernel_lost(run, p, what, block, step);
	return PKRUN_OK;
}

/* ---- how the host passes the time: options of every variant that waits ---- */

enum pk_wait_mode { WAIT_USLEEP = 0, WAIT_SPIN = 1, WAIT_SLACK = 2 };

#define PK_OPTION_WAIT(type, dflt)                                                                 \
	{"wait", PKRUN_CHOICE, offsetof(type, wait), dflt, 0, 1000000, "usleep:N|spin|slack:N",    \
	 NULL,                                                                                     \
	 "the host between two looks: sleep N us, spin, or sleep 1 us with a timer slack of N ns"}
#define PK_OPTION_PIN(type, dflt)                                                                  \
	{"pin", PKRUN_INT, offsetof(type, pin), dflt, -1, CPU_SETSIZE - 1, NULL, NULL,             \
	 "the CPU that the host loop runs on (-1: any)"}

/* What was changed of the host thread for a trial, to be undone. */
struct pk_settled {
	int slack, pinned;
	cpu_set_t affinity;
};

/* PKRUN_SKIP when the process may not run on CPU `pin`. */
static inline int pk_probe_pin(struct pkrun_run *run, int64_t pin)
{
	cpu_set_t allowed;

	if (pin < 0 || (!sched_getaffinity(0, sizeof(allowed), &allowed) &&
			CPU_ISSET((size_t)pin, &allowed)))
		return PKRUN_OK;
	run->host->say(run, "pin = %lld: this process may not run on that CPU", (long long)pin);
	return PKRUN_SKIP;
}

static inline int pk_settle(struct pkrun_run *run, const struct pkrun_choice *wait, int64_t pin,
			    struct pk_settled *was)
{
	cpu_set_t one;

	if (wait->index == WAIT_SLACK) {
		was->slack = prctl(PR_GET_TIMERSLACK);
		(void)prctl(PR_SET_TIMERSLACK, wait->arg > 0 ? (unsigned long)wait->arg : 1ul);
	}
	if (pin < 0)
		return PKRUN_OK;
	CPU_ZERO(&one);
	CPU_SET((size_t)pin, &one);
	was->pinned = !sched_getaffinity(0, sizeof(was->affinity), &was->affinity);
	if (!sched_setaffinity(0, sizeof(one), &one))
		return PKRUN_OK;
	run->host->say(run, "pin = %lld: sched_setaffinity failed", (long long)pin);
	return PKRUN_FAIL;
}

static inline void pk_unsettle(struct pk_settled *was)
{
	if (was->slack > 0)
		(void)prctl(PR_SET_TIMERSLACK, (unsigned long)was->slack);
	if (was->pinned)
		(void)sched_setaffinity(0, sizeof(was->affinity), &was->affinity);
	was->slack = was->pinned = 0;
}

/* Between two looks. */
static inline void pk_host_pass_time(const struct pkrun_choice *wait)
{
	if (wait->index == WAIT_SPIN)
		pk_host_pause();
	else
		pk_host_sleep(wait->index == WAIT_SLACK ? 1 : (unsigned)wait->arg);
}

/* Spin until until() holds. */
template <class Until>
static int pk_host_spin(struct pkrun_run *run, Until until, const char *what, uint32_t block,
			uint64_t step)
{
	struct pk_patience patience = {};

	while (!until()) {
		int status;

		pk_host_pause();
		status = pk_host_again(run, &patience, what, block, step);
		if (status != PKRUN_OK)
			return status;
	}
	return PKRUN_OK;
}

/* ---- a resident kernel says that all of it is there ---- */

/* Thread 0 of each block, first of all: the last one to come tells the host.  Both words 0 before. */
static __device__ inline void pk_tell_present(uint64_t *count, uint64_t *told)
{
	if (pk_agent::add_acq_rel(count, (uint64_t)1) + 1 == gridDim.x)
		pk_system::put_release(told, (uint64_t)1);
}

static inline int pk_await_present(struct pkrun_run *run, const uint64_t *told)
{
	return pk_host_spin(run, [=]() { return pk_system::acquire(told) == 1; },
			    "the report that it is resident", 0, 0);
}

#endif
