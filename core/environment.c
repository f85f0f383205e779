/* SPDX-License-Identifier: MIT
 *
 * environment.c - the machine that numbers come from, as a table of facts.
 *
 * To add one: a function that fills value, state and repair, and a line in
 * `facts`.  What cannot be read is `unknown`, never `ok`.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "environment.h"

extern char **environ;

const char *environment_state_name(enum environment_state s)
{
	static const char *const name[] = { "ok", "warn", "unknown", "info" };

	return name[s];
}

/* First line of a file without its end: 0, or -1. */
static int first_line(const char *path, char *out, size_t size)
{
	FILE *f = fopen(path, "re");
	int rc = -1;

	if (!f)
		return -1;
	if (fgets(out, (int)size, f)) {
		out[strcspn(out, "\n")] = '\0';
		rc = 0;
	}
	fclose(f);
	return rc;
}

static void unknown(struct environment_row *row)
{
	row->state = ENVIRONMENT_UNKNOWN;
	row->value[0] = '\0';
}

static void date(struct environment_row *row)
{
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(row->value, sizeof(row->value), "%Y-%m-%dT%H:%M:%SZ", &tm);
}

static void host(struct environment_row *row)
{
	if (gethostname(row->value, sizeof(row->value)))
		unknown(row);
}

static void kernel(struct environment_row *row)
{
	struct utsname u;

	if (uname(&u))
		unknown(row);
	else
		snprintf(row->value, sizeof(row->value), "%s %s %s", u.sysname, u.release, u.machine);
}

static void cpu(struct environment_row *row)
{
	char line[512];
	FILE *f = fopen("/proc/cpuinfo", "re");
	const char *text;

	unknown(row);
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "model name", 10) || !(text = strchr(line, ':')))
			continue;
		snprintf(row->value, sizeof(row->value), "%s", text + 2);
		row->value[strcspn(row->value, "\n")] = '\0';
		row->state = ENVIRONMENT_INFO;
		break;
	}
	if (f)
		fclose(f);
}

static void cpus(struct environment_row *row)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		unknown(row);
	else
		snprintf(row->value, sizeof(row->value), "%d of %ld", CPU_COUNT(&set),
			 sysconf(_SC_NPROCESSORS_ONLN));
}

static void governor(struct environment_row *row)
{
	if (first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", row->value,
		       sizeof(row->value))) {
		unknown(row);
		return;
	}
	row->state = strcmp(row->value, "performance") ? ENVIRONMENT_WARN : ENVIRONMENT_OK;
	if (row->state == ENVIRONMENT_WARN)
		snprintf(row->repair, sizeof(row->repair), "cpupower frequency-set -g performance");
}

static void turbo(struct environment_row *row)
{
	char text[32];

	if (first_line("/sys/devices/system/cpu/intel_pstate/no_turbo", text, sizeof(text)) == 0)
		snprintf(row->value, sizeof(row->value), "%s", *text == '1' ? "off" : "on");
	else if (first_line("/sys/devices/system/cpu/cpufreq/boost", text, sizeof(text)) == 0)
		snprintf(row->value, sizeof(row->value), "%s", *text == '1' ? "on" : "off");
	else
		unknown(row);
}

static void load(struct environment_row *row)
{
	double avg[1];

	if (getloadavg(avg, 1) != 1) {
		unknown(row);
		return;
	}
	snprintf(row->value, sizeof(row->value), "%.2f", avg[0]);
	row->state = avg[0] > 0.5 * (double)sysconf(_SC_NPROCESSORS_ONLN) ? ENVIRONMENT_WARN
									   : ENVIRONMENT_OK;
	if (row->state == ENVIRONMENT_WARN)
		snprintf(row->repair, sizeof(row->repair), "stop what else runs: top");
}

static void timer_slack(struct environment_row *row)
{
	int ns = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);

	if (ns < 0)
		unknown(row);
	else
		snprintf(row->value, sizeof(row->value), "%d ns", ns);
}

static void aslr(struct environment_row *row)
{
	char text[32];
	int p = personality(0xffffffff);

	if (first_line("/proc/sys/kernel/randomize_va_space", text, sizeof(text)))
		unknown(row);
	else
		snprintf(row->value, sizeof(row->value), "%s%s", text,
			 p >= 0 && (p & ADDR_NO_RANDOMIZE) ? " (off for this process)" : "");
}

static void virtualised(struct environment_row *row)
{
	char line[1024], vendor[128] = "";
	FILE *f = fopen("/proc/cpuinfo", "re");
	int vm = 0;

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "flags", 5) == 0) {
			vm = strstr(line, " hypervisor") != NULL;
			break;
		}
	if (f)
		fclose(f);
	first_line("/sys/class/dmi/id/sys_vendor", vendor, sizeof(vendor));
	snprintf(row->value, sizeof(row->value), "%s%s%s",
		 access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0 ?
		 "container, " : "", vm ? "virtual machine" : "no hypervisor seen",
		 *vendor ? "" : ", vendor unknown");
	if (*vendor)
		snprintf(row->value + strlen(row->value), sizeof(row->value) - strlen(row->value),
			 ", %s", vendor);
}

static void memory(struct environment_row *row)
{
	snprintf(row->value, sizeof(row->value), "%.1f GiB",
		 (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / (1 << 30));
}

static void clock_tick(struct environment_row *row)
{
	struct timespec a, b;
	long least = 1000000000, d;
	int i;

	for (i = 0; i < 1000; i++) {
		clock_gettime(CLOCK_MONOTONIC_RAW, &a);
		do {
			clock_gettime(CLOCK_MONOTONIC_RAW, &b);
			d = (b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec;
		} while (d == 0);
		if (d < least)
			least = d;
	}
	snprintf(row->value, sizeof(row->value), "%ld ns (CLOCK_MONOTONIC_RAW)", least);
	row->state = least > 1000 ? ENVIRONMENT_WARN : ENVIRONMENT_OK;
}

static void compiler(struct environment_row *row)
{
#ifdef PKRUN_CFLAGS
	snprintf(row->value, sizeof(row->value), "%s: %s", __VERSION__, PKRUN_CFLAGS);
#else
	snprintf(row->value, sizeof(row->value), "%s", __VERSION__);
#endif
}

static const struct {
	const char *key;
	void (*read)(struct environment_row *row);
} facts[] = {
	{ "date", date },
	{ "host", host },
	{ "kernel", kernel },
	{ "cpu", cpu },
	{ "cpus", cpus },
	{ "memory", memory },
	{ "governor", governor },
	{ "turbo", turbo },
	{ "load", load },
	{ "timer_slack", timer_slack },
	{ "aslr", aslr },
	{ "virtualisation", virtualised },
	{ "clock_tick", clock_tick },
	{ "compiler", compiler },
};

/* Variables that change how GPUs or pkrun behave. */
static int matters(const char *variable)
{
	static const char *const prefix[] = { "HIP_", "HSA_", "ROCR_", "ROCM_", "AMD_", "GPU_", "CUDA_",
					      "NVIDIA_", "OMP_", "LD_PRELOAD", "LD_LIBRARY_PATH",
					      "MALLOC_", "PKRUN_PLUGIN" };
	size_t i;

	for (i = 0; i < sizeof(prefix) / sizeof(prefix[0]); i++)
		if (strncmp(variable, prefix[i], strlen(prefix[i])) == 0)
			return 1;
	return 0;
}

static int each_variable(environment_fn fn, void *user)
{
	struct environment_row row;
	char key[256];
	char **v;
	int rc;

	for (v = environ; *v; v++) {
		if (!matters(*v) || !strchr(*v, '='))
			continue;
		memset(&row, 0, sizeof(row));
		snprintf(key, sizeof(key), "$%.*s", (int)strcspn(*v, "="), *v);
		row.key = key;
		row.state = ENVIRONMENT_INFO;
		snprintf(row.value, sizeof(row.value), "%s", strchr(*v, '=') + 1);
		rc = fn(user, &row);
		if (rc)
			return rc;
	}
	return 0;
}

int environment_each(environment_fn fn, void *user)
{
	struct environment_row row;
	size_t i;
	int rc;

	for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		memset(&row, 0, sizeof(row));
		row.key = facts[i].key;
		row.state = ENVIRONMENT_INFO;
		facts[i].read(&row);
		rc = fn(user, &row);
		if (rc)
			return rc;
	}
	return each_variable(fn, user);
}
