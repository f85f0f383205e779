/* SPDX-License-Identifier: MIT
 *
 * orphan.h - processes that a child forks and that leave its group (a daemon) outlive it, and
 * would run beside the cells that follow.
 */
#ifndef PKRUN_ORPHAN_H
#define PKRUN_ORPHAN_H

#include <sys/types.h>

/* From here on, who loses its parent among our descendants becomes our child. */
void orphan_adopt(void);
/* SIGKILL to each child of ours whose environment has `mark` ("NAME=value"), but for those spared.
 * How many that ended. */
int orphan_end(const char *mark, const pid_t *spared, int n_spared);

#endif
