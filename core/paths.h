/* SPDX-License-Identifier: MIT
 *
 * paths.h - where things lie: this program, its plugins, its matrices.
 */
#ifndef PKRUN_PATHS_H
#define PKRUN_PATHS_H

#include <stddef.h>

/* Full path of this program (through links). */
const char *paths_self(void);
/* To start it once more: that path, or another name where a new program has taken its place. */
const char *paths_running(void);
/* The folder that holds <target>/NAME.so: $PKRUN_PLUGIN_DIR, else plugins/ beside this program
 * (build tree, bundle), else lib/pkrun/plugins of the prefix this program lies in, else the
 * configured one (PKRUN_PKGLIBDIR/plugins). */
const char *paths_plugin_dir(void);
/* Plugins from outside: `given` (--plugin), then every *.so of the folders in PKRUN_PLUGIN_PATH
 * (colons between; a .so file may stand there too), as full paths.  0, or -1 with the reason. */
int paths_extra(const char *const *given, size_t n_given, char ***out, size_t *n_out,
		char *why, size_t why_size);
void paths_extra_free(char **list, size_t n);

#endif
