/* SPDX-License-Identifier: MIT
 *
 * launch.cpp - what may be launched, and how many blocks of it are resident.
 */
#include <cstring>
#include <unordered_map>
#include "runtime.h"

/* Dynamic shared memory that hipFuncSetAttribute allowed, by kernel. */
static lock allowed_lock;
static std::unordered_map<const void *, size_t> &allowed(void)
{
	static auto *map = new std::unordered_map<const void *, size_t>();

	return *map;
}

hipError_t hipFuncSetAttribute(const void *kernel, hipFuncAttribute what, int value)
{
	if (kernel == nullptr)
		return set_error(hipErrorInvalidDeviceFunction);
	if (what != hipFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
	    (unsigned)value > PKH_BLOCK_SHARED_MAX)
		return set_error(hipErrorInvalidValue);
	tsan_quiet quiet;
	holding hold(allowed_lock);

	allowed()[kernel] = (size_t)value;
	return hipSuccess;
}

static size_t dynamic_allowed(const void *kernel)
{
	holding hold(allowed_lock);
	auto i = allowed().find(kernel);

	return i == allowed().end() || i->second < PKH_BLOCK_SHARED ? PKH_BLOCK_SHARED : i->second;
}

/* Blocks of this kind that one unit holds; 0: none fits. */
static unsigned unit_blocks(unsigned threads, size_t dynamic_bytes)
{
	unsigned n = PKH_UNIT_BLOCKS;
	size_t shared = dynamic_bytes + PKH_BLOCK_SHARED_RESERVED;

	if (threads == 0 || threads > PKH_BLOCK_THREADS || dynamic_bytes > PKH_BLOCK_SHARED_MAX)
		return 0;
	if (n > PKH_UNIT_THREADS / threads)
		n = PKH_UNIT_THREADS / threads;
	if (n > PKH_UNIT_SHARED / shared)
		n = (unsigned)(PKH_UNIT_SHARED / shared);
	return n;
}

hipError_t pkh_occupancy(int *blocks, int threads, size_t dynamic_bytes)
{
	if (blocks == nullptr || threads <= 0)
		return set_error(hipErrorInvalidValue);
	*blocks = (int)unit_blocks((unsigned)threads, dynamic_bytes);
	return hipSuccess;
}

static hipError_t launch_check(const pkh_launch_params *p)
{
	uint64_t threads = (uint64_t)p->block.x * p->block.y * p->block.z;
	uint64_t blocks = (uint64_t)p->grid.x * p->grid.y * p->grid.z;

	if (threads == 0 || threads > PKH_BLOCK_THREADS || p->block.x > 1024 || p->block.y > 1024 ||
	    p->block.z > 64)
		return hipErrorInvalidConfiguration;
	if (blocks == 0 || p->grid.x > 0x7fffffffu || p->grid.y > 65535 || p->grid.z > 65535)
		return hipErrorInvalidConfiguration;
	if (p->dynamic_bytes > dynamic_allowed(p->kernel))
		return hipErrorInvalidValue;
	if (p->cooperative &&
	    blocks > (uint64_t)PKH_UNITS * unit_blocks((unsigned)threads, p->dynamic_bytes))
		return hipErrorCooperativeLaunchTooLarge;
	return hipSuccess;
}

static std::shared_ptr<const op_work> launch_work(const pkh_launch_params *p)
{
	const size_t unit = sizeof(std::max_align_t);
	auto w = std::make_shared<op_work>();

	w->kind = OP_KERNEL;
	w->call = p->call;
	w->args.reset(new std::max_align_t[(p->size + unit - 1) / unit]);
	memcpy(w->args.get(), p->args, p->size);
	w->grid = p->grid;
	w->block = p->block;
	w->blocks = (uint64_t)p->grid.x * p->grid.y * p->grid.z;
	w->threads = p->block.x * p->block.y * p->block.z;
	w->dynamic_bytes = p->dynamic_bytes;
	w->cooperative = p->cooperative != 0;
	w->resident_max = PKH_UNITS * unit_blocks(w->threads, p->dynamic_bytes);
	w->share = PKH_UNITS * PKH_UNIT_THREADS / w->resident_max;
	return w;
}

hipError_t pkh_launch(const pkh_launch_params *p, hipStream_t stream)
{
	hipError_t e = launch_check(p);

	if (e != hipSuccess)
		return set_error(e);
	tsan_quiet quiet;

	return stream_enqueue(stream, launch_work(p));
}
