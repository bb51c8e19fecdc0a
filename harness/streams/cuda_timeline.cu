#if defined(__CUDACC__)
#include "harness/streams/cuda_timeline.hpp"

#include <algorithm>

#include "harness/model/median.hpp"
#include "harness/streams/activity.hpp"

namespace scanlab::streams {

namespace {

double seconds(HostClock::duration time) { return std::chrono::duration<double>(time).count(); }

std::vector<Interval> issues(const Replay& replay) {
  std::vector<Interval> all;
  all.reserve(replay.issued.size());
  for (const Issued& issued : replay.issued) {
    all.push_back({seconds(issued.begin - replay.begin), seconds(issued.end - replay.begin)});
  }
  return all;
}

/// What the collector's clock says at a moment of the host's: the two are read beside each other, a few times, and the
/// closest reading is taken.
std::int64_t by_collectors_clock(const ActivityCollector& collector, HostClock::time_point moment) {
  auto closest = HostClock::duration::max();
  std::int64_t at = 0;
  for (int i = 0; i < 10; ++i) {
    const auto before = HostClock::now();
    const std::int64_t now = collector.now();
    const auto after = HostClock::now();
    if (after - before >= closest) continue;
    closest = after - before;
    const auto middle = before + (after - before) / 2;
    at = now - std::chrono::duration_cast<std::chrono::nanoseconds>(middle - moment).count();
  }
  return at;
}

}  // namespace

double MeasuredTimeline::median_plain() const { return median(plain); }
double MeasuredTimeline::median_collected() const { return median(collected); }

MeasuredTimeline measure_timeline(const Recording& recording, HostArrays& arrays, int repetitions) {
  MeasuredTimeline measured;
  CudaExecutor executor(recording, arrays);
  const auto note_wrong = [&] {
    if (measured.wrong.empty()) measured.wrong = arrays.wrong();
  };
  executor.replay();  // untimed: the first of anything takes longer
  for (int i = 0; i < repetitions; ++i) {
    executor.poison();
    measured.plain.push_back(executor.replay().seconds());
    note_wrong();
  }

  ActivityCollector collector;
  collector.begin();
  executor.replay(/*stamp_issues=*/true);  // untimed: CUPTI's first
  collector.end();
  std::vector<Timeline> timelines;
  for (int i = 0; i < repetitions; ++i) {
    executor.poison();
    collector.begin();
    const Replay replay = executor.replay(/*stamp_issues=*/true);
    const std::vector<Activity> activities = collector.end();
    measured.collected.push_back(replay.seconds());
    note_wrong();
    timelines.push_back({.recording = &recording,
                         .spans = spans_of(recording, activities, by_collectors_clock(collector, replay.begin)),
                         .issued = issues(replay)});
  }
  const auto typical = std::ranges::find(measured.collected, measured.median_collected());
  measured.timeline = std::move(timelines[static_cast<std::size_t>(typical - measured.collected.begin())]);
  return measured;
}

}  // namespace scanlab::streams
#endif
