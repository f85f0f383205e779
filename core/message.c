/* SPDX-License-Identifier: MIT
 *
 * message.c - frames on a pipe.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "message.h"

#define MAGIC 0x67736d50u	/* "Pmsg" */

struct head {
	uint32_t magic, type, size;
};

int message_send(int fd, uint32_t type, const void *data, size_t size)
{
	unsigned char buf[sizeof(struct head) + MESSAGE_MAX];
	struct head h = { MAGIC, type, (uint32_t)size };
	size_t done = 0, all = sizeof(h) + size;
	ssize_t n;

	if (size > MESSAGE_MAX)
		return -1;
	memcpy(buf, &h, sizeof(h));
	if (size)
		memcpy(buf + sizeof(h), data, size);
	while (done < all) {
		n = write(fd, buf + done, all - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		done += (size_t)n;
	}
	return 0;
}

/* 1: a whole frame at r->taken, described in *out. */
static int parse(struct message_reader *r, struct message *out)
{
	struct head h;

	if (r->used - r->taken < sizeof(h))
		return 0;
	memcpy(&h, r->buf + r->taken, sizeof(h));
	if (h.magic != MAGIC || h.size > MESSAGE_MAX)
		return -2;
	if (r->used - r->taken < sizeof(h) + h.size)
		return 0;
	out->type = h.type;
	out->size = h.size;
	out->data = r->buf + r->taken + sizeof(h);
	r->taken += sizeof(h) + h.size;
	return 1;
}

static int read_more(struct message_reader *r)
{
	ssize_t n;

	if (r->taken) {
		memmove(r->buf, r->buf + r->taken, r->used - r->taken);
		r->used -= r->taken;
		r->taken = 0;
	}
	n = read(r->fd, r->buf + r->used, sizeof(r->buf) - r->used);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	if (n == 0)
		return -1;
	r->used += (size_t)n;
	return 1;
}

int message_read(struct message_reader *r, struct message *out)
{
	int rc = parse(r, out);

	while (rc == 0) {	/* ends: a frame fits the buffer */
		rc = read_more(r);
		if (rc <= 0)
			return rc;
		rc = parse(r, out);
	}
	return rc;
}

int message_wait(struct message_reader *r, struct message *out)
{
	int rc = parse(r, out);

	while (rc == 0) {
		errno = 0;
		rc = read_more(r);
		if (rc == 0 && errno == EINTR)
			return 0;
		if (rc < 0)
			return rc;
		rc = parse(r, out);
	}
	return rc;
}
