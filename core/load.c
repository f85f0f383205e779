/* SPDX-License-Identifier: MIT
 *
 * load.c - dlopen and the checks of the contract (plugin.h).  The order
 * matters: nothing behind `size` is read before magic, major and size are
 * right, and no function of the plugin is called here at all.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "load.h"
#include "matrix.h"
#include "options.h"

#define OPTIONS_MAX 64
#define METRICS_MAX 64

__attribute__((format(printf, 3, 4)))
static int refuse(char *why, size_t why_size, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, why_size, fmt, args);
	va_end(args);
	return -1;
}

static int is_name(const char *s)
{
	return *s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_")] && strlen(s) <= 48;
}

static int check_row(const struct pkrun_plugin *p, const struct pkrun_option *row, char *why,
		     size_t why_size)
{
	size_t size = option_value_size(row->type);
	const char *owner = matrix_reserved(row->name);

	if (!is_name(row->name))
		return refuse(why, why_size, "option name '%.60s' is not [a-z0-9_]+", row->name);
	if (owner)
		return refuse(why, why_size, "option '%s' has the name of %s", row->name, owner);
	if (!size)
		return refuse(why, why_size, "option '%s' has unknown type %" PRIu32, row->name,
			      row->type);
	if (row->offset > p->options_size || p->options_size - row->offset < size)
		return refuse(why, why_size,
			      "option '%s' takes bytes %" PRIu32 "..%zu of a struct of %" PRIu32
			      " bytes", row->name, row->offset, row->offset + size,
			      p->options_size);
	if (row->offset % (row->type == PKRUN_BOOL ? 4 : 8))
		return refuse(why, why_size, "option '%s' has a misaligned offset %" PRIu32,
			      row->name, row->offset);
	if (!row->value)
		return refuse(why, why_size, "option '%s' has no default", row->name);
	if (row->type == PKRUN_CHOICE && (!row->choices || !*row->choices))
		return refuse(why, why_size, "option '%s' has no choices", row->name);
	return 0;
}

static int check_options(const struct pkrun_plugin *p, char *why, size_t why_size)
{
	union { unsigned char bytes[MATRIX_OPTIONS_BYTES]; int64_t align; } scratch;
	const struct pkrun_option *row = p->options;
	char reason[200];

	if (!row)
		return 0;
	if (p->options_size > sizeof scratch)
		return refuse(why, why_size, "options_size is %" PRIu32 ", at most %zu",
			      p->options_size, sizeof scratch);
	for (int n = 0; row->name; row++, n++) {
		if (n == OPTIONS_MAX)
			return refuse(why, why_size, "more than %d options, or no end of table",
				      OPTIONS_MAX);
		if (check_row(p, row, why, why_size))
			return -1;
		if (option_find(p->options, row->name) != row)
			return refuse(why, why_size, "option '%s' is there twice", row->name);
		if (option_parse(row, row->value, &scratch, reason, sizeof reason))
			return refuse(why, why_size, "default of option '%s': %s", row->name, reason);
	}
	return 0;
}

static int check_metrics(const struct pkrun_plugin *p, char *why, size_t why_size)
{
	const struct pkrun_metric *row = PKRUN_HAS(p, metrics) ? p->metrics : NULL;

	for (int n = 0; row && row->name; row++, n++) {
		if (n == METRICS_MAX)
			return refuse(why, why_size, "more than %d metrics, or no end of table",
				      METRICS_MAX);
		if (!*row->name || strlen(row->name) > 63)
			return refuse(why, why_size, "metric name '%.80s' is empty or longer than 63",
				      row->name);
		if (!row->unit)
			return refuse(why, why_size, "metric '%s' has no unit (\"\": a pure number)",
				      row->name);
		if (!row->help || !*row->help)
			return refuse(why, why_size, "metric '%s' has no help: what does it mean?",
				      row->name);
	}
	return 0;
}

static int check_words(const struct pkrun_plugin *p, char *why, size_t why_size)
{
	if (!p->name)
		return refuse(why, why_size, "no name (NULL)");
	if (!is_name(p->name))
		return refuse(why, why_size, "name '%.60s' is not [a-z0-9_]+ of at most 48", p->name);
	if (!p->brief || !*p->brief)
		return refuse(why, why_size, "no brief");
	if (!p->workloads || !*p->workloads)
		return refuse(why, why_size, "names no workload");
	if (p->control < PKRUN_CONTROL_HOST || p->control > PKRUN_CONTROL_DEVICE_QUEUE)
		return refuse(why, why_size, "control %" PRIu32 " is unknown", p->control);
	if (p->result != PKRUN_EXACT && p->result != PKRUN_CONVERGES)
		return refuse(why, why_size, "result %" PRIu32 " is unknown", p->result);
	return 0;
}

static int check_target(uint32_t has, uint32_t wanted, char *why, size_t why_size)
{
	if (has < PKRUN_HOST || has > PKRUN_CUDA)
		return refuse(why, why_size, "built for target %" PRIu32 ", which is unknown", has);
	if (wanted != LOAD_ANY_TARGET && has != wanted)
		return refuse(why, why_size, "built for target %s, not %s", target_name(has),
			      target_name(wanted));
	return 0;
}

int load_check(const struct pkrun_plugin *p, uint32_t target, char *why, size_t why_size)
{
	if (p->magic != PKRUN_MAGIC)
		return refuse(why, why_size, "magic is 0x%08" PRIx32 ", not 0x%08" PRIx32, p->magic,
			      PKRUN_MAGIC);
	if (p->abi_major != PKRUN_ABI_MAJOR)
		return refuse(why, why_size, "built for plugin ABI %u.%u; this pkrun has %d.%d",
			      p->abi_major, p->abi_minor, PKRUN_ABI_MAJOR, PKRUN_ABI_MINOR);
	if (p->size < PKRUN_PLUGIN_SIZE_1_0)
		return refuse(why, why_size,
			      "descriptor of %" PRIu32 " bytes, shorter than the %zu of ABI 1.0",
			      p->size, PKRUN_PLUGIN_SIZE_1_0);
	if (check_target(p->target, target, why, why_size) || check_words(p, why, why_size))
		return -1;
	if (!p->footprint || !p->run || !p->wait)
		return refuse(why, why_size, "required function %s is missing",
			      !p->footprint ? "footprint" : !p->run ? "run" : "wait");
	return check_options(p, why, why_size) || check_metrics(p, why, why_size) ? -1 : 0;
}

static void *open_symbol(const char *path, const char *symbol, char *why, size_t why_size)
{
	char full[PATH_MAX];
	void *handle, *address;

	if (!realpath(path, full)) {
		refuse(why, why_size, "cannot open: %s", strerror(errno));
		return NULL;
	}
	/* never unloaded: a runtime may still have threads and handlers in it */
	handle = dlopen(full, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!handle) {
		refuse(why, why_size, "cannot load: %s", dlerror());
		return NULL;
	}
	address = dlsym(handle, symbol);
	if (!address)
		refuse(why, why_size, "exports no symbol %s: not a pkrun plugin", symbol);
	return address;
}

int load_plugin(const char *path, uint32_t target, const struct pkrun_plugin **out, char *why,
		size_t why_size)
{
	const struct pkrun_plugin *p = open_symbol(path, "pkrun_plugin", why, why_size);

	if (!p || load_check(p, target, why, why_size))
		return -1;
	*out = p;
	return 0;
}

int load_device(const char *path, uint32_t target, const struct pkrun_device **out, char *why,
		size_t why_size)
{
	const struct pkrun_device *d = open_symbol(path, "pkrun_device", why, why_size);

	if (!d)
		return -1;
	if (d->magic != PKRUN_MAGIC || d->version != PKRUN_DEVICE_VERSION || d->size < sizeof *d)
		return refuse(why, why_size,
			      "device.so has magic 0x%08" PRIx32 ", version %" PRIu32 ", %" PRIu32
			      " bytes; this pkrun wants 0x%08" PRIx32 ", %d, %zu", d->magic,
			      d->version, d->size, PKRUN_MAGIC, PKRUN_DEVICE_VERSION, sizeof *d);
	if (check_target(d->target, target, why, why_size))
		return -1;
	*out = d;
	return 0;
}
