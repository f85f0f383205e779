/* SPDX-License-Identifier: MIT
 *
 * catalog.c - which plugins and devices there are: folders looked through,
 * namesakes settled, names found.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalog_internal.h"
#include "load.h"
#include "say.h"

static const char *const target_names[] = {NULL, "host", "hip", "cuda"};

const char *control_name(uint32_t control)
{
	static const char *const names[] = {"?", "host", "host queue", "device", "device queue"};

	return control < sizeof names / sizeof *names ? names[control] : "?";
}

const char *target_name(uint32_t target)
{
	return target >= PKRUN_HOST && target <= PKRUN_CUDA ? target_names[target] : "?";
}

int target_parse(const char *name, uint32_t *out)
{
	for (uint32_t t = PKRUN_HOST; t <= PKRUN_CUDA; t++) {
		if (!strcmp(name, target_names[t])) {
			*out = t;
			return 0;
		}
	}
	return -1;
}

void *catalog_must(void *p)
{
	if (!p)
		abort();
	return p;
}

static void variant_free(struct variant_info *v)
{
	for (uint32_t i = 0; v->options && i < v->n_options; i++) {
		free((char *)v->options[i].name);
		free((char *)v->options[i].value);
		free((char *)v->options[i].choices);
		free((char *)v->options[i].unit);
		free((char *)v->options[i].help);
	}
	free(v->options);
	for (struct pkrun_metric *m = v->metrics; m && m->name; m++) {
		free((char *)m->name);
		free((char *)m->unit);
		free((char *)m->help);
	}
	free(v->metrics);
	free(v->name);
	free(v->brief);
	free(v->path);
	free(v->workloads);
	free(v->refused);
}

/* "/x/y/NAME.so" to "NAME": what a plugin is called that cannot say it itself. */
static char *name_of_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	size_t length = strlen(base);

	if (length > 3 && !strcmp(base + length - 3, ".so"))
		length -= 3;
	return catalog_must(strndup(base, length));
}

static struct variant_info *add_variant(struct catalog *c, uint32_t target, const char *path)
{
	size_t n = c->n_variants;
	struct variant_info *v;

	if (!(n & (n - 1)))
		c->variants = catalog_must(realloc(c->variants, (n ? 2 * n : 1) * sizeof *v));
	v = &c->variants[c->n_variants++];
	*v = (struct variant_info){.target = target};
	v->path = realpath(path, NULL);
	if (!v->path)
		v->path = catalog_must(strdup(path));	/* the loader says what is wrong with it */
	v->name = name_of_file(path);
	return v;
}

static int is_plugin_file(const struct dirent *e)
{
	size_t length = strlen(e->d_name);

	return length > 3 && !strcmp(e->d_name + length - 3, ".so") &&
	       strcmp(e->d_name, "device.so") && strncmp(e->d_name, "lib", 3);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* plugins/<target>: every plugin there. */
static int describe_folder(struct catalog *c, const char *folder, uint32_t target)
{
	static struct child child;
	struct dirent **entries = NULL;
	int n = scandir(folder, &entries, is_plugin_file, by_name), ret = 0;
	size_t used = 0;

	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];

		if (snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name) <
		    (int)sizeof path && !ret)
			ret = catalog_describe_plugin(&child, &used, target,
						      add_variant(c, target, path));
		free(entries[i]);
	}
	free(entries);
	child_end(&child);
	return ret;
}

/* Plugins given one by one; each says itself which target it is for. */
static int describe_files(struct catalog *c, const char *const *paths, size_t n, int by_path)
{
	static struct child child;
	size_t used = 0;
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++) {
		struct variant_info *v = add_variant(c, 0, paths[i]);

		v->by_path = by_path;
		ret = catalog_describe_plugin(&child, &used, LOAD_ANY_TARGET, v);
	}
	child_end(&child);
	return ret;
}

/* From now on it goes by the name of its file: who copied one and forgot its name asks for that. */
static void refuse(struct variant_info *v, const char *fmt, const char *path)
{
	if (asprintf(&v->refused, fmt, v->name, path) < 0)
		abort();
	free(v->name);
	v->name = name_of_file(v->path);
}

/* Two plugins of one name and target: what was given wins over what is shipped, the first over the next. */
static void settle_names(struct catalog *c, size_t n_shipped)
{
	for (size_t i = 0; i < c->n_variants; i++) {
		struct variant_info *v = &c->variants[i];

		for (size_t j = 0; j < i && !v->by_path && !v->refused; j++) {
			struct variant_info *w = &c->variants[j];

			if (w->by_path || w->refused || w->target != v->target ||
			    strcmp(w->name, v->name))
				continue;
			if (j < n_shipped && i >= n_shipped) {
				say_note("variant %s is %s", v->name, v->path);
				refuse(w, "its name '%s' is also that of %s, which was given", v->path);
			} else if (strcmp(w->path, v->path)) {
				refuse(v, "its name '%s' is also that of %s", w->path);
			} else {
				refuse(v, "'%s' is given twice: %s", v->path);
			}
		}
	}
}

static int order(const void *a, const void *b)
{
	const struct variant_info *v = a, *w = b;
	int names = strcmp(v->name, w->name);

	if (v->target != w->target)
		return v->target < w->target ? -1 : 1;
	return names ? names : strcmp(v->path, w->path);
}

/* A GPU's driver may take half a second to answer: ask early, listen late. */
static int ask_device(struct catalog *c, uint32_t target, const struct catalog_request *req,
		      struct child *child)
{
	struct target_info *t = &c->targets[target];
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/%s/device.so", req->plugin_dir, target_name(target));
	t->built = !access(path, F_OK);
	if (!t->built) {
		if (asprintf(&t->why, "this pkrun was built without it (no %s)", path) < 0)
			abort();
		return 0;
	}
	if (!(req->targets & (1u << target))) {
		t->why = catalog_must(strdup("was not asked"));
		return 0;
	}
	return catalog_ask_device(child, target, req->device, path);
}

int catalog_load(struct catalog *out, const struct catalog_request *req)
{
	static struct child devices[PKRUN_CUDA + 1];
	struct catalog c = {.plugin_dir = catalog_must(strdup(req->plugin_dir))};
	size_t n_shipped;
	int ret = 0;

	for (uint32_t t = PKRUN_HOST; t <= PKRUN_CUDA && !ret; t++) {
		c.targets[t].target = t;
		ret = ask_device(&c, t, req, &devices[t]);
	}
	for (uint32_t t = PKRUN_HOST; t <= PKRUN_CUDA && !ret; t++) {
		char folder[PATH_MAX];

		snprintf(folder, sizeof folder, "%s/%s", req->plugin_dir, target_name(t));
		if (req->targets & (1u << t))
			ret = describe_folder(&c, folder, t);
	}
	n_shipped = c.n_variants;
	if (!ret)
		ret = describe_files(&c, req->extra, req->n_extra, 0);
	if (!ret)
		ret = describe_files(&c, req->by_path, req->n_by_path, 1);
	for (uint32_t t = PKRUN_HOST; t <= PKRUN_CUDA; t++)
		catalog_take_device(&devices[t], &c.targets[t]);
	if (ret) {
		catalog_free(&c);
		return -1;
	}
	settle_names(&c, n_shipped);
	if (c.n_variants)
		qsort(c.variants, c.n_variants, sizeof *c.variants, order);
	*out = c;
	return 0;
}

const struct variant_info *catalog_find(const struct catalog *c, uint32_t target, const char *name)
{
	const struct variant_info *found = NULL;
	int path = strchr(name, '/') != NULL;

	for (size_t i = 0; i < c->n_variants; i++) {
		const struct variant_info *v = &c->variants[i];

		if (path ? strcmp(v->path, name) : v->by_path || strcmp(v->name, name))
			continue;
		/* one that could not even say its target stands for all */
		if (v->target != target && !(v->refused && v->target == 0))
			continue;
		if (!found || (found->refused && !v->refused))
			found = v;
	}
	return found;
}

int catalog_is_repeated(const struct catalog *c, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (!c->variants[j].refused && !strcmp(c->variants[j].name, c->variants[i].name))
			return 1;
	return 0;
}

int variant_drives(const struct variant_info *v, const char *workload)
{
	size_t length = strlen(workload);

	for (const char *list = v->workloads; list && *list; list += strspn(list, ", ")) {
		size_t n = strcspn(list, ", ");

		if (n == length && !memcmp(list, workload, n))
			return 1;
		list += n;
	}
	return 0;
}

uint32_t catalog_target_bits(const char *wanted)
{
	uint32_t target;

	if (!strcmp(wanted, "auto"))
		return 1u << PKRUN_HOST | 1u << PKRUN_HIP | 1u << PKRUN_CUDA;
	return target_parse(wanted, &target) ? 0 : 1u << target;
}

int catalog_target(const struct catalog *c, const char *wanted, uint32_t *out, char *why,
		   size_t why_size)
{
	static const uint32_t preferred[] = {PKRUN_CUDA, PKRUN_HIP, PKRUN_HOST};
	uint32_t target = PKRUN_HOST;

	if (!strcmp(wanted, "auto")) {
		for (int i = 2; i >= 0; i--)
			if (c->targets[preferred[i]].devices > 0)
				target = preferred[i];
	} else if (target_parse(wanted, &target)) {
		snprintf(why, why_size, "target '%.60s' is none of auto, host, hip, cuda", wanted);
		return -1;
	}
	if (c->targets[target].devices <= 0) {
		snprintf(why, why_size, "target %s: %s", target_name(target),
			 c->targets[target].why ? c->targets[target].why : "no device");
		return -1;
	}
	*out = target;
	return 0;
}

void catalog_free(struct catalog *c)
{
	for (size_t i = 0; i < c->n_variants; i++)
		variant_free(&c->variants[i]);
	free(c->variants);
	free(c->plugin_dir);
	for (size_t i = 0; i < sizeof c->targets / sizeof *c->targets; i++)
		free(c->targets[i].why);
	*c = (struct catalog){0};
}
