/* SPDX-License-Identifier: MIT
 *
 * runner.h - the running of a matrix, in the parent: no GPU, no plugin, only
 * children, deadlines and the database.
 */
#ifndef PKRUN_RUNNER_H
#define PKRUN_RUNNER_H

#include "catalog.h"
#include "child.h"
#include "job.h"
#include "matrix.h"
#include "wrap.h"
#include "telemetry.h"
#include "../db/store.h"

struct baseline;
struct progress;

enum cell_status {
	CELL_PENDING, CELL_OK, CELL_IMPRECISE, CELL_SKIPPED, CELL_REFUSED, CELL_WRONG, CELL_CRASH,
	CELL_HANG, CELL_ERROR,
	CELL_INTERRUPTED	/* of a block only; the cell stays pending */
};
const char *cell_status_name(enum cell_status s);

/* What is kept of a cell in memory; everything else is computed or in the database. */
struct cell_state {
	int64_t id;		/* row */
	double *medians;	/* ns per iteration, one a finished block */
	uint32_t n_medians, cap_medians;
	uint64_t iterations;	/* of a trial, where the matrix says auto */
	float seconds;		/* wall time spent on it so far, without its reference */
	uint16_t attempts;	/* at the next block, that came to nothing, over all sessions */
	uint8_t retried;	/* of `retries`, at the next block */
	uint8_t is_cut;		/* its time was over before all trials of a block were done */
	uint8_t status;		/* enum cell_status; CELL_PENDING while blocks are wanted */
};

struct runner {
	const struct catalog *catalog;
	struct matrix *matrix;
	struct matrix_settings settings;	/* the matrix's, command line over it */
	int warmup_is_default;			/* then the host target gets a tenth: it has no clocks to raise */
	const char *plugin_dir;
	struct wrap wrap;			/* --wrap; words NULL: none */
	const char *instrumented;		/* stored; such a run has no tight deadlines */
	int profile;				/* --profile: ranges in a timeline */
	struct store *store;
	int64_t run_id;
	uint64_t n_cells;
	struct cell_state *cells;
	int64_t device_id[4];			/* rows, by target */
	int64_t *plugin_id;			/* rows, by variant in the catalog */
	struct telemetry *telemetry[4];		/* by target; NULL: there is none */
	char no_telemetry[4][256];		/* why */
	int64_t max_clock_mhz[4];		/* TELEMETRY_UNKNOWN */
	struct baseline *baseline;		/* of the stopping rule; NULL: ratios do not count */
	char lost[4][256];			/* by target: why its device is given up; "" if it is not */
	struct progress *progress;		/* the line; NULL: cells are not run yet */
	struct child child;			/* pid 0: none */
	uint32_t child_target;
	int64_t position;			/* blocks started so far */
	int wake_fd;
};

/* What became of one block. */
struct block_result {
	enum cell_status status;
	char reason[2048];
	double median;			/* ns per iteration; NAN without a good timed trial */
	double reference_s;		/* of its time: for the CPU's reference, which is everybody's */
	uint32_t timed, bad_clock;	/* trials */
};

/* Run block `number` of a cell in a worker, storing as it goes: 0, or -1 when the database failed. */
int block_run(struct runner *r, const struct cell *cell, struct cell_state *state, int64_t number,
	      struct block_result *out);
/* Time an iteration of a cell whose iterations are `auto`: ns in *per_iteration and the clock's tick when
 * out->status is CELL_OK.  0, or -1 when the database failed. */
int block_calibrate(struct runner *r, const struct cell *cell, struct cell_state *state,
		    double *per_iteration, double *tick, struct block_result *out);
/* Set the iterations of all cells that leave them to us: calibrate.c.  0 go on, 1 interrupted, -1 the database failed. */
int calibrate_cells(struct runner *r);
/* Another block of a cell is done: its median.  0, or -1 (memory). */
int runner_keep_median(struct cell_state *c, double median);
/* What may have been the machine's fault is tried again, if the matrix wants that.  1 it is, 0 not, -1 the database failed. */
int runner_retry(struct runner *r, struct cell_state *c, const struct block_result *result);
/* End a cell: its status, in memory and in the database. */
int runner_end_cell(struct runner *r, uint64_t number, enum cell_status s, const char *reason);
/* Quit the worker there is, politely for two seconds; 200 where --wrap has a tool around it. */
void block_end_worker(struct runner *r);

/* The loop over all blocks and cells: 0, or -1 when the database failed (said). */
int runner_loop(struct runner *r);

/* ---- interrupt.c: SIGINT, SIGTERM, SIGHUP ---- */
/* Catch them; *wake_fd becomes readable.  A second one ends the program within a second. */
int interrupt_open(int *wake_fd);
/* 0, or the signal that came. */
int interrupt_signal(void);
/* Empty the wake pipe. */
void interrupt_clear(int wake_fd);
/* Whom a second signal kills at once: the leader of the child's group, 0: nobody. */
void interrupt_child(pid_t pid);

#endif
