/* SPDX-License-Identifier: MIT
 *
 * lock.h - one pkrun at a time measures on a GPU.
 */
#ifndef PKRUN_LOCK_H
#define PKRUN_LOCK_H

#include <stddef.h>
#include "device.h"

/* Lock the device of this uuid or PCI address (else target and ordinal), waiting for another pkrun, and
 * saying so once.  0 and *fd (close it to unlock; the end of the process does), 1 when interrupted, -1 and
 * the reason. */
int lock_device(const char *target, int ordinal, const struct pkrun_device_info *info, int wake_fd,
		int *fd, char *why, size_t why_size);

#endif
