/* SPDX-License-Identifier: MIT
 *
 * energy.c - see energy.h.
 */
#include <time.h>
#include <unistd.h>
#include "energy.h"

#define STANDS_STILL_NS INT64_C(2000000000)
#define LOOK_US 500

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* The next leap of the counter: when, and its new value. */
static int next_leap(struct telemetry *t, int64_t *when, int64_t *uj)
{
	int64_t begin = now_ns(), before = telemetry_energy_uj(t);

	*when = begin;
	for (*uj = before; *uj == before; *uj = telemetry_energy_uj(t)) {
		if (before == TELEMETRY_UNKNOWN || *when - begin > STANDS_STILL_NS)
			return -1;
		usleep(LOOK_US);
		*when = now_ns();
	}
	*when = now_ns();
	return *uj == TELEMETRY_UNKNOWN || *uj < before ? -1 : 0;
}

int energy_begin(struct energy_meter *m, struct telemetry *t)
{
	int64_t when, uj;

	*m = (struct energy_meter){.telemetry = t};
	if (next_leap(t, &when, &uj) || next_leap(t, &m->begin_ns, &m->begin_uj))
		return -1;
	m->rest_w = (double)(m->begin_uj - uj) * 1e3 / (double)(m->begin_ns - when);
	return 0;
}

void energy_add(struct energy_meter *m, int64_t wall_ns, uint64_t iterations)
{
	m->wall_ns += wall_ns;
	m->iterations += iterations;
}

double energy_seconds(const struct energy_meter *m)
{
	return (double)(now_ns() - m->begin_ns) / 1e9;
}

int energy_end(struct energy_meter *m, struct energy_result *out)
{
	int64_t stopped = now_ns(), when, uj;
	double busy_ns = (double)(stopped - m->begin_ns), used_uj;

	if (!m->iterations || next_leap(m->telemetry, &when, &uj))
		return -1;
	used_uj = (double)(uj - m->begin_uj) - m->rest_w * (double)(when - stopped) / 1e3;
	if (used_uj <= 0 || busy_ns <= 0)
		return -1;
	out->power_w = used_uj * 1e3 / busy_ns;
	out->rest_w = m->rest_w;
	out->share = (double)m->wall_ns / busy_ns;
	out->uj_an_iteration = used_uj * out->share / (double)m->iterations;
	return 0;
}
