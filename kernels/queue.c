/* SPDX-License-Identifier: MIT
 *
 * queue.c - the host half of the workload of uneven tasks (queue.h): how long
 * tasks are, and what they give.
 *
 * The reference does not walk the chains: n steps of a linear congruential
 * generator are one multiplication and one addition, whose factors come from
 * repeated squaring.
 */
#include <math.h>
#include "queue.h"
#include "workload.h"

enum { CONSTANT, UNIFORM, EXPONENTIAL, PARETO };
enum { RESULTS, TIMES, LENGTHS };

struct queue_options {
	int64_t n, width, mean, task_seed;
	struct pkrun_choice lengths;
	double alpha;
};

static const struct pkrun_option options[] = {
	{"n", PKRUN_INT, offsetof(struct queue_options, n), "1024", 1, 1 << 24, NULL, "task",
	 "tasks an iteration"},
	{"chains", PKRUN_INT, offsetof(struct queue_options, width), "32", 1, 1024, NULL, "word",
	 "chains of a task, spread over the threads of its block"},
	{"mean_steps", PKRUN_INT, offsetof(struct queue_options, mean), "1000", 0, 100000000, NULL,
	 "step", "mean length of a task's chains (one step: a multiplication and an addition)"},
	{"lengths", PKRUN_CHOICE, offsetof(struct queue_options, lengths), "exponential", 0, 0,
	 "constant|uniform|exponential|pareto", NULL, "distribution of the lengths"},
	{"tail", PKRUN_REAL, offsetof(struct queue_options, alpha), "1.5", 1.01, 100, NULL, NULL,
	 "shape of pareto: the smaller, the heavier the tail (below 2: no variance)"},
	{"task_seed", PKRUN_INT, offsetof(struct queue_options, task_seed), "1", 0, 1 << 30, NULL,
	 NULL, "which lengths are drawn"},
	{0},
};

static const struct queue_options *options_of(const void *opt)
{
	return opt;
}

static void counts(const void *opt, struct workload_counts *out)
{
	/* an update is a task; results and times are read and written, lengths read */
	double n = (double)workload_n(opt);

	*out = (struct workload_counts){
		.updates = n, .bytes = n * (16.0 * (double)options_of(opt)->width + 24)};
}

static int arrays(const void *opt, uint32_t blocks, struct workload_array *out)
{
	uint64_t n = (uint64_t)workload_n(opt), width = (uint64_t)options_of(opt)->width;

	(void)blocks;
	out[RESULTS] = (struct workload_array){"results", WORKLOAD_STATE, 0, n * width, width};
	out[TIMES] = (struct workload_array){"times", WORKLOAD_STATE, 0, n, 0};
	out[LENGTHS] = (struct workload_array){"lengths", WORKLOAD_INPUT, 0, n, 0};
	return 3;
}

/* A length whose mean is `mean`; u in (0, 1]. Capped at 1000 means: one task
 * must not be taken for a hang. */
static double draw(const struct queue_options *o, double u)
{
	double mean = (double)o->mean, x = mean;

	switch (o->lengths.index) {
	case UNIFORM:
		x = 2 * mean * u;
		break;
	case EXPONENTIAL:
		x = -mean * log(u);
		break;
	case PARETO:
		x = mean * (o->alpha - 1) / o->alpha * pow(u, -1 / o->alpha);
		break;
	}
	return x > 1000 * mean ? 1000 * mean : x;
}

static void fill(const void *opt, uint32_t blocks, int which, void *data)
{
	const struct queue_options *o = options_of(opt);
	uint64_t n = (uint64_t)o->n, *out = data;

	(void)blocks;
	for (uint64_t t = 0; which == LENGTHS && t < n; t++) {
		uint64_t bits = pk_mix64((uint64_t)o->task_seed * PK_GOLDEN ^ pk_mix64(t + 1)) >> 11;

		out[t] = (uint64_t)(draw(o, ((double)bits + 1) / 9007199254740992.0) + 0.5);
	}
}

/* x after `steps` of pk_chain_work() is *factor * x + *addend. */
static void jump(uint64_t steps, uint64_t *factor, uint64_t *addend)
{
	uint64_t a = 6364136223846793005u, c = 1442695040888963407u;

	*factor = 1;
	*addend = 0;
	for (; steps; steps >>= 1) {
		if (steps & 1) {
			*factor *= a;
			*addend = *addend * a + c;
		}
		c *= a + 1;
		a *= a;
	}
}

static uint64_t advance(const void *opt, uint32_t blocks, void **data, uint64_t iterations,
			int threads)
{
	uint64_t n = (uint64_t)workload_n(opt), width = (uint64_t)options_of(opt)->width;
	uint64_t *results = data[RESULTS], *times = data[TIMES], factor, addend;
	const uint64_t *lengths = data[LENGTHS];

	(void)blocks;
	(void)threads;
	for (uint64_t t = 0; t < n; t++) {
		jump(lengths[t], &factor, &addend);
		for (uint64_t j = 0; j < width; j++)
			results[t * width + j] += iterations * (factor * queue_seed(t, j) + addend);
		times[t] += iterations;
	}
	return 0;
}

static void fill_args(const void *opt, uint32_t blocks, void **dev, void *out)
{
	struct queue_args *a = out;

	(void)blocks;
	*a = (struct queue_args){
		.size = sizeof(*a),
		.version = QUEUE_VERSION,
		.tasks = (uint64_t)workload_n(opt),
		.width = (uint64_t)options_of(opt)->width,
		.results = dev[RESULTS],
		.times = dev[TIMES],
		.lengths = dev[LENGTHS],
	};
}

const struct workload workload_queue = {
	.name = "queue",
	.brief = "many tasks of uneven length: who does which?",
	.options = options,
	.options_size = sizeof(struct queue_options),
	.args_size = sizeof(struct queue_args),
	.n = workload_n,
	.steps_per_iteration = workload_one_step,
	.units = workload_n_units,
	.counts = counts,
	.arrays = arrays,
	.fill = fill,
	.advance = advance,
	.args = fill_args,
};
