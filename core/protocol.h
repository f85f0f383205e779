/* SPDX-License-Identifier: MIT
 *
 * protocol.h - what pkrun and its worker say to each other (message.h carries it).
 *
 * One job is one block of one cell:
 *
 *	pkrun			worker
 *	JOB ------------------>
 *				PHASE, NOTE, METRIC, GRID, PROGRESS: no answer
 *	  <------------------- WANT_REFERENCE
 *	REFERENCE ------------>
 *	  <------------------- TRIAL, then its METRICs and NOTEs, then TOLD
 *	STORED --------------->	(nothing is written beside a timing)
 *	  <------------------- END	what became of the block
 *	  <------------------- READY	teardown is through: next JOB, or QUIT
 */
#ifndef PKRUN_PROTOCOL_H
#define PKRUN_PROTOCOL_H

#include <stdint.h>
#include "message.h"

enum protocol_type {
	/* to the worker */
	PROTOCOL_JOB = 1,	/* job.h */
	PROTOCOL_STORED,	/* empty */
	PROTOCOL_REFERENCE,	/* struct protocol_reference */
	PROTOCOL_QUIT,		/* empty */
	/* from the worker */
	PROTOCOL_PHASE = 100,
	PROTOCOL_NOTE,		/* text, not terminated */
	PROTOCOL_METRIC,
	PROTOCOL_GRID,
	PROTOCOL_WANT_REFERENCE,
	PROTOCOL_TRIAL,
	PROTOCOL_CALIBRATED,
	PROTOCOL_END,
	PROTOCOL_READY,		/* empty, or a byte: take another process for the next job */
	PROTOCOL_PROGRESS,
	PROTOCOL_TOLD		/* empty: of this trial there is no more */
};

enum protocol_limit {
	PROTOCOL_LIMIT_NONE,	/* our own code computes: no watchdog */
	PROTOCOL_LIMIT_LOAD,	/* loading, opening the device */
	PROTOCOL_LIMIT_PLUGIN	/* plugin code: the cell's timeout, else from predicted_ns */
};

struct protocol_phase {
	char name[32];
	uint32_t limit;
	uint32_t iterations;
	double predicted_ns;	/* 0: unknown */
};

enum protocol_scope { PROTOCOL_OF_BLOCK, PROTOCOL_OF_TRIAL };

struct protocol_metric {
	char name[64], unit[32];
	double value;
	uint32_t scope;		/* OF_TRIAL: of the last TRIAL that was stored */
};

struct protocol_grid {
	uint32_t blocks, threads, resident_max, reserved;
	uint64_t dynamic_bytes;
	double updates, flops, bytes;
};

struct protocol_want {
	char input[17];		/* hash of the initial arrays and the problem, in hexadecimal */
	uint32_t blocks;	/* 0 where the result does not depend on it */
	uint64_t iterations;
};

struct protocol_reference {
	int32_t found;		/* 0: see why */
	uint32_t reserved;
	uint64_t one, odd, all;	/* hashes after 1, k and `iterations` iterations */
	uint64_t k;		/* odd, below stationary_at / 2 */
	uint64_t stationary_at;	/* 0: not by `iterations` */
	char why[512];
};

struct protocol_trial {
	char kind[16], hash[17], flags[64];
	int32_t verified;
	uint32_t position;
	uint64_t iterations;
	int64_t wall_ns, device_ns, kernel_ns, host_cpu_ns;	/* INT64_MIN: none */
};

struct protocol_calibrated {	/* of a job with mode = calibrate, before its END */
	double per_iteration_ns, tick_ns;
};

struct protocol_progress {	/* of the trial at hand */
	uint64_t done, total;
};

struct protocol_end {
	char status[16];	/* ok, skipped, refused, wrong, error, aborted */
	char reason[1500];
	int32_t healthy;	/* the process can take another job */
	/* after `aborted`: where the spin stood (struct pkrun_watch) */
	uint32_t seen, where, block;
	uint64_t step;
};

union protocol_payload {
	struct protocol_phase phase;
	struct protocol_metric metric;
	struct protocol_grid grid;
	struct protocol_want want;
	struct protocol_trial trial;
	struct protocol_calibrated calibrated;
	struct protocol_progress progress;
	struct protocol_end end;
};

/* A worker's message, its texts ended; *u is as it was where the type has no struct.  0, or -1: its
 * size is not that of its type, or it is a trial of no kind. */
int protocol_take(const struct message *m, union protocol_payload *u);

#endif
