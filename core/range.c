/* SPDX-License-Identifier: MIT
 *
 * range.c - named ranges in a profiler's timeline.
 *
 * NVTX 3 is a header that finds the profiler by itself, so it is compiled into
 * the CUDA build of device.hip; NVTX 2 and ROCTX are libraries.
 */
#include <dlfcn.h>
#include <stddef.h>
#include "range.h"

static int (*push)(const char *name);
static int (*pop)(void);

static const struct {
	const char *library, *push, *pop;
} known[] = {
	{ NULL, "pkrun_range_push", "pkrun_range_pop" },	/* of device.so */
	{ "libroctx64.so.4", "roctxRangePushA", "roctxRangePop" },
	{ "libroctx64.so", "roctxRangePushA", "roctxRangePop" },
	{ "librocprofiler-sdk-roctx.so.0", "roctxRangePushA", "roctxRangePop" },
	{ "libnvToolsExt.so.1", "nvtxRangePushA", "nvtxRangePop" },
};

int range_open(const char *device_so)
{
	size_t i;
	void *so;

	for (i = 0; i < sizeof(known) / sizeof(known[0]) && !push; i++) {
		so = known[i].library ? dlopen(known[i].library, RTLD_NOW | RTLD_LOCAL)
				      : dlopen(device_so, RTLD_NOW | RTLD_NOLOAD);
		if (!so)
			continue;
		*(void **)&push = dlsym(so, known[i].push);
		*(void **)&pop = dlsym(so, known[i].pop);
		if (!pop)
			push = NULL;
	}
	return push != NULL;
}

void range_push(const char *name)
{
	if (push)
		push(name);
}

void range_pop(void)
{
	if (push)
		pop();
}
