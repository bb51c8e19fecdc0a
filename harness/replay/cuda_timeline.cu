// When the operations of a schedule ran on this device, from CUPTI's records.
#include <algorithm>

#include "harness/replay/activity.hpp"
#include "harness/replay/schedule_trace.hpp"

namespace scanlab::streams {

namespace {

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

std::vector<Interval> issues(const Replay& replay) {
  std::vector<Interval> all;
  all.reserve(replay.issued.size());
  for (const Issued& issued : replay.issued) {
    all.push_back({seconds(issued.begin - replay.begin), seconds(issued.end - replay.begin)});
  }
  return all;
}

/// Converts a moment of the host's clock to the collector's: the two are read beside each other, a few times, and the
/// closest reading is taken.
std::int64_t by_collectors_clock(const ActivityCollector& collector, Clock::time_point moment) {
  auto closest = Clock::duration::max();
  std::int64_t at = 0;
  for (int i = 0; i < 10; ++i) {
    const auto before = Clock::now();
    const std::int64_t now = collector.now();
    const auto after = Clock::now();
    if (after - before >= closest) continue;
    closest = after - before;
    const auto middle = before + (after - before) / 2;
    at = now - std::chrono::duration_cast<std::chrono::nanoseconds>(middle - moment).count();
  }
  return at;
}

}  // namespace

MeasuredReplays measure_replays(const Recording& recording, HostArrays& arrays, const ReplaySettings& settings) {
  MeasuredReplays measured;
  Replayer replayer(recording, arrays);
  const auto poison = [&] {
    if (settings.verified) replayer.poison();
  };
  const auto note_wrong = [&] {
    if (settings.verified && measured.wrong.empty()) measured.wrong = arrays.wrong();
  };
  for (double spent = 0; spent <= settings.warm_up;) spent += replayer.replay().seconds();
  for (int i = 0; i < settings.repetitions; ++i) {
    poison();
    const Replay replay = replayer.replay(settings.stamped);
    measured.plain.push_back({replay.seconds(), {.recording = &recording, .spans = {}, .issued = issues(replay)}});
    note_wrong();
  }

  ActivityCollector collector(/*of_schedules=*/true);
  for (int i = 0; i < settings.repetitions; ++i) {
    collector.begin();
    replayer.replay();  // CUPTI's first of everything takes hundreds of microseconds
    poison();
    const Replay replay = replayer.replay(/*stamp_issues=*/true);
    std::vector<Activity> activities = collector.end();
    const std::int64_t zero = by_collectors_clock(collector, replay.begin);
    std::erase_if(activities, [](const Activity& each) { return each.kind == Activity::Kind::copy; });
    std::ranges::sort(activities, {}, &Activity::start);
    activities.erase(activities.begin(), activities.begin() + static_cast<std::ptrdiff_t>(activities.size() / 2));
    measured.traced.push_back({replay.seconds(),
                               {.recording = &recording,
                                .spans = spans_of(recording, std::move(activities), zero),
                                .issued = issues(replay)}});
    note_wrong();
  }
  return measured;
}

}  // namespace scanlab::streams
