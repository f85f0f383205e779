/* SPDX-License-Identifier: MIT
 *
 * variant.h - what variants share on the host: from a run to its work.
 *
 * A workload's functor is trivially copyable, travels to kernels by value and
 * has
 *	make(args)				(static) itself, from the argument struct
 *	step(block, blocks, s)			the block's share of step s
 *	neighbours(block, blocks, out)		who must have done step s - 1
 *	units()					natural number of blocks
 *	has_norm; norm(block, blocks)		is there a residual; the calling
 *						thread's share of its sum of squares
 * step() may depend on s only through s mod steps_per_iteration: a graph
 * replays the same steps again.
 */
#ifndef PKRUN_VARIANT_H
#define PKRUN_VARIANT_H

#include <string.h>
#include "busy.h"
#ifdef PK_WITH_FMA /* the plugin has workload fma too */
#include "fma.h"
#endif
#include "grid.h"
#include "null.h"
#include "poisson2d.h"
#include "scale.h"

/* What pk_with_work() knows: a name here, a branch below, an #include above. */
#define PK_WORKLOADS "poisson2d,null,busy,scale"

/* The workload's argument struct, or NULL after say() when it is not the one
 * that this plugin was compiled for. */
template <class Args> static const Args *pk_args(struct pkrun_run *run, uint32_t version)
{
	const Args *a = (const Args *)run->work->args;

	if (run->work->version == PKRUN_WORK_VERSION && run->work->args_size >= sizeof(Args) &&
	    a->size >= sizeof(Args) && a->version == version)
		return a;
	run->host->say(run,
		       "workload %s: its argument struct has version %u and %u bytes, this plugin "
		       "knows version %u and %zu bytes",
		       run->work->name, a->version, a->size, version, sizeof(Args));
	return NULL;
}

/* The sweep of this run; `automatic` is what the variant does when none is asked for. */
static inline uint32_t pk_sweep(const struct pkrun_run *run, uint32_t automatic)
{
	return run->sweep == PKRUN_SWEEP_AUTO ? automatic : run->sweep;
}

/* PKRUN_SKIP when norms are asked for of a workload that has none. */
static inline int pk_no_check(struct pkrun_run *run)
{
	if (!run->check)
		return PKRUN_OK;
	run->host->say(run, "workload %s has no residual: check must be 0", run->work->name);
	return PKRUN_SKIP;
}

/* A variant that is asked for norms needs a workload that has one. */
template <class W, class F> static int pk_call(struct pkrun_run *run, W work, F f)
{
	int status = W::has_norm ? PKRUN_OK : pk_no_check(run);

	return status == PKRUN_OK ? f(work) : status;
}

/* The functor of a workload that has one shape only, made of its argument struct. */
template <class W, class Args, class F>
static int pk_call_with(struct pkrun_run *run, uint32_t version, F f)
{
	const Args *a = pk_args<Args>(run, version);

	return a ? pk_call(run, W::make(a), f) : PKRUN_FAIL;
}

/*
 * Call f(functor) for the workload and the sweep shape of the run and return
 * what it returns; PKRUN_SKIP when this plugin has no such workload.  This is
 * the one place where a plugin branches on either.
 */
template <class F>
static int pk_with_work_sweep(struct pkrun_run *run, uint32_t automatic_sweep, F f)
{
	if (!strcmp(run->work->name, "null"))
		return pk_call_with<null_work, struct null_args>(run, NULL_VERSION, f);
	if (!strcmp(run->work->name, "busy"))
		return pk_call_with<busy_work, struct busy_args>(run, BUSY_VERSION, f);
	if (!strcmp(run->work->name, "scale"))
		return pk_call_with<scale_work, struct scale_args>(run, SCALE_VERSION, f);
#ifdef PK_WITH_FMA
	if (!strcmp(run->work->name, "fma"))
		return pk_call_with<fma_work, struct fma_args>(run, FMA_VERSION, f);
#endif
	if (!strcmp(run->work->name, "poisson2d")) {
		const struct poisson2d_args *a = pk_args<struct poisson2d_args>(run, POISSON2D_VERSION);
		if (!a)
			return PKRUN_FAIL;
		switch (pk_sweep(run, automatic_sweep)) {
		case PKRUN_SWEEP_ROWS:
			return pk_call(run, poisson2d<shape_rows>::make(a, run->tile, run->threads), f);
		case PKRUN_SWEEP_TILES:
			return pk_call(run, poisson2d<shape_tiles>::make(a, run->tile, run->threads), f);
		case PKRUN_SWEEP_BANDS:
			return pk_call(run, poisson2d<shape_bands>::make(a, run->tile, run->threads), f);
		}
		run->host->say(run, "no sweep number %u", run->sweep);
		return PKRUN_FAIL;
	}
	run->host->say(run, "this plugin was built without workload %s", run->work->name);
	return PKRUN_SKIP;
}

template <class F> static int pk_with_work(struct pkrun_run *run, F f)
{
	return pk_with_work_sweep(run, PKRUN_SWEEP_ROWS, f);
}

static inline hipStream_t pk_stream(const struct pkrun_run *run)
{
	return (hipStream_t)run->stream;
}

/* The steps of `iterations` iterations. */
static inline uint64_t pk_steps(const struct pkrun_run *run, uint64_t iterations)
{
	return iterations * run->work->steps_per_iteration;
}

#endif
