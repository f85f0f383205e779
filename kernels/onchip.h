/* SPDX-License-Identifier: MIT
 *
 * onchip.h - workloads whose data a block keeps in shared memory while it is
 * resident.
 *
 *	load()			from device memory to shared memory
 *	halo(s)			fetch what neighbours changed in step s - 1
 *	step(block, blocks, s)	in shared memory; what neighbours need is also
 *				stored to device memory
 *	store()			the rest back to device memory
 * each called by every thread of the block, none ending with a barrier.
 */
#ifndef PKRUN_ONCHIP_H
#define PKRUN_ONCHIP_H

#include "variant.h"

/* Nothing to keep: the protocol alone. */
struct null_onchip : null_work {
	static size_t shared_bytes(uint32_t)
	{
		return 0;
	}
	__device__ void load() const
	{
	}
	__device__ void halo(uint64_t) const
	{
	}
	__device__ void store() const
	{
	}
};

/*
 * A band of contiguous rows, with the row above and the row below.  Edge rows
 * travel through u itself: a block stores its own edge points as it updates
 * them, and reads the neighbour's of the colour of the step before.  Nobody
 * writes them again before the reader has done its step (neighbour_order.h).
 */
struct poisson2d_onchip {
	static const bool has_norm = true;

	double *u;
	const double *rhs;
	uint64_t rows, cols;
	uint32_t rhs_too; /* the right-hand side is in shared memory as well */
	shape_bands bands;

	static poisson2d_onchip make(const struct poisson2d_args *a, uint32_t threads)
	{
		static const int64_t none[2] = {0, 0};
		poisson2d_onchip w;

		w.u = a->u;
		w.rhs = a->rhs;
		w.rows = (uint64_t)a->rows;
		w.cols = (uint64_t)a->cols;
		w.rhs_too = 0;
		w.bands = shape_bands::make(w.rows, w.cols, none, threads);
		return w;
	}
	uint64_t units() const
	{
		return bands.units();
	}
	/* The largest band with its two halo rows, and its right-hand side. */
	size_t shared_bytes(uint32_t blocks) const
	{
		uint64_t most = (rows - 2 + blocks - 1) / blocks;

		return (size_t)((most + 2 + (rhs_too ? most : 0)) * cols * sizeof(double));
	}
	PK_FN int neighbours(uint32_t block, uint32_t blocks, uint32_t out[PK_NEIGHBOURS_MAX]) const
	{
		return bands.neighbours(block, blocks, out);
	}
	/* First own row of the grid, and how many there are. */
	__device__ __forceinline__ uint64_t first() const
	{
		return 1 + pk_share_begin(rows - 2, gridDim.x, blockIdx.x);
	}
	__device__ __forceinline__ uint64_t count() const
	{
		return 1 + pk_share_begin(rows - 2, gridDim.x, (uint64_t)blockIdx.x + 1) - first();
	}
	__device__ void load() const
	{
		PK_SHARED_DYN(double, shared);
		uint64_t top = first(), n = count();

		for (uint64_t k = threadIdx.x; k < (n + 2) * cols; k += blockDim.x)
			shared[k] = u[(top - 1) * cols + k];
		for (uint64_t k = threadIdx.x; rhs_too && k < n * cols; k += blockDim.x)
			shared[(n + 2) * cols + k] = rhs[top * cols + k];
	}
	/* One row of the neighbour's, points of one colour. */
	__device__ __forceinline__ void fetch_row(double *to, uint64_t i, uint32_t colour) const
	{
		for (uint64_t j = pk_first_column(i, 1, colour) + 2 * (uint64_t)threadIdx.x;
		     j < cols - 1; j += 2 * (uint64_t)blockDim.x)
			to[j] = u[i * cols + j];
	}
	__device__ void halo(uint64_t s) const
	{
		PK_SHARED_DYN(double, shared);
		uint64_t top = first(), n = count();
		uint32_t colour = (uint32_t)(s + 1) & 1;

		if (top > 1)
			fetch_row(shared, top - 1, colour);
		if (top + n < rows - 1)
			fetch_row(shared + (n + 1) * cols, top + n, colour);
	}
	/* f(place in shared memory, index in the grid, row of the band from 0) */
	template <class F> __device__ __forceinline__ void points(uint32_t colour, F f) const
	{
		uint64_t top = first(), n = count();
		uint32_t lane = bands.across.lane(threadIdx.x);
		uint32_t group = bands.across.group(threadIdx.x);

		if (group >= bands.across.groups)
			return;
		for (uint64_t l = group; l < n; l += bands.across.groups)
			for (uint64_t j = pk_first_column(top + l, 1, colour) + 2 * (uint64_t)lane;
			     j < cols - 1; j += 2 * (uint64_t)bands.across.lanes)
				f((l + 1) * cols + j, (top + l) * cols + j, l);
	}
	__device__ __forceinline__ void step(uint32_t, uint32_t, uint64_t s) const
	{
		PK_SHARED_DYN(double, shared);
		uint64_t n = count(), row = cols;
		const double *right = rhs_too ? shared + (n + 2) * cols - cols : NULL;

		points((uint32_t)(s & 1), [=](uint64_t k, uint64_t at, uint64_t l) {
			double f = right ? right[k] : pk_constant(rhs + at);
			double v = 0.25 * (shared[k + row] + shared[k - row] + shared[k + 1] +
					   shared[k - 1] - f);

			shared[k] = v;
			if (l == 0 || l == n - 1)
				u[at] = v;
		});
	}
	__device__ double norm(uint32_t, uint32_t) const
	{
		PK_SHARED_DYN(double, shared);
		uint64_t row = cols;
		double sum = 0;

		for (uint32_t colour = 0; colour < 2; colour++)
			points(colour, [&](uint64_t k, uint64_t at, uint64_t) {
				double r = shared[k + row] + shared[k - row] + shared[k + 1] +
					   shared[k - 1] - rhs[at] - 4 * shared[k];
				sum += r * r;
			});
		return sum;
	}
	/* Edge rows are there already. */
	__device__ void store() const
	{
		PK_SHARED_DYN(double, shared);
		uint64_t n = count();

		for (uint32_t colour = 0; colour < 2; colour++)
			points(colour, [=](uint64_t k, uint64_t at, uint64_t l) {
				if (l > 0 && l < n - 1)
					u[at] = shared[k];
			});
	}
};

/* A variant with a geometry of its own accepts no other. */
static inline int pk_only_bands(struct pkrun_run *run, const char *variant)
{
	if (run->sweep == PKRUN_SWEEP_AUTO || run->sweep == PKRUN_SWEEP_BANDS)
		return PKRUN_OK;
	run->host->say(run, "%s divides the grid into bands only: sweep must be bands or auto", variant);
	return PKRUN_SKIP;
}

#endif
