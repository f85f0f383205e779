/* SPDX-License-Identifier: MIT
 *
 * lib_rocm_smi.c - a ROCm SMI for tests, no plugin: two GPUs, the second at
 * 0000:c5:00.0.  FAKE_ROCM_SMI=6: clocks in the layout of ROCm 6.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int rsmi_init(uint64_t flags)
{
	return flags != 0;
}

int rsmi_shut_down(void)
{
	return 0;
}

int rsmi_num_monitor_devices(uint32_t *n)
{
	*n = 2;
	return 0;
}

int rsmi_dev_pci_id_get(uint32_t device, uint64_t *bdf)
{
	*bdf = device ? 0xc5u << 8 : 0x83u << 8;
	return device > 1;
}

int rsmi_dev_gpu_clk_freq_get(uint32_t device, int type, void *out)
{
	const uint64_t hz[2] = {type == 0 ? 500000000 : 400000000,
	                        type == 0 ? 1700000000 : 1600000000};
	const char *layout = getenv("FAKE_ROCM_SMI");

	if (device != 1)
		return 2;
	if (layout && !strcmp(layout, "6")) {
		struct {
			uint8_t deep_sleep;
			uint32_t count, current;
			uint64_t hz[33];
		} answer = {0, 2, 1, {hz[0], hz[1]}};

		memcpy(out, &answer, sizeof(answer));
	} else {
		struct {
			uint32_t count, current;
			uint64_t hz[32];
		} answer = {2, 1, {hz[0], hz[1]}};

		memcpy(out, &answer, sizeof(answer));
	}
	return 0;
}

/* The edge sensor alone, as on some boards. */
int rsmi_dev_temp_metric_get(uint32_t device, uint32_t sensor, int metric, int64_t *millidegrees)
{
	*millidegrees = 43000;
	return device != 1 || sensor != 0 || metric != 0;
}

int rsmi_dev_power_ave_get(uint32_t device, uint32_t sensor, uint64_t *uw)
{
	*uw = 93000000;
	return device != 1 || sensor != 0;
}

int rsmi_dev_power_cap_get(uint32_t device, uint32_t sensor, uint64_t *uw)
{
	*uw = 300000000;
	return device != 1 || sensor != 0;
}

int rsmi_dev_power_cap_default_get(uint32_t device, uint64_t *uw)
{
	*uw = 300000000;
	return device != 1;
}

int rsmi_dev_energy_count_get(uint32_t device, uint64_t *counter, float *uj_each,
                              uint64_t *timestamp)
{
	*counter = 1000;
	*uj_each = 15.3f;
	*timestamp = 0;
	return device != 1;
}

int rsmi_compute_process_info_get(void *infos, uint32_t *count)
{
	*count = 0;
	return infos != NULL;
}

int rsmi_dev_ecc_enabled_get(uint32_t device, uint64_t *mask)
{
	*mask = 1;
	return device != 1;
}
