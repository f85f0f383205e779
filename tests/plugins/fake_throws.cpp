/* SPDX-License-Identifier: MIT
 *
 * fake_throws.cpp - lets a C++ exception out of run().
 */
#include <stdexcept>
#include "core/plugin.h"

static int footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	fp->blocks = (uint32_t)run->work->units;
	fp->threads = run->threads;
	fp->resident_max = 64;
	return PKRUN_OK;
}

static int run(struct pkrun_run *, uint64_t)
{
	throw std::runtime_error("out of cheese");
}

static int wait(struct pkrun_run *)
{
	return PKRUN_OK;
}

PKRUN_PLUGIN(.name = "throws", .brief = "throws", .control = PKRUN_CONTROL_HOST,
	     .result = PKRUN_EXACT, .flags = 0, .state_size = 0, .workloads = "poisson2d,null",
	     .options = nullptr, .options_size = 0, .reserved = 0, .probe = nullptr,
	     .footprint = footprint, .setup = nullptr, .start = nullptr, .run = run, .wait = wait,
	     .stop = nullptr, .teardown = nullptr);
