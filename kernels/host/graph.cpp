/* SPDX-License-Identifier: MIT
 *
 * graph.cpp - stream capture and replay.
 *
 * What is captured is one stream's kernels, copies and sets, in their order.
 * Events, waits, allocations and synchronisation while a stream is captured
 * are errors and break the capture.
 */
#include "runtime.h"

void graph_append(pkh_graph *graph, std::shared_ptr<const op_work> work)
{
	graph->nodes.push_back(std::unique_ptr<pkh_graph_node>(new pkh_graph_node()));
	graph->nodes.back()->work = std::move(work);
}

static pkh_stream *capture_stream(hipStream_t stream)
{
	/* HIP does not capture the null stream */
	return stream;
}

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode)
{
	pkh_stream *s = capture_stream(stream);
	device *d = the_device();

	if (s == nullptr)
		return set_error(hipErrorStreamCaptureUnsupported);
	tsan_quiet quiet;
	holding hold(d->lock);

	if (s->capture != nullptr)
		return set_error(hipErrorInvalidValue);
	s->capture = new pkh_graph();
	s->capture_broken = false;
	return hipSuccess;
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *graph)
{
	pkh_stream *s = capture_stream(stream);
	device *d = the_device();

	if (graph == nullptr)
		return set_error(hipErrorInvalidValue);
	if (s == nullptr || s->capture == nullptr)
		return set_error(hipErrorStreamCaptureUnmatched);
	tsan_quiet quiet;
	holding hold(d->lock);
	pkh_graph *captured = s->capture;

	s->capture = nullptr;
	if (s->capture_broken) {
		delete captured;
		*graph = nullptr;
		return set_error(hipErrorStreamCaptureInvalidated);
	}
	*graph = captured;
	return hipSuccess;
}

hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count)
{
	if (graph == nullptr || count == nullptr)
		return set_error(hipErrorInvalidValue);
	if (nodes == nullptr) {
		*count = graph->nodes.size();
		return hipSuccess;
	}
	if (*count > graph->nodes.size())
		*count = graph->nodes.size();
	for (size_t i = 0; i < *count; i++)
		nodes[i] = graph->nodes[i].get();
	return hipSuccess;
}

static hipError_t graph_copy(hipGraphExec_t *exec, hipGraph_t graph)
{
	tsan_quiet quiet;
	pkh_graph *copy = new pkh_graph();

	for (const auto &node : graph->nodes)
		graph_append(copy, node->work);
	*exec = copy;
	return hipSuccess;
}

hipError_t hipGraphInstantiate(hipGraphExec_t *exec, hipGraph_t graph, hipGraphNode_t *error_node,
                               char *log, size_t log_size)
{
	if (error_node != nullptr)
		*error_node = nullptr;
	if (log != nullptr && log_size != 0)
		*log = '\0';
	if (exec == nullptr || graph == nullptr)
		return set_error(hipErrorInvalidValue);
	return graph_copy(exec, graph);
}

hipError_t hipGraphUpload(hipGraphExec_t exec, hipStream_t)
{
	return exec == nullptr ? set_error(hipErrorInvalidValue) : hipSuccess;
}

hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream)
{
	if (exec == nullptr)
		return set_error(hipErrorInvalidValue);
	for (const auto &node : exec->nodes) {
		hipError_t e = stream_enqueue(stream, node->work);

		if (e != hipSuccess)
			return e;
	}
	return hipSuccess;
}

static hipError_t graph_free(pkh_graph *graph)
{
	if (graph == nullptr)
		return set_error(hipErrorInvalidValue);
	tsan_quiet quiet;
	delete graph;
	return hipSuccess;
}

hipError_t hipGraphExecDestroy(hipGraphExec_t exec)
{
	return graph_free(exec);
}

hipError_t hipGraphDestroy(hipGraph_t graph)
{
	return graph_free(graph);
}
