/* SPDX-License-Identifier: MIT
 *
 * telemetry.h - what the driver's management library says of a GPU: NVML for
 * cuda, ROCm SMI for hip, loaded with dlopen.  Neither makes a GPU context, so
 * the parent may use them.  Everything is read; nothing is ever set.
 */
#ifndef PKRUN_TELEMETRY_H
#define PKRUN_TELEMETRY_H

#include <stddef.h>
#include <stdint.h>
#include "device.h"

#define TELEMETRY_UNKNOWN INT64_MIN	/* equal to STORE_NULL */

struct telemetry_state {	/* TELEMETRY_UNKNOWN, NAN or "" where the library does not tell */
	int64_t clock_mhz, max_clock_mhz, memory_clock_mhz, temperature_c;
	int64_t energy_uj;	/* since the driver was loaded; differences count */
	int64_t processes;	/* that compute on the GPU, ours included */
	double power_w, power_cap_w, power_cap_default_w;
	char throttle[128];	/* "none", or reasons with commas between */
	char ecc[16];		/* "on", "off" */
	char partition[32];	/* "none", "MIG", "SPX", ... */
	char persistence[16];	/* "on", "off" */
	char compute_mode[32];	/* "default", "exclusive process", ... */
};

struct telemetry;
/* Find the device of this PCI address (or uuid).  0, or -1 with the reason:
 * target host, no library, no such device, ...  $PKRUN_NVML and
 * $PKRUN_ROCM_SMI name the library where the loader does not find it. */
int telemetry_open(struct telemetry **out, uint32_t target, const struct pkrun_device_info *info,
		   char *why, size_t why_size);
void telemetry_read(struct telemetry *t, struct telemetry_state *out);
/* One value alone, for these are read often: core clock, energy. */
int64_t telemetry_clock_mhz(struct telemetry *t);
int64_t telemetry_energy_uj(struct telemetry *t);
const char *telemetry_library(const struct telemetry *t);	/* "NVML", "ROCm SMI" */
void telemetry_close(struct telemetry *t);	/* NULL is fine */

#endif
