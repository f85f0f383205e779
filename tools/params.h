/* SPDX-License-Identifier: MIT
 *
 * params.h - the parameters of a cell as they are stored, "name=value ..." of
 * what is not default: what cells share, and what tells them apart.
 */
#ifndef PKRUN_PARAMS_H
#define PKRUN_PARAMS_H

#include <stddef.h>

/* Bytes of the first "name=value"; a value may have spaces: what has no '=' belongs to it. */
size_t params_length(const char *text);
/* Leave in `text` only what stands in `other` too, in its place. */
void params_keep(char *text, const char *other);
/* Take from `text` what stands in `other`, in its place. */
void params_drop(char *text, const char *other);

#endif
