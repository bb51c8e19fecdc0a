// A timeline as trace events, which Perfetto and Chrome show.
#pragma once

#include <vector>

#include "harness/host/document.hpp"
#include "harness/timeline/timeline.hpp"

namespace scanlab::streams {

inline constexpr char kTraceSchema[] = "scanlab-trace/1";

/// {"schema": kTraceSchema, "traceEvents": […], "displayTimeUnit": "ms", "otherData": about}. Three processes:
/// "streams" with a lane a stream, "engines" with a lane an engine (more where kernels overlap), "host" with the issue
/// of each operation. Times are microseconds; an event's `args` say operation, chunk, bytes, stream and channel.
/// Source: "Trace Event Format", https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
nlohmann::ordered_json trace_events(const Timeline& timeline, const nlohmann::ordered_json& about);

/// Reads the spans that `trace_events` wrote, in the order of operations, whose numbers only `check_spans` checks.
/// Throws DocumentError.
std::vector<Span> read_spans(const Value& trace);

/// Throws DocumentError unless there is one span for each copy and kernel of the recording, in its order, and no other.
void check_spans(const std::vector<Span>& spans, const Recording& recording, const Value& trace);

}  // namespace scanlab::streams
