// SPDX-License-Identifier: MIT
//
// test_shape.cpp - the coverage proof: every interior point exactly once a
// half-sweep, and the neighbours that the points themselves imply, for every
// sweep shape, N = 3..200, rectangles, any tile, any grid and block.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <vector>
extern "C" {
#include <cmocka.h>
}
#include "kernels/shape.h"

struct grid {
	uint64_t rows, cols;
	std::vector<uint32_t> owner; // of each point; NOBODY: not visited
};
static const uint32_t NOBODY = UINT32_MAX;

// Visit both colours with every thread of every block.
template <class Shape> static void visit(const Shape &s, grid &g, uint32_t blocks, uint32_t threads)
{
	g.owner.assign(g.rows * g.cols, NOBODY);
	for (uint32_t colour = 0; colour < 2; colour++)
		for (uint32_t b = 0; b < blocks; b++)
			for (uint32_t t = 0; t < threads; t++)
				s.points(b, blocks, colour, t, [&](uint64_t k) {
					assert_true(k < g.owner.size());
					assert_int_equal((k / g.cols + k % g.cols) & 1, colour);
					assert_int_equal(g.owner[k], NOBODY);
					g.owner[k] = b;
				});
	for (uint64_t k = 0; k < g.owner.size(); k++) {
		uint64_t i = k / g.cols, j = k % g.cols;
		bool inside = i > 0 && i < g.rows - 1 && j > 0 && j < g.cols - 1;

		assert_true((g.owner[k] != NOBODY) == inside);
	}
}

static void touch(std::vector<std::vector<bool>> &m, uint32_t a, uint32_t b)
{
	if (a != NOBODY && b != NOBODY && a != b)
		m[a][b] = m[b][a] = true;
}

// neighbours() must name exactly the owners of adjacent points.
template <class Shape> static void compare_neighbours(const Shape &s, const grid &g, uint32_t blocks)
{
	std::vector<std::vector<bool>> m(blocks, std::vector<bool>(blocks, false));

	for (uint64_t k = 0; k + g.cols < g.owner.size(); k++) {
		touch(m, g.owner[k], g.owner[k + 1]);
		touch(m, g.owner[k], g.owner[k + g.cols]);
	}
	for (uint32_t b = 0; b < blocks; b++) {
		uint32_t out[PK_NEIGHBOURS_MAX];
		int n = s.neighbours(b, blocks, out);

		assert_in_range(n, 0, PK_NEIGHBOURS_MAX);
		for (int q = 0; q < n; q++) {
			assert_true(out[q] < blocks);
			assert_true(m[b][out[q]]);
			m[b][out[q]] = false; // named once only
		}
		for (uint32_t c = 0; c < blocks; c++)
			assert_false(m[b][c]);
	}
}

template <class Shape>
static void prove(uint64_t rows, uint64_t cols, int64_t height, int64_t width, uint32_t blocks,
		  uint32_t threads)
{
	int64_t tile[2] = {height, width};
	Shape s = Shape::make(rows, cols, tile, threads);
	grid g = {rows, cols, {}};

	visit(s, g, blocks, threads);
	if (blocks <= 64)
		compare_neighbours(s, g, blocks);
}

// Grids of one block, few, one a unit, and more than units.
template <class Shape> static void prove_grids(uint64_t rows, uint64_t cols, int64_t h, int64_t w)
{
	int64_t tile[2] = {h, w};
	uint64_t units = Shape::make(rows, cols, tile, 1).units();
	const uint64_t blocks[] = {1, 2, 3, 7, 13, units / 2, units - 1, units, units + 3};
	const uint32_t threads[] = {64, 1, 5, 24, 32, 96, 256, 33, 8};

	for (size_t q = 0; q < sizeof(blocks) / sizeof(blocks[0]); q++)
		if (blocks[q] > 0 && blocks[q] < 5000)
			prove<Shape>(rows, cols, h, w, (uint32_t)blocks[q],
				     threads[(q + rows + (uint64_t)w) % 9]);
}

static void rows(void **)
{
	for (uint64_t n = 3; n <= 200; n++) {
		prove_grids<shape_rows>(n, n, 0, 0);
		prove_grids<shape_rows>(n, 203 - n, 0, 0);
	}
}

static void bands(void **)
{
	for (uint64_t n = 3; n <= 200; n++) {
		prove_grids<shape_bands>(n, n, 0, 0);
		prove_grids<shape_bands>(n, 203 - n, 0, 0);
	}
}

static void tiles_of_every_size(void **)
{
	for (uint64_t n = 3; n <= 14; n++)
		for (int64_t h = 1; h <= (int64_t)n; h++)
			for (int64_t w = 1; w <= (int64_t)n; w++) {
				prove_grids<shape_tiles>(n, n, h, w);
				prove_grids<shape_tiles>(n, 17 - n < 3 ? 3 : 17 - n, h, w);
			}
}

static void tiles_on_every_grid(void **)
{
	for (uint64_t n = 3; n <= 200; n++) {
		prove_grids<shape_tiles>(n, n, 0, 0);
		prove_grids<shape_tiles>(n, 203 - n, 1 + (int64_t)(n % 41), 1 + (int64_t)(n % 67));
		prove_grids<shape_tiles>(n, n, 1 + (int64_t)((n * 7) % 64), 1000);
	}
}

// Indices beyond 32 bits: the last band, row and tile of N = 100003.
static void large(void **)
{
	const uint64_t n = 100003;
	const int64_t tile[2] = {37, 27};
	uint64_t visited = 0, last = 0;
	auto count = [&](uint64_t k) {
		visited++;
		last = k > last ? k : last;
	};

	for (uint32_t colour = 0; colour < 2; colour++)
		for (uint32_t t = 0; t < 256; t++)
			shape_rows::make(n, n, tile, 256).points(n - 3, n - 2, colour, t, count);
	assert_int_equal(visited, n - 2);
	assert_int_equal(last, (n - 2) * n + n - 2);
	visited = last = 0;
	for (uint32_t colour = 0; colour < 2; colour++)
		for (uint32_t t = 0; t < 256; t++)
			shape_bands::make(n, n, tile, 256).points(n - 3, n - 2, colour, t, count);
	assert_int_equal(visited, n - 2);
	assert_int_equal(last, (n - 2) * n + n - 2);
	shape_tiles s = shape_tiles::make(n, n, tile, 256);
	visited = last = 0;
	for (uint32_t colour = 0; colour < 2; colour++)
		for (uint32_t t = 0; t < 256; t++)
			s.points((uint32_t)s.units() - 1, (uint32_t)s.units(), colour, t, count);
	assert_int_equal(visited, ((n - 3) % 37 + 1) * ((n - 3) % 27 + 1));
	assert_int_equal(last, (n - 2) * n + n - 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),		       cmocka_unit_test(bands),
		cmocka_unit_test(tiles_of_every_size), cmocka_unit_test(tiles_on_every_grid),
		cmocka_unit_test(large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
