/* SPDX-License-Identifier: MIT
 *
 * runtime.h - what the files of libpkhost share.
 *
 * stream.cpp keeps the queues, which host threads fill and the device empties,
 * both under device.lock.  sched.cpp runs what has been taken from them:
 * blocks and fibers belong to the device alone and need no lock.
 */
#ifndef PKRUN_HOST_RUNTIME_H
#define PKRUN_HOST_RUNTIME_H

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>
#include "hip_host.h"
#include "lock.h"
#include "tsan.h"

/* ---- limits of the device (properties, occupancy, what a launch may ask for) */

#ifdef PKH_TSAN
/* The checker has 256 thread slots; beyond, fibers share them and races are lost. */
#define PKH_UNITS 1
#define PKH_UNIT_THREADS 224
#define PKH_BLOCK_THREADS 224
#else
/* 8 x 2048 fibers of two maps each stay well under vm.max_map_count = 65530. */
#define PKH_UNITS 8
#define PKH_UNIT_THREADS 2048
#define PKH_BLOCK_THREADS 1024
#endif
#define PKH_UNIT_BLOCKS 32
#define PKH_UNIT_SHARED (228u << 10)
#define PKH_BLOCK_SHARED (48u << 10)	    /* static, and dynamic without asking for more */
#define PKH_BLOCK_SHARED_MAX (227u << 10)   /* dynamic, with hipFuncSetAttribute */
#define PKH_BLOCK_SHARED_RESERVED (1u << 10)
#define PKH_POISON 0xCB
#define PKH_STOPPED 97			    /* exit code of a stop with a table */

/* ---- settings from the environment */

struct settings {
	int workers;
	bool seeded;
	uint64_t seed;
	unsigned preempt;	/* of 256 */
	bool strict;
	int64_t timeout_ns;	/* 0: never */
	bool trace;
};

void settings_read(settings *s);

/* ---- streams */

enum op_kind { OP_KERNEL, OP_COPY, OP_SET, OP_RECORD, OP_WAIT };

/* What an op does: constant, so that the launches of a graph share it. */
struct op_work {
	op_kind kind;

	/* OP_KERNEL */
	void (*call)(const void *args);
	std::unique_ptr<std::max_align_t[]> args;
	dim3 grid, block;
	uint64_t blocks;
	unsigned threads;
	size_t dynamic_bytes;
	bool cooperative;
	unsigned resident_max;	/* R: blocks of this kernel at a time */
	unsigned share;		/* of PKH_UNITS * PKH_UNIT_THREADS, that one block occupies */

	/* OP_COPY, OP_SET */
	void *dst;
	const void *src;
	int byte;
	size_t bytes;
};

/* One hipEventRecord, shared by the event, the op and the ops that wait for it: an event that is
 * recorded anew leaves them their own. */
struct event_record {
	bool reached = false;
	int64_t ns = 0;		/* when */
	char order = 0;		/* tsan */
};

struct pkh_event {
	std::shared_ptr<event_record> latest;	/* NULL: none yet */
	bool timed;
};

struct grid_barrier {
	uint64_t arrived = 0;
	unsigned generation = 0;
	char order[2];		/* tsan; two, or a fast thread's next arrival would come
				   before a slow one's departure */
	const char *file = nullptr;
	int line = 0;
};

struct op {
	std::shared_ptr<const op_work> work;
	pkh_stream *stream;
	uint64_t number;		/* in its stream, from 1 */
	bool begun = false;
	char order = 0;			/* tsan: what the host did before */

	std::shared_ptr<event_record> record;	/* OP_RECORD, OP_WAIT (NULL: of an event without one) */

	uint64_t next_block = 0;	/* OP_KERNEL: not yet started */
	uint64_t blocks_done = 0;
	unsigned resident = 0;
	uint64_t threads_done = 0;
	int64_t began_ns = 0;
	grid_barrier grid;
};

struct pkh_stream {
	std::deque<op *> queue;		/* front: the one that runs */
	uint64_t enqueued = 0;
	uint64_t finished = 0;
	pkh_graph *capture = nullptr;
	bool capture_broken = false;
	char order = 0;			/* tsan: what its ops have done */
};

hipError_t stream_enqueue(hipStream_t stream, std::shared_ptr<const op_work> work);
bool stream_capturing(void);	/* any stream; allocating or waiting is then an error */
void stream_break_captures(void);
/* Begin and finish all that can be, from every queue; kernels go to sched_begin. */
void streams_advance(void);
void stream_finish(op *o);

/* ---- graphs (graph.cpp) */

struct pkh_graph_node {
	std::shared_ptr<const op_work> work;
};

struct pkh_graph {
	std::vector<std::unique_ptr<pkh_graph_node>> nodes;
};

void graph_append(pkh_graph *graph, std::shared_ptr<const op_work> work);

/* ---- the device */

struct device {
	settings set;
	::lock lock;			/* streams and events */
	bell posted;			/* host: there is something in a queue */
	bell done;			/* device: an op has finished */
	std::vector<pkh_stream *> streams;	/* [0]: the null stream */
	std::atomic<bool> look{false};	/* a queue or an event has changed */
};

/* Made at the first call and never freed: the device may still run while the
 * process exits. */
device *the_device(void);

/* ---- scheduling (sched.cpp) */

void sched_start(device *d);		/* settings are known; makes the worker */
void sched_begin(op *kernel);
/* Host side: let the device run until check() holds. */
void sched_wait(bool (*check)(void *), void *arg);
void sched_pump(void);			/* workers = 0: a little of the device's work, here */
int64_t sched_block(void);		/* of the GPU thread that runs now; -1: host code */
int64_t clock_ns(void);

/* ---- errors */

hipError_t set_error(hipError_t e);	/* remembers it for hipGetLastError; returns it */

#endif
