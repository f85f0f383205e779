/* SPDX-License-Identifier: MIT
 *
 * fake.h - variants for tests: host target, no GPU header, no runtime.  With
 * tests/plugins/fake_device.c as device.so, device memory is plain memory, so a
 * "kernel" is a loop here.
 *
 * A fake defines FAKE_NAME and what it wants to be different, then includes
 * this: FAKE_RUN(run, iterations) in place of the right answer, and so on.
 */
#ifndef FAKE_H
#define FAKE_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "core/plugin.h"
#include "kernels/null.h"
#include "kernels/poisson2d.h"

struct fake_state {
	uint64_t calls;		/* of run() in this cell */
	uint32_t blocks;
};

static inline struct fake_state *fake_state(struct pkrun_run *run)
{
	return run->state;
}

static inline void fake_half_sweep(const struct poisson2d_args *a, uint64_t s)
{
	double *u = a->u;
	int64_t c = a->cols, i, j, k;

	for (i = 1; i < a->rows - 1; i++)
		for (j = 1; j < c - 1; j++) {
			if (((uint64_t)(i + j) & 1) != (s & 1))
				continue;
			k = i * c + j;
			u[k] = 0.25 * (u[k + c] + u[k - c] + u[k + 1] + u[k - 1] - a->rhs[k]);
		}
}

/* What a right variant does. */
static inline void fake_work(struct pkrun_run *run, uint64_t iterations)
{
	uint64_t steps = iterations * run->work->steps_per_iteration, s;
	uint32_t b;

	for (b = 0; b < fake_state(run)->blocks; b++)
		run->steps[b] += steps;
	if (strcmp(run->work->name, "null") == 0)
		for (b = 0; b < fake_state(run)->blocks; b++)
			((const struct null_args *)run->work->args)->counters[b] += steps;
	else
		for (s = 0; s < steps; s++)
			fake_half_sweep(run->work->args, s);
}

static inline void fake_sleep_us(long us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static inline void fake_crash(void)
{
	volatile int *volatile nowhere = NULL;

	*nowhere = 1;
}

/* The state as words, and how many. */
static inline uint64_t *fake_words(struct pkrun_run *run, uint64_t *n)
{
	const struct poisson2d_args *p = run->work->args;

	if (strcmp(run->work->name, "null") == 0) {
		*n = fake_state(run)->blocks;
		return ((const struct null_args *)run->work->args)->counters;
	}
	*n = (uint64_t)(p->rows * p->cols);
	return (uint64_t *)p->u;
}

static inline int fake_footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	uint32_t blocks = (uint32_t)run->work->units;

	if (run->blocks.index == PKRUN_BLOCKS_NUMBER)
		blocks = (uint32_t)run->blocks.arg;
	fake_state(run)->blocks = fp->blocks = blocks;
	fp->threads = run->threads;
	fp->resident_max = 64;
	return PKRUN_OK;
}

static inline int fake_wait(struct pkrun_run *run)
{
	(void)run;
	return PKRUN_OK;
}

#ifndef FAKE_FLAGS
#define FAKE_FLAGS 0
#endif
#ifndef FAKE_WAIT
#define FAKE_WAIT fake_wait
#endif
#ifndef FAKE_PROBE
#define FAKE_PROBE NULL
#endif
#ifndef FAKE_SETUP
#define FAKE_SETUP NULL
#endif
#ifndef FAKE_START
#define FAKE_START NULL
#endif
#ifndef FAKE_TEARDOWN
#define FAKE_TEARDOWN NULL
#endif
#ifndef FAKE_BRIEF
#define FAKE_BRIEF "a fake variant for tests"
#endif

#define FAKE_PLUGIN(name_, run_)					\
	PKRUN_PLUGIN(							\
		.name = name_, .brief = FAKE_BRIEF,			\
		.control = PKRUN_CONTROL_HOST_QUEUE,			\
		.result = PKRUN_EXACT, .flags = FAKE_FLAGS,		\
		.state_size = sizeof(struct fake_state),		\
		.workloads = "poisson2d,null", .probe = FAKE_PROBE,	\
		.footprint = fake_footprint, .setup = FAKE_SETUP,	\
		.start = FAKE_START, .run = run_, .wait = FAKE_WAIT,	\
		.teardown = FAKE_TEARDOWN)

#endif
