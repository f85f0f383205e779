/* SPDX-License-Identifier: MIT
 *
 * say.h - the one way to print.  stdout carries only what was asked for;
 * everything else goes to stderr through these.  Colour only on a terminal
 * and without NO_COLOR.
 */
#ifndef PKRUN_SAY_H
#define PKRUN_SAY_H

/* Exit codes; when several apply the earlier in this list wins: 4, 3, 2, 5, 1. */
enum pkrun_exit {
	EXIT_OK = 0,
	EXIT_REGRESSION = 1,	/* only with compare --fail-on */
	EXIT_USAGE = 2,		/* usage, matrix or plugin */
	EXIT_CELL = 3,		/* a cell failed or was wrong */
	EXIT_HANG = 4,		/* hang or device lost */
	EXIT_ENVIRONMENT = 5,	/* environment check under --strict */
	EXIT_SIGINT = 130, EXIT_SIGTERM = 143	/* interrupted, results kept */
};

extern int say_quiet;		/* --quiet: only errors */
void say_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));	/* "pkrun: ..." */
void say_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));	/* dropped when quiet */
void say_progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));	/* one line, rewritten on a terminal */
int say_shows_progress(void);	/* is there a terminal for that line, and not --quiet? */
void say_progress_end(void);
int say_exit_worse(int a, int b);	/* which of two exit codes wins */
/* A duration in ns with three significant digits and its unit, chosen after rounding: "3.47 us".
 * NaN and infinities: "n/a". */
const char *say_ns(double ns, char buf[32]);
/* Text made safe to print: control characters and broken UTF-8 escaped, cut with "..." beyond
 * `width` columns (0: never). */
const char *say_text(const char *text, int width, char *buf, unsigned long buf_size);
/* Columns that UTF-8 text takes on a terminal, whatever the locale. */
int say_columns(const char *text);
/* Columns for what is printed to `fd`: COLUMNS, else what the terminal says, else 100; 0, as many
 * as it takes, where there is neither COLUMNS nor a terminal. */
int say_terminal(int fd);

#endif
