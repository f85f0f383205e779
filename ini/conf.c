/* SPDX-License-Identifier: MIT
 *
 * conf.c - an INI file through inih, line by line, so that nothing is lost.
 *
 * What inih 55 as packaged does with a file of its own accord, tried: it cuts
 * lines at 200 bytes and section names at 49, joins an indented line to the
 * value before it, ignores what follows a `]`, goes on after a bad line and
 * reports only the first, tells the handler neither the line nor an empty
 * section, takes `:` for `=`, and reads a directory as an empty file.
 *
 * Hence each line is one ini_parse_stream() call of its own, fed by
 * line_reader(): inih alone decides what is a comment, a header, a key and a
 * value, and the line is known.  Behind a header line the reader adds one
 * key of ours, so that inih hands over the section's name.  What remains to
 * be checked here is that inih saw the whole line, and nothing but it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf.h"

#define TEXT_MAX (16 << 20)	/* a matrix of 16 MB is a mistake */
#define SECTIONS_MAX 1000
#define ENTRIES_MAX 200
#define LINE_MAX_BYTES 65000	/* the line lies on inih's stack */
#define HEADER_KEY "\001"	/* cannot come from a file: control characters are refused */

/* Set at run time where the packaged library has it (Debian, Ubuntu); without
 * them long lines are refused, not cut. */
extern int ini_max_line __attribute__((weak));
extern bool ini_use_stack __attribute__((weak));

struct reading {
	struct conf *conf;
	conf_error_fn report;
	void *user;
	int errors;
	int line;
	int skip_section;	/* the section was refused: its keys go nowhere */

	/* the line at hand */
	const char *text;
	size_t size;
	int fed;		/* lines already given to inih */
	int too_long;
	int buffer_size;
};

__attribute__((format(printf, 2, 3)))
static void complain(struct reading *r, const char *fmt, ...)
{
	char what[600], message[900];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof what, fmt, args);
	va_end(args);
	if (r->line)
		snprintf(message, sizeof message, "%.250s:%d: %s", r->conf->path, r->line, what);
	else
		snprintf(message, sizeof message, "%.250s: %s", r->conf->path, what);
	r->report(r->user, message);
	r->errors++;
}

/* Bytes of the UTF-8 character at s, at most n; 0 if it is none. */
static size_t utf8_length(const unsigned char *s, size_t n)
{
	size_t length = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;

	if (length == 1)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4 || length > n)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return length;
}

const char *conf_quote(const char *text, size_t size, char buf[CONF_QUOTE_SIZE])
{
	size_t used = 0;

	for (size_t i = 0; i < size;) {
		const unsigned char *s = (const unsigned char *)text + i;
		size_t length = utf8_length(s, size - i);

		if (used > CONF_QUOTE_SIZE - 12) {
			strcpy(buf + used, "...");
			return buf;
		}
		if (length && *s >= 0x20 && *s != 0x7f) {
			memcpy(buf + used, s, length);
			used += length;
			i += length;
		} else {
			used += (size_t)sprintf(buf + used, "\\x%02x", *s);
			i++;
		}
	}
	buf[used] = 0;
	return buf;
}

int conf_is_text(const char *text, size_t size)
{
	for (size_t i = 0; i < size;) {
		const unsigned char *s = (const unsigned char *)text + i;
		size_t length = utf8_length(s, size - i);

		if (!length || (*s < 0x20 && *s != '\t') || *s == 0x7f)
			return 0;
		i += length;
	}
	return 1;
}

static void *grow(void *items, size_t n, size_t size)
{
	/* doubles at powers of two */
	if (n & (n - 1))
		return items;
	items = realloc(items, (n ? 2 * n : 1) * size);
	if (!items)
		abort();
	return items;
}

static char *copy(const char *text)
{
	char *s = strdup(text);

	if (!s)
		abort();
	return s;
}

/* What inih must not see: it would cut, join, skip or misread it. */
static int line_is_readable(struct reading *r)
{
	char q[CONF_QUOTE_SIZE];
	const char *cr = memchr(r->text, '\r', r->size);

	if (memchr(r->text, 0, r->size)) {
		complain(r, "a NUL byte; is the file UTF-16? Save it as UTF-8");
		return 0;
	}
	if (cr) {
		complain(r, "a carriage return within the line; end lines with LF or CRLF: '%s'",
			 conf_quote(r->text, r->size, q));
		return 0;
	}
	for (size_t i = 0; i < r->size;) {
		const unsigned char *s = (const unsigned char *)r->text + i;
		size_t length = utf8_length(s, r->size - i);

		if (!length || (*s < 0x20 && *s != '\t') || *s == 0x7f) {
			complain(r, length ? "a control character (0x%02x): '%s'"
					   : "not UTF-8 (byte 0x%02x): '%s'",
				 *s, conf_quote(r->text, r->size, q));
			return 0;
		}
		if (length == 3 && !memcmp(s, "\xef\xbb\xbf", 3)) {
			complain(r, "a byte order mark that is not at the start of the file");
			return 0;
		}
		i += length;
	}
	if (r->size > LINE_MAX_BYTES) {
		complain(r, "the line has %zu bytes; at most %d", r->size, LINE_MAX_BYTES);
		return 0;
	}
	return 1;
}

static char *line_reader(char *buffer, int size, void *stream)
{
	struct reading *r = stream;

	if (r->fed == 1 && r->size && r->text[0] == '[') {
		r->fed++;
		strcpy(buffer, HEADER_KEY "=1\n");
		return buffer;
	}
	if (r->fed)
		return NULL;
	r->fed = 1;
	r->buffer_size = size;
	if (r->size + 2 > (size_t)size) {
		r->too_long = 1;
		return NULL;
	}
	memcpy(buffer, r->text, r->size);
	strcpy(buffer + r->size, "\n");
	return buffer;
}

/* inih's handler for the key added behind a header. */
static int take_section(struct reading *r, const char *name)
{
	size_t length = strlen(name);
	const char *rest = r->text + 1 + length;
	char q[CONF_QUOTE_SIZE];
	struct conf *c = r->conf;
	const struct conf_section *other = conf_section(c, name);

	r->skip_section = 1;
	if (*rest != ']') {
		complain(r, "section name too long, at most %zu bytes: '%s'", length,
			 conf_quote(r->text, r->size, q));
		return 1;
	}
	rest += 1 + strspn(rest + 1, " \t");
	if (rest < r->text + r->size && *rest != ';') {
		complain(r, "text after the section's ']': '%s'",
			 conf_quote(rest, (size_t)(r->text + r->size - rest), q));
		return 1;
	}
	if (!length || strchr(" \t", name[0]) || strchr(" \t", name[length - 1])) {
		complain(r, "a section name that is empty or has blanks at its ends: '%s'",
			 conf_quote(r->text, r->size, q));
		return 1;
	}
	if (other) {
		complain(r, "section [%s] was already opened at line %d; a section may not be "
			 "reopened", conf_quote(name, length, q), other->line);
		return 1;
	}
	if (c->n_sections == SECTIONS_MAX) {
		complain(r, "more than %d sections", SECTIONS_MAX);
		return 1;
	}
	c->sections = grow(c->sections, c->n_sections, sizeof *c->sections);
	c->sections[c->n_sections++] = (struct conf_section){.name = copy(name), .line = r->line};
	r->skip_section = 0;
	return 1;
}

static const struct conf_entry *find_entry(const struct conf_section *s, const char *key)
{
	for (size_t i = 0; i < s->n_entries; i++)
		if (!strcmp(s->entries[i].key, key))
			return &s->entries[i];
	return NULL;
}

/* Is (key, value) what stands in the line, and a thing that we take? */
static int entry_is_sound(struct reading *r, const char *key, const char *value)
{
	const char *after = r->text + strlen(key);
	char q[CONF_QUOTE_SIZE];

	after += strspn(after, " \t");
	if (!*key || *after != '=') {
		complain(r, "expected `key = value`: '%s'", conf_quote(r->text, r->size, q));
		return 0;
	}
	if (!*value) {
		complain(r, "'%s' has no value", conf_quote(key, strlen(key), q));
		return 0;
	}
	for (const char *hash = strchr(value, '#'); hash; hash = strchr(hash + 1, '#')) {
		if (hash != value && hash[-1] != ' ' && hash[-1] != '\t')
			continue;
		complain(r, "'#' does not begin a comment after a value, use ';': '%s'",
			 conf_quote(r->text, r->size, q));
		return 0;
	}
	return 1;
}

static int take_entry(struct reading *r, const char *key, const char *value)
{
	struct conf *c = r->conf;
	struct conf_section *s = c->n_sections ? &c->sections[c->n_sections - 1] : NULL;
	const struct conf_entry *other = s && !r->skip_section ? find_entry(s, key) : NULL;
	char q[CONF_QUOTE_SIZE];

	if (!entry_is_sound(r, key, value) || (r->skip_section && s))
		return 1;
	if (!s) {
		if (!r->skip_section)
			complain(r, "'%s' stands before the first [section]",
				 conf_quote(key, strlen(key), q));
		return 1;
	}
	if (other) {
		complain(r, "'%s' was already set at line %d", conf_quote(key, strlen(key), q),
			 other->line);
		return 1;
	}
	if (s->n_entries == ENTRIES_MAX) {
		complain(r, "more than %d keys in [%s]", ENTRIES_MAX, s->name);
		return 1;
	}
	s->entries = grow(s->entries, s->n_entries, sizeof *s->entries);
	s->entries[s->n_entries++] =
		(struct conf_entry){.key = copy(key), .value = copy(value), .line = r->line};
	return 1;
}

static int handle(void *user, const char *section, const char *key, const char *value)
{
	struct reading *r = user;

	if (!strcmp(key, HEADER_KEY))
		/* inih refused the header if it has no section now */
		return *section || !strncmp(r->text, "[]", 2) ? take_section(r, section) : 0;
	return take_entry(r, key, value);
}

/* Have inih parse the one line in r->text. */
static void parse_line(struct reading *r)
{
	char q[CONF_QUOTE_SIZE];
	int bad;

	r->fed = r->too_long = 0;
	if (!line_is_readable(r))
		return;
	if (r->size && (*r->text == ' ' || *r->text == '\t') &&
	    strspn(r->text, " \t") < r->size) {
		complain(r, "an indented line; a key, a header or a comment begins at the line's "
			 "start: '%s'", conf_quote(r->text, r->size, q));
		return;
	}
	if (&ini_max_line && &ini_use_stack) {
		ini_use_stack = true;
		ini_max_line = r->size < 190 ? 200 : (int)r->size + 10;
	}
	bad = ini_parse_stream(line_reader, r, handle, r);
	if (r->too_long) {
		complain(r, "the line has %zu bytes; this build of inih reads at most %d", r->size,
			 r->buffer_size - 2);
	} else if (bad) {
		complain(r, "neither [section] nor `key = value`: '%s'",
			 conf_quote(r->text, r->size, q));
		if (*r->text == '[')
			r->skip_section = 1;
	}
}

static void parse_text(struct reading *r, const char *text, size_t size)
{
	const char *end = text + size;

	if (size >= 2 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2))) {
		complain(r, "the file is UTF-16; save it as UTF-8");
		return;
	}
	if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		text += 3;
	while (text < end && r->errors < 100) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;

		r->line++;
		r->text = text;
		r->size = (size_t)(stop - text);
		if (newline && r->size && stop[-1] == '\r')
			r->size--;
		parse_line(r);
		text = newline ? newline + 1 : end;
	}
	if (r->errors >= 100)
		complain(r, "too many errors; the rest was not read");
}

/* A file that says nothing is a mistake, and each kind has its own words. */
static void check_content(struct reading *r)
{
	const struct conf *c = r->conf;

	if (r->errors)
		return;
	r->line = 0;
	if (!c->text_size)
		complain(r, "the file is empty");
	else if (!c->n_sections)
		complain(r, "no [section] in the file, only comments");
	for (size_t i = 0; i < c->n_sections; i++) {
		char q[CONF_QUOTE_SIZE];

		r->line = c->sections[i].line;
		if (!c->sections[i].n_entries && strcmp(c->sections[i].name, "global"))
			complain(r, "section [%s] has no keys",
				 conf_quote(c->sections[i].name, strlen(c->sections[i].name), q));
	}
}

int conf_read_buffer(struct conf *out, const char *path, const char *text, size_t size,
		     conf_error_fn report, void *user)
{
	struct conf c = {.path = copy(path), .text_size = size};
	struct reading r = {.conf = &c, .report = report, .user = user};
	char *terminated = malloc(size + 1);

	if (!terminated)
		abort();
	memcpy(terminated, text, size);
	terminated[size] = 0;
	c.text = terminated;
	if (size > TEXT_MAX)
		complain(&r, "the file has more than %d bytes", TEXT_MAX);
	else
		parse_text(&r, terminated, size);
	check_content(&r);
	if (r.errors) {
		conf_free(&c);
		return -1;
	}
	*out = c;
	return 0;
}

/* All of the file, or of the pipe: 0, or -1 with errno. */
static int slurp(int fd, char **text, size_t *size)
{
	size_t room = 1 << 16, used = 0;
	char *buffer = malloc(room);

	while (buffer && used <= TEXT_MAX) {
		ssize_t got = read(fd, buffer + used, room - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			free(buffer);
			return -1;
		}
		if (!got)
			break;
		used += (size_t)got;
		if (used == room) {
			room *= 2;
			buffer = realloc(buffer, room);
		}
	}
	if (!buffer)
		abort();
	*text = buffer;
	*size = used;
	return 0;
}

int conf_read(struct conf *out, const char *path, conf_error_fn report, void *user)
{
	struct conf name = {.path = (char *)path};
	struct reading r = {.conf = &name, .report = report, .user = user};
	struct stat st;
	char *text = NULL;
	size_t size = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int ret = -1;

	if (fd < 0 || fstat(fd, &st)) {
		complain(&r, "cannot read: %s", strerror(errno));
	} else if (S_ISDIR(st.st_mode)) {
		complain(&r, "is a directory, not a matrix");
	} else if (slurp(fd, &text, &size)) {
		complain(&r, "cannot read: %s", strerror(errno));
	} else {
		ret = conf_read_buffer(out, path, text, size, report, user);
	}
	free(text);
	if (fd >= 0)
		close(fd);
	return ret;
}

/* The section of the longest name that `assignment` begins with, so that names may have dots. */
static struct conf_section *assigned_section(struct conf *c, const char *assignment)
{
	struct conf_section *best = NULL;

	for (size_t i = 0; i < c->n_sections; i++) {
		size_t length = strlen(c->sections[i].name);

		if (!strncmp(assignment, c->sections[i].name, length) &&
		    assignment[length] == '.' && (!best || length > strlen(best->name)))
			best = &c->sections[i];
	}
	if (best || strncmp(assignment, "global.", 7))
		return best;
	/* [global] is always there, even where the file has none */
	c->sections = grow(c->sections, c->n_sections, sizeof *c->sections);
	c->sections[c->n_sections] = (struct conf_section){.name = copy("global")};
	return &c->sections[c->n_sections++];
}

int conf_set(struct conf *conf, const char *assignment, conf_error_fn report, void *user)
{
	struct conf scratch = {.path = (char *)"--set"}, *s = &scratch;
	struct reading r = {.conf = s, .report = report, .user = user};
	struct conf_section *target = assigned_section(conf, assignment);
	char q[CONF_QUOTE_SIZE];

	conf_quote(assignment, strlen(assignment), q);
	if (!target) {
		complain(&r, "'%s': expected SECTION.KEY=VALUE with a section of %s", q, conf->path);
		return -1;
	}
	/* the same road as a line of the file, into a section of its own */
	s->sections = grow(NULL, 0, sizeof *s->sections);
	s->sections[0] = (struct conf_section){.name = copy(target->name)};
	s->n_sections = 1;
	r.text = assignment + strlen(target->name) + 1;
	r.size = strlen(r.text);
	parse_line(&r);
	if (!r.errors && !s->sections[0].n_entries)
		complain(&r, "'%s': expected SECTION.KEY=VALUE", q);
	if (!r.errors) {
		struct conf_entry *from = &s->sections[0].entries[0];
		struct conf_entry *to = (struct conf_entry *)find_entry(target, from->key);

		if (!to) {
			target->entries = grow(target->entries, target->n_entries, sizeof *to);
			to = &target->entries[target->n_entries++];
			*to = (struct conf_entry){.key = copy(from->key)};
		}
		free(to->value);
		to->value = copy(from->value);
		to->line = 0;
	}
	s->path = NULL;
	conf_free(s);
	return r.errors ? -1 : 0;
}

const struct conf_section *conf_section(const struct conf *conf, const char *name)
{
	for (size_t i = 0; i < conf->n_sections; i++)
		if (!strcmp(conf->sections[i].name, name))
			return &conf->sections[i];
	return NULL;
}

void conf_free(struct conf *conf)
{
	for (size_t i = 0; i < conf->n_sections; i++) {
		struct conf_section *s = &conf->sections[i];

		for (size_t j = 0; j < s->n_entries; j++) {
			free(s->entries[j].key);
			free(s->entries[j].value);
		}
		free(s->entries);
		free(s->name);
	}
	free(conf->sections);
	free(conf->path);
	free(conf->text);
	*conf = (struct conf){0};
}
