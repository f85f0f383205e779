/* SPDX-License-Identifier: MIT
 *
 * persistent_chaotic - several steps an exchange on a halo that is one row wide.
 *
 * Against persistent_halo: nothing is computed twice and one row travels, but
 * from the second step after an exchange on the halo is stale.  That is chaotic
 * relaxation (Chazan and Miranker): it still converges, to the same fixed point,
 * and is judged by the distance to it, not bit for bit.  An exchange still waits
 * for both neighbours, so a run's result is the same every time.
 *
 * Cost: more iterations for the same error.
 */
#include "kernels/private_bands.h"

static const struct pkrun_option options[] = {
	{"period", PKRUN_INT, offsetof(struct private_options, period), "4", 1, 8, NULL, "step",
	 "steps an exchange (at most 8: the result is judged as eight times slower than exact)"},
	{"width", PKRUN_INT, offsetof(struct private_options, rows), "1", 1, 64, NULL, "point",
	 "rows of the halo; from `period` on nothing is stale"},
	DEVICE_OPTION_STAMPS(),
	{},
};

PKRUN_PLUGIN(
	.name = "persistent_chaotic",
	.brief = "private copies with a halo of one row, several steps on stale data",
	.control = PKRUN_CONTROL_DEVICE,
	.result = PKRUN_CONVERGES,
	.flags = PKRUN_COOPERATIVE | PKRUN_RESIDENT,
	.state_size = sizeof(struct private_state),
	.workloads = "poisson2d,null",
	.options = options,
	.options_size = sizeof(struct private_options),
	.reserved = 0,
	.probe = private_probe,
	.footprint = device_footprint<private_order, private_source>,
	.setup = private_setup,
	.start = private_start,
	.run = device_run,
	.wait = device_wait,
	.stop = device_stop,
	.teardown = device_teardown,
);
