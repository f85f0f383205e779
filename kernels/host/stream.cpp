/* SPDX-License-Identifier: MIT
 *
 * stream.cpp - streams as queues, events, copies and launches.
 *
 * Host threads append under device.lock; the device takes the front of each
 * queue (streams_advance), runs copies, sets and event marks at once and hands
 * kernels to sched.cpp.  All streams are independent of each other.
 */
#include <cstring>
#include <string>
#include "runtime.h"

#define PKH_QUEUE_MAX 1024	/* ops of a stream that wait or run */

static pkh_stream *stream_of(hipStream_t s)
{
	return s != nullptr ? s : the_device()->streams[0];
}

/* ---- the host's end of a queue */

/* Returns the op's number: o itself may be done and gone. */
static uint64_t stream_push(device *d, pkh_stream *s, op *o)
{
	uint64_t number;

	o->stream = s;
	tsan_release(&o->order);
	d->lock.take();
	number = o->number = ++s->enqueued;
	s->queue.push_back(o);
	d->lock.give();
	d->look.store(true, std::memory_order_release);
	d->posted.ring();
	return number;
}

struct stream_goal {
	const pkh_stream *stream;
	uint64_t number;
};

static bool goal_reached(void *arg)
{
	const stream_goal *g = (const stream_goal *)arg;

	return g->stream->finished >= g->number;
}

/* A full queue holds the host up, as a GPU's does; else 10^9 launches are 10^9 records. */
static void stream_hold_up(device *d, pkh_stream *s, uint64_t number)
{
	stream_goal goal = {s, number > PKH_QUEUE_MAX ? number - PKH_QUEUE_MAX : 0};
	bool full;

	if (goal.number == 0)
		return;
	d->lock.take();
	full = s->finished < goal.number;
	d->lock.give();
	if (full)
		sched_wait(goal_reached, &goal);
}

hipError_t stream_enqueue(hipStream_t stream, std::shared_ptr<const op_work> work)
{
	device *d = the_device();
	pkh_stream *s = stream_of(stream);
	uint64_t number;

	{
		tsan_quiet quiet;
		op *o;

		if (s->capture != nullptr) {
			graph_append(s->capture, std::move(work));
			return hipSuccess;
		}
		o = new op();
		o->work = std::move(work);
		number = stream_push(d, s, o);
	}
	stream_hold_up(d, s, number);
	return hipSuccess;
}

bool stream_capturing(void)
{
	device *d = the_device();
	holding hold(d->lock);

	for (const pkh_stream *s : d->streams)
		if (s->capture != nullptr)
			return true;
	return false;
}

void stream_break_captures(void)
{
	device *d = the_device();
	holding hold(d->lock);

	for (pkh_stream *s : d->streams)
		s->capture_broken |= s->capture != nullptr;
}

/* ---- the device's end */

static bool op_blocked(const op *o)
{
	return o->work->kind == OP_WAIT && o->record && !o->record->reached;
}

static void op_run(op *o)
{
	const op_work *w = o->work.get();

	switch (w->kind) {
	case OP_COPY:
		memmove(w->dst, w->src, w->bytes);
		break;
	case OP_SET:
		memset(w->dst, w->byte, w->bytes);
		break;
	case OP_RECORD:
		tsan_release(&o->record->order);
		break;
	case OP_WAIT:
		if (o->record)
			tsan_acquire(&o->record->order);
		break;
	case OP_KERNEL:
		break;
	}
}

/* A copy is a thread of its own to the checker. */
static void op_run_apart(op *o)
{
#ifdef PKH_TSAN
	void *me = tsan_current(), *own = tsan_create();

	tsan_switch(own);
	tsan_acquire(&o->order);
	tsan_acquire(&o->stream->order);
	op_run(o);
	tsan_release(&o->stream->order);
	tsan_switch(me);
	tsan_destroy(own);
#else
	op_run(o);
#endif
}

void stream_finish(op *o)
{
	tsan_quiet quiet;
	device *d = the_device();

	d->lock.take();
	if (o->work->kind == OP_RECORD) {
		o->record->reached = true;
		o->record->ns = clock_ns();
	}
	o->stream->queue.pop_front();
	o->stream->finished = o->number;
	d->lock.give();
	d->look.store(true, std::memory_order_release);
	d->done.ring();
	delete o;
}

/* The next op that can begin, marked as begun; NULL: none. */
static op *streams_next(device *d)
{
	holding hold(d->lock);

	for (pkh_stream *s : d->streams) {
		op *o = s->queue.empty() ? nullptr : s->queue.front();

		if (o == nullptr || o->begun || op_blocked(o))
			continue;
		o->begun = true;
		return o;
	}
	return nullptr;
}

void streams_advance(void)
{
	device *d = the_device();
	op *o;

	while ((o = streams_next(d)) != nullptr) {
		if (o->work->kind == OP_KERNEL) {
			sched_begin(o);
		} else {
			op_run_apart(o);
			stream_finish(o);
		}
	}
}

/* ---- streams */

hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags)
{
	device *d = the_device();

	if (stream == nullptr || (flags & ~hipStreamNonBlocking) != 0)
		return set_error(hipErrorInvalidValue);
	tsan_quiet quiet;
	pkh_stream *s = new pkh_stream();
	holding hold(d->lock);

	d->streams.push_back(s);
	*stream = s;
	return hipSuccess;
}

static hipError_t stream_wait(pkh_stream *s)
{
	device *d = the_device();
	stream_goal goal = {s, 0};

	d->lock.take();
	goal.number = s->enqueued;
	d->lock.give();
	sched_wait(goal_reached, &goal);
	tsan_acquire(&s->order);
	return hipSuccess;
}

/* What may not be done while a stream is captured breaks the capture, as in HIP. */
static hipError_t refuse_in_capture(void)
{
	if (!stream_capturing())
		return hipSuccess;
	stream_break_captures();
	return set_error(hipErrorStreamCaptureUnsupported);
}

hipError_t hipStreamSynchronize(hipStream_t stream)
{
	pkh_stream *s = stream_of(stream);

	if (s->capture != nullptr)
		return refuse_in_capture();
	return stream_wait(s);
}

hipError_t hipStreamQuery(hipStream_t stream)
{
	device *d = the_device();
	pkh_stream *s = stream_of(stream);
	bool done;

	if (s->capture != nullptr)
		return refuse_in_capture();
	if (d->set.workers == 0)
		sched_pump();
	d->lock.take();
	done = s->queue.empty();
	d->lock.give();
	if (!done)
		return hipErrorNotReady;
	tsan_acquire(&s->order);
	return hipSuccess;
}

hipError_t hipStreamDestroy(hipStream_t stream)
{
	device *d = the_device();

	if (stream == nullptr)
		return set_error(hipErrorInvalidHandle);
	if (stream->capture != nullptr)
		return refuse_in_capture();
	stream_wait(stream);
	tsan_quiet quiet;
	d->lock.take();
	for (size_t i = 0; i < d->streams.size(); i++) {
		if (d->streams[i] != stream)
			continue;
		d->streams.erase(d->streams.begin() + (ptrdiff_t)i);
		break;
	}
	d->lock.give();
	delete stream;
	return hipSuccess;
}

hipError_t hipDeviceSynchronize(void)
{
	device *d = the_device();
	std::vector<pkh_stream *> all;

	if (refuse_in_capture() != hipSuccess)
		return hipErrorStreamCaptureUnsupported;
	{
		tsan_quiet quiet;
		holding hold(d->lock);

		all = d->streams;
	}
	for (pkh_stream *s : all)
		stream_wait(s);
	return hipSuccess;
}

/* ---- events */

hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags)
{
	if (event == nullptr)
		return set_error(hipErrorInvalidValue);
	tsan_quiet quiet;
	*event = new pkh_event{nullptr, (flags & hipEventDisableTiming) == 0};
	return hipSuccess;
}

hipError_t hipEventDestroy(hipEvent_t event)
{
	if (event == nullptr)
		return set_error(hipErrorInvalidHandle);
	tsan_quiet quiet;
	delete event;
	return hipSuccess;
}

static hipError_t event_enqueue(hipEvent_t event, hipStream_t stream, op_kind kind)
{
	device *d = the_device();
	pkh_stream *s = stream_of(stream);

	if (event == nullptr)
		return set_error(hipErrorInvalidHandle);
	if (s->capture != nullptr)
		return refuse_in_capture();
	tsan_quiet quiet;
	auto work = std::make_shared<op_work>();
	op *o = new op();

	work->kind = kind;
	o->work = std::move(work);
	d->lock.take();
	if (kind == OP_RECORD)
		event->latest = std::make_shared<event_record>();
	o->record = event->latest;
	d->lock.give();
	stream_push(d, s, o);
	return hipSuccess;
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream)
{
	return event_enqueue(event, stream, OP_RECORD);
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags)
{
	if (flags != 0)
		return set_error(hipErrorInvalidValue);
	return event_enqueue(event, stream, OP_WAIT);
}

static bool record_reached(void *arg)
{
	return ((const event_record *)arg)->reached;
}

hipError_t hipEventSynchronize(hipEvent_t event)
{
	device *d = the_device();
	std::shared_ptr<event_record> latest;

	if (event == nullptr)
		return set_error(hipErrorInvalidHandle);
	d->lock.take();
	latest = event->latest;
	d->lock.give();
	if (!latest)
		return hipSuccess;
	sched_wait(record_reached, latest.get());
	tsan_acquire(&latest->order);
	tsan_quiet quiet;
	latest.reset();
	return hipSuccess;
}

hipError_t hipEventQuery(hipEvent_t event)
{
	device *d = the_device();

	if (event == nullptr)
		return set_error(hipErrorInvalidHandle);
	if (d->set.workers == 0)
		sched_pump();
	holding hold(d->lock);
	if (!event->latest)
		return hipSuccess;
	if (!event->latest->reached)
		return hipErrorNotReady;
	tsan_acquire(&event->latest->order);
	return hipSuccess;
}

hipError_t hipEventElapsedTime(float *ms, hipEvent_t begin, hipEvent_t end)
{
	device *d = the_device();

	if (ms == nullptr)
		return set_error(hipErrorInvalidValue);
	if (begin == nullptr || end == nullptr)
		return set_error(hipErrorInvalidHandle);
	holding hold(d->lock);
	const event_record *a = begin->latest.get(), *b = end->latest.get();

	if (!begin->timed || !end->timed || a == nullptr || b == nullptr)
		return set_error(hipErrorInvalidHandle);
	if (!a->reached || !b->reached)
		return hipErrorNotReady;
	*ms = (float)((double)(b->ns - a->ns) * 1e-6);
	return hipSuccess;
}

/* ---- copies */

static hipError_t copy_enqueue(op_kind kind, void *dst, const void *src, int byte, size_t bytes,
                               hipStream_t stream)
{
	if (bytes != 0 && (dst == nullptr || (kind == OP_COPY && src == nullptr)))
		return set_error(hipErrorInvalidValue);
	std::shared_ptr<op_work> work;
	{
		tsan_quiet quiet;

		work = std::make_shared<op_work>();
	}
	work->kind = kind;
	work->dst = dst;
	work->src = src;
	work->byte = byte;
	work->bytes = bytes;
	return stream_enqueue(stream, std::move(work));
}

hipError_t hipMemcpyAsync(void *dst, const void *src, size_t bytes, hipMemcpyKind,
                          hipStream_t stream)
{
	return copy_enqueue(OP_COPY, dst, src, 0, bytes, stream);
}

hipError_t hipMemsetAsync(void *dst, int byte, size_t bytes, hipStream_t stream)
{
	return copy_enqueue(OP_SET, dst, nullptr, byte, bytes, stream);
}

hipError_t hipMemcpy(void *dst, const void *src, size_t bytes, hipMemcpyKind kind)
{
	hipError_t e = refuse_in_capture();

	if (e == hipSuccess)
		e = hipMemcpyAsync(dst, src, bytes, kind, nullptr);
	return e != hipSuccess ? e : hipStreamSynchronize(nullptr);
}

hipError_t hipMemset(void *dst, int byte, size_t bytes)
{
	hipError_t e = refuse_in_capture();

	if (e == hipSuccess)
		e = hipMemsetAsync(dst, byte, bytes, nullptr);
	return e != hipSuccess ? e : hipStreamSynchronize(nullptr);
}
