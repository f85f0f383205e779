/* SPDX-License-Identifier: MIT
 *
 * good.c - a plugin that is right in every way; the others differ from it in one.
 */
#include "plain.h"

PKRUN_PLUGIN(PLAIN("good"));
