/* SPDX-License-Identifier: MIT
 *
 * bench.h - one cell inside the worker: its memory, what is lent to the plugin,
 * and the steps from probe to teardown.  measure.c runs the trials on it.
 */
#ifndef PKRUN_BENCH_H
#define PKRUN_BENCH_H

#include "arena.h"
#include "device.h"
#include "job.h"
#include "matrix.h"
#include "protocol.h"
#include "reference.h"

#define BENCH_METRICS_MAX 4096	/* a trial; more are counted and dropped */
#define BENCH_NORM "residual_norm"	/* the metric that is verified */
#define BENCH_SAID_MAX 64	/* texts a trial */

struct bench_said {
	char text[512];
};

struct judge_expected {			/* of a run of so many iterations */
	uint64_t hash;
	double error;				/* converges: largest distance from the fixed point */
	double norm;				/* of a state found right; NaN: not computed yet */
};

struct judge {
	int converges;
	struct judge_expected one, odd, all;
	struct reference fixed;			/* converges: the fixed point */
};

struct bench {
	struct pkrun_run run;			/* first: what a plugin gives back to us */
	struct pkrun_host host;
	const struct pkrun_device *dev;
	const struct pkrun_plugin *plugin;
	const struct workload *workload;
	struct job *job;

	struct common_options common;
	union { unsigned char bytes[MATRIX_OPTIONS_BYTES]; int64_t align; } variant, problem;
	struct pkrun_work work;
	struct pkrun_footprint grid;
	int is_set_up;
	int calibrating;			/* times alone are wanted: no reference, no verification */

	struct arena arena;
	struct reference initial;		/* on the host: initial arrays */
	void *array[WORKLOAD_ARRAYS_MAX];	/* on the device */
	void *pristine[WORKLOAD_ARRAYS_MAX];	/* state arrays: a copy to restore from */
	uint64_t input_hash;			/* of the WORKLOAD_INPUT arrays */
	struct protocol_reference reference;
	struct judge judge;

	int shows_progress;			/* somebody looks at the line */
	int64_t progress_ns;			/* when it was told last: child_now() */

	/* kept until the trial is over: nothing is written while a clock runs */
	int64_t kernel_ns;
	size_t n_metrics, lost_metrics;
	struct protocol_metric *metrics;
	size_t n_said, lost_said;
	struct bench_said *said;

	char reason[1024];			/* why the last step did not end well */
};

/* What a step answers. */
enum bench_status { BENCH_OK, BENCH_SKIPPED, BENCH_REFUSED, BENCH_WRONG, BENCH_ERROR, BENCH_ABORTED };
const char *bench_status_name(enum bench_status s);

/* From the job to a plugin that is set up, or the first status that is not BENCH_OK with b->reason.
 * dev is open on `stream`. */
enum bench_status bench_open(struct bench *b, struct job *job, const struct pkrun_device *dev,
			     void *stream);
/* Close and open again, for runs of up to so many iterations. */
enum bench_status bench_reopen(struct bench *b, uint64_t iterations);
/* Teardown and release.  Not after a crash of ours; safe after any status of bench_open. */
void bench_close(struct bench *b);
/* Hand over what plugin calls left: metrics (of `scope`) and notes. */
void bench_flush(struct bench *b, enum protocol_scope scope);
/* Status of a plugin call's return value; the reason is what it said last, or a default. */
enum bench_status bench_answer(struct bench *b, const char *call, int rc);
/* "the device: ..." */
enum bench_status bench_device_error(struct bench *b, const char *what);
int bench_aborted(const struct bench *b);

/* A figure of our own for the trial at hand. */
void bench_metric(struct bench *b, const char *name, double value, const char *unit);

/* judge.c: what a right result is, from b->reference; is this one right?  *hash: of the state. */
enum bench_status judge_open(struct bench *b);
enum bench_status judge_result(struct bench *b, const char *kind, uint64_t iterations,
			       struct judge_expected *expected, uint64_t *hash);
void judge_close(struct bench *b);

/* measure.c: all trials of one block. */
enum bench_status measure(struct bench *b);
/* How long an iteration takes, from a run of at least 10 ms (or half a second for one). */
enum bench_status calibrate(struct bench *b);

#endif
