/* SPDX-License-Identifier: MIT
 *
 * private_bands.h - the body of persistent_halo and persistent_chaotic: each
 * block works on a copy of its own and exchanges edge rows every `period` steps.
 *
 * The copy of a block holds its band and `width` rows above and below.  In the
 * steps between two exchanges the block also updates halo rows, one fewer on
 * each side a step, as far as they can be known: with width = period every own
 * point gets the same bits as from a shared grid.  With width = 1 and a longer
 * period the halo is stale, and the result only converges.
 *
 * Exchange number e: a block copies its outermost `width` own rows to packets,
 * meets its own threads, and raises its counter to e; when a neighbour's counter
 * stands at e its packets are read.  Packets have two sets in turn.  Those of
 * e + 2 overwrite those of e, and a block gets there only when its neighbours'
 * counters stand at e + 1, which they raised after reading e.
 */
#ifndef PKRUN_PRIVATE_BANDS_H
#define PKRUN_PRIVATE_BANDS_H

#include "neighbour_order.h"
#include "onchip.h"

struct private_options {
	struct device_options device;
	int64_t rows;	/* of the halo */
	int64_t period;	/* steps between two exchanges; 0: as `rows` */
};

/* Begins with what device_setup() and its kin expect. */
struct private_state {
	struct device_state device;
	double *copies, *packets;
};

/* No data: the protocol alone. */
struct null_private : null_work {
	uint64_t period;

	__device__ void load() const
	{
	}
	__device__ void publish(uint64_t) const
	{
	}
	__device__ void fetch(uint64_t) const
	{
	}
	__device__ void store() const
	{
	}
	uint64_t copy_doubles(uint32_t) const
	{
		return 0;
	}
	uint64_t packet_doubles(uint32_t) const
	{
		return 0;
	}
};

struct poisson2d_private {
	static const bool has_norm = true;

	double *u, *copies, *packets;
	const double *rhs;
	uint64_t rows, cols, width, period;
	struct pk_lanes across;

	uint64_t units() const
	{
		return rows - 2 > width ? (rows - 2) / width : 1;
	}
	uint64_t copy_doubles(uint32_t blocks) const
	{
		return (rows - 2 + 2 * width * blocks) * cols;
	}
	uint64_t packet_doubles(uint32_t blocks) const
	{
		return 2 * 2 * (uint64_t)blocks * width * cols;
	}
	/* Every block has at least `width` rows (units()), so none is passed over. */
	PK_FN int neighbours(uint32_t block, uint32_t blocks, uint32_t out[PK_NEIGHBOURS_MAX]) const
	{
		return pk_chain(block, blocks, out);
	}
	__device__ __forceinline__ uint64_t first() const
	{
		return 1 + pk_share_begin(rows - 2, gridDim.x, blockIdx.x);
	}
	__device__ __forceinline__ uint64_t end() const
	{
		return 1 + pk_share_begin(rows - 2, gridDim.x, (uint64_t)blockIdx.x + 1);
	}
	/* Where row i of the grid would begin in the block's copy. */
	__device__ __forceinline__ double *row(uint64_t i) const
	{
		uint64_t before = first() - 1 + 2 * width * blockIdx.x;

		return copies + (before + i + width - first()) * cols;
	}
	/* The packet of a block's upper (0) or lower (1) edge. */
	__device__ __forceinline__ double *packet(uint64_t number, uint32_t block, int side) const
	{
		uint64_t which = ((number & 1) * gridDim.x + block) * 2 + (uint64_t)side;

		return packets + which * width * cols;
	}
	__device__ static void copy(double *to, const double *from, uint64_t n)
	{
		for (uint64_t k = threadIdx.x; k < n; k += blockDim.x)
			to[k] = from[k];
	}
	__device__ void load() const
	{
		uint64_t top = first() > width ? first() - width : 0;
		uint64_t bottom = end() + width < rows ? end() + width : rows;

		copy(row(top), u + top * cols, (bottom - top) * cols);
	}
	__device__ void publish(uint64_t number) const
	{
		if (blockIdx.x > 0)
			copy(packet(number, blockIdx.x, 0), row(first()), width * cols);
		if (blockIdx.x + 1 < gridDim.x)
			copy(packet(number, blockIdx.x, 1), row(end() - width), width * cols);
	}
	__device__ void fetch(uint64_t number) const
	{
		if (blockIdx.x > 0)
			copy(row(first() - width), packet(number, blockIdx.x - 1, 1), width * cols);
		if (blockIdx.x + 1 < gridDim.x)
			copy(row(end()), packet(number, blockIdx.x + 1, 0), width * cols);
	}
	/* f(place of the point in the copy, index in the grid) for rows top .. bottom - 1 */
	template <class F>
	__device__ __forceinline__ void points(uint64_t top, uint64_t bottom, uint32_t colour, F f) const
	{
		uint32_t lane = across.lane(threadIdx.x), group = across.group(threadIdx.x);

		if (group >= across.groups)
			return;
		for (uint64_t i = top + group; i < bottom; i += across.groups) {
			double *p = row(i);

			for (uint64_t j = pk_first_column(i, 1, colour) + 2 * (uint64_t)lane;
			     j < cols - 1; j += 2 * (uint64_t)across.lanes)
				f(p + j, i * cols + j);
		}
	}
	__device__ __forceinline__ void step(uint32_t, uint32_t, uint64_t s) const
	{
		uint64_t q = s % period, more = q < width ? width - 1 - q : 0;
		uint64_t top = first() > more + 1 ? first() - more : 1;
		uint64_t bottom = end() + more < rows - 1 ? end() + more : rows - 1;
		const uint64_t stride = cols;
		const double *const right = rhs;

		points(top, bottom, (uint32_t)(s & 1), [=](double *p, uint64_t at) {
			*p = 0.25 * (p[stride] + *(p - stride) + p[1] + p[-1] - pk_constant(right + at));
		});
	}
	/* On what this block knows: a stale halo is taken as it is. */
	__device__ double norm(uint32_t, uint32_t) const
	{
		const uint64_t stride = cols;
		double sum = 0;

		for (uint32_t colour = 0; colour < 2; colour++)
			points(first(), end(), colour, [&](double *p, uint64_t at) {
				double r = p[stride] + *(p - stride) + p[1] + p[-1] - rhs[at] - 4 * *p;
				sum += r * r;
			});
		return sum;
	}
	__device__ void store() const
	{
		for (uint32_t colour = 0; colour < 2; colour++)
			points(first(), end(), colour, [=](double *p, uint64_t at) { u[at] = *p; });
	}
};

struct private_order : neighbour_order {
	template <class W> static __device__ __forceinline__ void begin(const W &work)
	{
		work.load();
		__syncthreads();
	}
	template <class W, class Waited = struct pk_untold>
	static __device__ __forceinline__ bool before(const struct device_control &c, const W &work,
						      uint64_t s, uint32_t *left, Waited waited = {})
	{
		uint64_t exchange = s / work.period;

		if (s > 0 && s % work.period) {
			waited();
			return true;
		}
		if (!neighbour_order::before(c, work, exchange, left, waited))
			return false;
		if (s > 0) {
			work.fetch(exchange);
			__syncthreads();
		}
		return true;
	}
	template <class W, class Told = struct pk_untold>
	static __device__ __forceinline__ bool after(const struct device_control &c, const W &work,
						     uint64_t s, uint32_t *left, Told told = {})
	{
		__syncthreads();
		if ((s + 1) % work.period) {
			told();
			return true;
		}
		work.publish((s + 1) / work.period);
		return neighbour_order::after(c, work, (s + 1) / work.period - 1, left, told);
	}
	template <class W> static __device__ __forceinline__ void finish(const W &work)
	{
		__syncthreads();
		work.store();
	}
};

struct private_source : device_source {
	static const enum pk_auto_blocks automatic = PK_AUTO_PER_CU;

	static uint64_t period(const struct private_options *o)
	{
		return (uint64_t)(o->period ? o->period : o->rows);
	}
	template <class F> static int with_null(struct pkrun_run *run, F f)
	{
		const struct null_args *a = pk_args<struct null_args>(run, NULL_VERSION);
		null_private w;

		if (!a)
			return PKRUN_FAIL;
		static_cast<null_work &>(w) = null_work::make(a);
		w.period = period((const struct private_options *)run->options);
		return pk_call(run, w, f);
	}
	template <class F> static int with_poisson2d(struct pkrun_run *run, F f)
	{
		const struct private_options *o = (const struct private_options *)run->options;
		const struct private_state *state = (const struct private_state *)run->state;
		const struct poisson2d_args *a =
			pk_args<struct poisson2d_args>(run, POISSON2D_VERSION);
		poisson2d_private w;

		if (!a)
			return PKRUN_FAIL;
		w.u = a->u;
		w.copies = state->copies;
		w.packets = state->packets;
		w.rhs = a->rhs;
		w.rows = (uint64_t)a->rows;
		w.cols = (uint64_t)a->cols;
		w.width = (uint64_t)o->rows;
		w.period = period(o);
		w.across = pk_lanes::over((w.cols - 1) / 2, run->threads);
		return pk_call(run, w, f);
	}
	template <class F> static int with(struct pkrun_run *run, F f)
	{
		if (!strcmp(run->work->name, "null"))
			return with_null(run, f);
		if (!strcmp(run->work->name, "poisson2d"))
			return with_poisson2d(run, f);
		run->host->say(run, "workload %s has no halo", run->work->name);
		return PKRUN_SKIP;
	}
};

static inline int private_probe(struct pkrun_run *run)
{
	return pk_only_bands(run, "a variant with copies of its own");
}

static inline int private_setup(struct pkrun_run *run)
{
	struct private_state *p = (struct private_state *)run->state;
	int status = device_setup(run);

	if (status != PKRUN_OK)
		return status;
	return private_source::with(run, [=](auto work) -> int {
		uint64_t copies = work.copy_doubles(p->device.blocks);
		uint64_t packets = work.packet_doubles(p->device.blocks);
		int got = PKRUN_OK;

		if (copies)
			got = run->host->alloc(run, "copies", PKRUN_MEMORY_DEVICE,
					       copies * sizeof(double), NULL, (void **)&p->copies);
		if (got == PKRUN_OK && packets)
			got = run->host->alloc(run, "packets", PKRUN_MEMORY_DEVICE,
					       packets * sizeof(double), NULL, (void **)&p->packets);
		return got;
	});
}

static inline int private_start(struct pkrun_run *run)
{
	return device_start<private_order, private_source>(run, private_order{});
}

#endif
