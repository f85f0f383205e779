/* SPDX-License-Identifier: MIT
 *
 * test_worker.c - what a worker sends, and when.  It is this program again.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/child.h"
#include "core/job.h"
#include "core/reference.h"
#include "core/worker.h"

static struct child child;
static struct job job;

static const char *plugin(const char *name)
{
	static char path[1000];
	const char *dir = getenv("PKRUN_BUILDDIR");

	snprintf(path, sizeof(path), "%s/tests/plugins/fake_%s.so", dir ? dir : ".", name);
	return path;
}

static void next(struct message *m)
{
	int64_t deadline = child_now() + INT64_C(60000000000);
	char why[500];

	if (child_wait(&child, m, &deadline, -1) == CHILD_MESSAGE)
		return;
	child_end(&child);
	child_reason(&child, why, sizeof(why));
	fail_msg("no message: %s", why);
}

static void start(const char *variant)
{
	static const char *const args[] = { "--worker", NULL };
	char why[300];

	job_clear(&job);
	job_add(&job, "mode", "cell");
	job_add(&job, "target", "host");
	job_add(&job, "device_so", plugin("device"));
	job_add(&job, "plugin", plugin(variant));
	job_add(&job, "workload", "null");
	job_add(&job, "workload.n", "3");
	job_add_int(&job, "iterations", 4);
	job_add_int(&job, "trials", 3);
	assert_int_equal(child_spawn(&child, args, NULL, why, sizeof(why)), 0);
	assert_int_equal(child_send(&child, PROTOCOL_JOB, job.text, job.size), 0);
}

static void send_reference(const struct message *m)
{
	const struct workload *w = workload_find("null");
	struct protocol_reference r;
	struct protocol_want want;
	int64_t problem[16];
	char why[300];

	memcpy(&want, m->data, sizeof(want));
	assert_int_equal(job_options(&job, "workload", w->options, problem, why, sizeof(why)), 0);
	assert_int_equal(reference_compute(w, problem, want.blocks, want.iterations, &r), 0);
	child_send(&child, PROTOCOL_REFERENCE, &r, sizeof(r));
}

/* Between `stored` and the next trial a clock runs, and pkrun is to have nothing to store. */
static void all_of_a_trial_is_sent_before_it_is_stored(void **state)
{
	int is_stored = 0, trials = 0, metrics = 0;
	union protocol_payload u;
	struct message m;

	(void)state;
	start("flood");
	for (next(&m); m.type != PROTOCOL_END; next(&m)) {
		if (m.type == PROTOCOL_METRIC || m.type == PROTOCOL_NOTE)
			assert_false(is_stored);
		metrics += m.type == PROTOCOL_METRIC;
		trials += m.type == PROTOCOL_TRIAL;
		if (m.type == PROTOCOL_TRIAL)
			is_stored = 0;
		if (m.type == PROTOCOL_WANT_REFERENCE)
			send_reference(&m);
		if (m.type == PROTOCOL_TOLD) {
			child_send(&child, PROTOCOL_STORED, NULL, 0);
			is_stored = 1;
		}
	}
	assert_int_equal(protocol_take(&m, &u), 0);
	assert_string_equal(u.end.status, "ok");
	assert_int_equal(trials, 3 + 3 + 2);	/* first, odd, warm-up, timed */
	assert_int_equal(metrics, trials * 4096);
	child_end(&child);
}

/* Who starts pkrun may ignore SIGCHLD, and that is inherited; then no end of a child is told. */
static void how_it_ended_is_known_whoever_started_us(void **state)
{
	int64_t deadline = child_now() + INT64_C(60000000000);
	enum child_event e;
	struct message m;
	char why[500];

	(void)state;
	signal(SIGCHLD, SIG_IGN);
	start("flood");
	next(&m);
	child_signal(&child, SIGKILL, 0);
	while ((e = child_wait(&child, &m, &deadline, -1)) == CHILD_MESSAGE)
		;
	assert_int_equal(e, CHILD_ENDED);
	child_end(&child);
	child_reason(&child, why, sizeof(why));
	assert_memory_equal(why, "killed by SIGKILL", 17);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_a_trial_is_sent_before_it_is_stored),
		cmocka_unit_test(how_it_ended_is_known_whoever_started_us),
	};

	if (argc > 1 && strcmp(argv[1], "--worker") == 0)
		return worker_main(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
