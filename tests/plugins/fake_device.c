/* SPDX-License-Identifier: MIT
 *
 * fake_device.c - a host device of plain memory, for the fakes (fake.h).
 *
 * FAKE_COOPERATIVE=0: it has no cooperative launch.  FAKE_PROBE=fail | hang:
 * how a probe after a hang goes.  FAKE_ROOM: no piece of memory is larger than so many bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "core/device.h"

static const char *message = "";
static int64_t mark_ns[2];

static int is(const char *variable, const char *value)
{
	const char *v = getenv(variable);

	return v && strcmp(v, value) == 0;
}

static const char *error_text(void)
{
	return message;
}

static int count(void)
{
	return 1;
}

static int info(int device, struct pkrun_device_info *out)
{
	(void)device;
	memset(out, 0, sizeof(*out));
	strcpy(out->name, "fake host");
	strcpy(out->arch, "host");
	strcpy(out->runtime, "fake");
	out->compute_units = 2;
	out->warp = 32;
	out->max_threads = 1024;
	out->cooperative = !is("FAKE_COOPERATIVE", "0");
	return 0;
}

static int open_device(int device, void **stream)
{
	(void)device;
	*stream = NULL;
	return 0;
}

static void close_device(void *stream)
{
	(void)stream;
}

static int alloc(uint32_t memory, size_t bytes, void **host, void **dev)
{
	const char *room = getenv("FAKE_ROOM");
	void *p = room && bytes > (size_t)atol(room) ? NULL : aligned_alloc(256, (bytes + 255) / 256 * 256);

	if (!p) {
		message = "out of memory";
		return -1;
	}
	if (dev)
		*dev = p;
	if (host)
		*host = memory == PKRUN_MEMORY_DEVICE ? NULL : p;
	return 0;
}

static void free_memory(uint32_t memory, void *host, void *dev)
{
	(void)memory;
	free(dev ? dev : host);
}

static int copy_in(void *dev, const void *host, size_t bytes)
{
	memcpy(dev, host, bytes);
	return 0;
}

static int copy(void *dst, const void *src, size_t bytes)
{
	memcpy(dst, src, bytes);
	return 0;
}

static int fill(void *dev, uint8_t byte, size_t bytes)
{
	memset(dev, byte, bytes);
	return 0;
}

static int nothing(void)
{
	return 0;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
	x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ x >> 33;
}

static int hash(const uint64_t *dev, uint64_t n, uint64_t *out)
{
	uint64_t i;

	for (*out = 0, i = 0; i < n; i++)
		*out += mix(dev[i] + UINT64_C(0x9E3779B97F4A7C15) * (i + 1));
	return 0;
}

static int differ(const uint64_t *dev, uint64_t n, uint64_t value, uint64_t *count_, uint64_t *first)
{
	uint64_t i;

	*count_ = *first = 0;
	for (i = 0; i < n; i++)
		if (dev[i] != value && (*count_)++ == 0)
			*first = i;
	return 0;
}

static int mark(int which, void *stream)
{
	struct timespec t;

	(void)stream;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	mark_ns[which] = t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
	return 0;
}

static int elapsed_ns(int64_t *ns)
{
	*ns = mark_ns[1] - mark_ns[0];
	return 0;
}

static int probe(void)
{
	while (is("FAKE_PROBE", "hang"))
		pause();
	message = "the fake was told to fail";
	return is("FAKE_PROBE", "fail") ? -1 : 0;
}

/* Leaves a byte in $FAKE_FLUSHED each time. */
static int flush_cache(void)
{
	const char *path = getenv("FAKE_FLUSHED");
	FILE *f = path ? fopen(path, "a") : NULL;

	if (f) {
		fputc('x', f);
		fclose(f);
	}
	return 0;
}

PKRUN_EXPORT struct pkrun_device pkrun_device = {
	.magic = PKRUN_MAGIC, .version = PKRUN_DEVICE_VERSION, .size = sizeof(struct pkrun_device),
	.target = PKRUN_HOST, .error = error_text, .count = count, .info = info,
	.open = open_device, .close = close_device, .alloc = alloc, .free = free_memory,
	.to_device = copy_in, .to_host = copy_in, .copy = copy, .fill = fill, .sync = nothing,
	.hash = hash, .differ = differ, .mark = mark, .elapsed_ns = elapsed_ns, .probe = probe,
	.flush_cache = flush_cache,
};
