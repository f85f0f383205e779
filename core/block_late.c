/* SPDX-License-Identifier: MIT
 *
 * block_late.c - workers that are late, crash or talk nonsense: SIGTERM (the
 * child's handler sets the abort word that every spin looks at), two seconds,
 * SIGKILL to the group, and a fresh process that asks whether the device still
 * answers.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "block.h"
#include "say.h"

#define PROBE_S 10.0

static void describe_watch(const struct protocol_end *e, char *out, size_t size)
{
	if (!e->seen)
		snprintf(out, size, "; no spin of the variant saw the abort word");
	else if (e->where == 1)
		snprintf(out, size, "; block %u waited at step %" PRIu64, e->block, e->step);
	else
		snprintf(out, size, "; the host waited for block %u at step %" PRIu64, e->block, e->step);
}

/* Ask it to leave, wait, kill it.  The text says how that went. */
static int put_down(struct block *b, char *how, size_t size)
{
	int64_t deadline = child_now() + (int64_t)(GRACE_S * SECOND);
	int told = interrupt_signal() != 0;
	union protocol_payload u;
	enum child_event e;
	struct message m;

	b->ended = 0;
	child_signal(&b->r->child, SIGTERM, b->r->wrap.words != NULL);
	do {
		e = child_wait(&b->r->child, &m, &deadline, told ? -1 : b->r->wake_fd);
		if (e == CHILD_WAKE) {
			interrupt_clear(b->r->wake_fd);
			told = 1;
		}
		/* What was measured before the end counts; nothing is acknowledged any more. */
		if (e == CHILD_MESSAGE && m.type == PROTOCOL_END && !protocol_take(&m, &u)) {
			b->end = u.end;
			b->ended = 1;
		}
	} while (!b->ended && (e == CHILD_MESSAGE || e == CHILD_WAKE));
	if (b->ended)
		describe_watch(&b->end, how, size);
	else if (e == CHILD_ENDED)
		snprintf(how, size, "; it ended when asked to");
	else
		snprintf(how, size, "; it ignored SIGTERM for %.0f s and was killed", GRACE_S);
	return e == CHILD_ENDED || b->ended;
}

/* Does the device still answer, asked by a fresh process? */
static void probe_device(struct block *b)
{
	static const char *const args[] = { "--worker", NULL };
	static struct child child;
	union protocol_payload u;
	enum child_event e;
	struct message m;
	struct job job;
	char *lost = b->r->lost[b->cell->target];
	int64_t deadline = child_now() + (int64_t)(PROBE_S * SECOND);
	char why[512];

	if (child_spawn(&child, args, NULL, why, sizeof(why)))
		return;
	block_job(b, "probe", &job);
	child_send(&child, PROTOCOL_JOB, job.text, job.size);
	do {
		memset(&u, 0, sizeof(u));
		e = child_wait(&child, &m, &deadline, -1);
		if (e == CHILD_MESSAGE && m.type == PROTOCOL_END)
			(void)protocol_take(&m, &u);
	} while (e == CHILD_MESSAGE && !*u.end.status);
	if (strcmp(u.end.status, "ok") == 0)
		lost[0] = '\0';
	else if (*u.end.status)
		snprintf(lost, sizeof(b->r->lost[0]), "device lost: after a hang a probe failed: %.180s", u.end.reason);
	else
		snprintf(lost, sizeof(b->r->lost[0]), "device lost: after a hang it did not answer a probe for %.0f s", PROBE_S);
	child_end(&child);
}

void late_hang(struct block *b)
{
	char how[256], text[1024];

	put_down(b, how, sizeof(how));
	snprintf(text, sizeof(text), "'%s' did not end within %.3g s (limit: %s)%s",
		 b->phase.name, b->limit_s, b->limit_why, how);
	block_set_result(b, CELL_HANG, text);
	if (block_kill_worker(b->r))
		return;
	probe_device(b);
	if (b->r->lost[b->cell->target][0])
		say_error("%s: %s", target_name(b->cell->target), b->r->lost[b->cell->target]);
}

void late_crash(struct block *b)
{
	char why[1024];

	child_reason(&b->r->child, why, sizeof(why));
	if (b->ended)		/* its results are in; only leaving went wrong */
		block_say(b, "teardown", why);
	else {
		char text[1200];

		snprintf(text, sizeof(text), "%s (during '%s')", why, b->phase.name);
		block_set_result(b, CELL_CRASH, text);
	}
	block_kill_worker(b->r);
}

void late_interrupt(struct block *b)
{
	char how[256];

	interrupt_clear(b->r->wake_fd);
	put_down(b, how, sizeof(how));
	block_set_result(b, CELL_INTERRUPTED, "interrupted");
	block_kill_worker(b->r);
}

void late_broken(struct block *b)
{
	block_set_result(b, CELL_ERROR, "wrote to pkrun's own pipe what is not its protocol");
	block_kill_worker(b->r);
}

/* A teardown that does not return: the results are in, so the cell stands. */
void late_teardown(struct block *b)
{
	char how[256], text[512];

	block_end(b);
	put_down(b, how, sizeof(how));
	snprintf(text, sizeof(text), "no end after %.3g s (limit: %s)%s", b->limit_s, b->limit_why, how);
	block_say(b, "teardown", text);
	block_kill_worker(b->r);
}
