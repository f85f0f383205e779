/* SPDX-License-Identifier: MIT
 *
 * lib_clock.c - to be preloaded: the clock that times trials goes on only while
 * the program sleeps, and by a little whenever it is read.  Nobody really sleeps.
 * So what a fake variant takes is exactly what it says, however busy the machine.
 */
#include <dlfcn.h>
#include <time.h>

#define TICK_NS 20

static long long now_ns = 1000000000;

int clock_gettime(clockid_t id, struct timespec *t)
{
	static int (*real)(clockid_t, struct timespec *);
	long long ns;

	if (id != CLOCK_MONOTONIC_RAW) {
		if (!real)
			real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
		return real(id, t);
	}
	ns = __atomic_add_fetch(&now_ns, TICK_NS, __ATOMIC_RELAXED);
	t->tv_sec = ns / 1000000000;
	t->tv_nsec = ns % 1000000000;
	return 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	(void)left;
	__atomic_add_fetch(&now_ns, wanted->tv_sec * 1000000000LL + wanted->tv_nsec, __ATOMIC_RELAXED);
	return 0;
}
