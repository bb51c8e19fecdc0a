#include "harness/timeline/trace_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "harness/schedule/facts.hpp"

namespace scanlab::streams {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kStreams = 1;
constexpr int kEnginesProcess = 2;
constexpr int kHost = 3;

Json metadata(const char* what, int process, int lane, const Json& value) {
  return {{"name", what}, {"ph", "M"}, {"pid", process}, {"tid", lane}, {"args", value}};
}

void name_process(Json& events, int process, const char* name) {
  events.push_back(metadata("process_name", process, 0, {{"name", name}, {"kind", name}}));
  events.push_back(metadata("process_sort_index", process, 0, {{"sort_index", process}}));
}

/// `facts`: the same for programs.
void name_lane(Json& events, int process, int lane, const std::string& name, const Json& facts) {
  Json arguments{{"name", name}};
  arguments.update(facts);
  events.push_back(metadata("thread_name", process, lane, arguments));
  events.push_back(metadata("thread_sort_index", process, lane, {{"sort_index", lane}}));
}

Json complete(const std::string& name, const char* category, int process, int lane, const Interval& when,
              const Json& arguments) {
  return {{"name", name},
          {"cat", category},
          {"ph", "X"},
          {"pid", process},
          {"tid", lane},
          {"ts", 1e6 * when.start},
          {"dur", 1e6 * when.seconds()},
          {"args", arguments}};
}

/// The text in the box.
std::string label(const Operation& operation) {
  if (!operation.label.empty()) return operation.label;
  switch (operation.kind) {
    case OperationKind::copy_in:
      return fmt::format("in {}", operation.chunk.index);
    case OperationKind::copy_out:
      return fmt::format("out {}", operation.chunk.index);
    case OperationKind::kernel:
      return fmt::format("kernel {}", operation.chunk.index);
    case OperationKind::side_kernel:
      return "side kernel";
    default:
      return describe(operation);
  }
}

}  // namespace

Json trace_events(const Timeline& timeline, const Json& about) {
  constexpr int kMaxLanes = 1'000'000;  // an engine: no more than there are operations at once
  const Recording& recording = *timeline.recording;
  Json events = Json::array();
  name_process(events, kStreams, "streams");
  name_process(events, kEnginesProcess, "engines");

  std::map<std::pair<StreamKind, int>, int> stream_lanes;  // those that do work, in the order of their first operation
  for (const Span& span : timeline.spans) {
    const Stream& stream = recording.operations[span.operation].stream;
    const auto [at, is_new] =
        stream_lanes.try_emplace({stream.kind, stream.index}, static_cast<int>(stream_lanes.size()) + 1);
    if (!is_new) continue;
    name_lane(events, kStreams, at->second, describe(stream),
              {{"stream_kind", name(stream.kind)}, {"stream_index", stream.index}});
  }

  std::vector<const Span*> by_start;
  for (const Span& span : timeline.spans) by_start.push_back(&span);
  std::ranges::stable_sort(by_start, {}, [](const Span* span) { return span->when.start; });
  std::map<Engine, std::vector<double>> ends;  // of each lane: one more wherever operations of one engine overlap
  for (const Span* span : by_start) {
    const Operation& operation = recording.operations[span->operation];
    const Engine engine = engine_of(operation);
    Json arguments = facts_of(recording, span->operation);
    if (span->blocks > 0) arguments["blocks"] = span->blocks;
    if (span->channel) arguments["channel"] = *span->channel;
    const std::string text = label(operation);
    events.push_back(complete(text, name(engine), kStreams,
                              stream_lanes.at({operation.stream.kind, operation.stream.index}), span->when, arguments));
    auto& lanes = ends[engine];
    const auto free = std::ranges::find_if(lanes, [&](double end) { return end <= span->when.start; });
    const auto which = free - lanes.begin();
    const int lane = kMaxLanes * static_cast<int>(engine) + static_cast<int>(which) + 1;
    if (free != lanes.end()) {
      *free = span->when.end;
    } else {
      lanes.push_back(span->when.end);
      name_lane(events, kEnginesProcess, lane,
                which == 0 ? name(engine) : fmt::format("{}, overlapping {}", name(engine), which + 1),
                {{"engine", name(engine)}, {"overlapping", which}});
    }
    events.push_back(complete(text, name(engine), kEnginesProcess, lane, span->when, arguments));
  }

  if (!timeline.issued.empty()) {
    name_process(events, kHost, "host");
    name_lane(events, kHost, 1, "issue", Json::object());
    if (recording.captured) {
      events.push_back(complete("launch of the graph", "issue", kHost, 1, timeline.issued.front(), Json::object()));
    } else {
      for (std::size_t i = 0; i < recording.operations.size(); ++i) {
        const Operation& operation = recording.operations[i];
        events.push_back(complete(label(operation), "issue", kHost, 1, timeline.issued[i], facts_of(recording, i)));
      }
    }
  }
  return {
      {"schema", kTraceSchema}, {"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}, {"otherData", about}};
}

std::vector<Span> read_spans(const Value& trace) {
  std::vector<Span> spans;
  for (const Value& event : trace.at("traceEvents").items()) {
    if (event.at("ph").json() != "X" || event.at("pid").json() != kEnginesProcess) continue;
    double start = 0;
    double seconds = 0;
    Span span;
    FieldReader fields(event);
    fields("ts", start, {.unit = 1e-6});
    fields("dur", seconds, {.low = 0, .unit = 1e-6});
    FieldReader arguments(event.at("args"));
    arguments("operation", span.operation);
    arguments.optional("channel", span.channel);
    span.when = {start, start + seconds};
    spans.push_back(span);
  }
  std::ranges::sort(spans, {}, &Span::operation);
  return spans;
}

void check_spans(const std::vector<Span>& spans, const Recording& recording, const Value& trace) {
  const auto& operations = recording.operations;
  const auto refuse = [&](std::size_t operation, const std::string& reason) {
    trace.at("traceEvents").fail(fmt::format("not of the job of otherData: operation {} {}", operation, reason));
  };
  auto span = spans.begin();
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (!is_work(operations[i])) continue;
    if (span == spans.end() || span->operation > i)
      refuse(i, fmt::format("({}) has no event", describe(operations[i])));
    if (span->operation < i) break;
    ++span;
  }
  if (span != spans.end()) refuse(span->operation, "is no copy or kernel of that job, or has two events");
}

}  // namespace scanlab::streams
