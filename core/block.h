/* SPDX-License-Identifier: MIT
 *
 * block.h - one block of one cell while it is measured: what block.c,
 * block_late.c and block_reference.c share, and nobody else needs.
 */
#ifndef PKRUN_BLOCK_H
#define PKRUN_BLOCK_H

#include "protocol.h"
#include "runner.h"

#define SECOND    INT64_C(1000000000)
#define GRACE_S   2.0		/* between SIGTERM and SIGKILL, and for leaving */
#define TIMES_MAX 100000	/* trials of a block that the matrix allows */

struct block {
	struct runner *r;
	const struct cell *cell;
	struct cell_state *state;
	struct block_result *out;
	struct job job;
	int64_t id, trial;		/* rows; trial: the last one, for its metrics */
	struct protocol_phase phase;
	double limit_s;			/* 0: none */
	const char *limit_why;
	int64_t deadline;
	int in_transaction;
	int ended;			/* END came */
	int is_spent;			/* its process is to take no other job */
	struct protocol_end end;
	struct protocol_calibrated calibrated;
	double times[TIMES_MAX];
	int64_t time_ids[TIMES_MAX];	/* rows of their trials */
	size_t n_times;
};

void block_set_result(struct block *b, enum cell_status s, const char *reason);
/* An event of the cell.  0, or -1. */
int block_say(struct block *b, const char *kind, const char *text);
/* The job of this cell in mode `cell`, `calibrate`, `reference` or `probe`: 0, or -1 (no room). */
int block_job(const struct block *b, const char *mode, struct job *j);
/* SIGKILL to the worker.  0, or -1: it lives on, and its device is given up. */
int block_kill_worker(struct runner *r);
/* The END that came is the result; a worker that is not fit for more is ended. */
void block_end(struct block *b);

/* block_reference.c: answer WANT_REFERENCE, from the database or by a child that computes it. */
int block_reference(struct block *b, const struct protocol_want *w);

/* block_late.c: the worker did not do as it should.  Each sets the result and ends the worker. */
void late_hang(struct block *b);	/* the deadline passed; also asks whether the device still answers */
void late_crash(struct block *b);	/* the process ended */
void late_teardown(struct block *b);	/* the deadline passed in teardown */
void late_interrupt(struct block *b);	/* pkrun was told to end */
void late_broken(struct block *b);	/* it sent what is not the protocol */

#endif
