/* SPDX-License-Identifier: MIT
 *
 * worker.h - the child's side of the pipe.
 */
#ifndef PKRUN_WORKER_H
#define PKRUN_WORKER_H

#include "message.h"
#include "plugin.h"
#include "protocol.h"

int worker_main(int argc, char **argv);

/* Arithmetic and the spelling of numbers as they were before plugin code ran on this thread: it may
 * have changed rounding, denormals, traps or the locale, in a constructor even (-ffast-math). */
void worker_own_ways(void);

/* Send; a worker that cannot has no reason to live. */
void worker_send(uint32_t type, const void *data, size_t size);
/* Send what may be lost: dropped when the pipe has no room, so it never waits for the reader. */
void worker_offer(uint32_t type, const void *data, size_t size);
void worker_phase(const char *name, enum protocol_limit limit, uint64_t iterations, double predicted_ns);
/* Wait for a message of `type` (size 0: any size is fine); copies `size` bytes to data.  0, or -1 when told to end. */
int worker_expect(uint32_t type, void *data, size_t size);
/* Where SIGTERM sets abort; NULL: nowhere. */
void worker_watch(struct pkrun_watch *watch);
int worker_terminated(void);

#endif
