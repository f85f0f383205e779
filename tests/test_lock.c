/* SPDX-License-Identifier: MIT
 *
 * test_lock.c - the lock that keeps two pkruns from measuring on one GPU.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "core/lock.h"
#include "core/runner.h"
#include "core/say.h"

static struct pkrun_device_info gpu = { .name = "GPU" };	/* of this process alone */
static char path[64];						/* of its lock */

static void pause_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static int lock(int ordinal, const struct pkrun_device_info *info, int wake, int *fd)
{
	char why[256];

	return lock_device("cuda", ordinal, info, wake, fd, why, sizeof(why));
}

/* A process that holds the lock for so long, once it has it. */
static pid_t holder(long ms)
{
	int ready[2], fd;
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		if (lock(0, &gpu, -1, &fd))
			_exit(1);
		(void)!write(ready[1], "x", 1);
		pause_ms(ms);
		_exit(0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

static void a_second_one_waits(void **state)
{
	int64_t begin = child_now();	/* before it has it, so that being late here matters not */
	pid_t pid = holder(400);
	int fd, status;

	(void)state;
	assert_int_equal(lock(0, &gpu, -1, &fd), 0);
	assert_true(child_now() - begin >= 400000000);
	close(fd);
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static void a_killed_one_leaves_it(void **state)
{
	pid_t pid = holder(60000);
	int fd;

	(void)state;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(lock(0, &gpu, -1, &fd), 0);
	close(fd);
}

static void another_gpu_is_free(void **state)
{
	struct pkrun_device_info other = { .name = "GPU" };
	char pci_lock[64];
	pid_t pid = holder(60000);
	int fd[3];

	(void)state;
	/* without a UUID it is the address, without that the ordinal */
	snprintf(other.pci, sizeof(other.pci), "test:%ld", (long)getpid());
	assert_int_equal(lock(0, &other, -1, &fd[0]), 0);
	other.pci[0] = '\0';
	assert_int_equal(lock(1001, &other, -1, &fd[1]), 0);
	assert_int_equal(lock(1002, &other, -1, &fd[2]), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink("/tmp/pkrun-cuda-1001.lock");
	unlink("/tmp/pkrun-cuda-1002.lock");
	snprintf(pci_lock, sizeof(pci_lock), "/tmp/pkrun-test_%ld.lock", (long)getpid());
	assert_int_equal(unlink(pci_lock), 0);
}

/* One GPU is one GPU for all of them: another's session has another folder, and another umask. */
static void users_and_sessions_share_it(void **state)
{
	mode_t before = umask(077);
	struct stat st;
	pid_t pid;
	int fd;

	(void)state;
	unlink(path);
	setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
	pid = holder(60000);
	unsetenv("XDG_RUNTIME_DIR");
	umask(before);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0666);
	fd = open(path, O_RDONLY);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1);
	close(fd);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void a_signal_ends_the_wait(void **state)
{
	pid_t pid = holder(60000);
	int wake, fd;

	(void)state;
	assert_int_equal(interrupt_open(&wake), 0);
	raise(SIGTERM);
	assert_int_equal(lock(0, &gpu, wake, &fd), 1);
	assert_int_equal(interrupt_signal(), SIGTERM);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void what_is_no_file_of_ours_is_an_error(void **state)
{
	char why[256], want[128];
	int fd;

	(void)state;
	unlink(path);
	assert_int_equal(symlink("/tmp/somebody-else", path), 0);
	assert_int_equal(lock_device("cuda", 0, &gpu, -1, &fd, why, sizeof(why)), -1);
	snprintf(want, sizeof(want), "lock file %s: Too many levels of symbolic links", path);
	assert_string_equal(why, want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_second_one_waits),
		cmocka_unit_test(a_killed_one_leaves_it),
		cmocka_unit_test(another_gpu_is_free),
		cmocka_unit_test(users_and_sessions_share_it),
		cmocka_unit_test(a_signal_ends_the_wait),
		cmocka_unit_test(what_is_no_file_of_ours_is_an_error),
	};
	int failed;

	snprintf(gpu.uuid, sizeof(gpu.uuid), "GPU-1/../%ld", (long)getpid());
	snprintf(path, sizeof(path), "/tmp/pkrun-GPU-1____%ld.lock", (long)getpid());
	say_quiet = 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
