// Timelines made by hand: what overlapped, why an engine was idle; and the trace events that are made of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "harness/replay/activity.hpp"
#include "harness/schedule/hazards.hpp"
#include "harness/schedule/issuer.hpp"
#include "harness/schedule/ordering.hpp"
#include "harness/timeline/diagnosis.hpp"
#include "harness/timeline/trace_events.hpp"
#include "tests/growth.hpp"
#include "tests/random_recording.hpp"

namespace scanlab::streams {
namespace {

using Json = nlohmann::ordered_json;

Job job_of(int chunks, int streams) {
  return {.workload = WorkloadRegistry::instance().find("scale"), .items = 1000, .chunks = chunks, .streams = streams};
}

Recording recorded(const char* schedule, int chunks, int streams) {
  return record(*ScheduleRegistry::instance().find(schedule), job_of(chunks, streams));
}

constexpr double kMs = 1e-3;

/// Plays a recording by hand: each operation takes `milliseconds`, begins when what it depends on and what was issued
/// to its engine before are done, and is issued at once.
Timeline played(const Recording& recording, const std::function<double(const Operation&)>& milliseconds) {
  Timeline timeline{.recording = &recording};
  const auto all = ordering(recording).device;
  std::vector<double> end(recording.operations.size());
  std::array<double, 3> free{};
  for (std::size_t i = 0; i < recording.operations.size(); ++i) {
    if (!is_work(recording.operations[i])) continue;
    const auto engine = static_cast<std::size_t>(engine_of(recording.operations[i]));
    double start = free[engine];
    for (const Dependency& dependency : all[i]) start = std::max(start, end[dependency.operation]);
    end[i] = free[engine] = start + milliseconds(recording.operations[i]) * kMs;
    timeline.spans.push_back({.operation = i, .when = {start, end[i]}});
  }
  timeline.issued.assign(recording.operations.size(), {});
  return timeline;
}

/// Each takes the milliseconds of its engine.
Timeline played(const Recording& recording, const std::array<double, 3>& milliseconds) {
  return played(recording, [&](const Operation& operation) {
    return milliseconds[static_cast<std::size_t>(engine_of(operation))];
  });
}

const Gap& gap_before(const Recording& recording, const TimelineAnalysis& analysis, OperationKind kind, int chunk) {
  for (const Gap& gap : analysis.gaps) {
    if (!gap.next) continue;
    const Operation& next = recording.operations[*gap.next];
    if (next.kind == kind && next.chunk.index == chunk) return gap;
  }
  throw std::runtime_error("there is no such gap");
}

TEST(Dependencies, NameTheRule) {
  const Recording trap = recorded("null_stream_trap", 2, 2);
  const auto all = ordering(trap).device;  // in 0, kernel 0, out 0, side, in 1, …
  ASSERT_EQ(trap.operations[3].kind, OperationKind::side_kernel);
  ASSERT_EQ(all[3].size(), 1u);
  EXPECT_EQ(all[3][0].operation, 2u);
  EXPECT_EQ(all[3][0].rule, Rule::default_stream);
  ASSERT_EQ(all[4].size(), 1u);
  EXPECT_EQ(all[4][0].operation, 3u);
  EXPECT_EQ(all[4][0].rule, Rule::default_stream);

  const Recording free = recorded("null_stream_nonblocking", 2, 2);
  for (const auto& each : ordering(free).device) {
    for (const Dependency& dependency : each) EXPECT_NE(dependency.rule, Rule::default_stream);
  }
}

TEST(TimelineAnalysis, OneStreamOverlapsNothing) {
  const Recording recording = recorded("depth_first", 4, 1);
  const TimelineAnalysis analysis = analyse(played(recording, {1, 2, 3}));
  EXPECT_NEAR(analysis.makespan, 24 * kMs, 1e-9);
  EXPECT_NEAR(analysis.serial(), 24 * kMs, 1e-9);
  EXPECT_NEAR(analysis.overlap(), 0, 1e-9);
  EXPECT_NEAR(analysis.idle(Engine::copy_in, Idle::stream_order), 15 * kMs, 1e-9);
  EXPECT_NEAR(analysis.idle(Engine::copy_in, Idle::no_more_work), 5 * kMs, 1e-9);
  const Gap& gap = gap_before(recording, analysis, OperationKind::copy_in, 1);
  EXPECT_NEAR(gap.when.start, 1 * kMs, 1e-9);
  EXPECT_NEAR(gap.when.end, 6 * kMs, 1e-9);
  EXPECT_EQ(describe(recording, gap),
            "copies in idle from 1.000 to 6.000 ms: the copy in of chunk 1, input 0, in stream 0 waited for the copy "
            "out of chunk 0 in stream 0 (stream order)");
  EXPECT_EQ(analysis.path.size(), 12u);
}

TEST(TimelineAnalysis, ThreeStreamsKeepTheBusiestEngineAtWork) {
  const Recording recording = recorded("three_streams", 8, 3);
  const TimelineAnalysis analysis = analyse(played(recording, {1, 2, 1}));
  EXPECT_NEAR(analysis.makespan, (1 + 8 * 2 + 1) * kMs, 1e-9);
  EXPECT_NEAR(analysis.busy[1], 16 * kMs, 1e-9);
  EXPECT_GT(analysis.overlap(), 0.8);
  EXPECT_EQ(gap_before(recording, analysis, OperationKind::copy_out, 3).reason, Idle::event);
  // The path is the first copy in, all kernels, the last copy out.
  ASSERT_EQ(analysis.path.size(), 10u);
  EXPECT_EQ(recording.operations[analysis.path[0].operation].kind, OperationKind::copy_in);
  EXPECT_EQ(recording.operations[analysis.path[9].operation].kind, OperationKind::copy_out);
}

TEST(TimelineAnalysis, TheHostIsBlamedWhereItIssuedLate) {
  const Recording recording = recorded("depth_first", 2, 2);
  Timeline timeline = played(recording, {1, 1, 1});
  timeline.spans[3].when = {4 * kMs, 5 * kMs};  // copy in of chunk 1, in a stream of its own
  timeline.issued[3] = {3.99 * kMs, 4 * kMs};
  const TimelineAnalysis analysis = analyse(timeline);
  EXPECT_EQ(gap_before(recording, analysis, OperationKind::copy_in, 1).reason, Idle::host);

  timeline.issued[3] = {0, 0};
  EXPECT_EQ(gap_before(recording, analyse(timeline), OperationKind::copy_in, 1).reason, Idle::latency);
}

TEST(TimelineAnalysis, ASharedQueueIsBlamedWhereNothingElseHeld) {
  const Recording recording = recorded("depth_first", 2, 2);
  Timeline timeline = played(recording, {1, 1, 1});
  timeline.spans[3].when = {3 * kMs, 4 * kMs};  // copy in of chunk 1 begins when copy out of chunk 0 is done
  for (Span& span : timeline.spans) span.channel = 7;
  const TimelineAnalysis analysis = analyse(timeline);
  const Gap& gap = gap_before(recording, analysis, OperationKind::copy_in, 1);
  EXPECT_EQ(gap.reason, Idle::queue);
  EXPECT_EQ(gap.blocker, 2u);
  timeline.spans[2].channel = 8;
  EXPECT_NE(gap_before(recording, analyse(timeline), OperationKind::copy_in, 1).reason, Idle::queue);
}

TEST(TimelineAnalysis, KernelsAtOnceKeepTheirEngineBusyOnce) {
  const Recording recording = recorded("depth_first", 2, 2);
  Timeline timeline = played(recording, {1, 2, 1});
  timeline.spans[1].when = {2 * kMs, 6 * kMs};
  timeline.spans[4].when = {3 * kMs, 7 * kMs};
  EXPECT_NEAR(analyse(timeline).busy[1], 5 * kMs, 1e-9);
}

TEST(TimelineAnalysis, OverlapIsBetweenNoneAndAllWhateverIsIdle) {
  const Recording recording = recorded("three_streams", 2, 3);
  Timeline timeline = played(recording, {1, 1, 1});
  // The second chunk's copy in beside the first one's kernel; then nothing for 5 ms; then the rest one by one.
  timeline.spans = {{.operation = timeline.spans[0].operation, .when = {0, 1 * kMs}},
                    {.operation = timeline.spans[1].operation, .when = {1 * kMs, 2 * kMs}},
                    {.operation = timeline.spans[2].operation, .when = {7 * kMs, 8 * kMs}},
                    {.operation = timeline.spans[3].operation, .when = {1 * kMs, 2 * kMs}},
                    {.operation = timeline.spans[4].operation, .when = {8 * kMs, 9 * kMs}},
                    {.operation = timeline.spans[5].operation, .when = {9 * kMs, 10 * kMs}}};
  const TimelineAnalysis analysis = analyse(timeline);
  EXPECT_NEAR(analysis.covered, 5 * kMs, 1e-9);
  EXPECT_NEAR(analysis.overlap(), 0.25, 1e-9);  // of 4 ms that could have passed beside the busiest engine's 2, 1 did
}

TEST(TimelineAnalysis, NothingIsNothing) {
  Job job = job_of(4, 2);
  job.items = 0;
  const Recording recording = record(*ScheduleRegistry::instance().find("depth_first"), job);
  const TimelineAnalysis analysis = analyse(Timeline{.recording = &recording});
  EXPECT_EQ(analysis.makespan, 0);
  EXPECT_EQ(analysis.overlap(), 1);
  EXPECT_TRUE(analysis.path.empty());
}

TEST(TimelineAnalysis, TakesATimeThatGrowsAsTheOperationsDo) {
  const auto with_timeline = [](const auto& act) {
    return [&act](int chunks) {
      Job job = job_of(chunks, 16);
      job.items = 1 << 20;  // more than chunks, which are as many as items at most
      auto recording =
          std::make_shared<const Recording>(record(*ScheduleRegistry::instance().find("depth_first"), job));
      EXPECT_GE(recording->operations.size(), 3u * static_cast<unsigned>(chunks));
      return [&act, recording, timeline = played(*recording, {1, 1, 1})] { act(timeline); };
    };
  };
  const auto analysed = [](const Timeline& timeline) { EXPECT_FALSE(analyse(timeline).gaps.empty()); };
  const auto traced = [](const Timeline& timeline) {
    EXPECT_GT(trace_events(timeline, Json::object()).dump().size(),
              100u * static_cast<unsigned>(timeline.recording->job.chunks));
  };
  EXPECT_LT(growth(with_timeline(analysed), 500), kMaxGrowth);
  EXPECT_LT(growth(with_timeline(traced), 500), kMaxGrowth);
}

/// The rules of the trace-event format that a viewer relies on.
void expect_valid(const Json& trace) {
  ASSERT_TRUE(trace.at("traceEvents").is_array());
  std::map<std::pair<int, int>, std::string> lanes;
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> boxes;
  for (const Json& event : trace.at("traceEvents")) {
    const std::pair lane{event.at("pid").get<int>(), event.at("tid").get<int>()};
    if (event.at("ph") == "M") {
      if (event.at("name") == "thread_name") lanes[lane] = event.at("args").at("name");
      continue;
    }
    ASSERT_EQ(event.at("ph"), "X");
    EXPECT_FALSE(event.at("name").get<std::string>().empty());
    EXPECT_GE(event.at("dur").get<double>(), 0);
    EXPECT_TRUE(event.at("args").is_object());
    EXPECT_EQ(lanes.count(lane), 1u) << "a lane without a name: " << event;
    const double start = event.at("ts");
    boxes[lane].emplace_back(start, start + event.at("dur").get<double>());
  }
  for (auto& [lane, all] : boxes) {
    std::ranges::sort(all);
    for (std::size_t i = 1; i < all.size(); ++i) {
      EXPECT_GE(all[i].first, all[i - 1].second - 1e-6) << "two events overlap in " << lanes[lane];
    }
  }
}

TEST(TraceEvents, AreWhatAViewerTakes) {
  const Recording recording = recorded("null_stream_trap", 3, 2);
  Timeline timeline = played(recording, {1, 2, 1});
  timeline.spans[0].channel = 5;
  for (std::size_t i = 0; i < timeline.issued.size(); ++i) {
    timeline.issued[i] = {static_cast<double>(i) * 1e-6, (static_cast<double>(i) + 0.5) * 1e-6};
  }
  const Json trace = trace_events(timeline, {{"device", "none"}});
  expect_valid(trace);
  EXPECT_EQ(trace.at("otherData").at("device"), "none");
  const auto first = std::ranges::find(trace.at("traceEvents"), "X", [](const Json& event) { return event.at("ph"); });
  EXPECT_EQ(first->at("name"), "in 0");
  EXPECT_EQ(first->at("args").at("bytes"), 334 * 4);
  EXPECT_EQ(first->at("args").at("channel"), 5);
  // Each operation has when it ran, in its stream and on its engine, and when it was issued: microseconds.
  int events = 0;
  for (const Json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    const std::size_t operation = event.at("args").at("operation");
    const Interval& when = event.at("pid") == 3 ? timeline.issued[operation] : timeline.spans[operation].when;
    EXPECT_NEAR(event.at("ts"), 1e6 * when.start, 1e-3) << event;
    EXPECT_NEAR(event.at("dur"), 1e6 * when.seconds(), 1e-3) << event;
    ++events;
  }
  EXPECT_EQ(events, 3 * 12);
}

/// The spans that were read are those of the timeline, but for rounding.
void expect_spans(const std::vector<Span>& spans, const Timeline& timeline) {
  ASSERT_EQ(spans.size(), timeline.spans.size());
  for (std::size_t i = 0; i < spans.size(); ++i) {
    EXPECT_EQ(spans[i].operation, timeline.spans[i].operation) << i;
    EXPECT_NEAR(spans[i].when.start, timeline.spans[i].when.start, 1e-8) << i;
    EXPECT_NEAR(spans[i].when.end, timeline.spans[i].when.end, 1e-8) << i;
  }
}

TEST(TraceEvents, AreReadBackAndHeldAgainstTheirRecording) {
  const Recording recording = recorded("null_stream_trap", 3, 2);
  const Timeline timeline = played(recording, {1, 2, 1});
  const Document trace{.file = "trace.json", .json = trace_events(timeline, Json::object()), .lines = {}};
  const std::vector<Span> spans = read_spans(trace);
  expect_spans(spans, timeline);
  EXPECT_NO_THROW(check_spans(spans, recording, trace));
  for (std::size_t i = 0; i < spans.size(); ++i) {
    std::vector<Span> fewer = spans;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_THROW(check_spans(fewer, recording, trace), DocumentError) << i << " is not there";
    std::vector<Span> more = spans;
    more.insert(more.begin() + static_cast<std::ptrdiff_t>(i), spans[i]);
    EXPECT_THROW(check_spans(more, recording, trace), DocumentError) << i << " is there twice";
  }
  std::vector<Span> foreign = spans;
  foreign.push_back(spans.back());
  foreign.back().operation = recording.operations.size();
  EXPECT_THROW(check_spans(foreign, recording, trace), DocumentError);
}

TEST(TraceEvents, OverlappingKernelsGetLanesOfTheirOwn) {
  constexpr int kKernels = 128;  // as many as a device runs at once
  const Recording recording = recorded("breadth_first", kKernels, kKernels);
  Timeline timeline = played(recording, {1, 1, 1});
  for (Span& span : timeline.spans) {
    const Engine engine = engine_of(recording.operations[span.operation]);
    if (engine == Engine::compute) span.when = {kKernels * kMs, (kKernels + 1) * kMs};  // all at once
    if (engine == Engine::copy_out) span.when = {span.when.start + kKernels * kMs, span.when.end + kKernels * kMs};
  }
  timeline.issued.clear();
  expect_valid(trace_events(timeline, Json::object()));
}

// ------------------------------------------------------------------------------------------ records to operations

/// The records that a collector would report of a timeline: kernels as `launches` each.
std::vector<Activity> reported(const Timeline& timeline, int launches, bool graph) {
  std::vector<Activity> activities;
  std::uint32_t call = 100;
  for (const Span& span : timeline.spans) {
    const Operation& operation = timeline.recording->operations[span.operation];
    const Engine engine = engine_of(operation);
    const int times = engine == Engine::compute ? launches : 1;
    for (int i = 0; i < times; ++i) {
      const double share = span.when.seconds() / times;
      ++call;
      activities.push_back({.kind = engine == Engine::compute   ? Activity::Kind::kernel
                                    : engine == Engine::copy_in ? Activity::Kind::copy_in
                                                                : Activity::Kind::copy_out,
                            .start = 5000 + std::llround(1e9 * (span.when.start + i * share)),
                            .end = 5000 + std::llround(1e9 * (span.when.start + (i + 1) * share)),
                            .bytes = static_cast<std::uint64_t>(operation.chunk.items) * 4,
                            .correlation = graph ? 1 : call,
                            .graph_node = graph ? call : 0,
                            .channel = static_cast<std::uint32_t>(operation.stream.index)});
    }
  }
  std::ranges::reverse(activities);  // they come in any order
  return activities;
}

TEST(Activities, AreMatchedToOperations) {
  for (const char* schedule : {"depth_first", "graph", "null_stream_trap", "double_buffered"}) {
    const Recording recording = recorded(schedule, 6, 3);
    const Timeline timeline = played(recording, {1, 2, 1});
    for (const int launches : {1, 3}) {
      const std::vector<Span> spans = spans_of(recording, reported(timeline, launches, recording.captured), 5000);
      SCOPED_TRACE(schedule);
      expect_spans(spans, timeline);
      for (const Span& span : spans) EXPECT_TRUE(span.channel.has_value());
    }
  }
}

TEST(Activities, OfOneCallAreOne) {
  const Recording recording = recorded("depth_first", 3, 3);
  const Timeline timeline = played(recording, {1, 1, 1});
  std::vector<Activity> pieces;
  for (const Activity& whole : reported(timeline, 1, false)) {
    const std::int64_t middle = (whole.start + whole.end) / 2;
    pieces.push_back(whole);
    pieces.back().end = middle;
    pieces.back().bytes = whole.bytes / 4;
    pieces.push_back(whole);
    pieces.back().start = middle;
    pieces.back().bytes = whole.bytes - whole.bytes / 4;
  }
  expect_spans(spans_of(recording, pieces, 5000), timeline);
}

TEST(Activities, OfAGraphAreToldApartByTheirTimesWhereTheNodesNumbersSayOtherwise) {
  const Recording recording = recorded("graph", 5, 1);
  const Timeline timeline = played(recording, {1, 2, 1});
  std::vector<Activity> activities = reported(timeline, 1, true);
  for (Activity& activity : activities) activity.graph_node = 1000 - activity.graph_node;  // the last node first
  expect_spans(spans_of(recording, activities, 5000), timeline);
  for (Activity& activity : activities) {  // copies out before anything is there to copy
    if (activity.kind == Activity::Kind::copy_out) activity.start = activity.end = 1;
  }
  EXPECT_THROW(spans_of(recording, activities, 0), std::runtime_error);
}

TEST(Activities, ThatDoNotFitAreRefused) {
  const Recording recording = recorded("depth_first", 3, 3);
  const std::vector<Activity> all = reported(played(recording, {1, 1, 1}), 1, false);
  std::vector<Activity> fewer = all;
  fewer.pop_back();
  EXPECT_THROW(spans_of(recording, fewer, 0), std::runtime_error);
  std::vector<Activity> resized = all;
  resized.front().bytes += 4;  // a copy: the last operation
  EXPECT_THROW(spans_of(recording, resized, 0), std::runtime_error);
}

// ----------------------------------------------------------------------------------------------------- diagnosis

std::vector<Cause> causes(const Timeline& timeline) {
  std::vector<Cause> all;
  for (const Diagnosis& each : diagnose(timeline, analyse(timeline))) all.push_back(each.cause);
  return all;
}

using Causes = std::vector<Cause>;

TEST(Diagnosis, NamesWhatHoldsASchedule) {
  struct Case {
    const char* schedule;
    int chunks, streams;
    std::array<double, 3> milliseconds;
    Cause cause;
  };
  for (const auto& [schedule, chunks, streams, milliseconds, cause] :
       {Case{"three_streams", 32, 3, {2, 1, 1}, Cause::saturated_engine},
        {"depth_first", 32, 1, {1, 1, 1}, Cause::too_few_streams},
        // Gaps of the busiest engine end when the copy in of the same chunk does, which stood behind another's copy
        // out.
        {"depth_first", 32, 1, {1, 5, 1}, Cause::too_few_streams},
        {"double_buffered", 32, 3, {1, 5, 1}, Cause::saturated_engine},
        {"null_stream_trap", 32, 4, {1, 1, 1}, Cause::default_stream},
        {"null_stream_nonblocking", 32, 4, {2, 0.5, 1}, Cause::saturated_engine}}) {
    const Recording recording = recorded(schedule, chunks, streams);
    EXPECT_EQ(causes(played(recording, milliseconds)), Causes{cause}) << schedule;
  }
  const Recording few = recorded("three_streams", 2, 3);
  EXPECT_EQ(causes(played(few, {1, 1, 1})).front(), Cause::few_chunks);
  const Recording one_stream = recorded("depth_first", 32, 1);
  const Timeline timeline = played(one_stream, {1, 1, 1});
  const std::string evidence = diagnose(timeline, analyse(timeline)).front().evidence;
  EXPECT_NE(evidence.find("32 chunks in 1 stream:"), std::string::npos) << evidence;
}

TEST(Diagnosis, NamesTooFewBuffers) {
  // Every other kernel takes long: with two buffers the copy in behind it waits for it, with four it does not.
  for (const int buffers : {2, 4}) {
    Job job = job_of(32, 3);
    job.buffers = buffers;
    const Recording recording = record(*ScheduleRegistry::instance().find("double_buffered"), job);
    const Timeline timeline = played(recording, [](const Operation& operation) {
      const bool kernel = engine_of(operation) == Engine::compute;
      return kernel ? (operation.chunk.index % 2 == 0 ? 4.0 : 0.1) : 2.0;
    });
    const Causes all = causes(timeline);
    EXPECT_EQ(!all.empty() && all.front() == Cause::too_few_buffers, buffers == 2);
    EXPECT_EQ(std::ranges::count(all, Cause::too_few_buffers), buffers == 2 ? 1 : 0);
  }
}

/// Everything a while later, as if the device began so late.
Timeline delayed(Timeline timeline, double seconds) {
  for (Span& span : timeline.spans) span.when = {span.when.start + seconds, span.when.end + seconds};
  return timeline;
}

TEST(Diagnosis, LongOperationsAreNoSmallWorkBecauseTheDeviceBeganLate) {
  // Chunks of 0.64 ms each way: 0.3 ms until the device begins, and a chunk's way to the copies out.
  const Recording recording = recorded("depth_first", 16, 4);
  const Timeline timeline = delayed(played(recording, {0.64, 0.02, 0.66}), 0.3 * kMs);
  EXPECT_EQ(causes(timeline), (Causes{Cause::few_chunks, Cause::saturated_engine}));
  const std::vector<Diagnosis> diagnoses = diagnose(timeline, analyse(timeline));
  EXPECT_NEAR(diagnoses.front().seconds, 0.66 * kMs, 1e-9);  // without the 0.3 ms
  EXPECT_NE(diagnoses.front().evidence.find("16 chunks"), std::string::npos);

  const Timeline later = delayed(played(recording, {0.64, 0.02, 0.66}), 1 * kMs);
  EXPECT_EQ(causes(later), (Causes{Cause::start_up, Cause::few_chunks, Cause::saturated_engine}));
  EXPECT_NEAR(diagnose(later, analyse(later)).front().seconds, 1 * kMs, 1e-9);
}

TEST(Diagnosis, BlamesNothingThatWasOverLongBefore) {
  // One engine copies both ways, which a timeline need not say: copies in begin long after all that held them.
  const Recording recording = recorded("depth_first", 8, 4);
  Timeline timeline = played(recording, {1, 0.1, 1});
  double at = 0;
  for (Span& span : timeline.spans) {
    const double seconds = span.when.seconds();
    span.when = {at, at + seconds};
    at += seconds;
    timeline.issued[span.operation] = {1e-6 * static_cast<double>(span.operation),
                                       1e-6 * static_cast<double>(span.operation + 1)};
  }
  const Causes all = causes(timeline);
  EXPECT_EQ(all.front(), Cause::latency);
  for (const Cause wrong : {Cause::small_work, Cause::late_issue, Cause::too_few_streams}) {
    EXPECT_EQ(std::ranges::count(all, wrong), 0) << name(wrong);
  }
}

TEST(Diagnosis, ALittleLatencyBeforeALongStepIsNotToBlameForTheStep) {
  // Copies in 20 us apart, which nothing explains; one of them takes 5 ms, for which the kernels wait.
  const Recording recording = recorded("depth_first", 8, 8);
  Timeline timeline = played(recording, {0.1, 1, 0.1});
  double copied = 0;
  double computed = 0;
  for (Span& span : timeline.spans) {
    const Operation& operation = recording.operations[span.operation];
    timeline.issued[span.operation] = {1e-6 * static_cast<double>(span.operation),
                                       1e-6 * static_cast<double>(span.operation + 1)};
    if (operation.kind == OperationKind::copy_in) {
      const double start = copied + 0.02 * kMs;
      copied = start + (operation.chunk.index == 4 ? 5 : 0.1) * kMs;
      span.when = {start, copied};
    } else if (operation.kind == OperationKind::kernel) {
      const double start = std::max(computed, copied);
      computed = start + 1 * kMs;
      span.when = {start, computed};
    } else {
      span.when = {computed, computed + 0.1 * kMs};
    }
  }
  EXPECT_EQ(std::ranges::count(causes(timeline), Cause::latency), 0);
}

TEST(Diagnosis, NamesAHostThatIssuesLongOperationsLate) {
  const Recording recording = recorded("depth_first", 8, 8);
  Timeline timeline = played(recording, {1, 0.1, 0.1});
  double at = 0;
  for (std::size_t i = 0; i < timeline.spans.size();
       ++i) {  // a chunk's three operations are issued at once, 1.5 ms apart
    if (i % 3 == 0) at = static_cast<double>(i / 3) * 1.5 * kMs;
    timeline.issued[timeline.spans[i].operation] = {at, at + 1e-6};
    const double seconds = timeline.spans[i].when.seconds();
    const double start = i % 3 == 0 ? at : timeline.spans[i - 1].when.end;
    timeline.spans[i].when = {start, start + seconds};
  }
  EXPECT_EQ(causes(timeline).front(), Cause::late_issue);
}

TEST(Diagnosis, BlamesWhatHeldTheFirstChunkAndNotTheNumberOfChunks) {
  // Breadth first in 4 streams: the kernel of chunk 0 stands behind the copy in of chunk 60, and copies out begin late.
  const Recording recording = recorded("breadth_first", 64, 4);
  // Whichever engine is the busiest by a little; and if copies in are by far, and end long before the copies out.
  for (const double out : {0.33, 0.34, 0.3}) {
    const Causes all = causes(played(recording, {0.335, 0.01, out}));
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all.front(), Cause::too_few_streams);
    EXPECT_EQ(std::ranges::count(all, Cause::few_chunks), 0);
  }
}

TEST(Diagnosis, NamesCopiesThatHoldTheHost) {
  for (const char* schedule : {"serial", "serial_pinned"}) {
    Job job = job_of(16, 1);
    const Schedule& serial = *ScheduleRegistry::instance().find(schedule);
    job.memory = serial.about.memory;
    const Recording recording = record(serial, job);
    Timeline timeline = played(recording, {1, 1, 1});
    for (const Span& span : timeline.spans) timeline.issued[span.operation] = span.when;
    const bool pageable = job.memory == HostMemory::pageable;
    const Cause expected = pageable ? Cause::pageable_memory : Cause::synchronous_copies;
    EXPECT_EQ(std::ranges::count(causes(timeline), expected), 1) << schedule;
  }
}

TEST(Diagnosis, NamesASharedQueue) {
  const Recording recording = recorded("depth_first", 64, 64);
  Timeline timeline = played(recording, {1, 1, 1});
  for (std::size_t i = 0; i < timeline.spans.size(); ++i) {  // one queue: one after another
    const double start = static_cast<double>(i) * kMs;
    timeline.spans[i].when = {start, start + kMs};
    timeline.spans[i].channel = 3;
  }
  EXPECT_EQ(causes(timeline), Causes{Cause::shared_queue});
}

TEST(Diagnosis, NamesTheOrderOfIssue) {
  const auto issue = [](Issuer& issuer, const Job&) {
    const std::vector<Stream> streams = issuer.create_streams(2);
    const std::vector<Chunk> chunks = issuer.chunks();
    issuer.copy_in(chunks[0], streams[0]);
    issuer.compute(chunks[0], streams[0]);
    issuer.copy_in(chunks[1], streams[0]);  // not ready before the kernel is done, and ahead of one that is
    issuer.copy_in(chunks[2], streams[1]);
    issuer.compute(chunks[2], streams[1]);
  };
  const Recording recording = record(Schedule{.issue = issue}, job_of(3, 2));
  EXPECT_EQ(std::ranges::count(causes(played(recording, {3, 4, 1})), Cause::issue_order), 1);
  const Recording other = recorded("depth_first", 3, 3);
  EXPECT_EQ(std::ranges::count(causes(played(other, {3, 4, 1})), Cause::issue_order), 0);
}

/// A timeline by hand, in milliseconds.
struct Watched {
  Recording recording;
  std::vector<Span> spans;
  std::vector<Interval> issued;

  Watched() { recording.job = job_of(1, 2); }
  void add(const Operation& operation, Interval call, Interval when = {}) {
    if (is_work(operation)) spans.push_back({.operation = issued.size(), .when = milliseconds(when)});
    recording.operations.push_back(operation);
    issued.push_back(milliseconds(call));
  }
  static Interval milliseconds(Interval when) { return {when.start * kMs, when.end * kMs}; }
  Timeline timeline() const { return {.recording = &recording, .spans = spans, .issued = issued}; }
  std::vector<Diagnosis> diagnosed() const { return diagnose(timeline(), analyse(timeline())); }
};

Operation in_stream(OperationKind kind, int stream) {
  return {.kind = kind, .stream = {StreamKind::non_blocking, stream}};
}

/// Kernels of 1 ms, 1.3 ms apart, issued at once: nothing holds them.
Watched kernels_apart() {
  Watched all;
  for (int i = 0; i < 6; ++i) {
    all.add(in_stream(OperationKind::kernel, i % 2), {0.004 * i, 0.004 * (i + 1)}, {1.3 + 2.3 * i, 2.3 + 2.3 * i});
  }
  return all;
}

TEST(Diagnosis, AWaitOfTheHostIsNoLaunch) {
  const Watched without = kernels_apart();
  Watched with = kernels_apart();
  with.add({.kind = OperationKind::synchronize_device}, {0.024, 13.8});
  EXPECT_EQ(causes(without.timeline()), (Causes{Cause::latency, Cause::start_up}));
  EXPECT_EQ(causes(with.timeline()), (Causes{Cause::latency, Cause::start_up}));
}

TEST(Diagnosis, NamesAnotherProcess) {
  const Watched all = kernels_apart();
  Timeline timeline = all.timeline();
  for (int i = 1; i < 6; ++i) timeline.others.push_back(Watched::milliseconds({0.3 + 2.3 * i, 1.0 + 2.3 * i}));
  const Diagnosis first = diagnose(timeline, analyse(timeline)).front();
  EXPECT_EQ(first.cause, Cause::other_process);
  EXPECT_NEAR(first.seconds, 6.5 * kMs, 1e-9);
  EXPECT_EQ(first.evidence.find("it was at work for 3.500 ms; 5 gaps, such as"), 0U) << first.evidence;
}

TEST(Diagnosis, NamesLaunchesThatBlockTheHost) {
  Watched all;
  for (int i = 0; i < 8; ++i) {
    const double at = 3 * i;
    all.add(in_stream(OperationKind::copy_in, i % 2), {at, at + 0.004}, {at + 0.005, at + 1.505});
    all.recording.operations.back().chunk.index = i;
    all.add(in_stream(OperationKind::kernel, i % 2), {at + 0.004, at + 2.99}, {at + 1.51, at + 2.98});
    all.recording.operations.back().chunk.index = i;
  }
  const Diagnosis first = all.diagnosed().front();
  EXPECT_EQ(first.cause, Cause::blocking_launches);
  EXPECT_EQ(first.evidence.find("8 × 1.47 ms: the host goes on when the kernel is done"), 0U) << first.evidence;
}

TEST(Diagnosis, NamesTheCallInWhichTheHostWas) {
  Watched freed;
  Watched loaded;
  for (int i = 0; i < 6; ++i) {
    const double at = 3 * i;
    freed.add(in_stream(OperationKind::kernel, 0), {at, at + 0.004}, {at + 0.01, at + 1});
    freed.add({.kind = OperationKind::host_work, .label = "cudaFree"}, {at + 0.004, at + 2.9});
    loaded.add(in_stream(OperationKind::kernel, 0), {at + 0.9, at + 2.9}, {at + 2.89, at + 3.89});  // loads its code
  }
  const Diagnosis first = freed.diagnosed().front();
  EXPECT_EQ(first.cause, Cause::late_issue);
  EXPECT_EQ(first.evidence.find("10.050 ms at cudaFree; 5 gaps, such as"), 0U) << first.evidence;
  Timeline timeline = freed.timeline();
  for (std::size_t i = 0; i < freed.issued.size(); ++i) timeline.threads.push_back(static_cast<int>(i % 2));
  EXPECT_EQ(diagnose(timeline, analyse(timeline)).front().evidence.find("cudaFree"), std::string::npos)
      << "another thread freed";

  const Diagnosis own = loaded.diagnosed().front();
  EXPECT_EQ(own.cause, Cause::late_issue);
  EXPECT_EQ(own.evidence.find("10.000 ms at the call that issues the next operation; 5 gaps"), 0U) << own.evidence;
}

TEST(Diagnosis, OneCopyEngineIsAtWorkBothWays) {
  Watched all;
  for (int i = 0; i < 8; ++i) {
    const double at = 2 * i;
    all.add(in_stream(OperationKind::copy_in, 0), {}, {at, at + 1});
    all.add(in_stream(OperationKind::copy_out, 1), {}, {at + 1, at + 2});
  }
  Timeline timeline = all.timeline();
  EXPECT_EQ(causes(timeline).front(), Cause::latency);
  timeline.copy_engines = 1;
  const Causes one_engine = causes(timeline);
  EXPECT_EQ(one_engine.back(), Cause::saturated_engine);
  EXPECT_EQ(std::ranges::count(one_engine, Cause::latency), 0);
}

TEST(Diagnosis, NamesCopiesTooSmallForTheirCalls) {
  const Recording recording = recorded("depth_first", 32, 4);
  Timeline timeline = played(recording, {0.001, 0.001, 0.001});
  for (std::size_t i = 0; i < timeline.spans.size(); ++i) {  // each begins when it is issued, 10 us apart
    const double issued = 1e-5 * static_cast<double>(i);
    timeline.issued[i] = {issued, issued + 1e-5};
    timeline.spans[i].when = {issued + 2e-6, issued + 3e-6};
  }
  EXPECT_EQ(causes(timeline).front(), Cause::small_copies);
}

}  // namespace
}  // namespace scanlab::streams
