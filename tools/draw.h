/* SPDX-License-Identifier: MIT
 *
 * draw.h - a gnuplot script to a picture.
 */
#ifndef PKRUN_DRAW_H
#define PKRUN_DRAW_H

#include <stddef.h>

/* "svg", "png" or "pdf" of a file name's suffix: 0, or -1 for any other. */
int draw_kind(const char *path, const char **kind);
/* The complete script: terminal, output (NULL: gnuplot's standard output) and what the figure wrote. */
int draw_script(const char *kind, const char *output, int width, int height, const char *figure,
		char **script);
/* Draw into `path`, which is only there when everything went well; 0, or -1 and the reason. */
int draw_file(const char *path, int width, int height, const char *figure, char *why, size_t why_size);

#endif
