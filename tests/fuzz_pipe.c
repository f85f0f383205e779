/* SPDX-License-Identifier: MIT
 *
 * fuzz_pipe.c - any bytes in a pipe between pkrun and its worker, read from both
 * ends: messages, the structs in them, jobs.  What is taken has texts that end.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/job.h"
#include "core/message.h"
#include "core/protocol.h"

#define ENDS(array) (memchr(array, '\0', sizeof(array)) != NULL)

/* As pkrun reads what its worker sent. */
static void from_worker(const struct message *m)
{
	union protocol_payload u;

	memset(&u, 0, sizeof(u));
	if (protocol_take(m, &u))
		return;
	if ((m->type == PROTOCOL_PHASE && !ENDS(u.phase.name)) ||
	    (m->type == PROTOCOL_METRIC && !(ENDS(u.metric.name) && ENDS(u.metric.unit))) ||
	    (m->type == PROTOCOL_WANT_REFERENCE && !ENDS(u.want.input)) ||
	    (m->type == PROTOCOL_TRIAL && !(ENDS(u.trial.kind) && ENDS(u.trial.hash) && ENDS(u.trial.flags))) ||
	    (m->type == PROTOCOL_END && !(ENDS(u.end.status) && ENDS(u.end.reason))))
		abort();
}

/* As the worker reads what pkrun sent. */
static void to_worker(const struct message *m)
{
	static const struct pkrun_option table[] = {
		{"pad", PKRUN_INT, 0, "128", 0, 256, NULL, "byte", "gap"},
		{"omega", PKRUN_REAL, 8, "1", -2, 2, NULL, NULL, "factor"},
		{NULL},
	};
	static struct job job;
	struct { int64_t pad; double omega; } options;
	char why[300] = "";

	if (job_take(&job, m))
		return;
	(void)job_get(&job, "mode");
	(void)job_int(&job, "blocks", 1);
	(void)job_real(&job, "energy_s", 0);
	if (job_options(&job, "variant", table, &options, why, sizeof(why)) ?
	    !*why : options.pad < 0 || options.pad > 256)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct message_reader r;
	struct message m;
	int rc;

	r.used = r.taken = 0;
	r.fd = memfd_create("pipe", MFD_CLOEXEC);
	if (r.fd < 0 || write(r.fd, data, size) != (ssize_t)size || lseek(r.fd, 0, SEEK_SET))
		abort();
	while ((rc = message_wait(&r, &m)) == 1) {
		from_worker(&m);
		to_worker(&m);
	}
	if (rc != -1 && rc != -2)
		abort();
	close(r.fd);
	return 0;
}
