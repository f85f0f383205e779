/* SPDX-License-Identifier: MIT
 *
 * lock.c - one pkrun at a time measures on a GPU: flock on a file named after
 * the device, which the kernel releases however the process ends.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lock.h"
#include "runner.h"
#include "say.h"

/* In a folder that is the same for all users and sessions, as the GPU is. */
static void lock_path(const char *target, int ordinal, const struct pkrun_device_info *info,
		      char *out, size_t size)
{
	const char *id = *info->uuid ? info->uuid : info->pci;
	char name[128], *c;

	if (*id)
		snprintf(name, sizeof(name), "%s", id);
	else
		snprintf(name, sizeof(name), "%s-%d", target, ordinal);
	for (c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '-')
			*c = '_';
	snprintf(out, size, "/tmp/pkrun-%s.lock", name);
}

/* Of another user it opens read-only, which is enough for flock; whatever that one's umask. */
static int open_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);

	if (fd >= 0)
		(void)!fchmod(fd, 0666);
	return fd < 0 && errno == EACCES ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : fd;
}

int lock_device(const char *target, int ordinal, const struct pkrun_device_info *info, int wake_fd,
		int *fd, char *why, size_t why_size)
{
	struct pollfd wake = { wake_fd, POLLIN, 0 };
	char path[512];
	int file, told = 0;

	lock_path(target, ordinal, info, path, sizeof(path));
	file = open_file(path);
	if (file < 0) {
		snprintf(why, why_size, "lock file %s: %s", path, strerror(errno));
		return -1;
	}
	while (flock(file, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR) {
			snprintf(why, why_size, "lock file %s: %s", path, strerror(errno));
			close(file);
			return -1;
		}
		if (!told++)
			say_note("another pkrun measures on %s; waiting for it (%s)", info->name, path);
		if (poll(&wake, 1, 200) > 0 && interrupt_signal()) {
			close(file);
			return 1;
		}
	}
	*fd = file;
	return 0;
}
