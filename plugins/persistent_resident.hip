/* SPDX-License-Identifier: MIT
 *
 * persistent_resident - the grid stays on the chip.
 *
 * Against persistent_device: a block loads its band of rows into shared memory
 * once, and the right-hand side too where both fit; a step reads and writes
 * shared memory, only the two edge rows go through device memory to the
 * neighbours, and the rest is written back when the run ends.
 *
 * Cost: a band has to fit, which bounds N by the shared memory of all compute
 * units together (about 1800 on a device of 132 x 227 KB); what does not fit
 * is skipped, with both numbers.  This is the simple version: one thread a
 * point, the step counters of persistent_device, no registers.
 */
#include "kernels/neighbour_order.h"
#include "kernels/onchip.h"

struct resident_order : neighbour_order {
	template <class W> static __device__ __forceinline__ void begin(const W &work)
	{
		work.load();
		__syncthreads();
	}
	template <class W, class Waited = struct pk_untold>
	static __device__ __forceinline__ bool before(const struct device_control &c, const W &work,
						      uint64_t s, uint32_t *left, Waited waited = {})
	{
		if (!neighbour_order::before(c, work, s, left, waited))
			return false;
		if (s > 0) {
			work.halo(s);
			__syncthreads();
		}
		return true;
	}
	template <class W> static __device__ __forceinline__ void finish(const W &work)
	{
		__syncthreads();
		work.store();
	}
};

struct resident_source {
	static const enum pk_auto_blocks automatic = PK_AUTO_PER_CU; /* shared memory holds one */

	template <class F> static int with(struct pkrun_run *run, F f)
	{
		if (!strcmp(run->work->name, "null")) {
			const struct null_args *a = pk_args<struct null_args>(run, NULL_VERSION);
			null_onchip w;

			if (!a)
				return PKRUN_FAIL;
			static_cast<null_work &>(w) = null_work::make(a);
			return pk_call(run, w, f);
		}
		if (!strcmp(run->work->name, "poisson2d")) {
			const struct poisson2d_args *a =
				pk_args<struct poisson2d_args>(run, POISSON2D_VERSION);
			poisson2d_onchip w;

			if (!a)
				return PKRUN_FAIL;
			w = poisson2d_onchip::make(a, run->threads);
			w.rhs_too = rhs_fits(run, w);
			return pk_call(run, w, f);
		}
		run->host->say(run, "workload %s has nothing to keep on the chip", run->work->name);
		return PKRUN_SKIP;
	}
	/* Decided by the grid, which is the same in every call of a cell. */
	static uint32_t rhs_fits(struct pkrun_run *run, poisson2d_onchip w)
	{
		int units = 0;

		if (hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount,
					  run->device) != hipSuccess)
			return 0;
		w.rhs_too = 1;
		return w.shared_bytes(pk_grid_blocks(run, w.units(), (uint64_t)units, (uint64_t)units,
						     PK_AUTO_PER_CU)) <= (size_t)pk_shared_max(run) - 2048;
	}
	template <class W> static size_t shared_bytes(const W &work, uint32_t blocks)
	{
		return work.shared_bytes(blocks);
	}
};

static const struct pkrun_option options[] = {
	DEVICE_OPTION_STAMPS(),
	{},
};

static int probe(struct pkrun_run *run)
{
	return pk_only_bands(run, "persistent_resident");
}

static int start(struct pkrun_run *run)
{
	return device_start<resident_order, resident_source>(run, resident_order{});
}

PKRUN_PLUGIN(
	.name = "persistent_resident",
	.brief = "rows stay in shared memory, only edge rows travel",
	.control = PKRUN_CONTROL_DEVICE,
	.result = PKRUN_EXACT,
	.flags = PKRUN_COOPERATIVE | PKRUN_RESIDENT,
	.state_size = sizeof(struct device_state),
	.workloads = "poisson2d,null",
	.options = options,
	.options_size = sizeof(struct device_options),
	.reserved = 0,
	.probe = probe,
	.footprint = device_footprint<resident_order, resident_source>,
	.setup = device_setup,
	.start = start,
	.run = device_run,
	.wait = device_wait,
	.stop = device_stop,
	.teardown = device_teardown,
);
