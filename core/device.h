/* SPDX-License-Identifier: MIT
 *
 * device.h - what the core needs of a device, as a table of functions.
 *
 * One HIP source (kernels/device.hip) is built for each target into
 * plugins/<target>/device.so and loaded in the child like a plugin, so that
 * pkrun itself starts where no GPU library exists.  Everything returns 0 or a
 * negative number and leaves the cause in error().
 */
#ifndef PKRUN_DEVICE_H
#define PKRUN_DEVICE_H

#include <stddef.h>
#include <stdint.h>
#include "plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PKRUN_DEVICE_VERSION 1

/* What a device says of itself.  0 or "" where the runtime does not tell. */
struct pkrun_device_info {
	char name[128];			/* "NVIDIA H200" */
	char arch[64];			/* "sm_90", "gfx90a:sramecc+:xnack-", "host" */
	char uuid[64];
	char pci[32];
	uint32_t compute_units;		/* CUs or SMs */
	uint32_t warp;			/* threads of a wavefront or warp */
	uint32_t max_threads;		/* a block */
	uint32_t cooperative;		/* 1: cooperative launch is supported */
	uint64_t memory_bytes;
	uint64_t l2_bytes;
	uint64_t shared_bytes;		/* a block, at most (opt-in) */
	uint32_t clock_khz;		/* maximum core clock */
	uint32_t memory_clock_khz;
	char driver[64];		/* "580.159.04" where known, else the API's number */
	char runtime[64];		/* "CUDA 13.0", "HIP 5.2", "host" */
};

struct pkrun_device {
	uint32_t magic;			/* PKRUN_MAGIC */
	uint32_t version;		/* PKRUN_DEVICE_VERSION */
	uint32_t size;
	uint32_t target;		/* enum pkrun_target */

	const char *(*error)(void);	/* the last failure: call and the runtime's text */

	/* Number of devices; 0 with a reason in error() when there is none, no
	 * driver, or one too old for the runtime.  Never fails otherwise. */
	int  (*count)(void);
	int  (*info)(int device, struct pkrun_device_info *out);
	int  (*open)(int device, void **stream);	/* make current; a non-blocking stream */
	void (*close)(void *stream);

	int  (*alloc)(uint32_t memory, size_t bytes, void **host, void **dev); /* enum pkrun_memory; PKRUN_SKIP: no such memory */
	void (*free)(uint32_t memory, void *host, void *dev);
	int  (*to_device)(void *dev, const void *host, size_t bytes);	/* these four block until done */
	int  (*to_host)(void *host, const void *dev, size_t bytes);
	int  (*copy)(void *dst, const void *src, size_t bytes);		/* device to device */
	int  (*fill)(void *dev, uint8_t byte, size_t bytes);
	int  (*sync)(void);

	/* sum mod 2^64 over i of fmix64(word[i] + 0x9E3779B97F4A7C15 * (i + 1)),
	 * of n 64-bit words; verify.c has the same in C. */
	int  (*hash)(const uint64_t *dev, uint64_t n, uint64_t *out);
	/* how many of n 64-bit words differ from `value`, and the first such index */
	int  (*differ)(const uint64_t *dev, uint64_t n, uint64_t value, uint64_t *count, uint64_t *first);

	/* time between two points of a stream, by the device's events */
	int  (*mark)(int which, void *stream);		/* which: 0 begin, 1 end */
	int  (*elapsed_ns)(int64_t *ns);		/* waits for mark 1 */

	/* a small kernel end to end: does the device still answer? */
	int  (*probe)(void);
	/* write twice the last-level cache (cold-cache runs) */
	int  (*flush_cache)(void);
};

extern PKRUN_EXPORT struct pkrun_device pkrun_device;

#ifdef __cplusplus
}
#endif
#endif
