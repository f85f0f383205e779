/* SPDX-License-Identifier: MIT
 *
 * plugin.h - the whole contract between pkrun and a variant.
 *
 * A variant says *how* steps of work reach the device.  It is one shared
 * object that exports one symbol, `pkrun_plugin`.  It links against nothing of
 * pkrun: what it may call back comes in the table run->host.  The work itself
 * (*what* a step is) comes in run->work.  Valid as C11 and as C++17 (hipcc,
 * nvcc, g++, clang++).
 *
 * Life of one cell, always in a child process of its own:
 *
 *	probe      may this run here?  PKRUN_SKIP with a reason is a result
 *	footprint  grid, and how many of its blocks can be co-resident
 *	setup      allocate (run->host->alloc) and build what lives for the cell
 *	repeated, one trial each time:
 *	    (pkrun restores the state and poisons every allocation)
 *	    start  initialise own memory; make a resident kernel resident
 *	    run    timed: hand over `iterations` iterations
 *	    wait   timed: until the last of them is complete
 *	    stop   make a resident kernel leave; synchronise
 *	    (pkrun verifies the whole result, the step counters and the guards)
 *	teardown   undo setup; also called when setup failed half-way
 *
 * Every function returns an enum pkrun_status.  Before any but PKRUN_OK,
 * give the exact cause with run->host->say().
 *
 * ABI history (append only; another major is refused):
 *   1.0  first
 *   1.1  progress in struct pkrun_host; PKRUN_BLOCKS_PER_CU, of which cells of a 1.0
 *        variant are skipped; PKRUN_WRONG
 *   1.2  metrics in struct pkrun_plugin
 */
#ifndef PKRUN_PLUGIN_H
#define PKRUN_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PKRUN_MAGIC     0x4e524b50u	/* "PKRN", little endian */
#define PKRUN_ABI_MAJOR 1
#define PKRUN_ABI_MINOR 2
#define PKRUN_EXPORT    __attribute__((visibility("default")))

enum pkrun_status {
	PKRUN_OK   =  0,
	PKRUN_SKIP =  1,	/* does not fit here; a result, with its reason */
	PKRUN_FAIL = -1,	/* a call failed; the cell ends as `error` */
	PKRUN_WRONG = 2		/* 1.1: of what the host itself looks at, something is not as it must be */
};

/* What a shared object was compiled for. */
enum pkrun_target { PKRUN_HOST = 1, PKRUN_HIP = 2, PKRUN_CUDA = 3 };

/*
 * Who releases each step?  host: the host, one by one.  host_queue: the host,
 * ahead of time into a queue.  device: the device, the host only starts and
 * stops.  device_queue: the device, through its own launch mechanism.
 */
enum pkrun_control {
	PKRUN_CONTROL_HOST = 1,
	PKRUN_CONTROL_HOST_QUEUE = 2,
	PKRUN_CONTROL_DEVICE = 3,
	PKRUN_CONTROL_DEVICE_QUEUE = 4
};

/* exact: equal to the reference bit for bit.  converges: judged by the error
 * against the reference's fixed point. */
enum pkrun_result { PKRUN_EXACT = 1, PKRUN_CONVERGES = 2 };

/* Capability flags. */
#define PKRUN_COOPERATIVE (1u << 0)	/* launches cooperatively; every block must be co-resident */
#define PKRUN_RESIDENT    (1u << 1)	/* a kernel stays on the device from start to stop */

/* ---- options: data, one row each, from which the INI is parsed and checked,
 * `pkrun help VARIANT` is printed and the stored value is spelled. */

enum pkrun_type {
	PKRUN_INT = 1,		/* int64_t, within min..max */
	PKRUN_REAL = 2,		/* double, within min..max */
	PKRUN_BOOL = 3,		/* int32_t 0 or 1; yes|no|true|false|on|off|1|0 */
	PKRUN_CHOICE = 4,	/* struct pkrun_choice, spelled as `choices` says */
	PKRUN_PAIR = 5,		/* int64_t[2], spelled HxW, each within min..max */
	PKRUN_TEXT = 6		/* const char *, owned by pkrun */
};

/* Value of a PKRUN_CHOICE. */
struct pkrun_choice {
	int32_t index;		/* which of `choices`, from 0 */
	int32_t reserved;
	int64_t arg;		/* the number, for a choice spelled `word:N` or `N`; else 0 */
};

struct pkrun_option {
	const char *name;	/* the INI key; NULL ends the table */
	uint32_t    type;	/* enum pkrun_type */
	uint32_t    offset;	/* offsetof(struct my_options, field) */
	const char *value;	/* default, spelled as in the INI file */
	double      min, max;	/* inclusive; for INT, REAL, PAIR and a choice's N; both 0: any */
	const char *choices;	/* CHOICE: "coop|counter", "usleep:N|spin", "auto|rows|N" */
	const char *unit;	/* "us", "byte", ...; NULL: none */
	const char *help;	/* one line */
};

/* ---- metrics: one row for each that the variant hands to run->host->metric(); `pkrun help
 * VARIANT` and `pkrun list metrics` say from it what the numbers in the database mean. */

struct pkrun_metric {
	const char *name;	/* NULL ends the table; `*` stands for any text: "period_w*_ns" */
	const char *unit;	/* as given to metric(); "" or "1": a pure number */
	const char *help;	/* one line */
};

/* ---- what pkrun hands to a variant ---- */

/* Where memory lives (run->host->alloc). */
enum pkrun_memory {
	PKRUN_MEMORY_DEVICE = 1,	/* device memory; host pointer NULL */
	PKRUN_MEMORY_HOST = 2,		/* pinned, mapped, fine-grained coherent: flags go here */
	PKRUN_MEMORY_HOST_NONCOHERENT = 3, /* pinned and mapped, coherence as the platform defaults */
	PKRUN_MEMORY_DEVICE_VISIBLE = 4	/* device memory that the host can write; PKRUN_SKIP where there is none */
};

struct pkrun_run;

/* The table pkrun lends.  Only fields inside `size` exist: before a call of one that
 * is newer than 1.0, ask PKRUN_HOST_HAS(run->host, field). */
struct pkrun_host {
	uint32_t size;			/* sizeof(struct pkrun_host) as pkrun knows it */
	uint32_t abi_minor;

	/* The reason for a skip or failure, or a note for the log.  printf-like; copied. */
	void (*say)(struct pkrun_run *run, const char *fmt, ...)
		__attribute__((format(printf, 2, 3)));

	/* Store a figure of the variant's own, e.g. ("instantiate", 330000, "ns"); a name of
	 * at most 63 bytes, of which `metrics` of the plugin says what it means. */
	int (*metric)(struct pkrun_run *run, const char *name, double value,
		      const char *unit);

	/*
	 * Allocate `bytes` of `memory` for the life of the cell.  *dev is the
	 * address for kernels, *host the address for the host (NULL for
	 * MEMORY_DEVICE); either argument may be NULL.  256-byte aligned.
	 * Contents are poison (0xCB) before *every* start(), and guard zones
	 * around it are checked after every trial.  pkrun frees it.
	 */
	int (*alloc)(struct pkrun_run *run, const char *name, uint32_t memory,
		     size_t bytes, void **host, void **dev);

	/* Time inside the kernel for this trial, ns; stored beside the host's time. */
	void (*kernel_ns)(struct pkrun_run *run, int64_t ns);
	/* 1.0 ends here; append only */

	/*
	 * 1.1: how far the trial is, `done` of `total` in whatever unit: for the
	 * progress line alone, never stored.  Only from the thread that pkrun called
	 * run() or wait() on.  As often as one likes: pkrun passes on ten a second at
	 * most (about 10 us each), none in the first 0.1 s of a trial, and none at all
	 * where no line is shown.  The other calls read a clock at the most, so let a
	 * loop that spins call once in 64 looks or so.  It is no sign of life: the
	 * watchdog does not wait longer for it.
	 */
	void (*progress)(struct pkrun_run *run, uint64_t done, uint64_t total);
};
#define PKRUN_HOST_SIZE_1_0 offsetof(struct pkrun_host, progress)

/* Does table h, as pkrun lends it, have field f? */
#define PKRUN_HOST_HAS(h, f) \
	((h)->size >= offsetof(struct pkrun_host, f) + sizeof((h)->f))

/*
 * The one word set that every spin looks at, in host-coherent memory.
 * `abort` turns non-zero when pkrun wants the cell to end (SIGTERM, watchdog):
 * the spinning side then writes where it stood and leaves.
 */
struct pkrun_watch {
	uint32_t abort;		/* 0: go on */
	uint32_t seen;		/* set to 1 by the first spin that gives up, then the fields below hold */
	uint32_t where;		/* 1: a device block, 2: the host loop */
	uint32_t block;		/* which block waited, or was waited for */
	uint64_t step;		/* for which step (half-sweep), from 0 */
};

/* The work: what a step is.  `args` is the workload's own struct (kernels/NAME.h). */
struct pkrun_work {
	uint32_t size;			/* sizeof(struct pkrun_work) */
	uint32_t version;		/* PKRUN_WORK_VERSION */
	const char *name;		/* "poisson2d", "null", ... */
	uint32_t steps_per_iteration;	/* 2 for red-black half-sweeps */
	uint32_t args_size;		/* sizeof the workload's struct, which also begins with its size */
	const void *args;		/* e.g. const struct poisson2d_args *; device pointers inside;
					   NULL pointers inside until setup() */
	int64_t units;			/* the natural number of blocks: interior rows, tasks, ... */
};
#define PKRUN_WORK_VERSION 1

/* How the work is divided; options of *every* variant. */
enum pkrun_sweep {
	PKRUN_SWEEP_ROWS = 0,
	PKRUN_SWEEP_TILES = 1,
	PKRUN_SWEEP_BANDS = 2,
	PKRUN_SWEEP_AUTO = 3		/* the variant's own default: rows, unless its file says otherwise */
};
enum pkrun_blocks {
	PKRUN_BLOCKS_AUTO = 0,		/* the variant's own: launches one a unit, ... */
	PKRUN_BLOCKS_ROWS = 1,		/* one a unit, however many */
	PKRUN_BLOCKS_CAPPED = 2,	/* at most what can be co-resident */
	PKRUN_BLOCKS_NUMBER = 3,	/* as given */
	PKRUN_BLOCKS_PER_CU = 4		/* so many a compute unit, at most what can be co-resident */
};

/* One cell.  Owned by pkrun, lent to every function. */
struct pkrun_run {
	uint32_t size;			/* sizeof(struct pkrun_run) as pkrun knows it */
	int32_t  device;		/* device ordinal of the target's runtime */
	const struct pkrun_host *host;
	const struct pkrun_work *work;
	const void *options;		/* the variant's options struct, filled in */
	void    *state;			/* the variant's own, state_size bytes, zeroed before probe */
	void    *stream;		/* hipStream_t / cudaStream_t, non-blocking */
	struct pkrun_watch *watch;	/* host address */
	struct pkrun_watch *watch_dev;	/* the same, for kernels */
	uint64_t *steps;		/* device: one counter a block, zero at start; after a trial
					   each must hold iterations * steps_per_iteration */
	uint64_t iterations;		/* of the coming trials; none has more, so setup() may build
					   a graph or make room for it */
	uint32_t threads;		/* a block */
	uint32_t sweep;			/* enum pkrun_sweep */
	struct pkrun_choice blocks;	/* index: enum pkrun_blocks, arg: the number */
	int64_t  tile[2];		/* rows x columns of a tile; 0 0: the shape's default */
	uint64_t check;			/* 0: never; else the residual's 2-norm after every `check` iterations,
					   the last of a run as its metric "residual_norm", or probe()
					   answers PKRUN_SKIP.  A norm of the run's end is verified. */
	uint64_t seed;
};

/* What a launch will take; filled by footprint(). */
struct pkrun_footprint {
	uint32_t size;			/* sizeof(struct pkrun_footprint) as pkrun knows it */
	uint32_t blocks;		/* a grid */
	uint32_t threads;		/* a block */
	uint32_t resident_max;		/* blocks that can be co-resident: occupancy x compute units */
	uint64_t dynamic_bytes;		/* dynamic shared memory a block */
};

struct pkrun_plugin {
	uint32_t magic;			/* PKRUN_MAGIC */
	uint16_t abi_major;
	uint16_t abi_minor;
	uint32_t size;			/* sizeof(struct pkrun_plugin) as the plugin knows it */
	uint32_t target;		/* enum pkrun_target */

	const char *name;		/* as in the INI file and in the database: [a-z0-9_]+ */
	const char *brief;		/* one line: the idea */
	uint32_t control;		/* enum pkrun_control */
	uint32_t result;		/* enum pkrun_result */
	uint32_t flags;			/* PKRUN_COOPERATIVE, PKRUN_RESIDENT */
	uint32_t state_size;		/* bytes of run->state */
	const char *workloads;		/* which it can drive: "poisson2d,null" */

	const struct pkrun_option *options;	/* NULL: none of its own */
	uint32_t options_size;		/* sizeof(struct my_options) */
	uint32_t reserved;

	int  (*probe)(struct pkrun_run *run);		/* may be NULL: fits everywhere */
	int  (*footprint)(struct pkrun_run *run, struct pkrun_footprint *fp);	/* required */
	int  (*setup)(struct pkrun_run *run);		/* may be NULL */
	int  (*start)(struct pkrun_run *run);		/* may be NULL */
	int  (*run)(struct pkrun_run *run, uint64_t iterations);	/* required */
	int  (*wait)(struct pkrun_run *run);		/* required */
	int  (*stop)(struct pkrun_run *run);		/* may be NULL */
	void (*teardown)(struct pkrun_run *run);	/* may be NULL */
	/* 1.0 ends here; append only */

	const struct pkrun_metric *metrics;		/* 1.2; may be NULL: it has none */
};
#define PKRUN_PLUGIN_SIZE_1_0 \
	(offsetof(struct pkrun_plugin, teardown) + sizeof(void (*)(void)))

/* Does plugin p, as it was compiled, have field f? */
#define PKRUN_HAS(p, f) \
	((p)->size >= offsetof(struct pkrun_plugin, f) + sizeof((p)->f))

/* The target a source is being compiled for. */
#if defined(PKRUN_BUILD_HOST)
#define PKRUN_THIS_TARGET PKRUN_HOST
#elif defined(PKRUN_BUILD_HIP)
#define PKRUN_THIS_TARGET PKRUN_HIP
#elif defined(PKRUN_BUILD_CUDA)
#define PKRUN_THIS_TARGET PKRUN_CUDA
#endif

extern PKRUN_EXPORT struct pkrun_plugin pkrun_plugin;

/*
 * The one definition in a variant; the fields that decide acceptance cannot be
 * got wrong.  Not const on purpose: hipcc would emit a const one for the
 * device too.  Initialisers stay in field order (C++).
 */
#define PKRUN_PLUGIN(...)						\
	struct pkrun_plugin pkrun_plugin = {				\
		.magic = PKRUN_MAGIC,					\
		.abi_major = PKRUN_ABI_MAJOR,				\
		.abi_minor = PKRUN_ABI_MINOR,				\
		.size = sizeof(struct pkrun_plugin),			\
		.target = PKRUN_THIS_TARGET,				\
		__VA_ARGS__						\
	}

#ifdef __cplusplus
}
#endif
#endif
