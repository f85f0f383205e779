/* SPDX-License-Identifier: MIT
 *
 * telemetry.c - see telemetry.h.
 *
 * The libraries' headers are not needed: their C interfaces are stable, and the
 * few functions used are declared here.  A function that an older or newer
 * library lacks leaves its value unknown.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "telemetry.h"

/* docs.nvidia.com/deploy/nvml-api; every call returns 0 when it worked. */
struct nvml {
	int (*init)(void);
	int (*shutdown)(void);
	int (*by_pci)(const char *pci, void **device);
	int (*by_uuid)(const char *uuid, void **device);
	int (*clock)(void *device, unsigned type, unsigned *mhz);
	int (*max_clock)(void *device, unsigned type, unsigned *mhz);
	int (*temperature)(void *device, unsigned sensor, unsigned *celsius);
	int (*power)(void *device, unsigned *mw);
	int (*power_cap)(void *device, unsigned *mw);
	int (*power_default)(void *device, unsigned *mw);
	int (*energy)(void *device, unsigned long long *mj);
	int (*reasons)(void *device, unsigned long long *bits);
	int (*old_reasons)(void *device, unsigned long long *bits);
	int (*processes)(void *device, unsigned *count, void *infos);
	int (*ecc)(void *device, unsigned *current, unsigned *pending);
	int (*mig)(void *device, unsigned *current, unsigned *pending);
	int (*persistence)(void *device, unsigned *mode);
	int (*compute_mode)(void *device, unsigned *mode);
};
#define NVML_SM 1u
#define NVML_MEMORY 2u
#define NVML_GPU_SENSOR 0u
#define NVML_NOT_SUPPORTED 3
#define NVML_INSUFFICIENT_SIZE 7

/* rocm_smi/rocm_smi.h of ROCm 5 and 6; every call returns 0 when it worked. */
struct rsmi {
	int (*init)(uint64_t flags);
	int (*shutdown)(void);
	int (*count)(uint32_t *n);
	int (*pci)(uint32_t device, uint64_t *bdf);
	int (*clock)(uint32_t device, int type, void *frequencies);
	int (*temperature)(uint32_t device, uint32_t sensor, int metric, int64_t *millidegrees);
	int (*power)(uint32_t device, uint32_t sensor, uint64_t *uw);
	int (*socket_power)(uint32_t device, uint64_t *uw, int *type);
	int (*power_cap)(uint32_t device, uint32_t sensor, uint64_t *uw);
	int (*power_default)(uint32_t device, uint64_t *uw);
	int (*energy)(uint32_t device, uint64_t *counter, float *uj_each, uint64_t *timestamp);
	int (*processes)(void *infos, uint32_t *count);
	int (*ecc)(uint32_t device, uint64_t *mask);
	int (*partition)(uint32_t device, char *text, uint32_t size);
};
#define RSMI_SYSTEM_CLOCK 0
#define RSMI_MEMORY_CLOCK 4
#define RSMI_JUNCTION 1u

struct telemetry {
	void *library;
	uint32_t target;
	struct nvml nvml;
	struct rsmi rsmi;
	void *device;   /* NVML */
	uint32_t index; /* ROCm SMI */
	int initialised;
};

struct symbol {
	size_t offset;
	const char *name;
};

#define N(member, symbol)                                                                          \
	{                                                                                          \
		offsetof(struct nvml, member), symbol                                              \
	}
static const struct symbol nvml_symbols[] = {
        N(init, "nvmlInit_v2"),
        N(shutdown, "nvmlShutdown"),
        N(by_pci, "nvmlDeviceGetHandleByPciBusId_v2"),
        N(by_uuid, "nvmlDeviceGetHandleByUUID"),
        N(clock, "nvmlDeviceGetClockInfo"),
        N(max_clock, "nvmlDeviceGetMaxClockInfo"),
        N(temperature, "nvmlDeviceGetTemperature"),
        N(power, "nvmlDeviceGetPowerUsage"),
        N(power_cap, "nvmlDeviceGetEnforcedPowerLimit"),
        N(power_default, "nvmlDeviceGetPowerManagementDefaultLimit"),
        N(energy, "nvmlDeviceGetTotalEnergyConsumption"),
        N(reasons, "nvmlDeviceGetCurrentClocksEventReasons"),
        N(old_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons"),
        N(processes, "nvmlDeviceGetComputeRunningProcesses_v3"),
        N(ecc, "nvmlDeviceGetEccMode"),
        N(mig, "nvmlDeviceGetMigMode"),
        N(persistence, "nvmlDeviceGetPersistenceMode"),
        N(compute_mode, "nvmlDeviceGetComputeMode"),
        {0, NULL},
};

#define R(member, symbol)                                                                          \
	{                                                                                          \
		offsetof(struct rsmi, member), symbol                                              \
	}
static const struct symbol rsmi_symbols[] = {
        R(init, "rsmi_init"),
        R(shutdown, "rsmi_shut_down"),
        R(count, "rsmi_num_monitor_devices"),
        R(pci, "rsmi_dev_pci_id_get"),
        R(clock, "rsmi_dev_gpu_clk_freq_get"),
        R(temperature, "rsmi_dev_temp_metric_get"),
        R(power, "rsmi_dev_power_ave_get"),
        R(socket_power, "rsmi_dev_power_get"),
        R(power_cap, "rsmi_dev_power_cap_get"),
        R(power_default, "rsmi_dev_power_cap_default_get"),
        R(energy, "rsmi_dev_energy_count_get"),
        R(processes, "rsmi_compute_process_info_get"),
        R(ecc, "rsmi_dev_ecc_enabled_get"),
        R(partition, "rsmi_dev_compute_partition_get"),
        {0, NULL},
};

static void resolve(void *library, const struct symbol *symbols, void *table)
{
	for (; symbols->name; symbols++) {
		void *found = dlsym(library, symbols->name);

		memcpy((char *)table + symbols->offset, &found, sizeof(found));
	}
}

static void *load(const char *variable, const char *const *names, char *why, size_t why_size)
{
	const char *given = getenv(variable), *error;
	void *library = given ? dlopen(given, RTLD_NOW | RTLD_LOCAL) : NULL;

	for (; !given && !library && *names; names++)
		library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
	error = library ? NULL : dlerror();
	if (!library)
		snprintf(why, why_size, "%s", error ? error : "not found");
	return library;
}

/* ---- NVML ---- */

static int nvml_open(struct telemetry *t, const struct pkrun_device_info *info, char *why,
                     size_t size)
{
	static const char *const names[] = {"libnvidia-ml.so.1", NULL};
	struct nvml *n = &t->nvml;
	char uuid[80];
	int rc;

	t->library = load("PKRUN_NVML", names, why, size);
	if (!t->library)
		return -1;
	resolve(t->library, nvml_symbols, n);
	if (!n->init || !n->shutdown || !n->by_pci) {
		snprintf(why, size, "NVML: not the functions that were expected");
		return -1;
	}
	rc = n->init();
	if (rc) {
		snprintf(why, size, "NVML: nvmlInit_v2 gave %d", rc);
		return -1;
	}
	t->initialised = 1;
	snprintf(uuid, sizeof(uuid), "GPU-%s", info->uuid);
	rc = *info->pci ? n->by_pci(info->pci, &t->device) : -1;
	if (rc && *info->uuid && n->by_uuid)
		rc = n->by_uuid(uuid, &t->device);
	if (rc)
		snprintf(why, size, "NVML: no device at %s (%d)", *info->pci ? info->pci : uuid,
		         rc);
	return rc ? -1 : 0;
}

static int64_t nvml_value(struct telemetry *t, int (*call)(void *, unsigned *))
{
	unsigned value;

	return call && !call(t->device, &value) ? (int64_t)value : TELEMETRY_UNKNOWN;
}

static int64_t nvml_value_of(struct telemetry *t, int (*call)(void *, unsigned, unsigned *),
                             unsigned which)
{
	unsigned value;

	return call && !call(t->device, which, &value) ? (int64_t)value : TELEMETRY_UNKNOWN;
}

static double milli(int64_t value)
{
	return value == TELEMETRY_UNKNOWN ? NAN : (double)value / 1000;
}

static void nvml_reasons(struct telemetry *t, char *out, size_t size)
{
	static const struct {
		unsigned long long bit;
		const char *name;
	} reasons[] = {
	        {0x4, "power cap"}, {0x8, "hardware slowdown"}, {0x10, "sync boost"},
	        {0x20, "thermal"},  {0x40, "hardware thermal"}, {0x80, "power brake"},
	};
	unsigned long long bits;
	size_t used = 0;

	if ((!t->nvml.reasons || t->nvml.reasons(t->device, &bits)) &&
	    (!t->nvml.old_reasons || t->nvml.old_reasons(t->device, &bits)))
		return;
	snprintf(out, size, "none");
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if ((bits & reasons[i].bit) && used < size)
			used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "",
			                         reasons[i].name);
}

static void nvml_modes(struct telemetry *t, struct telemetry_state *s)
{
	static const char *const modes[] = {"default", "exclusive thread", "prohibited",
	                                    "exclusive process"};
	struct nvml *n = &t->nvml;
	unsigned current = 0, pending;
	int rc;

	if (n->ecc && !n->ecc(t->device, &current, &pending))
		snprintf(s->ecc, sizeof(s->ecc), "%s", current ? "on" : "off");
	rc = n->mig ? n->mig(t->device, &current, &pending) : -1;
	if (!rc || rc == NVML_NOT_SUPPORTED)
		snprintf(s->partition, sizeof(s->partition), "%s", !rc && current ? "MIG" : "none");
	if (n->persistence && !n->persistence(t->device, &current))
		snprintf(s->persistence, sizeof(s->persistence), "%s", current ? "on" : "off");
	if (n->compute_mode && !n->compute_mode(t->device, &current) && current < 4)
		snprintf(s->compute_mode, sizeof(s->compute_mode), "%s", modes[current]);
}

static void nvml_read(struct telemetry *t, struct telemetry_state *s)
{
	struct nvml *n = &t->nvml;
	unsigned count = 0;
	int rc;

	s->clock_mhz = nvml_value_of(t, n->clock, NVML_SM);
	s->max_clock_mhz = nvml_value_of(t, n->max_clock, NVML_SM);
	s->memory_clock_mhz = nvml_value_of(t, n->clock, NVML_MEMORY);
	s->temperature_c = nvml_value_of(t, n->temperature, NVML_GPU_SENSOR);
	s->power_w = milli(nvml_value(t, n->power));
	s->power_cap_w = milli(nvml_value(t, n->power_cap));
	s->power_cap_default_w = milli(nvml_value(t, n->power_default));
	nvml_reasons(t, s->throttle, sizeof(s->throttle));
	nvml_modes(t, s);
	/* asked with no room, it answers how many there are */
	rc = n->processes ? n->processes(t->device, &count, NULL) : -1;
	if (!rc || rc == NVML_INSUFFICIENT_SIZE)
		s->processes = count;
}

/* ---- ROCm SMI ---- */

static int rsmi_find(struct telemetry *t, const char *pci)
{
	uint32_t n = 0;

	if (t->rsmi.count(&n))
		return -1;
	for (t->index = 0; t->index < n; t->index++) {
		uint64_t bdf;
		char text[32];

		if (t->rsmi.pci(t->index, &bdf))
			continue;
		snprintf(text, sizeof(text), "%04" PRIx64 ":%02" PRIx64 ":%02" PRIx64 ".%" PRIx64,
		         bdf >> 32 & 0xffff, bdf >> 8 & 0xff, bdf >> 3 & 0x1f, bdf & 7);
		if (!strcasecmp(text, pci))
			return 0;
	}
	return -1;
}

static int rsmi_open(struct telemetry *t, const struct pkrun_device_info *info, char *why,
                     size_t size)
{
	static const char *const names[] = {"librocm_smi64.so.7", "librocm_smi64.so.6",
	                                    "librocm_smi64.so.5", "librocm_smi64.so.1",
	                                    "librocm_smi64.so",   NULL};
	struct rsmi *r = &t->rsmi;
	int rc;

	t->library = load("PKRUN_ROCM_SMI", names, why, size);
	if (!t->library)
		return -1;
	resolve(t->library, rsmi_symbols, r);
	if (!r->init || !r->shutdown || !r->count || !r->pci) {
		snprintf(why, size, "ROCm SMI: not the functions that were expected");
		return -1;
	}
	rc = r->init(0);
	if (rc) {
		snprintf(why, size, "ROCm SMI: rsmi_init gave %d", rc);
		return -1;
	}
	t->initialised = 1;
	if (rsmi_find(t, info->pci)) {
		snprintf(why, size, "ROCm SMI: no device at %s",
		         *info->pci ? info->pci : "an unknown address");
		return -1;
	}
	return 0;
}

/*
 * Current and highest clock.  Up to ROCm 5 the answer begins {uint32 count,
 * current; uint64 Hz[32]}, later {bool deep_sleep; uint32 count, current;
 * uint64 Hz[33]}: in the first the second 8 bytes are a frequency, in the
 * second they hold the index `current`.
 */
static void rsmi_clock(struct telemetry *t, int type, int64_t *mhz, int64_t *max_mhz)
{
	uint64_t answer[64] = {0}, highest = 0;
	const uint64_t *hz = answer + 1;
	uint32_t head[4];

	if (!t->rsmi.clock || t->rsmi.clock(t->index, type, answer))
		return;
	memcpy(head, answer, sizeof(head));
	if (answer[1] < 1000000) {
		memmove(head, head + 1, 2 * sizeof(head[0]));
		hz = answer + 2;
	}
	if (!head[0] || head[0] > 33)
		return;
	for (uint32_t i = 0; i < head[0]; i++)
		highest = hz[i] > highest ? hz[i] : highest;
	if (head[1] < head[0])
		*mhz = (int64_t)(hz[head[1]] / 1000000);
	if (max_mhz)
		*max_mhz = (int64_t)(highest / 1000000);
}

static double rsmi_watts(int rc, uint64_t uw)
{
	return rc ? NAN : (double)uw / 1e6;
}

static void rsmi_read(struct telemetry *t, struct telemetry_state *s)
{
	struct rsmi *r = &t->rsmi;
	uint64_t uw = 0, mask = 0;
	int64_t millidegrees = 0;
	uint32_t count = 0;
	int type, rc;

	rsmi_clock(t, RSMI_SYSTEM_CLOCK, &s->clock_mhz, &s->max_clock_mhz);
	rsmi_clock(t, RSMI_MEMORY_CLOCK, &s->memory_clock_mhz, NULL);
	if (r->temperature && (!r->temperature(t->index, RSMI_JUNCTION, 0, &millidegrees) ||
	                       !r->temperature(t->index, 0, 0, &millidegrees)))
		s->temperature_c = millidegrees / 1000;
	rc = r->power ? r->power(t->index, 0, &uw) : -1;
	if (rc && r->socket_power)
		rc = r->socket_power(t->index, &uw, &type);
	s->power_w = rsmi_watts(rc, uw);
	rc = r->power_cap ? r->power_cap(t->index, 0, &uw) : -1;
	s->power_cap_w = rsmi_watts(rc, uw);
	rc = r->power_default ? r->power_default(t->index, &uw) : -1;
	s->power_cap_default_w = rsmi_watts(rc, uw);
	if (r->processes && !r->processes(NULL, &count))
		s->processes = count;
	if (r->ecc && !r->ecc(t->index, &mask))
		snprintf(s->ecc, sizeof(s->ecc), "%s", mask ? "on" : "off");
	if (r->partition && r->partition(t->index, s->partition, sizeof(s->partition)))
		s->partition[0] = '\0';
}

/* ---- either ---- */

int telemetry_open(struct telemetry **out, uint32_t target, const struct pkrun_device_info *info,
                   char *why, size_t why_size)
{
	struct telemetry *t;
	int rc;

	if (target != PKRUN_CUDA && target != PKRUN_HIP) {
		snprintf(why, why_size, "no GPU");
		return -1;
	}
	t = calloc(1, sizeof(*t));
	if (!t) {
		snprintf(why, why_size, "out of memory");
		return -1;
	}
	t->target = target;
	rc = target == PKRUN_CUDA ? nvml_open(t, info, why, why_size)
	                          : rsmi_open(t, info, why, why_size);
	if (rc) {
		telemetry_close(t);
		return -1;
	}
	*out = t;
	return 0;
}

void telemetry_read(struct telemetry *t, struct telemetry_state *out)
{
	*out = (struct telemetry_state){
	        .clock_mhz = TELEMETRY_UNKNOWN,
	        .max_clock_mhz = TELEMETRY_UNKNOWN,
	        .memory_clock_mhz = TELEMETRY_UNKNOWN,
	        .temperature_c = TELEMETRY_UNKNOWN,
	        .processes = TELEMETRY_UNKNOWN,
	        .power_w = NAN,
	        .power_cap_w = NAN,
	        .power_cap_default_w = NAN,
	};
	if (t->target == PKRUN_CUDA)
		nvml_read(t, out);
	else
		rsmi_read(t, out);
	out->energy_uj = telemetry_energy_uj(t);
}

int64_t telemetry_energy_uj(struct telemetry *t)
{
	unsigned long long mj = 0;
	uint64_t counter = 0, when;
	float uj_each = 0;

	if (t->target == PKRUN_CUDA)
		return t->nvml.energy && !t->nvml.energy(t->device, &mj) ? (int64_t)mj * 1000
		                                                         : TELEMETRY_UNKNOWN;
	if (!t->rsmi.energy || t->rsmi.energy(t->index, &counter, &uj_each, &when))
		return TELEMETRY_UNKNOWN;
	return (int64_t)((double)counter * (double)uj_each);
}

int64_t telemetry_clock_mhz(struct telemetry *t)
{
	int64_t mhz = TELEMETRY_UNKNOWN;

	if (t->target == PKRUN_CUDA)
		return nvml_value_of(t, t->nvml.clock, NVML_SM);
	rsmi_clock(t, RSMI_SYSTEM_CLOCK, &mhz, NULL);
	return mhz;
}

const char *telemetry_library(const struct telemetry *t)
{
	return t->target == PKRUN_CUDA ? "NVML" : "ROCm SMI";
}

/* The library stays loaded: ROCm SMI leaves threads and handlers behind. */
void telemetry_close(struct telemetry *t)
{
	if (!t)
		return;
	if (t->initialised && t->target == PKRUN_CUDA)
		t->nvml.shutdown();
	else if (t->initialised)
		t->rsmi.shutdown();
	free(t);
}
