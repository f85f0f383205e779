/* SPDX-License-Identifier: MIT
 *
 * poisson2d.h - red-black Gauss-Seidel for the Poisson equation on a grid.
 *
 * A step is a half-sweep: step s updates the interior points with
 * ((i + j) & 1) == (s & 1), in place, by
 *
 *	u[i][j] = 0.25 * (u[i+1][j] + u[i-1][j] + u[i][j+1] + u[i][j-1] - rhs[i][j])
 *
 * added in this order everywhere.  A half-sweep reads only the other colour,
 * so every correct schedule gives the same bits.
 */
#ifndef PKRUN_POISSON2D_H
#define PKRUN_POISSON2D_H

#include <stdint.h>

#define POISSON2D_VERSION 1

/* What travels to a plugin in run->work->args. */
struct poisson2d_args {
	uint32_t size;		/* sizeof(struct poisson2d_args) */
	uint32_t version;	/* POISSON2D_VERSION */
	int64_t  rows, cols;	/* of the grid, boundary included; row-major */
	double  *u;		/* device addresses; NULL until setup() */
	const double *rhs;	/* f h^2 */
};

#if defined(__cplusplus) && \
	(defined(PKRUN_BUILD_HOST) || defined(PKRUN_BUILD_HIP) || defined(PKRUN_BUILD_CUDA))
#include "shape.h"

/* A load of what no kernel ever writes. */
static __device__ __forceinline__ double pk_constant(const double *p)
{
#if defined(PKRUN_BUILD_CUDA)
	return __ldg(p);
#else
	return *p;
#endif
}

template <class Shape> struct poisson2d {
	static const bool has_norm = true;

	double *u;
	const double *rhs;
	uint64_t cols;
	Shape shape;

	static poisson2d make(const struct poisson2d_args *a, const int64_t tile[2], uint32_t threads)
	{
		poisson2d w;

		w.u = a->u;
		w.rhs = a->rhs;
		w.cols = (uint64_t)a->cols;
		w.shape = Shape::make((uint64_t)a->rows, (uint64_t)a->cols, tile, threads);
		return w;
	}
	uint64_t units() const
	{
		return shape.units();
	}
	/* The block's share of half-sweep s; every thread of the block calls it.
	 * No barrier at its end: whoever orders steps puts one there. */
	__device__ __forceinline__ void step(uint32_t block, uint32_t blocks, uint64_t s) const
	{
		double *const grid = u;
		const double *const right = rhs;
		const uint64_t row = cols;

		shape.points(block, blocks, (uint32_t)(s & 1), threadIdx.x, [=](uint64_t k) {
			grid[k] = 0.25 * (grid[k + row] + grid[k - row] + grid[k + 1] +
					  grid[k - 1] - pk_constant(right + k));
		});
	}
	/* The calling thread's share of the sum of squares of the residual, both
	 * colours: h^2 (f - laplacian u), as rhs is stored. */
	__device__ __forceinline__ double norm(uint32_t block, uint32_t blocks) const
	{
		double sum = 0;

		for (uint32_t colour = 0; colour < 2; colour++)
			shape.points(block, blocks, colour, threadIdx.x, [&](uint64_t k) {
				double r = u[k + cols] + u[k - cols] + u[k + 1] + u[k - 1] - rhs[k] -
					   4 * u[k];
				sum += r * r;
			});
		return sum;
	}
	/* Which blocks must have finished step s - 1 before `block` may do step
	 * s: those that own a point next to one of its own. Symmetric, so it also
	 * keeps a neighbour from running ahead over what `block` still reads. */
	PK_FN int neighbours(uint32_t block, uint32_t blocks, uint32_t out[PK_NEIGHBOURS_MAX]) const
	{
		return shape.neighbours(block, blocks, out);
	}
};
#endif
#endif
