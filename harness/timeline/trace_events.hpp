// A timeline as trace events, which Perfetto and Chrome show.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "harness/timeline/timeline.hpp"

namespace scanlab::streams {

inline constexpr char kTraceSchema[] = "scanlab-trace/1";

/// {"schema": kTraceSchema, "traceEvents": […], "displayTimeUnit": "ms", "otherData": about}. Three processes:
/// "streams" with a lane a stream, "engines" with a lane an engine (more where kernels overlap), "host" with the issue
/// of each operation. Times are microseconds; an event's `args` say operation, chunk, bytes, stream and channel.
/// Source: "Trace Event Format", https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
nlohmann::ordered_json trace_events(const Timeline& timeline, const nlohmann::ordered_json& about);

/// The timeline that `trace_events` wrote, without what its recording knows: the spans in the order of operations, and
/// no issues. Throws std::invalid_argument that names the event for what is none. Whose operations they are, only
/// `check_traced` says: until then their numbers are any.
std::vector<Span> traced_spans(const nlohmann::ordered_json& trace);

/// Throws std::invalid_argument that names an operation, unless there is one span for each copy and kernel of the
/// recording, in its order, and no other.
void check_traced(const std::vector<Span>& spans, const Recording& recording);

}  // namespace scanlab::streams
