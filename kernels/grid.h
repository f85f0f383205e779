/* SPDX-License-Identifier: MIT
 *
 * grid.h - from `blocks = auto | rows | capped | N | percu:N` to a grid.
 *
 * There is never a block without work: N is cut to the number of units (rows
 * of the interior, tiles, tasks).
 */
#ifndef PKRUN_GRID_H
#define PKRUN_GRID_H

#include <stdio.h>
#include <string.h>
#include "gpu.h"

/* What `auto` means to a variant. */
enum pk_auto_blocks {
	PK_AUTO_UNITS,		/* one a unit */
	PK_AUTO_CAPPED,		/* at most what can be co-resident */
	PK_AUTO_PER_CU,		/* at most one a compute unit */
	PK_AUTO_FILL		/* blocks of PK_FILL_THREADS a compute unit, all co-resident */
};

#define PK_BLOCKS_LIMIT 2147483647u

/* A step is a chain of loads for each thread, so few threads wait most of the
 * time.  H200, persistent_device, sweep = bands, N = 1001, us an iteration: 11.5
 * with 256 threads a compute unit, 8.4 with 512, 7.9 with 1024. */
#define PK_FILL_THREADS 1024u

/* So many blocks a compute unit, but no more than can be co-resident. */
static inline uint64_t pk_blocks_per_cu(uint64_t each, uint64_t compute_units, uint64_t resident)
{
	return each * compute_units < resident ? each * compute_units : resident;
}

static inline uint64_t pk_auto_blocks(const struct pkrun_run *run, uint64_t units,
				      uint64_t resident, uint64_t compute_units,
				      enum pk_auto_blocks automatic)
{
	uint64_t fill = PK_FILL_THREADS / run->threads;

	switch (automatic) {
	case PK_AUTO_CAPPED:
		return resident;
	case PK_AUTO_PER_CU:
		return pk_blocks_per_cu(1, compute_units, resident);
	case PK_AUTO_FILL:
		return pk_blocks_per_cu(fill ? fill : 1, compute_units, resident);
	case PK_AUTO_UNITS:
		break;
	}
	return units;
}

static inline uint32_t pk_grid_blocks(const struct pkrun_run *run, uint64_t units,
				      uint64_t resident, uint64_t compute_units,
				      enum pk_auto_blocks automatic)
{
	uint64_t blocks = units;

	switch (run->blocks.index) {
	case PKRUN_BLOCKS_AUTO:
		blocks = pk_auto_blocks(run, units, resident, compute_units, automatic);
		break;
	case PKRUN_BLOCKS_CAPPED:
		blocks = resident;
		break;
	case PKRUN_BLOCKS_NUMBER:
		blocks = (uint64_t)run->blocks.arg;
		break;
	case PKRUN_BLOCKS_PER_CU:
		blocks = pk_blocks_per_cu((uint64_t)run->blocks.arg, compute_units, resident);
		break;
	}
	if (blocks > units)
		blocks = units;
	if (blocks > PK_BLOCKS_LIMIT)
		blocks = PK_BLOCKS_LIMIT;
	return blocks ? (uint32_t)blocks : 1;
}

/* Dynamic shared memory that a block can have at most, when it asks for it. */
static inline int pk_shared_max(const struct pkrun_run *run)
{
	int bytes = 0;

#if defined(PKRUN_BUILD_HIP)
	(void)hipDeviceGetAttribute(&bytes, hipDeviceAttributeMaxSharedMemoryPerBlock, run->device);
#else
	(void)hipDeviceGetAttribute(&bytes, hipDeviceAttributeSharedMemPerBlockOptin, run->device);
#endif
	return bytes;
}

#if !defined(PKRUN_BUILD_HOST)
/* Of the device, as configure has it. */
static inline int pk_arch(struct pkrun_run *run, char *out, size_t size)
{
	hipDeviceProp_t p;

	PK_TRY(run, hipGetDeviceProperties(&p, run->device));
#if defined(PKRUN_BUILD_CUDA)
	snprintf(out, size, "sm_%d%d", p.major, p.minor);
#else
	snprintf(out, size, "%.*s", (int)strcspn(p.gcnArchName, ":"), p.gcnArchName);
#endif
	return PKRUN_OK;
}

/* What the runtime knows of `kernel`; PKRUN_SKIP when there is no code for this device. */
template <class Kernel>
static int pk_kernel_attributes(struct pkrun_run *run, Kernel kernel, hipFuncAttributes *out)
{
	hipError_t found = hipFuncGetAttributes(out, reinterpret_cast<const void *>(kernel));
	char arch[64];
	int status;

	if (found != hipErrorNoBinaryForGpu && found != hipErrorInvalidDeviceFunction) {
		PK_TRY(run, found);
		return PKRUN_OK;
	}
	(void)hipGetLastError();
	status = pk_arch(run, arch, sizeof(arch));
	if (status != PKRUN_OK)
		return status;
#if defined(PKRUN_BUILD_CUDA)
	run->host->say(run, "built without code for %s: configure --with-cuda-arch=%s", arch, arch);
#else
	run->host->say(run, "built without code for %s: configure --with-hip-arch=%s", arch, arch);
#endif
	return PKRUN_SKIP;
}
#endif

/* Shared memory that `kernel` has anyhow: its arrays of fixed size count against the same limit.
 * (Not so on the host target, which keeps them apart and has code for itself.) */
template <class Kernel>
static int pk_shared_fixed(struct pkrun_run *run, Kernel kernel, size_t *bytes)
{
#if defined(PKRUN_BUILD_HOST)
	(void)run;
	(void)kernel;
	*bytes = 0;
	return PKRUN_OK;
#else
	hipFuncAttributes attributes;
	int status = pk_kernel_attributes(run, kernel, &attributes);

	if (status == PKRUN_OK)
		*bytes = attributes.sharedSizeBytes;
	return status;
#endif
}

/* Let `kernel` have so many bytes of it; PKRUN_SKIP when no block can. */
template <class Kernel> static int pk_allow_shared(struct pkrun_run *run, Kernel kernel, size_t bytes)
{
	int most = pk_shared_max(run), status;
	size_t fixed;

	if (!bytes)
		return PKRUN_OK;
	status = pk_shared_fixed(run, kernel, &fixed);
	if (status != PKRUN_OK)
		return status;
	if (bytes + fixed > (size_t)most) {
		run->host->say(run, "a block would need %zu bytes of shared memory, this device has %d",
			       bytes + fixed, most);
		return PKRUN_SKIP;
	}
	PK_TRY(run, hipFuncSetAttribute(reinterpret_cast<const void *>(kernel),
					hipFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
	return PKRUN_OK;
}

#if defined(PKRUN_BUILD_CUDA)
/* PKRUN_SKIP when `kernel` is not code for architecture `least` (90: sm_90) or later: that of an
 * older one runs on later devices too, but lacks what is compiled in from `least` on only. */
template <class Kernel> static int pk_built_for(struct pkrun_run *run, Kernel kernel, int least)
{
	hipFuncAttributes attributes;
	int status = pk_kernel_attributes(run, kernel, &attributes);

	if (status != PKRUN_OK || attributes.ptxVersion >= least)
		return status;
	run->host->say(run, "built for sm_%d; it needs code for sm_%d: configure --with-cuda-arch=sm_%d",
		       attributes.ptxVersion, least, least);
	return PKRUN_SKIP;
}
#endif

/* Fill a footprint for `kernel`; the runtime says how many blocks fit a compute unit. */
template <class Kernel>
static int pk_footprint(struct pkrun_run *run, Kernel kernel, uint64_t units, size_t dynamic_bytes,
			enum pk_auto_blocks automatic, struct pkrun_footprint *fp)
{
	int per_unit = 0, compute_units = 0, status;
	size_t fixed;

	status = pk_shared_fixed(run, kernel, &fixed); /* is there code for this device? */
	if (status != PKRUN_OK)
		return status;
	PK_TRY(run, hipDeviceGetAttribute(&compute_units, hipDeviceAttributeMultiprocessorCount,
					  run->device));
	PK_TRY(run, hipOccupancyMaxActiveBlocksPerMultiprocessor(&per_unit, kernel,
								 (int)run->threads, dynamic_bytes));
	if (per_unit < 1) {
		run->host->say(run,
			       "no block of %u threads with %zu bytes of dynamic shared memory fits "
			       "a compute unit",
			       run->threads, dynamic_bytes);
		return PKRUN_SKIP;
	}
	fp->threads = run->threads;
	fp->resident_max = (uint32_t)per_unit * (uint32_t)compute_units;
	fp->dynamic_bytes = dynamic_bytes;
	fp->blocks = pk_grid_blocks(run, units, fp->resident_max, (uint64_t)compute_units, automatic);
	return PKRUN_OK;
}

#endif
