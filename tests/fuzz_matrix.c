/* SPDX-License-Identifier: MIT
 *
 * fuzz_matrix.c - any bytes as a matrix: read, planned, and every kind of cell
 * spelled; or refused with a message.  Never both, never neither.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/matrix.h"

struct padded_options { int64_t pad; struct pkrun_choice wait; double omega; const char *label; int64_t shape[2]; int32_t on; };
#define AT(field) offsetof(struct padded_options, field)

static struct pkrun_option padded_table[] = {
	{"pad", PKRUN_INT, AT(pad), "128", 0, 256, NULL, "byte", "gap"},
	{"wait", PKRUN_CHOICE, AT(wait), "spin", 0, 1000, "usleep:N|spin|N", NULL, "how"},
	{"omega", PKRUN_REAL, AT(omega), "1", -2, 2, NULL, NULL, "factor"},
	{"label", PKRUN_TEXT, AT(label), "a", 0, 0, NULL, NULL, "text"},
	{"shape", PKRUN_PAIR, AT(shape), "3x4", 1, 99, NULL, NULL, "pair"},
	{"on", PKRUN_BOOL, AT(on), "no", 0, 0, NULL, NULL, "switch"},
	{NULL},
};
static struct pkrun_option none[] = {{NULL}};

static struct variant_info variants[] = {
	{.name = "launch", .path = "/p/host/launch.so", .workloads = "poisson2d,null", .target = PKRUN_HOST,
	 .options = none},
	{.name = "padded", .path = "/p/host/padded.so", .workloads = "poisson2d", .target = PKRUN_HOST,
	 .options = padded_table, .n_options = 6, .options_size = sizeof(struct padded_options)},
	{.name = "broken", .path = "/p/host/broken.so", .target = PKRUN_HOST, .refused = "magic is 0"},
	{.name = "launch", .path = "/p/cuda/launch.so", .workloads = "null", .target = PKRUN_CUDA,
	 .options = none},
	{.name = "mine", .path = "/x/mine.so", .workloads = "poisson2d", .target = PKRUN_HOST,
	 .options = none, .by_path = 1},
};

static struct catalog catalog = {
	.targets = {[PKRUN_HOST] = {.target = PKRUN_HOST, .built = 1, .devices = 1},
		    [PKRUN_CUDA] = {.target = PKRUN_CUDA, .why = "none"}},
	.n_variants = sizeof variants / sizeof *variants,
	.variants = variants,
};

static void count(void *user, const char *message)
{
	if (!*message || strlen(message) > 1100 || !conf_is_text(message, strlen(message)))
		abort();
	++*(int *)user;
}

static void touch(void *user, const char *owner, const char *name, const char *value, int is_default)
{
	*(size_t *)user += strlen(owner) + strlen(name) + strlen(value) + (size_t)is_default;
}

static void look_at(const struct matrix *m, uint64_t number)
{
	struct cell c;
	char key[4096];
	size_t sum = 0;

	if (matrix_cell(m, number, &c) || c.number != number || !c.workload || !c.series)
		abort();
	cell_params(&c, touch, &sum);
	(void)cell_key(&c, key, sizeof key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const globs[] = {NULL, NULL, NULL, "*", "a*", "*/launch/*"};
	struct matrix_request req = {.catalog = &catalog, .target = PKRUN_HOST,
				     .only = globs[size % 6], .quick = size & 1};
	struct matrix *m = NULL;
	struct conf c;
	char **paths;
	size_t n;
	int said = 0, bad = conf_read_buffer(&c, "f.ini", (const char *)data, size, count, &said);

	if (!bad) {
		matrix_plugins(&c, &paths, &n);
		matrix_plugins_free(paths, n);
		(void)matrix_targets(&c);
		bad = matrix_plan(&m, &c, &req, count, &said);
	}
	if (!bad != !said)
		abort();
	for (uint64_t i = 0, all = bad ? 0 : matrix_cells(m); i < all; i += i < 8 ? 1 : all / 8 + 1)
		look_at(m, i);
	matrix_free(m);
	return 0;
}
