/* SPDX-License-Identifier: MIT
 *
 * block.c - one block of one cell, seen from the parent: start or reuse a
 * worker, give it the job, and store what it sends.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "block.h"
#include "progress.h"
#include "say.h"
#include "stats.h"

#define LOAD_S     60.0		/* a context on a busy machine with many GPUs */
#define LIMIT_S    10.0		/* the watchdog is never shorter, unless the matrix says so */
#define LIMIT_TIMES 20.0	/* the predicted time */
#define WRAP_TIMES 100.0	/* under a tool such as a sanitizer */
#define OUTLIERS_FROM 5	/* of fewer, one always looks odd */

const char *cell_status_name(enum cell_status s)
{
	static const char *const name[] = { "pending", "ok", "imprecise", "skipped", "refused",
					    "wrong", "crash", "hang", "error", "interrupted" };

	return name[s];
}

static enum cell_status status_parse(const char *text)
{
	int s;

	for (s = CELL_OK; s <= CELL_ERROR; s++)
		if (strcmp(text, cell_status_name((enum cell_status)s)) == 0)
			return (enum cell_status)s;
	return CELL_ERROR;
}

void block_set_result(struct block *b, enum cell_status s, const char *reason)
{
	b->out->status = s;
	snprintf(b->out->reason, sizeof(b->out->reason), "%s", reason);
}

/* ---- the worker ---- */

int block_kill_worker(struct runner *r)
{
	const long pid = (long)r->child.pid;
	char *lost = r->lost[r->child_target];

	interrupt_child(0);
	if (child_end(&r->child) == 0)
		return 0;
	snprintf(lost, sizeof(r->lost[0]), "device lost: process %ld on it cannot be killed", pid);
	say_error("%s: %s", target_name(r->child_target), lost);
	return -1;
}

/* A tool that it runs under writes what it found when the worker has gone: that takes longer. */
static enum child_event end_worker(struct runner *r)
{
	const double grace = GRACE_S * (r->wrap.words ? WRAP_TIMES : 1);
	int64_t deadline = child_now() + (int64_t)(grace * SECOND);
	enum child_event e = CHILD_BROKEN;
	struct message m;

	if (child_send(&r->child, PROTOCOL_QUIT, NULL, 0) == 0)
		do {
			e = child_wait(&r->child, &m, &deadline, interrupt_signal() ? -1 : r->wake_fd);
		} while (e == CHILD_MESSAGE);
	block_kill_worker(r);
	return e;
}

void block_end_worker(struct runner *r)
{
	if (r->child.pid)
		end_worker(r);
}

/* The tool's exit code is its verdict (compute-sanitizer --error-exitcode). */
static void judge_wrapper(struct block *b, enum child_event e)
{
	const struct child *c = &b->r->child;
	char text[600], printed[400];

	if (e == CHILD_TIMEOUT)
		snprintf(text, sizeof(text),
			 "the command of --wrap had not ended %.0f s after the cell and was killed",
			 GRACE_S * WRAP_TIMES);
	else if (e == CHILD_ENDED && WIFSIGNALED(c->wait_status))
		snprintf(text, sizeof(text), "the command of --wrap was killed by signal %d after the cell",
			 WTERMSIG(c->wait_status));
	else if (e == CHILD_ENDED && c->wait_status)
		snprintf(text, sizeof(text), "the command of --wrap exited with %d after the cell",
			 WEXITSTATUS(c->wait_status));
	else
		return;
	child_output(c, printed, sizeof(printed));
	if (*printed)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "; it printed: %s", printed);
	block_set_result(b, CELL_ERROR, text);
}

/* After a block that shares its process with no other, or after which it is not fit for one. */
static void leave(struct block *b)
{
	enum child_event e;

	if ((b->r->settings.isolation_block && !b->is_spent) || !b->r->child.pid)
		return;
	e = end_worker(b->r);
	if (b->r->wrap.words && b->out->status == CELL_OK)
		judge_wrapper(b, e);
}

static int start_worker(struct runner *r, const struct cell *cell, char *why, size_t why_size)
{
	static const char *const args[] = { "--worker", NULL };
	struct wrap wrap = { NULL };
	int rc;

	if (r->child.pid && r->child_target == cell->target)
		return 0;
	block_end_worker(r);
	if (r->wrap.words && wrap_for_cell(&wrap, &r->wrap, cell)) {
		snprintf(why, why_size, "out of memory");
		return -1;
	}
	rc = child_spawn(&r->child, args, (const char *const *)wrap.words, why, why_size);
	wrap_free(&wrap);
	if (rc) {
		r->child.pid = 0;
		return -1;
	}
	r->child_target = cell->target;
	interrupt_child(r->child.pid);
	return 0;
}

struct builder {
	struct job *job;
	int full;
};

static void add_param(void *user, const char *owner, const char *name, const char *value,
		      int is_default)
{
	struct builder *to = user;

	(void)is_default;
	to->full |= job_add_param(to->job, owner, name, value);
}

/* Once a cell, where somebody counts it. */
static int wants_energy(const struct block *b)
{
	struct telemetry *t = b->r->telemetry[b->cell->target];

	return t && !b->r->instrumented && b->state && b->state->n_medians == 0 &&
	       telemetry_energy_uj(t) != TELEMETRY_UNKNOWN;
}

/* What is left of the time of the cell; 0: no limit. */
static double seconds_left(const struct block *b)
{
	const double limit = b->r->settings.cell_limit_s;

	if (limit <= 0 || b->r->instrumented || !b->state)
		return 0;
	return fmax(limit - (double)b->state->seconds, 1e-3);
}

int block_job(const struct block *b, const char *mode, struct job *j)
{
	const struct matrix_settings *set = &b->r->settings;
	const struct cell *c = b->cell;
	char device[PATH_MAX + 64], range[256];
	struct builder to = { j, 0 };
	int full = 0;

	snprintf(device, sizeof(device), "%s/%s/device.so", b->r->plugin_dir, target_name(c->target));
	job_clear(j);
	full |= job_add(j, "mode", mode);
	full |= job_add(j, "target", target_name(c->target));
	full |= job_add(j, "device_so", device);
	full |= job_add_int(j, "device", set->device);
	full |= job_add(j, "plugin", c->variant->path);
	full |= job_add(j, "workload", c->workload->name);
	full |= job_add_int(j, "iterations", c->iterations ? (int64_t)c->iterations : 1);
	full |= job_add_int(j, "seed", (int64_t)set->seed);
	full |= job_add_int(j, "trials", set->trials);
	full |= job_add_int(j, "warmup_runs", set->warmup_runs);
	full |= job_add_real(j, "warmup_s", c->target == PKRUN_HOST && b->r->warmup_is_default ?
			     set->warmup_s / 10 : set->warmup_s);
	full |= job_add_real(j, "left_s", seconds_left(b));
	full |= job_add_int(j, "progress", b->r->progress && say_shows_progress());
	full |= job_add_int(j, "cold", set->cache_cold);
	full |= job_add_real(j, "energy_s", wants_energy(b) ? set->energy_s : 0);
	if (b->r->profile) {
		wrap_cell_name(c, range, sizeof(range));
		full |= job_add(j, "range", range);
	}
	cell_params(c, add_param, &to);
	return full || to.full ? -1 : 0;
}

/* ---- deadlines ---- */

static void set_limit(struct block *b)
{
	const double predicted = b->phase.predicted_ns * LIMIT_TIMES / 1e9;

	switch (b->phase.limit) {
	case PROTOCOL_LIMIT_NONE:
		b->limit_s = 0;
		break;
	case PROTOCOL_LIMIT_LOAD:
		b->limit_s = LOAD_S;
		b->limit_why = "for loading";
		break;
	default:
		if (b->r->settings.timeout_s > 0) {
			b->limit_s = b->r->settings.timeout_s;
			b->limit_why = "timeout of the matrix";
		} else if (predicted > LIMIT_S) {
			b->limit_s = predicted;
			b->limit_why = "20 x the time that one iteration predicts";
		} else {
			b->limit_s = LIMIT_S;
			b->limit_why = "the least there is";
		}
	}
	if (b->r->instrumented)
		b->limit_s *= WRAP_TIMES;
}

static void arm(struct block *b)
{
	b->deadline = b->limit_s > 0 ? child_now() + (int64_t)(b->limit_s * SECOND) : 0;
}

/* ---- what the worker sends ---- */

int block_say(struct block *b, const char *kind, const char *text)
{
	return store_event(b->r->store, b->r->run_id, b->state->id, kind, text);
}

static int on_note(struct block *b, const struct message *m)
{
	char text[1024];
	int n = m->size < sizeof(text) - 1 ? (int)m->size : (int)sizeof(text) - 1;

	snprintf(text, sizeof(text), "%.*s", n, (const char *)m->data);
	return block_say(b, "said", text);
}

static int on_metric(struct block *b, const struct protocol_metric *p)
{
	return store_metric(b->r->store, b->state->id, b->id,
			    p->scope == PROTOCOL_OF_TRIAL ? b->trial : STORE_NULL, p->name,
			    p->value, p->unit);
}

static int on_grid(struct block *b, const struct protocol_grid *p)
{
	return store_cell_grid(b->r->store, b->state->id, p->blocks, p->threads, p->resident_max,
			       p->updates, p->flops, p->bytes);
}

/* The flags of a timed trial: the worker's, and what the device's clock says right after it. */
static const char *trial_flags(const struct block *b, const struct protocol_trial *p, char *buf,
			       size_t size)
{
	static const char *const name[] = { "", "slow_clock", "throttled" };
	struct telemetry *t = b->r->telemetry[b->cell->target];
	int state;

	if (!t || strcmp(p->kind, "timed"))
		return p->flags;
	state = stats_clock_state((double)telemetry_clock_mhz(t),
				  (double)b->r->max_clock_mhz[b->cell->target]);
	if (state <= 0)
		return p->flags;
	snprintf(buf, size, "%s%s%s", p->flags, *p->flags ? "," : "", name[state]);
	return buf;
}

static int on_trial(struct block *b, const struct protocol_trial *p)
{
	char flags[sizeof(p->flags) + 16];
	struct store_trial t = {
		.block = b->id, .cell = b->state->id, .kind = p->kind, .hash = p->hash,
		.flags = trial_flags(b, p, flags, sizeof(flags)), .position = p->position, .iterations = (int64_t)p->iterations,
		.wall_ns = p->wall_ns, .device_ns = p->device_ns, .kernel_ns = p->kernel_ns,
		.host_cpu_ns = p->host_cpu_ns, .energy_uj = STORE_NULL, .verified = p->verified,
	};

	if (store_trial(b->r->store, &t, &b->trial))
		return -1;
	if (strcmp(p->kind, "timed") == 0) {
		b->out->timed++;
		if (strstr(p->flags, "bad_clock"))
			b->out->bad_clock++;
		else if (p->verified == 1 && b->n_times < TIMES_MAX) {
			b->time_ids[b->n_times] = b->trial;
			b->times[b->n_times++] = (double)p->wall_ns / (double)p->iterations;
		}
	}
	return 0;
}

/* ---- dispatch ---- */

static int transaction(struct block *b, int want)
{
	int rc = 0;

	if (want && !b->in_transaction)
		rc = store_begin(b->r->store);
	else if (!want && b->in_transaction)
		rc = store_commit(b->r->store);
	b->in_transaction = want;
	return rc;
}

static int keep_message(struct block *b, const struct message *m, const union protocol_payload *u)
{
	int64_t begin;

	/* A trial and what belongs to it, which may come by the thousand, are one transaction. */
	if (transaction(b, m->type == PROTOCOL_TRIAL || m->type == PROTOCOL_METRIC || m->type == PROTOCOL_NOTE))
		return -1;
	switch (m->type) {
	case PROTOCOL_PHASE:
		b->phase = u->phase;
		set_limit(b);
		arm(b);
		return 0;
	case PROTOCOL_NOTE:
		return on_note(b, m);
	case PROTOCOL_METRIC:
		return on_metric(b, &u->metric);
	case PROTOCOL_GRID:
		return on_grid(b, &u->grid);
	case PROTOCOL_WANT_REFERENCE:
		begin = child_now();
		if (block_reference(b, &u->want))
			return -1;
		b->out->reference_s += (double)(child_now() - begin) / SECOND;
		arm(b);
		return 0;
	case PROTOCOL_TRIAL:
		return on_trial(b, &u->trial);
	case PROTOCOL_TOLD:
		child_send(&b->r->child, PROTOCOL_STORED, NULL, 0);	/* a child that is gone is seen later */
		arm(b);
		return 0;
	case PROTOCOL_CALIBRATED:
		b->calibrated = u->calibrated;
		return 0;
	case PROTOCOL_END:
		b->end = u->end;
		b->ended = 1;
		return !b->end.healthy;
	case PROTOCOL_READY:
		b->is_spent = m->size != 0;
		return b->ended ? 1 : -2;
	default:
		return -2;
	}
}

/* 0 go on, 1 the block is through, -1 the database failed, -2 not our protocol. */
static int on_message(struct block *b, const struct message *m)
{
	const int64_t begin = child_now(), deadline = b->deadline;
	union protocol_payload u;
	int rc;

	if (protocol_take(m, &u))
		return -2;
	if (m->type == PROTOCOL_PROGRESS) {	/* beside a timing: nothing of the database is touched */
		progress_share(b->r->progress, b->r, u.progress.done, u.progress.total);
		return 0;
	}
	rc = keep_message(b, m, &u);
	/* The child is not late because we were: another may have the database for half a minute. */
	if (deadline && b->deadline == deadline)
		b->deadline += child_now() - begin;
	return rc;
}

/* ---- from the job to the row ---- */

/* The END that came, when the worker is not needed for more. */
void block_end(struct block *b)
{
	if (strcmp(b->end.status, "aborted") == 0)
		block_set_result(b, CELL_ERROR, *b->end.reason ? b->end.reason :
				 "its process was sent SIGTERM, not by pkrun");
	else
		block_set_result(b, status_parse(b->end.status), b->end.reason);
	if (!b->end.healthy)
		block_end_worker(b->r);
}

static int supervise(struct block *b)
{
	enum child_event e;
	struct message m;
	int rc;

	for (;;) {
		e = child_wait(&b->r->child, &m, &b->deadline, b->r->wake_fd);
		switch (e) {
		case CHILD_MESSAGE:
			rc = on_message(b, &m);
			if (rc == -1)
				return -1;
			if (rc == -2) {
				late_broken(b);
				return 0;
			}
			if (rc == 1) {
				block_end(b);
				return 0;
			}
			break;
		case CHILD_ENDED:
			if (b->ended)
				block_end(b);
			late_crash(b);
			return 0;
		case CHILD_TIMEOUT:
			if (b->ended)
				late_teardown(b);
			else
				late_hang(b);
			return 0;
		case CHILD_WAKE:
			if (!interrupt_signal()) {
				interrupt_clear(b->r->wake_fd);
				break;
			}
			late_interrupt(b);
			return 0;
		case CHILD_BROKEN:
			late_broken(b);
			return 0;
		}
	}
}

/* What the block's process printed: kept as an event, never mixed with our output. */
static int keep_output(struct block *b)
{
	struct child *c = &b->r->child;
	char text[4096];
	int rc = 0;

	if (!c->output_size)
		return 0;
	child_output(c, text, sizeof(text));
	if (*text)
		rc = block_say(b, "output", text);
	c->output_size = 0;
	return rc;
}

/* With most of them too short, the median of the others is that of the longest. */
static void judge(struct block *b)
{
	struct block_result *o = b->out;
	char text[160];

	if (b->n_times)
		stats_median(b->times, b->n_times, &o->median);
	if (o->status != CELL_OK || (b->n_times && o->bad_clock <= o->timed / 2))
		return;
	snprintf(text, sizeof(text), "no time that could be trusted: %u of %u timed trials took less than 10 ticks of the clock",
		 o->bad_clock, o->timed);
	block_set_result(b, CELL_ERROR, text);
}

static int keep_state(struct block *b)
{
	struct telemetry *t = b->r->telemetry[b->cell->target];
	struct telemetry_state s;
	struct store_state row;

	if (!t)
		return 0;
	telemetry_read(t, &s);
	row = (struct store_state){
		.clock_mhz = s.clock_mhz, .memory_clock_mhz = s.memory_clock_mhz,
		.temperature_c = s.temperature_c, .power_w = s.power_w,
		.throttle = *s.throttle ? s.throttle : NULL,
	};
	return store_block_state(b->r->store, b->id, &row);
}

/* Marked, never removed: the median does not mind them. */
static int flag_outliers(struct block *b)
{
	static unsigned char is_outlier[TIMES_MAX];
	size_t i, count;

	if (b->n_times < OUTLIERS_FROM || stats_outliers(b->times, b->n_times, is_outlier, &count) || !count)
		return 0;
	for (i = 0; i < b->n_times; i++)
		if (is_outlier[i] && store_trial_flag(b->r->store, b->time_ids[i], "outlier"))
			return -1;
	return 0;
}

static int finish(struct block *b)
{
	struct block_result *o = b->out;
	int rc = transaction(b, 0);

	if (!rc)
		rc = keep_output(b);
	judge(b);
	if (!rc)
		rc = transaction(b, 1);
	if (!rc)
		rc = flag_outliers(b);
	if (!rc)
		rc = keep_state(b);
	if (!rc)
		rc = store_block_end(b->r->store, b->id, cell_status_name(o->status),
				     *o->reason ? o->reason : NULL);
	return rc ? rc : transaction(b, 0);
}

/* A worker has the job: 0; 1 when out says why not. */
static int begin(struct block *b, struct runner *r, const struct cell *cell,
		 struct cell_state *state, const char *mode, struct block_result *out)
{
	char why[512];

	memset(b, 0, offsetof(struct block, times));
	memset(out, 0, sizeof(*out));
	b->n_times = 0;
	b->r = r;
	b->cell = cell;
	b->state = state;
	b->out = out;
	b->id = b->trial = STORE_NULL;
	out->median = NAN;
	if (catalog_is_changed(cell->variant)) {
		block_set_result(b, CELL_ERROR, "another file has taken the place of its plugin since the run began");
		return 1;
	}
	if (block_job(b, mode, &b->job)) {
		block_set_result(b, CELL_ERROR, "its parameters do not fit a message");
		return 1;
	}
	if (start_worker(r, cell, why, sizeof(why))) {
		block_set_result(b, CELL_ERROR, why);
		return 1;
	}
	snprintf(b->phase.name, sizeof(b->phase.name), "start");
	b->phase.limit = PROTOCOL_LIMIT_LOAD;
	set_limit(b);
	arm(b);
	child_send(&r->child, PROTOCOL_JOB, b->job.text, b->job.size);
	return 0;
}

int block_run(struct runner *r, const struct cell *cell, struct cell_state *state, int64_t number,
	      struct block_result *out)
{
	static struct block b;

	if (begin(&b, r, cell, state, "cell", out))
		return 0;
	if (store_block(r->store, state->id, number, r->position++, state->attempts + 1, r->child.pid, &b.id))
		return -1;
	if (supervise(&b)) {
		judge(&b);
		return -1;
	}
	leave(&b);
	return finish(&b);
}

int block_calibrate(struct runner *r, const struct cell *cell, struct cell_state *state,
		    double *per_iteration, double *tick, struct block_result *out)
{
	static struct block b;

	if (begin(&b, r, cell, state, "calibrate", out))
		return 0;
	if (supervise(&b))
		return -1;
	leave(&b);
	*per_iteration = b.calibrated.per_iteration_ns;
	*tick = b.calibrated.tick_ns;
	return transaction(&b, 0) || keep_output(&b) ? -1 : 0;
}
