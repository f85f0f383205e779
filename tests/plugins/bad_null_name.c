/* SPDX-License-Identifier: MIT
 *
 * bad_null_name.c - its name is NULL.
 */
#include "plain.h"

PKRUN_PLUGIN(PLAIN(NULL));
