/* SPDX-License-Identifier: MIT
 *
 * catalog.h - which variants there are, without loading one into this process.
 *
 * One `describe` child a target loads every plugin of plugins/<target>/, of
 * PKRUN_PLUGIN_PATH and of --plugin, checks it (core/load.c) and writes what
 * it found; if it dies, each plugin gets a child of its own and the one that
 * kills it is refused with that reason.  A refused plugin is an entry with
 * `refused` set; it stops nothing else.
 */
#ifndef PKRUN_CATALOG_H
#define PKRUN_CATALOG_H

#include <sys/stat.h>
#include "device.h"
#include "plugin.h"

struct variant_info {
	char *name, *brief, *path, *workloads;
	char sha256[65];
	struct stat file;		/* as it was when it was hashed */
	uint32_t target, control, result, flags;
	uint32_t abi_major, abi_minor;
	uint32_t options_size, n_options;
	struct pkrun_option *options;	/* deep copy, NULL-name-terminated */
	struct pkrun_metric *metrics;	/* the same */
	char *refused;			/* why, or NULL */
	int by_path;			/* asked for by path: found by its path only */
};

struct target_info {
	uint32_t target;		/* enum pkrun_target */
	int built;			/* plugins/<target>/device.so exists */
	int devices;			/* how many answer; 0: see why */
	char *why;			/* why there is none */
	struct pkrun_device_info device;	/* of the chosen device, when devices > 0 */
};

struct catalog {
	struct target_info targets[4];	/* indexed by enum pkrun_target */
	char *plugin_dir;
	size_t n_variants;
	struct variant_info *variants;	/* by target, then in plugin name order */
};

struct catalog_request {
	const char *plugin_dir;		/* holds <target>/NAME.so */
	const char *const *extra;	/* files: --plugin, PKRUN_PLUGIN_PATH; they win over shipped namesakes */
	size_t n_extra;
	const char *const *by_path;	/* files: `variant = ./x.so` of the matrix (matrix_plugins) */
	size_t n_by_path;
	uint32_t targets;		/* bit (1 << target) for each to describe */
	int device;			/* ordinal */
};

/* 0, or -1 after say_error().  A plugin that hangs is given up after 10 s, a device after 60 ($PKRUN_LOAD_TIMEOUT seconds). */
int catalog_load(struct catalog *out, const struct catalog_request *req);
/* By name, or by full path; also a refused one.  NULL: there is none for this target. */
const struct variant_info *catalog_find(const struct catalog *c, uint32_t target, const char *name);
/* Is a usable variant of the same name before this one, built for another target? */
int catalog_is_repeated(const struct catalog *c, size_t i);
/* Is there another file in its place by now, built while the run goes on? */
int catalog_is_changed(const struct variant_info *v);
int variant_drives(const struct variant_info *v, const char *workload);
/* "auto", "host", "hip" or "cuda" to a target: auto is a GPU if one answers, else host.
 * 0, or -1 and the reason: unknown word, not built, no device. */
int catalog_target(const struct catalog *c, const char *wanted, uint32_t *out, char *why, size_t why_size);
/* Which targets that word needs described: bits for catalog_request; 0 for an unknown word. */
uint32_t catalog_target_bits(const char *wanted);
/* main() of the child that loads the plugins: `pkrun --describe` (internal.def). */
int catalog_describe_main(int argc, char **argv);
const char *control_name(uint32_t control);	/* "host", "host queue", "device", "device queue" */
const char *target_name(uint32_t target);	/* "host", "hip", "cuda" */
int target_parse(const char *name, uint32_t *out);	/* 0 or -1 */
void catalog_free(struct catalog *c);

#endif
