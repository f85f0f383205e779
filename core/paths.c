/* SPDX-License-Identifier: MIT
 *
 * paths.c - where things lie: this program, its plugins, its matrices.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "paths.h"

#ifndef PKRUN_PKGLIBDIR
#define PKRUN_PKGLIBDIR "/usr/local/lib/pkrun"
#endif

static struct stat self_file;	/* what paths_self() named at first */

const char *paths_self(void)
{
	static char self[PATH_MAX];
	ssize_t n;

	if (self[0])
		return self;
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0)
		n = 0;
	self[n] = '\0';
	(void)stat(self, &self_file);
	return self;
}

const char *paths_running(void)
{
	static char kept[64];
	struct stat is;

	if (stat(paths_self(), &is) == 0 && is.st_ino == self_file.st_ino && is.st_dev == self_file.st_dev)
		return paths_self();
	/* not "self", which under --wrap would be the wrapper */
	snprintf(kept, sizeof(kept), "/proc/%ld/exe", (long)getpid());
	return kept;
}

static int is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* plugins/ beside this program, or lib/pkrun/plugins/ of the prefix it was installed or moved to. */
static const char *plugins_near(char *out, size_t size)
{
	static const char *const near[] = {"plugins", "lib/pkrun/plugins"};
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s", paths_self());
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(folder, '/');

		if (!slash)
			return NULL;
		*slash = '\0';
		if (snprintf(out, size, "%s/%s", folder, near[i]) < (int)size && is_folder(out))
			return out;
	}
	return NULL;
}

const char *paths_plugin_dir(void)
{
	static char dir[PATH_MAX + 32];
	const char *given = getenv("PKRUN_PLUGIN_DIR");

	if (given && *given)
		return given;
	if (!dir[0] && !plugins_near(dir, sizeof(dir)))
		snprintf(dir, sizeof(dir), "%s/plugins", PKRUN_PKGLIBDIR);
	return dir;
}

struct list {
	char **item;
	size_t n;
};

static int list_add(struct list *l, const char *path)
{
	char **item = realloc(l->item, (l->n + 1) * sizeof(*item));
	char *full;

	if (!item)
		return -1;
	l->item = item;
	full = realpath(path, NULL);
	if (!full)
		full = strdup(path);	/* the loader says what is wrong with it */
	if (!full)
		return -1;
	l->item[l->n++] = full;
	return 0;
}

static int only_so(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 3 && strcmp(e->d_name + n - 3, ".so") == 0;
}

static int list_folder(struct list *l, const char *folder, char *why, size_t why_size)
{
	struct dirent **entry = NULL;
	char path[PATH_MAX];
	int i, n, rc = 0;

	n = scandir(folder, &entry, only_so, alphasort);
	if (n < 0) {
		snprintf(why, why_size, "PKRUN_PLUGIN_PATH: %s: %s", folder, strerror(errno));
		return -1;
	}
	for (i = 0; i < n; i++) {
		if (rc == 0) {
			snprintf(path, sizeof(path), "%s/%s", folder, entry[i]->d_name);
			rc = list_add(l, path);
		}
		free(entry[i]);
	}
	free(entry);
	if (rc)
		snprintf(why, why_size, "out of memory");
	return rc;
}

static int list_path(struct list *l, const char *value, char *why, size_t why_size)
{
	char *copy = strdup(value), *rest = copy, *part;
	int rc = copy ? 0 : -1;

	while (rc == 0 && (part = strsep(&rest, ":"))) {
		if (!*part)
			continue;
		if (is_folder(part))
			rc = list_folder(l, part, why, why_size);
		else
			rc = list_add(l, part);
	}
	free(copy);
	return rc;
}

int paths_extra(const char *const *given, size_t n_given, char ***out, size_t *n_out,
		char *why, size_t why_size)
{
	const char *env = getenv("PKRUN_PLUGIN_PATH");
	struct list l = { NULL, 0 };
	size_t i;

	snprintf(why, why_size, "out of memory");
	for (i = 0; i < n_given; i++)
		if (list_add(&l, given[i]))
			goto fail;
	if (env && list_path(&l, env, why, why_size))
		goto fail;
	*out = l.item;
	*n_out = l.n;
	return 0;
fail:
	paths_extra_free(l.item, l.n);
	return -1;
}

void paths_extra_free(char **list, size_t n)
{
	while (n)
		free(list[--n]);
	free(list);
}
