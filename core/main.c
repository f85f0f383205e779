/* SPDX-License-Identifier: MIT
 *
 * main.c - which subcommand.  `pkrun MATRIX.ini` is short for `pkrun run MATRIX.ini`.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "catalog.h"
#include "command.h"
#include "words.h"
#include "paths.h"
#include "plugin.h"
#include "say.h"
#include "version.h"

static const struct {
	const char *name, *brief;
	int (*run)(int argc, char **argv);
} commands[] = {
#define COMMAND(name, brief) { #name, brief, command_##name },
#include "commands.def"
#undef COMMAND
};

#define INTERNAL(argument, function) int function(int argc, char **argv);
#include "internal.def"
#undef INTERNAL

static const struct {
	const char *argument;
	int (*run)(int argc, char **argv);
} internals[] = {
#define INTERNAL(argument, function) { argument, function },
#include "internal.def"
#undef INTERNAL
};

#define N(array) (sizeof(array) / sizeof((array)[0]))

static int print_help(void)
{
	size_t i;

	printf("Usage: pkrun [OPTION]... MATRIX.ini\n"
	       "       pkrun COMMAND [ARGUMENT]...\n"
	       "Measure how work reaches a GPU: launches, graphs, persistent kernels.\n\n"
	       "Commands:\n");
	for (i = 0; i < N(commands); i++)
		printf("  %-8s %s\n", commands[i].name, commands[i].brief);
	printf("\n`pkrun COMMAND --help` says more.  --version: version, plugin ABI, targets.\n");
	return EXIT_OK;
}

static int print_version(void)
{
	char path[PATH_MAX + 64];
	uint32_t t;

	printf("pkrun %s", version_text());
	if (version_git())
		printf(" (%s)", version_git());
	printf("\nplugin ABI %d.%d\ntargets", PKRUN_ABI_MAJOR, PKRUN_ABI_MINOR);
	for (t = PKRUN_HOST; t <= PKRUN_CUDA; t++) {
		snprintf(path, sizeof(path), "%s/%s/device.so", paths_plugin_dir(), target_name(t));
		if (access(path, R_OK) == 0)
			printf(" %s", target_name(t));
	}
	printf("\n");
	return EXIT_OK;
}

/* Does the word look like a file rather than like a misspelt command? */
static int is_matrix(const char *word)
{
	const char *dot = strrchr(word, '.');

	return strchr(word, '/') || (dot && strcmp(dot, ".ini") == 0) || access(word, F_OK) == 0;
}

static int unknown(const char *word)
{
	const char *names[N(commands) + 1] = { NULL }, *near;
	char text[200];
	size_t i;

	for (i = 0; i < N(commands); i++)
		names[i] = commands[i].name;
	near = words_nearest(word, names);
	say_text(word, 100, text, sizeof(text));
	if (near)
		say_error("'%s' is neither a command nor a matrix file; did you mean '%s'?", text, near);
	else
		say_error("'%s' is neither a command nor a matrix file; see pkrun --help", text);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	static char run[] = "run";
	const char *word = argc > 1 ? argv[1] : "";
	size_t i;

	for (i = 0; i < N(internals); i++)
		if (strcmp(word, internals[i].argument) == 0)
			return internals[i].run(argc - 1, argv + 1);
	if (argc < 2) {
		say_error("no command and no matrix file given; see pkrun --help");
		return EXIT_USAGE;
	}
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return print_help();
	if (strcmp(word, "--version") == 0)
		return print_version();
	for (i = 0; i < N(commands); i++)
		if (strcmp(word, commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	if (word[0] == '-' || is_matrix(word)) {
		argv[0] = run;
		return command_run(argc, argv);
	}
	return unknown(word);
}
