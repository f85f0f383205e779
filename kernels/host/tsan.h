/* SPDX-License-Identifier: MIT
 *
 * tsan.h - what the runtime tells ThreadSanitizer; nothing in a plain build.
 *
 * The runtime is built with -DPKH_TSAN but *without* -fsanitize=thread, the
 * kernels with both.  So the checker sees only the kernels' and the host's own
 * accesses, and of the runtime what is said here: which fiber runs, and which
 * order a launch, a barrier or a finished stream gives.  Its locks are futexes
 * of its own (lock.h) because the checker would take a pthread mutex for an
 * order that a GPU does not give.
 */
#ifndef PKRUN_HOST_TSAN_H
#define PKRUN_HOST_TSAN_H

#ifdef PKH_TSAN

extern "C" {
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void __tsan_acquire(void *p);
void __tsan_release(void *p);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
}

static inline void *tsan_current(void)
{
	return __tsan_get_current_fiber();
}

static inline void *tsan_create(void)
{
	return __tsan_create_fiber(0);
}

static inline void tsan_destroy(void *fiber)
{
	__tsan_destroy_fiber(fiber);
}

/* 1: without an order between the two.  With 0 the checker goes blind. */
static inline void tsan_switch(void *fiber)
{
	__tsan_switch_to_fiber(fiber, 1);
}

static inline void tsan_acquire(void *p)
{
	__tsan_acquire(p);
}

static inline void tsan_release(void *p)
{
	__tsan_release(p);
}

/* The checker's malloc, free and memset count as accesses of the fiber that
 * happens to run: not while one of these lives. */
struct tsan_quiet {
	tsan_quiet()
	{
		AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
		AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
	}
	~tsan_quiet()
	{
		AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
		AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
	}
};

/* model_tsan.cpp: a fiber's fences are forgotten with it. */
void tsan_forget(void *fiber);

#else

static inline void *tsan_current(void)
{
	return nullptr;
}

static inline void *tsan_create(void)
{
	return nullptr;
}

static inline void tsan_destroy(void *)
{
}

static inline void tsan_switch(void *)
{
}

static inline void tsan_acquire(void *)
{
}

static inline void tsan_release(void *)
{
}

static inline void tsan_forget(void *)
{
}

struct tsan_quiet {
	tsan_quiet()
	{
	}
};

#endif
#endif
