/* SPDX-License-Identifier: MIT
 *
 * block_reference.c - what the CPU says about a problem: kept in the database
 * by the hash of its arrays, computed in a child of its own where it is not.
 */
#include <stdio.h>
#include <string.h>
#include "block.h"
#include "reference.h"

/* 1: all three hashes were in the database. */
static int reference_cached(struct block *b, const struct protocol_want *w,
			    struct protocol_reference *out)
{
	struct store *s = b->r->store;
	const char *name = b->cell->workload->name;
	int64_t stationary = STORE_NULL, unused;
	int rc;

	memset(out, 0, sizeof(*out));
	rc = store_reference_get(s, name, w->input, w->iterations, &out->all, &stationary);
	if (rc <= 0)
		return rc;
	out->stationary_at = stationary == STORE_NULL ? 0 : (uint64_t)stationary;
	out->k = reference_odd(w->iterations, out->stationary_at);
	rc = store_reference_get(s, name, w->input, out->k, &out->odd, &unused);
	if (rc <= 0)
		return rc;
	rc = store_reference_get(s, name, w->input, 1, &out->one, &unused);
	out->found = rc == 1;
	return rc;
}

static int reference_keep(struct block *b, const struct protocol_want *w,
			  const struct protocol_reference *p)
{
	struct store *s = b->r->store;
	const char *name = b->cell->workload->name;
	int64_t stationary = p->stationary_at ? (int64_t)p->stationary_at : STORE_NULL;

	if (store_reference_put(s, name, w->input, w->iterations, p->all, stationary))
		return -1;
	if (p->k != w->iterations && store_reference_put(s, name, w->input, p->k, p->odd, STORE_NULL))
		return -1;
	if (p->k == 1 || w->iterations == 1)
		return 0;
	return store_reference_put(s, name, w->input, 1, p->one, STORE_NULL);
}

/* In a child of its own, without a deadline; it loads no plugin.  1: pkrun is to end first. */
static int reference_compute_child(struct block *b, const struct protocol_want *w,
				    struct protocol_reference *out)
{
	static const char *const args[] = { "--worker", NULL };
	static struct child child;
	struct job job;
	struct message m;
	enum child_event e;
	int64_t none = 0;

	memset(out, 0, sizeof(*out));
	if (child_spawn(&child, args, NULL, out->why, sizeof(out->why)))
		return 0;
	block_job(b, "reference", &job);
	job_add_int(&job, "blocks", w->blocks);
	child_send(&child, PROTOCOL_JOB, job.text, job.size);
	while ((e = child_wait(&child, &m, &none, b->r->wake_fd)) == CHILD_WAKE && !interrupt_signal())
		interrupt_clear(b->r->wake_fd);
	if (e == CHILD_MESSAGE && m.type == PROTOCOL_REFERENCE && m.size == sizeof(*out))
		memcpy(out, m.data, sizeof(*out));
	else if (e == CHILD_ENDED)
		child_reason(&child, out->why, sizeof(out->why));
	else if (e != CHILD_WAKE)
		snprintf(out->why, sizeof(out->why), "its process wrote what is not pkrun's protocol");
	child_end(&child);
	return interrupt_signal() && !out->found;
}

int block_reference(struct block *b, const struct protocol_want *w)
{
	struct protocol_reference p;
	int rc = reference_cached(b, w, &p);

	if (rc < 0)
		return -1;
	if (!rc) {
		if (reference_compute_child(b, w, &p))
			return 0;	/* no answer: who supervises is woken too, and knows what to do */
		if (p.found && reference_keep(b, w, &p))
			return -1;
	}
	child_send(&b->r->child, PROTOCOL_REFERENCE, &p, sizeof(p));
	return 0;
}
