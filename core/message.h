/* SPDX-License-Identifier: MIT
 *
 * message.h - messages between pkrun and its children, over two pipes of
 * their own.  Both ends are the same program, so a payload is a plain struct.
 *
 * A frame is {magic, type, size} and `size` bytes.  Whatever does not begin
 * with the magic, or is longer than MESSAGE_MAX, is not ours: the reader says
 * so and the child is given up.
 */
#ifndef PKRUN_MESSAGE_H
#define PKRUN_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#define MESSAGE_MAX 65536

struct message {
	uint32_t type;
	uint32_t size;
	const void *data;	/* valid until the next call on the same reader */
};

/* Collects bytes until a frame is whole. */
struct message_reader {
	int fd;
	size_t used, taken;
	unsigned char buf[MESSAGE_MAX + 16];
};

/* Blocking; EINTR is retried.  0, or -1 (the other side is gone). */
int message_send(int fd, uint32_t type, const void *data, size_t size);
/* For a descriptor that does not block: 1 a message, 0 nothing whole yet, -1 end of the pipe,
 * -2 not our protocol. */
int message_read(struct message_reader *r, struct message *out);
/* Blocking until a whole message came: 1, -1 or -2; 0 when a signal came first. */
int message_wait(struct message_reader *r, struct message *out);

#endif
