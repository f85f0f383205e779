/* SPDX-License-Identifier: MIT
 *
 * draw.c - run gnuplot, which does the drawing; no picture is left half done.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>
#include "draw.h"
#include "export.h"
#include "figure.h"

extern char **environ;

int draw_kind(const char *path, const char **kind)
{
	static const char *const kinds[] = { "svg", "png", "pdf" };
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(dot + 1, kinds[i])) {
			*kind = kinds[i];
			return 0;
		}
	return -1;
}

/* gnuplot's own words for a size in points, with a font that every machine has a stand-in for. */
static void draw_terminal(FILE *f, const char *kind, int width, int height)
{
	if (!strcmp(kind, "svg"))
		fprintf(f, "set terminal svg size %d,%d dynamic font 'sans-serif,12' background '#ffffff'"
			" noenhanced\n", width, height);
	else if (!strcmp(kind, "png"))
		fprintf(f, "set terminal pngcairo size %d,%d font 'sans,22' linewidth 2 pointscale 2"
			" background '#ffffff' noenhanced\n", 2 * width, 2 * height);
	else
		fprintf(f, "set terminal pdfcairo size %.2fin,%.2fin font 'sans,10' background '#ffffff'"
			" noenhanced\n", width / 100.0, height / 100.0);
}

static void draw_output(FILE *f, const char *path)
{
	fprintf(f, "set output '%s", *path == '/' ? "" : "./");	/* it may begin with a quote */
	for (; *path; path++)
		fprintf(f, *path == '\'' ? "''" : *path == '\n' ? "'.\"\\n\".'" : "%c", *path);
	fputs("'\n", f);
}

int draw_script(const char *kind, const char *output, int width, int height, const char *figure,
		char **script)
{
	size_t size;
	FILE *f = open_memstream(script, &size);

	if (!f)
		return -1;
	fputs("# made by `pkrun plot`; run it with gnuplot\nset encoding utf8\n", f);
	draw_terminal(f, kind, width, height);
	if (output)
		draw_output(f, output);
	fprintf(f, "%s\nset output\n", figure);
	if (ferror(f)) {
		fclose(f);
		return -1;
	}
	return fclose(f);
}

/* The script goes to gnuplot's standard input, the picture comes from its standard output,
 * its complaints from the other one. */
static pid_t draw_spawn(int script, int picture, int said)
{
	char *argv[] = { "gnuplot", "-d", NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid = -1;
	int rc;

	/* in the C locale gnuplot finds no degree sign and says so */
	setenv("LC_ALL", "C.UTF-8", 1);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, script, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, picture, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, said, STDERR_FILENO);
	rc = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	errno = rc;
	return rc ? -1 : pid;
}

/* To its end, also when there is no room for it: the error is seen when `to` is closed. */
static void draw_copy(int from, FILE *to)
{
	char buf[65536];
	ssize_t n;

	while ((n = read(from, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			fwrite(buf, 1, (size_t)n, to);
}

/* gnuplot does not notice when a write fails; so it writes into a pipe, and we into the file. */
static int draw_run(const char *script, FILE *picture, char *why, size_t why_size)
{
	FILE *in = tmpfile(), *out = tmpfile();
	int status = 0, rc = -1, fd[2] = { -1, -1 };
	size_t n;
	pid_t pid;

	if (!in || !out || fputs(script, in) < 0 || fflush(in) || lseek(fileno(in), 0, SEEK_SET) ||
	    pipe2(fd, O_CLOEXEC)) {
		snprintf(why, why_size, "temporary file: %s", strerror(errno));
		goto done;
	}
	pid = draw_spawn(fileno(in), fd[1], fileno(out));
	close(fd[1]);
	if (pid < 0) {
		snprintf(why, why_size, errno == ENOENT ? "gnuplot is not installed (Debian and Ubuntu: "
			 "gnuplot-nox)" : "gnuplot: %s", strerror(errno));
		goto done;
	}
	draw_copy(fd[0], picture);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	rewind(out);
	n = fread(why, 1, why_size - 1, out);
	why[n] = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		snprintf(why, why_size, "gnuplot is not installed (Debian and Ubuntu: gnuplot-nox)");
	else if (WIFSIGNALED(status))
		snprintf(why, why_size, "gnuplot was killed by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) && !n)
		snprintf(why, why_size, "gnuplot exited with %d and said nothing", WEXITSTATUS(status));
	rc = status ? -1 : 0;
done:
	if (in)
		fclose(in);
	if (out)
		fclose(out);
	if (fd[0] >= 0)
		close(fd[0]);
	return rc;
}

int draw_file(const char *path, int width, int height, const char *figure, char *why, size_t why_size)
{
	struct export_file f;
	const char *kind;
	char *script = NULL;
	int rc = -1;

	if (draw_kind(path, &kind) || draw_script(kind, NULL, width, height, figure, &script)) {
		snprintf(why, why_size, "out of memory");
		goto out;
	}
	if (export_open(&f, path)) {
		snprintf(why, why_size, "%s: %s", path, strerror(errno));
		goto out;
	}
	rc = draw_run(script, f.out, why, why_size);
	if (export_close(&f, rc) && !rc) {
		snprintf(why, why_size, "%s: %s", path, strerror(errno));
		rc = -1;
	}
out:
	free(script);
	return rc;
}
