/* SPDX-License-Identifier: MIT
 *
 * job.h - the text of a job: pairs of strings, each ended by a NUL.
 *
 * Parameters travel by owner and name, as the database stores them, and are
 * parsed in the child against the option tables found there.
 */
#ifndef PKRUN_JOB_H
#define PKRUN_JOB_H

#include <stddef.h>
#include <stdint.h>
#include "message.h"
#include "options.h"

struct job {
	size_t size;
	char text[MESSAGE_MAX];
};

void job_clear(struct job *j);
/* Adding: 0, or -1 when there is no room. */
int job_add(struct job *j, const char *key, const char *value);
int job_add_int(struct job *j, const char *key, int64_t value);
int job_add_real(struct job *j, const char *key, double value);
int job_add_param(struct job *j, const char *owner, const char *name, const char *value);

int job_take(struct job *j, const struct message *m);	/* 0, -1 malformed */
const char *job_get(const struct job *j, const char *key);	/* NULL: not there */
int64_t job_int(const struct job *j, const char *key, int64_t otherwise);
double job_real(const struct job *j, const char *key, double otherwise);
/* Defaults of `table`, then the job's parameters of `owner`, into base.  Texts point into the job. */
int job_options(const struct job *j, const char *owner, const struct pkrun_option *table,
		void *base, char *why, size_t why_size);

#endif
