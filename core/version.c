/* SPDX-License-Identifier: MIT
 *
 * version.c - which pkrun this is.  core/git_state.h is made by the build, anew
 * whenever the commit changes.
 */
#include <stddef.h>
#include "version.h"

#if __has_include("core/git_state.h")
#include "core/git_state.h"
#endif
#ifndef PKRUN_GIT_STATE
#define PKRUN_GIT_STATE ""
#endif
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

const char *version_text(void)
{
	return PACKAGE_VERSION;
}

const char *version_git(void)
{
	static const char state[] = PKRUN_GIT_STATE;

	return state[0] ? state : NULL;
}
