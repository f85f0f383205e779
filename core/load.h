/* SPDX-License-Identifier: MIT
 *
 * load.h - dlopen a plugin and decide, before any of its functions is called,
 * whether it is one.  Only for child processes: a constructor may do anything.
 * What is loaded stays loaded.
 */
#ifndef PKRUN_LOAD_H
#define PKRUN_LOAD_H

#include "device.h"
#include "plugin.h"

#define LOAD_ANY_TARGET 0u

/* 0 and *out, or -1 and the reason in why.  `target` is the one the caller
 * runs, or LOAD_ANY_TARGET.  Fields behind (*out)->size do not exist: PKRUN_HAS. */
int load_plugin(const char *path, uint32_t target, const struct pkrun_plugin **out, char *why,
		size_t why_size);
/* The same for plugins/<target>/device.so. */
int load_device(const char *path, uint32_t target, const struct pkrun_device **out, char *why,
		size_t why_size);
/* The checks alone, on a descriptor in memory (load_plugin without dlopen; for tests). */
int load_check(const struct pkrun_plugin *p, uint32_t target, char *why, size_t why_size);

#endif
