/* SPDX-License-Identifier: MIT
 *
 * range.h - named ranges in a profiler's timeline: NVTX, ROCTX, where there is one.
 */
#ifndef PKRUN_RANGE_H
#define PKRUN_RANGE_H

/* device_so may bring NVTX with it (kernels/device.hip); else a library is looked for.  0: none. */
int range_open(const char *device_so);
void range_push(const char *name);
void range_pop(void);

#endif
