/* SPDX-License-Identifier: MIT
 *
 * faulty.h - what the faulty variants share.
 *
 * Each is persistent_relaxed with one mistake of the reports put back in.  They
 * are for tests and `pkrun check`: a measurement program is only as good as its
 * verdict on these.  The host's side, the flags and the abort word are the
 * shipped ones; only what the head of each file names differs.
 */
#ifndef PKRUN_FAULTY_H
#define PKRUN_FAULTY_H

#include "kernels/persistent_host.h"

/* Thread 0 waits for the word that releases step s. */
template <class Orders>
static __device__ __forceinline__ uint32_t faulty_poll(const struct host_control &c, uint64_t s)
{
	const uint32_t *flag = c.to_device + (uint64_t)blockIdx.x * c.to_device_stride;
	const uint32_t before = (uint32_t)s;
	uint32_t task;

	if (!pk_wait<pk_system, Orders>(
		    flag, [=](uint32_t v) { return v != before; }, &task, c.watch, blockIdx.x, s))
		return FLAG_LEAVE;
	return task;
}

static __device__ __forceinline__ uint32_t *faulty_answer(const struct host_control &c)
{
	return c.to_host + (uint64_t)blockIdx.x * c.to_host_stride;
}

static const struct pkrun_option faulty_options[] = {
	HOST_OPTION_SCHEDULE("lockstep"),
	HOST_OPTION_WAIT("usleep:25"),
	HOST_OPTION_PAD("0"),
	HOST_OPTION_PIN("-1"),
	{},
};

#define FAULTY_PLUGIN(name_, brief_)                                                               \
	PKRUN_PLUGIN(                                                                              \
		.name = name_,                                                                     \
		.brief = brief_,                                                                   \
		.control = PKRUN_CONTROL_HOST,                                                     \
		.result = PKRUN_EXACT,                                                             \
		.flags = PKRUN_COOPERATIVE | PKRUN_RESIDENT,                                       \
		.state_size = sizeof(struct host_state),                                           \
		.workloads = PK_WORKLOADS,                                                         \
		.options = faulty_options,                                                         \
		.options_size = sizeof(struct host_options),                                       \
		.reserved = 0,                                                                     \
		.probe = host_probe,                                                               \
		.footprint = host_footprint<rung>,                                                 \
		.setup = host_setup<rung>,                                                         \
		.start = host_start<rung>,                                                         \
		.run = host_run<rung>,                                                             \
		.wait = host_wait,                                                                 \
		.stop = host_stop,                                                                 \
		.teardown = host_teardown,                                                         \
	)

#endif
