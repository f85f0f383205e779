/* SPDX-License-Identifier: MIT
 *
 * conf.h - an INI file as sections of (key, value, line), read by inih through
 * a reader that counts lines and refuses, with file:line, whatever inih would
 * cut, join or skip.  There is no second parser.
 *
 * Refused: lines over inih's limit, section names over its limit, indented
 * lines (inih would join them to the value before), lines that are neither
 * header, comment nor `key = value`, a key outside a section, a reopened
 * section, a key twice in a section, more than 1000 sections or 200 keys in one, an empty value, NUL bytes, carriage
 * returns alone, UTF-16, a BOM anywhere but at the very start, a directory, an
 * unreadable or empty file.  CRLF line ends and a leading UTF-8 BOM are fine.
 * `;` after white space and `;` or `#` at the start of a line begin a comment;
 * `#` after a value is refused, for it would become part of the value.
 */
#ifndef PKRUN_CONF_H
#define PKRUN_CONF_H

#include <stddef.h>
#include <stdio.h>

struct conf_entry {
	char *key, *value;
	int line;		/* 0: from the command line */
	void *list;		/* the planner's own */
};
struct conf_section {
	char *name;
	int line;
	size_t n_entries;
	struct conf_entry *entries;
};
struct conf {
	char *path;		/* as given */
	char *text;		/* the whole file as read, for the database */
	size_t text_size;
	size_t n_sections;
	struct conf_section *sections;	/* in file order */
};

/* Where messages go, one whole line each without newline ("path:7: ..."). */
typedef void (*conf_error_fn)(void *user, const char *message);

/* Read everything or nothing: 0 and *out set, or -1 after every problem was reported.
 * conf_read_buffer is the same for text in memory (tests, fuzzer); path is only a name. */
int conf_read(struct conf *out, const char *path, conf_error_fn report, void *user);
int conf_read_buffer(struct conf *out, const char *path, const char *text, size_t size,
		     conf_error_fn report, void *user);
/* Apply `section.key=value` (command line --set); creates the key, never the section. */
int conf_set(struct conf *conf, const char *assignment, conf_error_fn report, void *user);
const struct conf_section *conf_section(const struct conf *conf, const char *name);
void conf_free(struct conf *conf);

/* `size` bytes of text for a message: what is not printable UTF-8 escaped, cut with "...". */
#define CONF_QUOTE_SIZE 100
const char *conf_quote(const char *text, size_t size, char buf[CONF_QUOTE_SIZE]);
/* Printable UTF-8 and tabs, nothing else? */
int conf_is_text(const char *text, size_t size);

#endif
