/* SPDX-License-Identifier: MIT
 *
 * lib_nvml.c - an NVML for tests, no plugin: one GPU at 0000:17:00.0, capped,
 * hot and shared.  FAKE_NVML: "fails" (init gives 9), "200 W" (the energy
 * counter moves), or "old" (the calls that
 * newer drivers renamed are the only ones there; most others do not answer).
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static int is(const char *what)
{
	const char *mode = getenv("FAKE_NVML");

	return mode && !strcmp(mode, what);
}

int nvmlInit_v2(void)
{
	return is("fails") ? 9 : 0;
}

int nvmlShutdown(void)
{
	return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **device)
{
	*device = (void *)0x17;
	return strcasecmp(pci, "0000:17:00.0") ? 6 : 0;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
	*device = (void *)0x17;
	return strcmp(uuid, "GPU-abc") ? 6 : 0;
}

static int answer(void *device, unsigned *out, unsigned value)
{
	if (device != (void *)0x17 || is("old"))
		return 3;
	*out = value;
	return 0;
}

int nvmlDeviceGetClockInfo(void *device, unsigned type, unsigned *mhz)
{
	return answer(device, mhz, type == 1 ? 1395 : type == 2 ? 3201 : 1);
}

int nvmlDeviceGetMaxClockInfo(void *device, unsigned type, unsigned *mhz)
{
	return answer(device, mhz, type == 1 ? 1980 : 3201);
}

int nvmlDeviceGetTemperature(void *device, unsigned sensor, unsigned *celsius)
{
	return answer(device, celsius, sensor == 0 ? 91 : 0);
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *mw)
{
	return answer(device, mw, 345678);
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *mw)
{
	return answer(device, mw, 350000);
}

int nvmlDeviceGetPowerManagementDefaultLimit(void *device, unsigned *mw)
{
	return answer(device, mw, 700000);
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj)
{
	struct timespec t;
	unsigned value = 0;
	int rc = answer(device, &value, 123456);

	*mj = value;
	clock_gettime(CLOCK_MONOTONIC, &t);
	if (is("200 W")) /* leaps every 20 ms */
		*mj = 4000 * (unsigned long long)(t.tv_sec * 50 + t.tv_nsec / 20000000);
	return rc;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *bits)
{
	*bits = 0x4 | 0x20 | 0x1;
	return device != (void *)0x17;
}

/* With room for none it says how many there are, as the real one does. */
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, void *infos)
{
	unsigned value = 0;
	int rc = answer(device, &value, 2);

	*count = value;
	return rc ? rc : infos ? 0 : 7;
}

int nvmlDeviceGetEccMode(void *device, unsigned *current, unsigned *pending)
{
	*pending = 0;
	return answer(device, current, 1);
}

int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending)
{
	*pending = 0;
	return answer(device, current, 1);
}

int nvmlDeviceGetPersistenceMode(void *device, unsigned *mode)
{
	return answer(device, mode, 0);
}

int nvmlDeviceGetComputeMode(void *device, unsigned *mode)
{
	return answer(device, mode, 3);
}
