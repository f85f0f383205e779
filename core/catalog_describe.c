/* SPDX-License-Identifier: MIT
 *
 * catalog_describe.c - one plugin or device asked in a child: both ends of the pipe.
 *
 * The parent sends the child one path at a time and waits for one answer.  A
 * child that dies or falls silent over a path is replaced by a fresh one; if
 * the path had company in the dead one, it gets a second chance, alone, for
 * the culprit may have been a thread of another plugin.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catalog_internal.h"
#include "load.h"
#include "say.h"

#define PLUGIN_S 10
#define DEVICE_S 60	/* a driver with many GPUs takes its time */

enum describe_type {
	DESCRIBE_DEVICE = 1,	/* to the child: struct request */
	DESCRIBE_PLUGIN,
	DESCRIBE_ANSWER = 100
};

struct request {
	uint32_t target;
	int32_t device;
	char path[PATH_MAX];
};

struct device_answer {
	int32_t devices;
	char why[512];
	struct pkrun_device_info info;
};

/* ---- an answer about a plugin as bytes: numbers as they are, texts with their length ---- */

struct pack {
	size_t used;
	int full;
	unsigned char bytes[MESSAGE_MAX];
};

static void put(struct pack *p, const void *data, size_t size)
{
	if (p->full || size > sizeof p->bytes - p->used) {
		p->full = 1;
		return;
	}
	memcpy(p->bytes + p->used, data, size);
	p->used += size;
}

static void put_text(struct pack *p, const char *text)
{
	uint32_t size = text ? (uint32_t)strnlen(text, MESSAGE_MAX) : UINT32_MAX;

	put(p, &size, sizeof size);
	if (text)
		put(p, text, size);
}

struct unpack {
	const unsigned char *at;
	size_t left;
	int bad;
};

static void get(struct unpack *u, void *out, size_t size)
{
	if (u->bad || size > u->left) {
		u->bad = 1;
		memset(out, 0, size);
		return;
	}
	memcpy(out, u->at, size);
	u->at += size;
	u->left -= size;
}

static char *get_text(struct unpack *u)
{
	uint32_t size;
	char *text;

	get(u, &size, sizeof size);
	if (u->bad || size == UINT32_MAX)
		return NULL;
	if (size > u->left) {
		u->bad = 1;
		return NULL;
	}
	text = catalog_must(malloc(size + 1));
	get(u, text, size);
	text[size] = 0;
	return text;
}

/* ---- the child ---- */

static void pack_plugin(struct pack *k, const struct pkrun_plugin *p)
{
	const uint32_t numbers[] = {p->target, p->control, p->result, p->flags,
				    p->abi_major, p->abi_minor, p->options_size};
	uint32_t n = 0;

	put_text(k, NULL);	/* not refused */
	put(k, numbers, sizeof numbers);
	put_text(k, p->name);
	put_text(k, p->brief);
	put_text(k, p->workloads);
	for (const struct pkrun_option *o = p->options; o && o->name; o++)
		n++;
	put(k, &n, sizeof n);
	for (const struct pkrun_option *o = p->options; o && o->name; o++) {
		put(k, o, sizeof *o);	/* its pointers are replaced by the texts that follow */
		put_text(k, o->name);
		put_text(k, o->value);
		put_text(k, o->choices);
		put_text(k, o->unit);
		put_text(k, o->help);
	}
}

static void pack_metrics(struct pack *k, const struct pkrun_metric *rows)
{
	uint32_t n = 0;

	while (rows && rows[n].name)
		n++;
	put(k, &n, sizeof n);
	for (uint32_t i = 0; i < n; i++) {
		put_text(k, rows[i].name);
		put_text(k, rows[i].unit);
		put_text(k, rows[i].help);
	}
}

static void describe_plugin(int out, const struct request *q)
{
	static struct pack k;
	const struct pkrun_plugin *p;
	char why[512];

	k.used = 0;
	k.full = 0;
	if (load_plugin(q->path, q->target, &p, why, sizeof why)) {
		put_text(&k, why);
	} else {
		pack_plugin(&k, p);
		pack_metrics(&k, PKRUN_HAS(p, metrics) ? p->metrics : NULL);
		if (k.full) {
			k.used = 0;
			k.full = 0;
			put_text(&k, "its tables have more than 64 KiB of text");
		}
	}
	message_send(out, DESCRIBE_ANSWER, k.bytes, k.used);
}

static void describe_device(int out, const struct request *q)
{
	static struct device_answer a;
	const struct pkrun_device *d;

	if (!load_device(q->path, q->target, &d, a.why, sizeof a.why)) {
		a.devices = d->count();
		if (a.devices <= 0) {
			a.devices = 0;
			snprintf(a.why, sizeof a.why, "%s", d->error());
		} else if (q->device < 0 || q->device >= a.devices) {
			snprintf(a.why, sizeof a.why, "no device %d: there %s %d, counted from 0",
				 q->device, a.devices == 1 ? "is" : "are", a.devices);
			a.devices = 0;
		} else if (d->info(q->device, &a.info)) {
			a.devices = 0;
			snprintf(a.why, sizeof a.why, "%s", d->error());
		}
	}
	message_send(out, DESCRIBE_ANSWER, &a, sizeof a);
}

int catalog_describe_main(int argc, char **argv)
{
	static struct message_reader reader;
	struct message m;
	int out;

	(void)argc;
	(void)argv;
	child_attach(&reader.fd, &out);
	for (;;) {
		struct request q = {0};
		int got = message_wait(&reader, &m);

		if (got == 0)
			continue;
		/* no exit handlers, no destructors: they are the plugins' */
		if (got < 0 || m.size > sizeof q)
			_exit(0);
		memcpy(&q, m.data, m.size);
		q.path[sizeof q.path - 1] = 0;
		if (m.type == DESCRIBE_DEVICE)
			describe_device(out, &q);
		else
			describe_plugin(out, &q);
	}
}

/* ---- the parent ---- */

static int load_timeout_s(int otherwise)
{
	const char *text = getenv("PKRUN_LOAD_TIMEOUT");
	int seconds = text ? atoi(text) : 0;

	return seconds > 0 ? seconds : otherwise;
}

static int ask(struct child *c, uint32_t type, uint32_t target, int device, const char *path)
{
	struct request q = {.target = target, .device = device};
	int length = snprintf(q.path, sizeof q.path, "%s", path);

	return child_send(c, type, &q, offsetof(struct request, path) + (size_t)length + 1);
}

static int start(struct child *c)
{
	static const char *const args[] = {"--describe", NULL};
	char why[300];

	if (child_spawn(c, args, NULL, why, sizeof why)) {
		say_error("%s", why);
		return -1;
	}
	return 0;
}

/* 1 and the answer in *m, or 0 and why there is none; *hung: it fell silent. */
static int answer(struct child *c, struct message *m, int limit_s, int *hung, char *why, size_t why_size)
{
	int64_t deadline = child_now() + limit_s * INT64_C(1000000000);
	enum child_event e = child_wait(c, m, &deadline, -1);

	*hung = e == CHILD_TIMEOUT;
	if (e == CHILD_MESSAGE && m->type == DESCRIBE_ANSWER)
		return 1;
	if (e == CHILD_TIMEOUT)
		snprintf(why, why_size, "did not load within %d s", limit_s);
	else if (e == CHILD_ENDED)
		child_reason(c, why, why_size);
	else
		snprintf(why, why_size, "its process sent what is not a message of pkrun");
	return 0;
}

/* Hash the file while the child loads it. */
static void hash_file(const char *path, char out[65], struct stat *st)
{
	struct sha256_ctx ctx;
	uint8_t digest[SHA256_DIGEST_SIZE];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	void *bytes = MAP_FAILED;

	out[0] = 0;
	if (fd >= 0 && !fstat(fd, st) && S_ISREG(st->st_mode) && st->st_size)
		bytes = mmap(NULL, (size_t)st->st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (bytes == MAP_FAILED)
		return;
	sha256_init(&ctx);
	sha256_update(&ctx, (size_t)st->st_size, bytes);
	sha256_digest(&ctx, sizeof digest, digest);
	munmap(bytes, (size_t)st->st_size);
	for (size_t i = 0; i < sizeof digest; i++)
		sprintf(out + 2 * i, "%02x", digest[i]);
}

int catalog_is_changed(const struct variant_info *v)
{
	const struct stat *was = &v->file;
	struct stat is;
	char sha256[65];

	if (stat(v->path, &is) || (is.st_dev == was->st_dev && is.st_ino == was->st_ino &&
				   is.st_size == was->st_size && is.st_mtim.tv_sec == was->st_mtim.tv_sec &&
				   is.st_mtim.tv_nsec == was->st_mtim.tv_nsec))
		return 0;
	hash_file(v->path, sha256, &is);
	return strcmp(sha256, v->sha256) != 0;
}

static void unpack_options(struct variant_info *v, struct unpack *u)
{
	get(u, &v->n_options, sizeof v->n_options);
	if (u->bad || v->n_options > MESSAGE_MAX / sizeof *v->options)
		v->n_options = 0;
	v->options = catalog_must(calloc(v->n_options + 1, sizeof *v->options));
	for (uint32_t i = 0; i < v->n_options; i++) {
		struct pkrun_option *o = &v->options[i];

		get(u, o, sizeof *o);
		o->name = get_text(u);
		o->value = get_text(u);
		o->choices = get_text(u);
		o->unit = get_text(u);
		o->help = get_text(u);
	}
}

static void unpack_metrics(struct variant_info *v, struct unpack *u)
{
	uint32_t n;

	get(u, &n, sizeof n);
	if (u->bad || n > MESSAGE_MAX / sizeof *v->metrics)
		n = 0;
	v->metrics = catalog_must(calloc(n + 1, sizeof *v->metrics));
	for (uint32_t i = 0; i < n; i++) {
		v->metrics[i].name = get_text(u);
		v->metrics[i].unit = get_text(u);
		v->metrics[i].help = get_text(u);
	}
}

static void unpack_plugin(struct variant_info *v, const struct message *m)
{
	struct unpack u = {.at = m->data, .left = m->size};
	uint32_t numbers[7];
	char *name;

	v->refused = get_text(&u);
	if (v->refused)
		return;
	get(&u, numbers, sizeof numbers);
	v->target = numbers[0];
	v->control = numbers[1];
	v->result = numbers[2];
	v->flags = numbers[3];
	v->abi_major = numbers[4];
	v->abi_minor = numbers[5];
	v->options_size = numbers[6];
	name = get_text(&u);
	v->brief = get_text(&u);
	v->workloads = get_text(&u);
	unpack_options(v, &u);
	unpack_metrics(v, &u);
	if (u.bad || !name) {
		free(name);
		v->refused = catalog_must(strdup("its process sent what describes no plugin"));
		return;
	}
	free(v->name);
	v->name = name;
}

int catalog_describe_plugin(struct child *c, size_t *used, uint32_t target, struct variant_info *v)
{
	char why[700];

	if (strlen(v->path) >= PATH_MAX) {
		v->refused = catalog_must(strdup("cannot open: File name too long"));
		return 0;
	}
	for (;;) {
		struct message m;
		int hung = 0, company = *used > 0, ok;

		if (!c->pid && start(c))
			return -1;
		ok = !ask(c, DESCRIBE_PLUGIN, target, 0, v->path);
		if (!v->sha256[0])
			hash_file(v->path, v->sha256, &v->file);
		ok = answer(c, &m, load_timeout_s(PLUGIN_S), &hung, why, sizeof why) && ok;
		if (ok) {
			unpack_plugin(v, &m);
			++*used;
			return 0;
		}
		child_end(c);
		*used = 0;
		if (company && !hung)
			continue;
		v->refused = catalog_must(strdup(why));
		return 0;
	}
}

int catalog_ask_device(struct child *child, uint32_t target, int device, const char *path)
{
	if (start(child))
		return -1;
	/* if it is dead already, catalog_take_device says so */
	(void)ask(child, DESCRIBE_DEVICE, target, device, path);
	return 0;
}

void catalog_take_device(struct child *child, struct target_info *t)
{
	struct message m;
	char why[700];
	int hung;

	if (!child->pid)
		return;
	if (!answer(child, &m, load_timeout_s(DEVICE_S), &hung, why, sizeof why)) {
		if (asprintf(&t->why, "asking for devices: %s", why) < 0)
			abort();
	} else if (m.size == sizeof(struct device_answer)) {
		struct device_answer a;

		memcpy(&a, m.data, sizeof a);
		t->devices = a.devices;
		t->device = a.info;
		if (!a.devices)
			t->why = catalog_must(strdup(a.why));
	}
	child_end(child);
}
