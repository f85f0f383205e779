/* SPDX-License-Identifier: MIT
 *
 * shape.h - how the interior of a 2D grid is divided among blocks and threads.
 *
 * A shape enumerates, for one thread of one block, the points of one colour
 * ((i + j) & 1), and knows which blocks touch which.  Every interior point of
 * a colour is visited exactly once over all blocks and threads, for any grid
 * from 3 x 3, any number of blocks and threads; tests/test_shape counts it.
 * Neighbours come from here, never from block numbers plus or minus one:
 *
 *	rows	row r belongs to block r mod blocks: a chain with a block a
 *		row, else a ring
 *	bands	contiguous rows a block; a thread owns pairs of columns and
 *		walks down them: a chain
 *	tiles	contiguous tiles, row-major, a block; up to four neighbours
 *		with a tile a block, else up to six
 *
 * Nothing here depends on a device: the functions are called by kernels, by
 * the host side of variants (who may be released?) and by the tests.
 */
#ifndef PKRUN_SHAPE_H
#define PKRUN_SHAPE_H

#include <stdint.h>
#include "gpu.h"

#ifndef PK_FN
#define PK_FN __host__ __device__ __forceinline__
#endif
#define PK_NEIGHBOURS_MAX 6

/*
 * Threads of a block as a small matrix: `lanes` across columns, `groups` down
 * rows.  Lanes are the next power of two that covers `width`, so that a block
 * is not idle on a short row; when that leaves one group only, all threads are
 * lanes.
 */
struct pk_lanes {
	uint32_t lanes, groups, shift;

	static PK_FN struct pk_lanes over(uint64_t width, uint32_t threads)
	{
		struct pk_lanes l = {threads, 1, 31};
		uint32_t shift = 0;

		while (shift < 30 && ((uint64_t)1 << shift) < width)
			shift++;
		if (threads >> shift > 1) {
			l.lanes = 1u << shift;
			l.groups = threads >> shift;
			l.shift = shift;
		}
		return l;
	}
	PK_FN uint32_t lane(uint32_t thread) const
	{
		return groups > 1 ? thread & (lanes - 1) : thread;
	}
	/* >= groups for the threads left over: they have no rows */
	PK_FN uint32_t group(uint32_t thread) const
	{
		return groups > 1 ? thread >> shift : 0;
	}
};

/* Share b of `total` things cut into `shares` contiguous ranges: where it begins. */
static PK_FN uint64_t pk_share_begin(uint64_t total, uint64_t shares, uint64_t b)
{
	return total * b / shares;
}

/* Which share holds thing t: the inverse of pk_share_begin(). */
static PK_FN uint64_t pk_share_of(uint64_t total, uint64_t shares, uint64_t t)
{
	return ((t + 1) * shares - 1) / total;
}

/* Append block b to a list of neighbours, unless it is `self` or there already. */
static PK_FN int pk_add_neighbour(uint32_t *out, int n, uint32_t self, uint32_t b)
{
	if (b == self)
		return n;
	for (int q = 0; q < n; q++)
		if (out[q] == b)
			return n;
	out[n] = b;
	return n + 1;
}

/* First column of `colour` at or right of column j in row i. */
static PK_FN uint64_t pk_first_column(uint64_t i, uint64_t j, uint32_t colour)
{
	uint32_t odd = (uint32_t)(i + j) + colour;

#if defined(__HIP_DEVICE_COMPILE__)
	/* Without this, LLVM 15 narrows what i comes from to one bit and then
	 * has no instruction for a one-bit product. */
	__asm__("" : "+v"(odd));
#endif
	return j + (odd & 1);
}

struct shape_rows {
	uint64_t rows, cols; /* of the grid, boundary included */
	struct pk_lanes across;

	static PK_FN struct shape_rows make(uint64_t rows, uint64_t cols, const int64_t tile[2],
					    uint32_t threads)
	{
		(void)tile;
		struct shape_rows s = {rows, cols, pk_lanes::over((cols - 1) / 2, threads)};
		return s;
	}
	PK_FN uint64_t units() const
	{
		return rows - 2;
	}
	template <class F>
	PK_FN void points(uint32_t block, uint32_t blocks, uint32_t colour, uint32_t thread, F f) const
	{
		uint64_t down = (uint64_t)blocks * across.groups;
		uint32_t lane = across.lane(thread), group = across.group(thread);

		if (group >= across.groups)
			return;
		for (uint64_t i = 1 + block + (uint64_t)blocks * group; i < rows - 1; i += down)
			for (uint64_t j = pk_first_column(i, 1, colour) + 2 * (uint64_t)lane;
			     j < cols - 1; j += 2 * (uint64_t)across.lanes)
				f(i * cols + j);
	}
	PK_FN int neighbours(uint32_t block, uint32_t blocks, uint32_t out[PK_NEIGHBOURS_MAX]) const
	{
		uint64_t units = rows - 2;
		int n = 0;

		if (block >= units)
			return 0;
		if (block > 0 || units > blocks)
			n = pk_add_neighbour(out, n, block, block > 0 ? block - 1 : blocks - 1);
		if ((uint64_t)block + 1 < (units < blocks ? units : blocks) || units > blocks)
			n = pk_add_neighbour(out, n, block, block + 1 < blocks ? block + 1 : 0);
		return n;
	}
};

struct shape_bands {
	uint64_t rows, cols;
	struct pk_lanes across;

	static PK_FN struct shape_bands make(uint64_t rows, uint64_t cols, const int64_t tile[2],
					     uint32_t threads)
	{
		(void)tile;
		struct shape_bands s = {rows, cols, pk_lanes::over((cols - 1) / 2, threads)};
		return s;
	}
	PK_FN uint64_t units() const
	{
		return rows - 2;
	}
	template <class F>
	PK_FN void points(uint32_t block, uint32_t blocks, uint32_t colour, uint32_t thread, F f) const
	{
		uint64_t first = 1 + pk_share_begin(rows - 2, blocks, block);
		uint64_t n = 1 + pk_share_begin(rows - 2, blocks, (uint64_t)block + 1) - first;
		uint32_t lane = across.lane(thread), group = across.group(thread);

		if (group >= across.groups)
			return;
		uint64_t top = first + n * group / across.groups;
		uint64_t end = first + n * (group + 1) / across.groups;
		for (uint64_t pair = 1 + 2 * (uint64_t)lane; pair < cols - 1;
		     pair += 2 * (uint64_t)across.lanes) {
			for (uint64_t i = top; i < end; i++) {
				uint64_t j = pk_first_column(i, pair, colour);
				if (j < cols - 1)
					f(i * cols + j);
			}
		}
	}
	PK_FN int neighbours(uint32_t block, uint32_t blocks, uint32_t out[PK_NEIGHBOURS_MAX]) const
	{
		uint64_t units = rows - 2;
		uint64_t first = pk_share_begin(units, blocks, block);
		uint64_t end = pk_share_begin(units, blocks, (uint64_t)block + 1);
		int n = 0;

		if (first == end)
			return 0;
		if (first > 0)
			n = pk_add_neighbour(out, n, block,
					     (uint32_t)pk_share_of(units, blocks, first - 1));
		if (end < units)
			n = pk_add_neighbour(out, n, block, (uint32_t)pk_share_of(units, blocks, end));
		return n;
	}
};

struct shape_tiles {
	uint64_t rows, cols;
	uint64_t height, width; /* of a tile; the last ones of a row or column may be cut */
	uint64_t down, right;	/* tiles in each direction */
	struct pk_lanes across;

	/* The tile that the first report used; see plugins/README.md. */
	static const uint32_t default_height = 37, default_width = 27;

	static PK_FN struct shape_tiles make(uint64_t rows, uint64_t cols, const int64_t tile[2],
					     uint32_t threads)
	{
		struct shape_tiles s;
		uint64_t h = tile[0] > 0 ? (uint64_t)tile[0] : (uint64_t)default_height;
		uint64_t w = tile[1] > 0 ? (uint64_t)tile[1] : (uint64_t)default_width;

		s.rows = rows;
		s.cols = cols;
		s.height = h < rows - 2 ? h : rows - 2;
		s.width = w < cols - 2 ? w : cols - 2;
		s.down = (rows - 2 + s.height - 1) / s.height;
		s.right = (cols - 2 + s.width - 1) / s.width;
		s.across = pk_lanes::over((s.width + 1) / 2, threads);
		return s;
	}
	PK_FN uint64_t units() const
	{
		return down * right;
	}
	template <class F>
	PK_FN void tile(uint64_t t, uint32_t colour, uint32_t lane, uint32_t group, F f) const
	{
		uint64_t row = t / right;
		uint64_t top = 1 + row * height, left = 1 + (t - row * right) * width;
		uint64_t bottom = top + height < rows - 1 ? top + height : rows - 1;
		uint64_t end = left + width < cols - 1 ? left + width : cols - 1;

		for (uint64_t i = top + group; i < bottom; i += across.groups)
			for (uint64_t j = pk_first_column(i, left, colour) + 2 * (uint64_t)lane;
			     j < end; j += 2 * (uint64_t)across.lanes)
				f(i * cols + j);
	}
	template <class F>
	PK_FN void points(uint32_t block, uint32_t blocks, uint32_t colour, uint32_t thread, F f) const
	{
		uint64_t end = pk_share_begin(units(), blocks, (uint64_t)block + 1);
		uint32_t lane = across.lane(thread), group = across.group(thread);

		if (group >= across.groups)
			return;
		for (uint64_t t = pk_share_begin(units(), blocks, block); t < end; t++)
			tile(t, colour, lane, group, f);
	}
	/* The owners of tiles first..last: at most two blocks when there are as
	 * many tiles as a block has, since shares differ by one at most. */
	PK_FN int owners(uint32_t block, uint32_t blocks, uint64_t first, uint64_t last, uint32_t *out,
			 int n) const
	{
		n = pk_add_neighbour(out, n, block, (uint32_t)pk_share_of(units(), blocks, first));
		return pk_add_neighbour(out, n, block, (uint32_t)pk_share_of(units(), blocks, last));
	}
	PK_FN int neighbours(uint32_t block, uint32_t blocks, uint32_t out[PK_NEIGHBOURS_MAX]) const
	{
		uint64_t total = units();
		uint64_t first = pk_share_begin(total, blocks, block);
		uint64_t end = pk_share_begin(total, blocks, (uint64_t)block + 1);
		int n = 0;

		if (first == end)
			return 0;
		if (first % right)
			n = owners(block, blocks, first - 1, first - 1, out, n);
		if (end % right)
			n = owners(block, blocks, end, end, out, n);
		if (end > right)
			n = owners(block, blocks, first > right ? first - right : 0, end - 1 - right,
				   out, n);
		if (first + right < total)
			n = owners(block, blocks, first + right,
				   end - 1 + right < total ? end - 1 + right : total - 1, out, n);
		return n;
	}
};

#endif
