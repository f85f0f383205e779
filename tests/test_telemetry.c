/* SPDX-License-Identifier: MIT
 *
 * test_telemetry.c - core/telemetry.c against made-up libraries, and the rows
 * that core/environment.c makes of it: unknown is never ok.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "../core/energy.h"
#include "../core/environment.h"
#include "../core/telemetry.h"

static const struct pkrun_device_info nvidia = {
        .name = "Made-up GPU",
        .arch = "sm_90",
        .uuid = "abc",
        .pci = "0000:17:00.0",
        .compute_units = 132,
        .clock_khz = 1980000,
        .driver = "580",
        .runtime = "CUDA 13.0",
};
static const struct pkrun_device_info amd = {
        .name = "Made-up", .arch = "gfx90a", .pci = "0000:C5:00.0"};

static void library(const char *variable, const char *name)
{
	const char *build = getenv("PKRUN_BUILDDIR");
	char path[4096];

	snprintf(path, sizeof(path), "%s/tests/plugins/%s.so", build ? build : ".", name);
	setenv(variable, path, 1);
}

static void test_nvml(void **state)
{
	struct telemetry *t;
	struct telemetry_state s;
	struct pkrun_device_info elsewhere = nvidia;
	char why[256];

	(void)state;
	library("PKRUN_NVML", "lib_nvml");
	assert_int_equal(telemetry_open(&t, PKRUN_CUDA, &nvidia, why, sizeof(why)), 0);
	telemetry_read(t, &s);
	assert_int_equal(s.clock_mhz, 1395);
	assert_int_equal(s.max_clock_mhz, 1980);
	assert_int_equal(s.memory_clock_mhz, 3201);
	assert_int_equal(s.temperature_c, 91);
	assert_int_equal(s.energy_uj, 123456000);
	assert_int_equal(s.processes, 2);
	assert_true(fabs(s.power_w - 345.678) < 1e-9);
	assert_true(s.power_cap_w == 350 && s.power_cap_default_w == 700);
	assert_string_equal(s.throttle, "power cap, thermal");
	assert_string_equal(s.ecc, "on");
	assert_string_equal(s.partition, "MIG");
	assert_string_equal(s.persistence, "off");
	assert_string_equal(s.compute_mode, "exclusive process");
	assert_int_equal(telemetry_clock_mhz(t), 1395);
	assert_string_equal(telemetry_library(t), "NVML");
	telemetry_close(t);
	/* by uuid where the address is not known */
	elsewhere.pci[0] = 0;
	assert_int_equal(telemetry_open(&t, PKRUN_CUDA, &elsewhere, why, sizeof(why)), 0);
	telemetry_close(t);
	strcpy(elsewhere.pci, "0000:99:00.0");
	elsewhere.uuid[0] = 0;
	assert_int_equal(telemetry_open(&t, PKRUN_CUDA, &elsewhere, why, sizeof(why)), -1);
	assert_non_null(strstr(why, "no device at 0000:99:00.0"));
}

static void test_nvml_says_little(void **state)
{
	struct telemetry *t;
	struct telemetry_state s;
	char why[256];

	(void)state;
	library("PKRUN_NVML", "lib_nvml");
	setenv("FAKE_NVML", "old", 1);
	assert_int_equal(telemetry_open(&t, PKRUN_CUDA, &nvidia, why, sizeof(why)), 0);
	telemetry_read(t, &s);
	assert_true(s.clock_mhz == TELEMETRY_UNKNOWN && s.energy_uj == TELEMETRY_UNKNOWN);
	assert_true(s.temperature_c == TELEMETRY_UNKNOWN && s.processes == TELEMETRY_UNKNOWN);
	assert_true(isnan(s.power_w) && isnan(s.power_cap_w));
	assert_string_equal(s.ecc, "");
	assert_string_equal(s.throttle, "power cap, thermal");
	assert_string_equal(s.partition, "none"); /* "not supported" is an answer */
	telemetry_close(t);
	setenv("FAKE_NVML", "fails", 1);
	assert_int_equal(telemetry_open(&t, PKRUN_CUDA, &nvidia, why, sizeof(why)), -1);
	assert_string_equal(why, "NVML: nvmlInit_v2 gave 9");
	unsetenv("FAKE_NVML");
}

static void test_no_library(void **state)
{
	struct telemetry *t;
	char why[256];

	(void)state;
	setenv("PKRUN_NVML", "/nowhere/libnvidia-ml.so.1", 1);
	assert_int_equal(telemetry_open(&t, PKRUN_CUDA, &nvidia, why, sizeof(why)), -1);
	assert_non_null(strstr(why, "/nowhere/libnvidia-ml.so.1"));
	library("PKRUN_NVML", "lib_rocm_smi"); /* a library, but another one */
	assert_int_equal(telemetry_open(&t, PKRUN_CUDA, &nvidia, why, sizeof(why)), -1);
	assert_non_null(strstr(why, "not the functions that were expected"));
	assert_int_equal(telemetry_open(&t, PKRUN_HOST, &nvidia, why, sizeof(why)), -1);
	assert_string_equal(why, "no GPU");
	telemetry_close(NULL);
}

static void test_rocm_smi(void **state)
{
	struct pkrun_device_info elsewhere = amd;
	struct telemetry *t;
	struct telemetry_state s;
	char why[256];

	(void)state;
	library("PKRUN_ROCM_SMI", "lib_rocm_smi");
	for (int layout = 5; layout <= 6; layout++) {
		setenv("FAKE_ROCM_SMI", layout == 5 ? "5" : "6", 1);
		assert_int_equal(telemetry_open(&t, PKRUN_HIP, &amd, why, sizeof(why)), 0);
		telemetry_read(t, &s);
		assert_int_equal(s.clock_mhz, 1700);
		assert_int_equal(s.max_clock_mhz, 1700);
		assert_int_equal(s.memory_clock_mhz, 1600);
		assert_int_equal(s.temperature_c, 43);
		assert_int_equal(s.energy_uj, 15300);
		assert_int_equal(s.processes, 0);
		assert_true(s.power_w == 93 && s.power_cap_w == 300);
		assert_string_equal(s.ecc, "on");
		assert_string_equal(s.throttle, "");
		assert_string_equal(s.partition, "");
		assert_int_equal(telemetry_clock_mhz(t), 1700);
		telemetry_close(t);
	}
	strcpy(elsewhere.pci, "0000:83:00.1");
	assert_int_equal(telemetry_open(&t, PKRUN_HIP, &elsewhere, why, sizeof(why)), -1);
	assert_string_equal(why, "ROCm SMI: no device at 0000:83:00.1");
}

/* 200 W for 0.2 s of trials of 5 ms, of which 4 are run and wait, with 100 iterations each: 8000
 * uJ. */
static void test_energy(void **state)
{
	struct energy_meter m;
	struct energy_result r;
	struct telemetry *t;
	char why[256];

	(void)state;
	library("PKRUN_NVML", "lib_nvml");
	setenv("FAKE_NVML", "200 W", 1);
	assert_int_equal(telemetry_open(&t, PKRUN_CUDA, &nvidia, why, sizeof(why)), 0);
	/* a busy machine may look late at a leap: then once more */
	for (int attempt = 0; attempt < 10; attempt++) {
		assert_int_equal(energy_begin(&m, t), 0);
		while (energy_seconds(&m) < 0.2) {
			double before = energy_seconds(&m);

			usleep(5000);
			energy_add(&m, (int64_t)(0.8e9 * (energy_seconds(&m) - before)), 100);
		}
		assert_int_equal(energy_end(&m, &r), 0);
		if (fabs(r.power_w - 200) < 20 && fabs(r.rest_w - 200) < 40 && fabs(r.share - 0.8) < 0.02)
			break;
	}
	assert_true(fabs(r.power_w - 200) < 20);
	assert_true(fabs(r.rest_w - 200) < 40);
	assert_true(fabs(r.share - 0.8) < 0.02);
	assert_true(fabs(r.uj_an_iteration * (double)m.iterations /
	                         (r.power_w * (double)m.wall_ns / 1e3) -
	                 1) < 1e-9);
	telemetry_close(t);
	unsetenv("FAKE_NVML");
	/* one that stands still */
	assert_int_equal(telemetry_open(&t, PKRUN_CUDA, &nvidia, why, sizeof(why)), 0);
	assert_int_equal(energy_begin(&m, t), -1);
	telemetry_close(t);
}

/* ---- rows ---- */

struct seen {
	struct environment_row rows[200];
	int n;
};

static int see(void *user, const struct environment_row *row)
{
	struct seen *s = user;

	assert_true(s->n < 200);
	s->rows[s->n] = *row;
	s->rows[s->n++].key = strdup(row->key);
	return 0;
}

static const struct environment_row *row_of(const struct seen *s, const char *key)
{
	for (int i = 0; i < s->n; i++)
		if (!strcmp(s->rows[i].key, key))
			return &s->rows[i];
	fail_msg("no row %s", key);
	return NULL;
}

static void forget(struct seen *s)
{
	while (s->n)
		free((char *)s->rows[--s->n].key);
}

static void is_row(const struct seen *s, const char *key, enum environment_state state,
                   const char *value, const char *repair)
{
	const struct environment_row *row = row_of(s, key);

	assert_int_equal(row->state, state);
	assert_string_equal(row->value, value);
	assert_string_equal(row->repair, repair);
}

static void test_gpu_rows(void **state)
{
	static struct seen s;
	struct telemetry *t;
	char why[256];

	(void)state;
	library("PKRUN_NVML", "lib_nvml");
	assert_int_equal(telemetry_open(&t, PKRUN_CUDA, &nvidia, why, sizeof(why)), 0);
	assert_int_equal(environment_gpu(PKRUN_CUDA, &nvidia, t, "", see, &s), 0);
	is_row(&s, "gpu", ENVIRONMENT_INFO, "Made-up GPU", "");
	is_row(&s, "gpu_units", ENVIRONMENT_INFO, "132 SMs", "");
	is_row(&s, "gpu_l2", ENVIRONMENT_UNKNOWN, "", "");
	is_row(&s, "gpu_power_cap", ENVIRONMENT_WARN, "350 W, default 700 W", "nvidia-smi -pl 700");
	is_row(&s, "gpu_throttle", ENVIRONMENT_WARN, "power cap, thermal",
	       "nvidia-smi -q -d PERFORMANCE");
	is_row(&s, "gpu_partition", ENVIRONMENT_WARN, "MIG", "nvidia-smi -mig 0");
	is_row(&s, "gpu_persistence", ENVIRONMENT_WARN, "off", "nvidia-smi -pm 1");
	is_row(&s, "gpu_clock", ENVIRONMENT_INFO, "1395 MHz", "");
	assert_int_equal(row_of(&s, "gpu_temperature")->state, ENVIRONMENT_WARN);
	assert_int_equal(row_of(&s, "gpu_processes")->state, ENVIRONMENT_WARN);
	forget(&s);
	telemetry_close(t);
	library("PKRUN_ROCM_SMI", "lib_rocm_smi");
	assert_int_equal(telemetry_open(&t, PKRUN_HIP, &amd, why, sizeof(why)), 0);
	assert_int_equal(environment_gpu(PKRUN_HIP, &amd, t, "", see, &s), 0);
	is_row(&s, "gpu_power_cap", ENVIRONMENT_OK, "300 W", "");
	is_row(&s, "gpu_processes", ENVIRONMENT_OK, "0", "");
	is_row(&s, "gpu_throttle", ENVIRONMENT_UNKNOWN, "", "");
	forget(&s);
	telemetry_close(t);
}

static void test_unknown_is_not_ok(void **state)
{
	static const char *const keys[] = {"gpu_clock",     "gpu_temperature", "gpu_power",
	                                   "gpu_power_cap", "gpu_throttle",    "gpu_processes",
	                                   "gpu_partition", "gpu_persistence", "gpu_ecc"};
	static struct seen s;

	(void)state;
	assert_int_equal(
	        environment_gpu(PKRUN_CUDA, &nvidia, NULL, "no libnvidia-ml.so.1", see, &s), 0);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		is_row(&s, keys[i], ENVIRONMENT_UNKNOWN, "", "no libnvidia-ml.so.1");
	forget(&s);
}

static void test_variables(void **state)
{
	static struct seen s;

	(void)state;
	setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
	setenv("HIP_LAUNCH_BLOCKING", "0", 1);
	assert_int_equal(environment_each(see, &s), 0);
	is_row(&s, "$CUDA_LAUNCH_BLOCKING", ENVIRONMENT_WARN, "1", "unset CUDA_LAUNCH_BLOCKING");
	is_row(&s, "$HIP_LAUNCH_BLOCKING", ENVIRONMENT_INFO, "0", "");
	for (int i = 0; i < s.n; i++) {
		if (!*s.rows[i].value && s.rows[i].key[0] != '$')
			assert_int_equal(s.rows[i].state, ENVIRONMENT_UNKNOWN);
		for (int k = 0; k < i; k++)
			assert_string_not_equal(s.rows[i].key, s.rows[k].key);
	}
	forget(&s);
	unsetenv("CUDA_LAUNCH_BLOCKING");
	unsetenv("HIP_LAUNCH_BLOCKING");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_nvml),
	        cmocka_unit_test(test_nvml_says_little),
	        cmocka_unit_test(test_no_library),
	        cmocka_unit_test(test_rocm_smi),
	        cmocka_unit_test(test_energy),
	        cmocka_unit_test(test_gpu_rows),
	        cmocka_unit_test(test_unknown_is_not_ok),
	        cmocka_unit_test(test_variables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
