/* SPDX-License-Identifier: MIT
 *
 * test_catalog.c - plugins that print, exit, crash, hang or kill their
 * neighbours while they are loaded.  The children are this program again.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/catalog.h"
#include "core/options.h"
#include "core/say.h"

static char folder[] = "/tmp/test_catalog.XXXXXX";
static struct catalog c;

static const char *plugin(const char *name)
{
	static char path[4][1000];
	static int turn;
	const char *dir = getenv("PKRUN_BUILDDIR");
	char *p = path[turn++ % 4];

	snprintf(p, sizeof path[0], "%s/tests/plugins/%s.so", dir ? dir : ".", name);
	return p;
}

/* A plugins folder with these in its host/ . */
static void fill(const char *const *names)
{
	char path[2000], host[1000];
	struct dirent *e;
	DIR *d;

	snprintf(host, sizeof host, "%s/host", folder);
	mkdir(host, 0777);
	d = opendir(host);
	assert_non_null(d);
	while ((e = readdir(d))) {
		snprintf(path, sizeof path, "%s/%s", host, e->d_name);
		unlink(path);
	}
	closedir(d);
	for (; *names; names++) {
		snprintf(path, sizeof path, "%s/%s.so", host, *names);
		assert_int_equal(symlink(plugin(*names), path), 0);
	}
}

static void load(const char *const *names, const char *const *extra, size_t n_extra)
{
	struct catalog_request req = {.plugin_dir = folder, .extra = extra, .n_extra = n_extra,
				      .targets = 1u << PKRUN_HOST};

	catalog_free(&c);
	fill(names);
	assert_int_equal(catalog_load(&c, &req), 0);
}

static const struct variant_info *find(const char *name)
{
	const struct variant_info *v = catalog_find(&c, PKRUN_HOST, name);

	if (!v)
		fail_msg("%s is not in the catalog", name);
	return v;
}

static void accepted(const char *name)
{
	if (find(name)->refused)
		fail_msg("%s was refused: %s", name, find(name)->refused);
}

static void refused(const char *name, const char *with)
{
	const char *why = find(name)->refused;

	if (!why || !strstr(why, with))
		fail_msg("%s: expected '%s' in: %s", name, with, why ? why : "(accepted)");
}

static void all_at_once(void **state)
{
	static const char *const names[] = {"bad_ctor_crashes", "bad_ctor_exits", "bad_ctor_thread", "bad_magic",
					    "bad_option_garbage", "bad_undefined", "ctor_locale",
					    "ctor_prints", "good", "minor_newer", NULL};

	(void)state;
	load(names, NULL, 0);
	assert_int_equal(c.n_variants, 10);
	accepted("good");
	accepted("minor_newer");
	accepted("ctor_prints");
	accepted("ctor_locale");
	refused("bad_ctor_crashes", "killed by SIGABRT; it printed: no licence found");
	refused("bad_ctor_exits", "exited with 0 before it was done");
	refused("bad_ctor_thread", "built for plugin ABI 2.3");
	refused("bad_option_garbage", "SEGV");
	refused("bad_undefined", "undefined symbol: nobody_has_this");
	assert_string_equal(find("ctor_locale")->options[0].value, "1.5");
	assert_true(find("ctor_locale")->options[0].max == 2.75);
	assert_null(find("ctor_locale")->options[1].name);
	assert_int_equal(find("minor_newer")->abi_minor, PKRUN_ABI_MINOR + 7);
	assert_int_equal(strlen(find("good")->sha256), 64);
	assert_string_equal(find("good")->workloads, "null");
	assert_null(catalog_find(&c, PKRUN_CUDA, "good"));
	assert_null(catalog_find(&c, PKRUN_HOST, "nothing"));
}

/* The thread of one plugin kills the process while another is loaded: that one is innocent. */
static void innocent(void **state)
{
	static const char *const names[] = {"late_killer", "slow", NULL};

	(void)state;
	load(names, NULL, 0);
	accepted("slow");
}

static void hang(void **state)
{
	static const char *const names[] = {"bad_ctor_hangs", "good", NULL};
	time_t begin = time(NULL);

	(void)state;
	setenv("PKRUN_LOAD_TIMEOUT", "1", 1);
	load(names, NULL, 0);
	unsetenv("PKRUN_LOAD_TIMEOUT");
	accepted("good");
	refused("bad_ctor_hangs", "did not load within 1 s");
	assert_true(time(NULL) - begin < 8);
}

/* What the user gives wins over what is shipped; the same file twice is said. */
static void namesakes(void **state)
{
	static const char *const names[] = {"good", NULL};
	char copy[1000], command[3000];
	const char *extra[3];

	(void)state;
	snprintf(copy, sizeof copy, "%s/good.so", folder);
	snprintf(command, sizeof command, "cp '%s' '%s'", plugin("good"), copy);
	assert_int_equal(system(command), 0);
	extra[0] = copy;
	extra[1] = "/nonexistent/x.so";
	extra[2] = plugin("bad_target");
	load(names, extra, 3);
	assert_int_equal(c.n_variants, 4);
	accepted("good");
	assert_string_equal(find("good")->path, copy);
	refused("x", "cannot open: No such file");
	assert_non_null(catalog_find(&c, PKRUN_CUDA, "bad_target"));
	assert_null(catalog_find(&c, PKRUN_HOST, "bad_target"));
	/* the shipped one is still there, by its path, and says why it gave way */
	assert_non_null(strstr(catalog_find(&c, PKRUN_HOST, plugin("good"))->refused, copy));
	unlink(copy);
}

static void a_path_longer_than_any_file_has(void **state)
{
	static const char *const names[] = {"good", NULL};
	char path[6000];
	const char *extra = path;

	(void)state;
	memset(path, 'x', sizeof path);
	memcpy(path + sizeof path - 6, "/y.so", 6);
	load(names, &extra, 1);
	accepted("good");
	refused("y", "cannot open: File name too long");
}

static void no_device(void **state)
{
	static const char *const names[] = {"good", NULL};
	char why[300], path[1000];
	uint32_t target;
	FILE *f;

	(void)state;
	load(names, NULL, 0);
	assert_int_equal(c.targets[PKRUN_HOST].built, 0);
	assert_int_equal(catalog_target(&c, "host", &target, why, sizeof why), -1);
	assert_non_null(strstr(why, "target host: this pkrun was built without it"));
	assert_int_equal(catalog_target(&c, "gpu", &target, why, sizeof why), -1);
	assert_non_null(strstr(why, "'gpu' is none of auto, host, hip, cuda"));
	snprintf(path, sizeof path, "%s/host/device.so", folder);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("not an object", f);
	fclose(f);
	catalog_free(&c);
	assert_int_equal(catalog_load(&c, &(struct catalog_request){.plugin_dir = folder,
								    .targets = 1u << PKRUN_HOST}), 0);
	assert_int_equal(catalog_target(&c, "auto", &target, why, sizeof why), -1);
	assert_non_null(strstr(why, "cannot load"));
	unlink(path);
}

static void empty(void **state)
{
	(void)state;
	catalog_free(&c);
	assert_int_equal(catalog_load(&c, &(struct catalog_request){.plugin_dir = "/nonexistent",
								    .targets = 14}), 0);
	assert_int_equal(c.n_variants, 0);
	catalog_free(&c);
}

static int make_folder(void **state)
{
	(void)state;
	say_quiet = 1;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	static const char *const none[] = {NULL};
	char path[1000];

	(void)state;
	fill(none);
	snprintf(path, sizeof path, "%s/host", folder);
	rmdir(path);
	return rmdir(folder);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_at_once), cmocka_unit_test(innocent),  cmocka_unit_test(hang),
		cmocka_unit_test(namesakes),   cmocka_unit_test(no_device), cmocka_unit_test(empty),
		cmocka_unit_test(a_path_longer_than_any_file_has),
	};

	if (argc > 1 && !strcmp(argv[1], "--describe"))
		return catalog_describe_main(argc, argv);
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
