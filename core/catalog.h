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

#include "device.h"
#include "plugin.h"

struct variant_info {
	char *name, *brief, *path, *workloads;
	char sha256[65];
	uint32_t target, control, result, flags;
	uint32_t abi_major, abi_minor;
	uint32_t options_size, n_options;
	struct pkrun_option *options;	/* deep copy, NULL-name-terminated */
	char *refused;			/* why, or NULL */
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
	size_t n_variants;
	struct variant_info *variants;	/* by target, then in plugin name order */
};

struct catalog_request {
	const char *plugin_dir;		/* holds <target>/NAME.so */
	const char **extra;		/* --plugin, PKRUN_PLUGIN_PATH, `variant = ./x.so` */
	size_t n_extra;
	uint32_t targets;		/* bit (1 << target) for each to describe */
	int device;			/* ordinal */
};

int catalog_load(struct catalog *out, const struct catalog_request *req);
const struct variant_info *catalog_find(const struct catalog *c, uint32_t target, const char *name);
const char *target_name(uint32_t target);	/* "host", "hip", "cuda" */
int target_parse(const char *name, uint32_t *out);	/* 0 or -1 */
void catalog_free(struct catalog *c);

#endif
