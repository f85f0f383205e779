/* SPDX-License-Identifier: MIT
 *
 * environment.c - the machine that numbers come from, as a table of facts.
 *
 * To add one: a function that fills value, state and repair, and a line in
 * `facts`.  What cannot be read is `unknown`, never `ok`.
 * core/build_flags.h is made by the build.
 */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "core/build_flags.h"
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
	snprintf(row->value, sizeof(row->value), "%s: %s", __VERSION__, PKRUN_FLAGS_CORE);
}

/* How the variants of each target that is built were compiled. */
static int each_target(environment_fn fn, void *user)
{
	static const char *const built[][2] = {
		{ "compiler_host", PKRUN_FLAGS_HOST },
		{ "compiler_hip", PKRUN_FLAGS_HIP },
		{ "compiler_cuda", PKRUN_FLAGS_CUDA },
	};
	struct environment_row row;
	size_t i;
	int rc = 0;

	for (i = 0; i < sizeof(built) / sizeof(built[0]) && !rc; i++) {
		if (!*built[i][1])
			continue;
		memset(&row, 0, sizeof(row));
		row.key = built[i][0];
		row.state = ENVIRONMENT_INFO;
		snprintf(row.value, sizeof(row.value), "%s", built[i][1]);
		rc = fn(user, &row);
	}
	return rc;
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

/* Set so, these turn every launch into a synchronous one. */
static int serialises(const char *name, const char *value)
{
	static const char *const bad[] = { "CUDA_LAUNCH_BLOCKING", "HIP_LAUNCH_BLOCKING",
					   "AMD_SERIALIZE_KERNEL", "AMD_SERIALIZE_COPY" };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (strcmp(name, bad[i]) == 0)
			return *value && strcmp(value, "0") != 0;
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
		if (serialises(key + 1, row.value)) {
			row.state = ENVIRONMENT_WARN;
			snprintf(row.repair, sizeof(row.repair), "unset %.200s", key + 1);
		}
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
	rc = each_target(fn, user);
	return rc ? rc : each_variable(fn, user);
}

/* ---- a GPU ---- */

struct gpu {
	uint32_t target;
	const struct pkrun_device_info *info;
	struct telemetry_state state;
	const char *why;	/* telemetry is unknown for this reason, or "" */
	environment_fn fn;
	void *user;
};

/* Hand over one row; a value of "" is unknown whatever the state. */
static int gpu_row(const struct gpu *g, const char *key, enum environment_state state,
		   const char *repair, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
static int gpu_row(const struct gpu *g, const char *key, enum environment_state state,
		   const char *repair, const char *fmt, ...)
{
	struct environment_row row;
	va_list ap;

	memset(&row, 0, sizeof(row));
	row.key = key;
	row.state = state;
	va_start(ap, fmt);
	vsnprintf(row.value, sizeof(row.value), fmt, ap);
	va_end(ap);
	if (!*row.value)
		row.state = ENVIRONMENT_UNKNOWN;
	if (row.state == ENVIRONMENT_WARN || row.state == ENVIRONMENT_UNKNOWN)
		snprintf(row.repair, sizeof(row.repair), "%s", repair);
	return g->fn(g->user, &row);
}

/* A number with its unit, or unknown. */
static int gpu_number(const struct gpu *g, const char *key, int64_t value, const char *unit)
{
	char text[64] = "";

	if (value != TELEMETRY_UNKNOWN && value != 0)
		snprintf(text, sizeof(text), "%" PRId64 " %s", value, unit);
	return gpu_row(g, key, ENVIRONMENT_INFO, g->why, "%s", text);
}

static int gpu_identity(const struct gpu *g)
{
	const struct pkrun_device_info *i = g->info;
	int64_t mhz = i->clock_khz / 1000;
	int rc = 0;

	if (!mhz && g->state.max_clock_mhz != TELEMETRY_UNKNOWN)
		mhz = g->state.max_clock_mhz;
	rc = rc ? rc : gpu_row(g, "gpu", ENVIRONMENT_INFO, "", "%s", i->name);
	rc = rc ? rc : gpu_row(g, "gpu_arch", ENVIRONMENT_INFO, "", "%s", i->arch);
	rc = rc ? rc : gpu_row(g, "gpu_uuid", ENVIRONMENT_INFO, "", "%s", i->uuid);
	rc = rc ? rc : gpu_row(g, "gpu_pci", ENVIRONMENT_INFO, "", "%s", i->pci);
	rc = rc ? rc : gpu_row(g, "gpu_driver", ENVIRONMENT_INFO, "", "%s", i->driver);
	rc = rc ? rc : gpu_row(g, "gpu_runtime", ENVIRONMENT_INFO, "", "%s", i->runtime);
	rc = rc ? rc : gpu_number(g, "gpu_units", i->compute_units, g->target == PKRUN_HIP ? "CUs" : "SMs");
	rc = rc ? rc : gpu_number(g, "gpu_memory", (int64_t)(i->memory_bytes >> 20), "MiB");
	rc = rc ? rc : gpu_number(g, "gpu_l2", (int64_t)(i->l2_bytes >> 10), "KiB");
	rc = rc ? rc : gpu_number(g, "gpu_clock_max", mhz, "MHz");
	return rc ? rc : gpu_number(g, "gpu_memory_clock_max", i->memory_clock_khz / 1000, "MHz");
}

static int gpu_power(const struct gpu *g)
{
	const struct telemetry_state *s = &g->state;
	char repair[64] = "", text[64] = "";
	int capped = s->power_cap_w < s->power_cap_default_w - 0.5;
	int rc;

	if (isfinite(s->power_w))
		snprintf(text, sizeof(text), "%.0f W", s->power_w);
	rc = gpu_row(g, "gpu_power", ENVIRONMENT_INFO, g->why, "%s", text);
	text[0] = '\0';
	if (isfinite(s->power_cap_w))
		snprintf(text, sizeof(text), "%.0f W", s->power_cap_w);
	if (capped)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ", default %.0f W",
			 s->power_cap_default_w);
	snprintf(repair, sizeof(repair), g->target == PKRUN_HIP ? "rocm-smi --resetpoweroverdrive"
								 : "nvidia-smi -pl %.0f",
		 s->power_cap_default_w);
	return rc ? rc : gpu_row(g, "gpu_power_cap", capped ? ENVIRONMENT_WARN : ENVIRONMENT_OK,
				 capped ? repair : g->why, "%s", text);
}

static int gpu_condition(const struct gpu *g)
{
	const struct telemetry_state *s = &g->state;
	int hot = s->temperature_c >= 85, cuda = g->target == PKRUN_CUDA;
	int slow = strcmp(s->throttle, "none") != 0;
	char text[64] = "";
	int rc;

	rc = gpu_number(g, "gpu_clock", s->clock_mhz, "MHz");
	rc = rc ? rc : gpu_number(g, "gpu_memory_clock", s->memory_clock_mhz, "MHz");
	if (s->temperature_c != TELEMETRY_UNKNOWN)
		snprintf(text, sizeof(text), "%" PRId64 " C", s->temperature_c);
	rc = rc ? rc : gpu_row(g, "gpu_temperature", hot ? ENVIRONMENT_WARN : ENVIRONMENT_OK,
			       hot ? "let it cool; see that air reaches it" : g->why, "%s", text);
	rc = rc ? rc : gpu_power(g);
	return rc ? rc : gpu_row(g, "gpu_throttle", slow ? ENVIRONMENT_WARN : ENVIRONMENT_OK,
				 !*s->throttle ? g->why : cuda ? "nvidia-smi -q -d PERFORMANCE"
							       : "rocm-smi -a", "%s", s->throttle);
}

static int gpu_sharing(const struct gpu *g)
{
	const struct telemetry_state *s = &g->state;
	const char *mps = getenv("CUDA_MPS_PIPE_DIRECTORY");
	int cuda = g->target == PKRUN_CUDA, mig = strcmp(s->partition, "MIG") == 0, has_mps;
	char text[64] = "", control[512];
	int rc;

	if (s->processes != TELEMETRY_UNKNOWN)
		snprintf(text, sizeof(text), "%" PRId64, s->processes);
	rc = gpu_row(g, "gpu_processes", s->processes > 0 ? ENVIRONMENT_WARN : ENVIRONMENT_OK,
		     s->processes <= 0 ? g->why : cuda ? "nvidia-smi --query-compute-apps=pid,process_name --format=csv"
						       : "rocm-smi --showpids", "%s", text);
	rc = rc ? rc : gpu_row(g, "gpu_partition", mig ? ENVIRONMENT_WARN : ENVIRONMENT_OK,
			       mig ? "nvidia-smi -mig 0" : g->why, "%s", s->partition);
	if (!cuda || rc)
		return rc;
	rc = gpu_row(g, "gpu_persistence", strcmp(s->persistence, "on") ? ENVIRONMENT_WARN : ENVIRONMENT_OK,
		     *s->persistence ? "nvidia-smi -pm 1" : g->why, "%s", s->persistence);
	rc = rc ? rc : gpu_row(g, "gpu_compute_mode", ENVIRONMENT_INFO, g->why, "%s", s->compute_mode);
	snprintf(control, sizeof(control), "%s/control", mps ? mps : "/tmp/nvidia-mps");
	has_mps = access(control, F_OK) == 0;
	return rc ? rc : gpu_row(g, "gpu_mps", has_mps ? ENVIRONMENT_WARN : ENVIRONMENT_OK,
				 "echo quit | nvidia-cuda-mps-control", has_mps ? "on" : "off");
}

int environment_gpu(uint32_t target, const struct pkrun_device_info *info, struct telemetry *t,
		    const char *why, environment_fn fn, void *user)
{
	struct gpu g = { .target = target, .info = info, .why = t ? "" : why, .fn = fn, .user = user,
			 .state = { .clock_mhz = TELEMETRY_UNKNOWN, .max_clock_mhz = TELEMETRY_UNKNOWN,
				    .memory_clock_mhz = TELEMETRY_UNKNOWN,
				    .temperature_c = TELEMETRY_UNKNOWN, .processes = TELEMETRY_UNKNOWN,
				    .power_w = NAN, .power_cap_w = NAN, .power_cap_default_w = NAN } };
	int rc;

	if (t)
		telemetry_read(t, &g.state);
	rc = gpu_identity(&g);
	rc = rc ? rc : gpu_condition(&g);
	rc = rc ? rc : gpu_row(&g, "gpu_ecc", ENVIRONMENT_INFO, g.why, "%s", g.state.ecc);
	return rc ? rc : gpu_sharing(&g);
}
