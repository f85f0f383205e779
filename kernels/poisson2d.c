/* SPDX-License-Identifier: MIT
 *
 * poisson2d.c - the host half of the Poisson workload (poisson2d.h): the
 * problem, its CPU reference and its counts.
 *
 * Spacing h = 1/(rows - 1) in both directions, x = i h, y = j h.
 * u = sin(2 pi x) cos(2 pi y) on the boundary, 0 inside;
 * f = -8 pi^2 sin(2 pi x) cos(2 pi y), stored as rhs = f h^2.  Both times
 * `f_scale`, so that the solution is f_scale times as large (and 0 for 0).
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "poisson2d.h"
#include "workload.h"

struct poisson2d_options {
	int64_t n, cols;
	double f_scale;
};

/* The largest side whose square still fits 2^62 elements' byte offsets. */
#define SIDE_MAX 536870912

static const struct pkrun_option options[] = {
	{"n", PKRUN_INT, offsetof(struct poisson2d_options, n), "101", 3, SIDE_MAX, NULL, "point",
	 "rows of the grid, boundary included"},
	{"cols", PKRUN_INT, offsetof(struct poisson2d_options, cols), "0", 0, SIDE_MAX, NULL,
	 "point", "columns of the grid, boundary included; 0: as many as rows"},
	{"f_scale", PKRUN_REAL, offsetof(struct poisson2d_options, f_scale), "1", -1e100, 1e100,
	 NULL, NULL, "factor on f and on the boundary values"},
	{0},
};

static uint64_t rows_of(const void *opt)
{
	return (uint64_t)((const struct poisson2d_options *)opt)->n;
}

static uint64_t cols_of(const void *opt)
{
	const struct poisson2d_options *o = opt;

	return (uint64_t)(o->cols ? o->cols : o->n);
}

static int check(const void *opt, char *why, size_t why_size)
{
	const struct poisson2d_options *o = opt;

	if (o->cols == 1 || o->cols == 2) {
		snprintf(why, why_size, "cols = %lld: a grid has at least 3 columns (or 0: as rows)",
			 (long long)o->cols);
		return -1;
	}
	/* as far below 1 as it may be above: the squares of a residual would be 0 */
	if (o->f_scale != 0 && fabs(o->f_scale) < 1e-100) {
		snprintf(why, why_size, "f_scale = %g: 0, or at least 1e-100 away from it", o->f_scale);
		return -1;
	}
	return 0;
}

static uint32_t steps_per_iteration(const void *opt)
{
	(void)opt;
	return 2;
}

/* As the shapes of shape.h count: tiles of an interior, else its rows. */
static int64_t units(const void *opt, uint32_t sweep, const int64_t tile[2])
{
	int64_t rows = (int64_t)rows_of(opt) - 2, cols = (int64_t)cols_of(opt) - 2;
	int64_t height = tile[0] > 0 ? tile[0] : 37, width = tile[1] > 0 ? tile[1] : 27;

	if (sweep != PKRUN_SWEEP_TILES)
		return rows;
	return ((rows - 1) / height + 1) * ((cols - 1) / width + 1);
}

static void counts(const void *opt, struct workload_counts *out)
{
	double interior = (double)(rows_of(opt) - 2) * (double)(cols_of(opt) - 2);

	/* Two half-sweeps over u, each reads the lines of both colours and writes
	 * one: 32 bytes a point, and the stored right-hand side's lines: 16. */
	*out = (struct workload_counts){.updates = interior, .flops = 5 * interior, .bytes = 48 * interior};
}

static int arrays(const void *opt, uint32_t blocks, struct workload_array *out)
{
	uint64_t count = rows_of(opt) * cols_of(opt);

	(void)blocks;
	out[0] = (struct workload_array){"u", WORKLOAD_STATE, 1, count, cols_of(opt)};
	out[1] = (struct workload_array){"rhs", WORKLOAD_INPUT, 1, count, cols_of(opt)};
	return 2;
}

static void fill(const void *opt, uint32_t blocks, int which, void *data)
{
	const double pi = 3.14159265358979323846;
	const double scale = ((const struct poisson2d_options *)opt)->f_scale;
	uint64_t rows = rows_of(opt), cols = cols_of(opt);
	double intervals = (double)(rows - 1), *out = data;
	/* A cosine a column, not a point, kept in the last row until its turn comes. */
	double *y = out + (rows - 1) * cols;

	(void)blocks;
	for (uint64_t j = 0; j < cols; j++)
		y[j] = cos(2 * pi * ((double)j / intervals));
	for (uint64_t i = 0; i < rows; i++) {
		double x = sin(2 * pi * ((double)i / intervals));
		for (uint64_t j = 0; j < cols; j++) {
			double u = scale * x * y[j];
			int inside = i > 0 && i < rows - 1 && j > 0 && j < cols - 1;
			if (which == 1)
				out[i * cols + j] = -8 * pi * pi * u / (intervals * intervals);
			else
				out[i * cols + j] = inside ? 0 : u;
		}
	}
}

/* ---- the reference: threads own rows, a barrier between half-sweeps ---- */

struct sweeper {
	struct team *team;
	pthread_t thread;
	uint64_t rank;
	uint64_t changed[2];	/* bits that its points changed, by parity of the iteration */
	char pad[64];
};

struct team {
	double *u;
	const double *rhs;
	uint64_t rows, cols, iterations;
	uint64_t threads;
	pthread_mutex_t gate;	/* held until it is known how many threads there are */
	pthread_barrier_t barrier;
	struct sweeper *members;
	uint64_t still_since;	/* iterations done when nothing changed any more; 0: not yet */
};

static uint64_t bits(double x)
{
	uint64_t b;

	memcpy(&b, &x, sizeof(b));
	return b;
}

/* Every second point of one row from `first`; returns which bits changed. */
static uint64_t sweep_row(double *u, const double *rhs, uint64_t cols, uint64_t first)
{
	uint64_t changed = 0;

	for (uint64_t j = first; j < cols - 1; j += 2) {
		double *p = u + j;
		double v = 0.25 * (p[cols] + *(p - cols) + p[1] + p[-1] - rhs[j]);
		changed |= bits(v) ^ bits(*p);
		*p = v;
	}
	return changed;
}

static uint64_t half_sweep(const struct sweeper *me, unsigned colour)
{
	const struct team *t = me->team;
	uint64_t first = 1 + (t->rows - 2) * me->rank / t->threads;
	uint64_t end = 1 + (t->rows - 2) * (me->rank + 1) / t->threads;
	uint64_t changed = 0;

	for (uint64_t i = first; i < end; i++)
		changed |= sweep_row(t->u + i * t->cols, t->rhs + i * t->cols, t->cols,
				     1 + ((i + 1 + colour) & 1));
	return changed;
}

static void team_wait(struct team *t)
{
	if (t->threads > 1)
		pthread_barrier_wait(&t->barrier);
}

static void sweep(struct sweeper *me)
{
	struct team *t = me->team;

	for (uint64_t it = 0; it < t->iterations; it++) {
		uint64_t changed;

		changed = half_sweep(me, 0);
		team_wait(t);
		me->changed[it & 1] = changed | half_sweep(me, 1);
		team_wait(t);
		changed = 0;
		for (uint64_t r = 0; r < t->threads; r++)
			changed |= t->members[r].changed[it & 1];
		if (!changed) {
			if (me->rank == 0)
				t->still_since = it ? it : 1;
			return;
		}
	}
}

static void *sweeper_main(void *arg)
{
	struct sweeper *me = arg;

	pthread_mutex_lock(&me->team->gate);
	pthread_mutex_unlock(&me->team->gate);
	sweep(me);
	return NULL;
}

/* With as many threads as can be had, the caller's included. */
static void team_run(struct team *t)
{
	uint64_t started = 1;

	for (uint64_t r = 0; r < t->threads; r++)
		t->members[r] = (struct sweeper){.team = t, .rank = r};
	pthread_mutex_init(&t->gate, NULL);
	pthread_mutex_lock(&t->gate);
	while (started < t->threads && !pthread_create(&t->members[started].thread, NULL, sweeper_main,
						       &t->members[started]))
		started++;
	t->threads = started;
	pthread_barrier_init(&t->barrier, NULL, (unsigned)started);
	pthread_mutex_unlock(&t->gate);
	sweep(&t->members[0]);
	for (uint64_t r = 1; r < started; r++)
		pthread_join(t->members[r].thread, NULL);
	pthread_barrier_destroy(&t->barrier);
	pthread_mutex_destroy(&t->gate);
}

static uint64_t advance(const void *opt, uint32_t blocks, void **data, uint64_t iterations,
			int threads)
{
	enum { POINTS_MIN = 16384 };	/* a thread with less costs more than it saves */
	uint64_t rows = rows_of(opt), cols = cols_of(opt);
	uint64_t useful = 1 + (rows - 2) * (cols - 2) / POINTS_MIN;
	struct sweeper alone[1];
	struct team t = {
		.u = data[0], .rhs = data[1], .rows = rows, .cols = cols, .iterations = iterations,
	};

	(void)blocks;
	t.threads = threads > 1 ? (uint64_t)threads : 1;
	if (t.threads > useful)
		t.threads = useful;
	if (t.threads > rows - 2)
		t.threads = rows - 2;
	t.members = t.threads > 1 ? calloc(t.threads, sizeof(*t.members)) : alone;
	if (!t.members) {
		t.members = alone;
		t.threads = 1;
	}
	team_run(&t);
	if (t.members != alone)
		free(t.members);
	return t.still_since;
}

/*
 * The fixed point, in closed form but for one tridiagonal system: f and the
 * boundary are sin(2 pi x) times a function of y, and sin(2 pi x) is an
 * eigenvector of the second difference in x and 0 at both ends.  So
 * u[i][j] = sin(2 pi x) v[j]  with
 * v[j+1] + v[j-1] + (2 cos(2 pi h) - 4) v[j] = -8 pi^2 h^2 cos(2 pi y).
 */
static void solve_profile(double *v, double *above, uint64_t cols, double h)
{
	const double pi = 3.14159265358979323846, diagonal = 2 * cos(2 * pi * h) - 4;

	v[0] = 1;
	v[cols - 1] = cos(2 * pi * (double)(cols - 1) * h);
	above[0] = 0;
	for (uint64_t j = 1; j < cols - 1; j++) {
		double f = -8 * pi * pi * h * h * cos(2 * pi * (double)j * h);

		above[j] = 1 / (diagonal - above[j - 1]);
		v[j] = (f - v[j - 1]) * above[j];
	}
	for (uint64_t j = cols - 2; j > 0; j--)
		v[j] -= above[j] * v[j + 1];
}

static int solve(const void *opt, uint32_t blocks, void **data)
{
	const double pi = 3.14159265358979323846;
	const double scale = ((const struct poisson2d_options *)opt)->f_scale;
	uint64_t rows = rows_of(opt), cols = cols_of(opt);
	double h = 1 / (double)(rows - 1), *u = data[0];
	double *v = malloc(2 * cols * sizeof(*v));

	(void)blocks;
	if (!v)
		return -1;
	solve_profile(v, v + cols, cols, h);
	for (uint64_t i = 1; i < rows - 1; i++)
		for (uint64_t j = 1; j < cols - 1; j++)
			u[i * cols + j] = scale * sin(2 * pi * (double)i * h) * v[j];
	free(v);
	return 0;
}

/* Near the fixed point terms are rounding alone: the order of operations is poisson2d.h's. */
static double row_squares(const double *u, const double *rhs, uint64_t cols)
{
	double sum = 0;

	for (uint64_t j = 1; j < cols - 1; j++) {
		const double *p = u + j;
		double r = p[cols] + *(p - cols) + p[1] + p[-1] - rhs[j] - 4 * *p;
		sum += r * r;
	}
	return sum;
}

static double norm(const void *opt, void *const *data)
{
	uint64_t rows = rows_of(opt), cols = cols_of(opt);
	const double *u = data[0], *rhs = data[1];
	double sum = 0;

	for (uint64_t i = 1; i < rows - 1; i++)
		sum += row_squares(u + i * cols, rhs + i * cols, cols);
	return sqrt(sum);
}

static void fill_args(const void *opt, uint32_t blocks, void **dev, void *out)
{
	struct poisson2d_args *a = out;

	(void)blocks;
	*a = (struct poisson2d_args){
		.size = sizeof(*a),
		.version = POISSON2D_VERSION,
		.rows = (int64_t)rows_of(opt),
		.cols = (int64_t)cols_of(opt),
		.u = dev[0],
		.rhs = dev[1],
	};
}

const struct workload workload_poisson2d = {
	.name = "poisson2d",
	.brief = "red-black Gauss-Seidel half-sweeps of a 2D Poisson grid",
	.options = options,
	.options_size = sizeof(struct poisson2d_options),
	.args_size = sizeof(struct poisson2d_args),
	.check = check,
	.n = workload_n,
	.steps_per_iteration = steps_per_iteration,
	.units = units,
	.counts = counts,
	.arrays = arrays,
	.fill = fill,
	.advance = advance,
	.args = fill_args,
	.solve = solve,
	.norm = norm,
};
