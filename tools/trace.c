/* SPDX-License-Identifier: MIT
 *
 * trace.c - `pkrun trace`: the stamps of a run as a timeline in the Chrome
 * trace format, for Perfetto (ui.perfetto.dev), chrome://tracing and others.
 * A process is a cell, a thread is a block.
 *
 * Perfetto takes thread 0 for one that is not known and a thread with the
 * number of its process for its main thread, and it drops a span that is not
 * wholly inside or outside another.  So numbers begin at 1, those of threads
 * are above those of all processes, and times are whole nanoseconds; and what
 * came before a block's step before was done (launch_pdl) is drawn from there on.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../core/command.h"
#include "../core/say.h"
#include "export.h"
#include "rows.h"
#include "stamps.h"

struct trace {
	FILE *out;
	long long events;
	int64_t tid;		/* of the next cell's block 0 */
};

static int64_t trace_pid(const struct stamp_cell *c)
{
	return c->cell->number + 1;
}

static int same_name(const struct result_cell *a, const struct result_cell *b)
{
	return a->n == b->n && !strcmp(a->series, b->series) && !strcmp(a->variant, b->variant) &&
	       !strcmp(a->workload, b->workload);
}

/* With its parameters where another timeline would be called the same. */
static void trace_cell(const struct stamps *st, size_t which, char *out, size_t size)
{
	const struct result_cell *c = st->cells[which].cell;
	size_t alike = 0;

	for (size_t i = 0; i < st->n; i++)
		alike += same_name(c, st->cells[i].cell);
	snprintf(out, size, "%s (%s, %s, n=%lld", c->series, c->variant, c->workload, (long long)c->n);
	if (alike > 1)
		snprintf(out + strlen(out), size - strlen(out), ", iterations=%lld %s",
			 (long long)c->iterations, c->params);
	snprintf(out + strlen(out), size - strlen(out), ")");
}

static void trace_next(struct trace *t)
{
	fputs(t->events++ ? ",\n" : "\n", t->out);
}

static void trace_name(struct trace *t, const char *what, int64_t pid, int64_t tid, const char *name)
{
	trace_next(t);
	fprintf(t->out, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%lld,\"tid\":%lld,\"args\":{\"name\":", what,
		(long long)pid, (long long)tid);
	rows_json_text(t->out, name);
	fputs("}}", t->out);
}

/* Times in the format are microseconds. */
static void trace_span(struct trace *t, int64_t pid, int64_t tid, const char *name, const char *kind,
		       double from, double to, uint32_t step)
{
	long long begin, ns;

	if (isnan(from) || isnan(to) || to < from)
		return;
	begin = llround(from);
	ns = llround(to) - begin;
	trace_next(t);
	fprintf(t->out, "{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"%s\",\"pid\":%lld,\"tid\":%lld,"
		"\"ts\":%lld.%03lld,\"dur\":%lld.%03lld,\"args\":{\"step\":%u}}", name, kind, (long long)pid,
		(long long)tid, begin / 1000, begin % 1000, ns / 1000, ns % 1000, step);
}

static void trace_block(struct trace *t, const struct stamp_cell *c, uint32_t b)
{
	int64_t pid = trace_pid(c), tid = t->tid + b;
	double before = 0, at[STAMP_EVENTS];
	char name[32];

	snprintf(name, sizeof(name), "block %u", b);
	trace_name(t, "thread_name", pid, tid, name);
	for (uint32_t s = 0; s < c->steps; s++) {
		for (int e = 0; e < STAMP_EVENTS; e++) {
			at[e] = stamp_at(c, b, s, (enum stamp_event)e);
			if (at[e] < before)
				at[e] = before;
		}
		snprintf(name, sizeof(name), "step %u", s);
		trace_span(t, pid, tid, "wait", "wait", before, at[STAMP_RECEIVE], s);
		trace_span(t, pid, tid, "receive", "protocol", at[STAMP_RECEIVE], at[STAMP_START], s);
		trace_span(t, pid, tid, name, s % 2 ? "odd" : "even", at[STAMP_START], at[STAMP_END], s);
		trace_span(t, pid, tid, "acknowledge", "protocol", at[STAMP_END], at[STAMP_DONE], s);
		before = isnan(at[STAMP_DONE]) ? before : at[STAMP_DONE];
	}
}

static void trace_number(struct trace *t, const char *name, double value, const char *after)
{
	char text[32];

	fprintf(t->out, "\"%s\": %s%s", name, isfinite(value) ? rows_real_text(value, text) : "null", after);
}

static void trace_other(struct trace *t, const struct results *r, const struct stamps *st)
{
	fputs("\n],\n\"displayTimeUnit\": \"ns\",\n\"otherData\": {\"matrix\": ", t->out);
	rows_json_text(t->out, r->matrix_path);
	fputs(", \"cells\": [", t->out);
	for (size_t i = 0; i < st->n; i++) {
		fprintf(t->out, "%s\n {\"pid\": %lld, \"key\": ", i ? "," : "", (long long)trace_pid(&st->cells[i]));
		rows_json_text(t->out, st->cells[i].cell->series);
		fputs(", ", t->out);
		trace_number(t, "clock_tick_ns", st->cells[i].tick, ", ");
		trace_number(t, "clock_skew_ns", st->cells[i].skew, ", ");
		trace_number(t, "stamped_over_plain", st->cells[i].over_plain, "}");
	}
	fputs("]}\n}\n", t->out);
}

static int trace_write(const struct results *r, const struct stamps *st, const char *path)
{
	struct trace t = { 0 };
	struct export_file f;
	char name[600];
	int rc;

	if (export_open(&f, path)) {
		say_error("trace: %s: %s", path, strerror(errno));
		return -1;
	}
	t.out = f.out;
	fputs("{\"traceEvents\": [", t.out);
	for (size_t i = 0; i < st->n; i++)
		if (t.tid <= trace_pid(&st->cells[i]))
			t.tid = trace_pid(&st->cells[i]) + 1;
	for (size_t i = 0; i < st->n; i++) {
		trace_cell(st, i, name, sizeof(name));
		trace_name(&t, "process_name", trace_pid(&st->cells[i]), t.tid, name);
		for (uint32_t b = 0; b < st->cells[i].blocks; b++)
			trace_block(&t, &st->cells[i], b);
		t.tid += st->cells[i].blocks;
	}
	trace_other(&t, r, st);
	rc = export_close(&f, 0);
	if (rc)
		say_error("trace: %s: %s", path, strerror(errno));
	else
		say_note("trace: %s: %lld events", path, t.events);
	return rc;
}

static void trace_note(const struct stamps *st)
{
	char name[600];

	for (size_t i = 0; i < st->n; i++) {
		if (isnan(st->cells[i].over_plain))
			continue;
		trace_cell(st, i, name, sizeof(name));
		say_note("%s: stamped takes %.2f times as long as plain", name, st->cells[i].over_plain);
	}
}

static int trace_make(const char *db, int64_t run, const char *path)
{
	struct results r;
	struct stamps st = { 0 };
	struct store *s;
	char why[1024];
	int rc;

	if (store_open(&s, db, STORE_READ | STORE_CACHE, why, sizeof(why))) {
		say_error("trace: %s", why);
		return EXIT_USAGE;
	}
	rc = results_load(s, run, &r);
	if (rc > 0)
		say_error(run ? "trace: %s: there is no such run" : "trace: %s: there is no run in it yet", db);
	else if (rc < 0 || (rc = stamps_load(s, &r, &st)))
		say_error("trace: %s", store_error(s));
	else if (!st.n && (rc = -1))
		say_error("trace: %s: no cell of run %lld has stamps: give a variant of the ladder `stamps = STEPS`",
			  db, (long long)r.run);
	else
		rc = trace_write(&r, &st, path);
	if (!rc)
		trace_note(&st);
	stamps_free(&st);
	results_free(&r);
	store_close(s);
	return rc ? EXIT_USAGE : EXIT_OK;
}

int command_trace(int argc, char **argv)
{
	static const struct export trace = {
		.name = "trace",
		.usage = "usage: pkrun trace [DB] [-o FILE.json] [--run N]\n"
		"\n"
		"What each block did when, as a timeline for ui.perfetto.dev or chrome://tracing.\n"
		"Cells with `stamps = STEPS` have it; their times are never those of a plain cell.\n"
		"DB defaults to pkrun.db, FILE to trace.json.\n",
		.file = "trace.json",
		.make = trace_make,
	};

	return export_command(&trace, argc, argv);
}
