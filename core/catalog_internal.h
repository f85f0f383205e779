/* SPDX-License-Identifier: MIT
 *
 * catalog_internal.h - what the files catalog*.c share, and nobody else.
 *
 *	catalog.c		which plugins and devices there are
 *	catalog_describe.c	what one of them says of itself, asked in a child
 */
#ifndef PKRUN_CATALOG_INTERNAL_H
#define PKRUN_CATALOG_INTERNAL_H

#include "catalog.h"
#include "child.h"

/* catalog.c */
void *catalog_must(void *p);

/* catalog_describe.c; -1 after say_error(): no child can be had */
/* One plugin, in the child at hand or in fresh ones; *used: plugins that this child has loaded. */
int catalog_describe_plugin(struct child *c, size_t *used, uint32_t target, struct variant_info *v);
/* Ask device.so at path in a fresh child, and take its answer later. */
int catalog_ask_device(struct child *child, uint32_t target, int device, const char *path);
void catalog_take_device(struct child *child, struct target_info *t);

#endif
