#include "harness/advice/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <tuple>

#include "harness/schedule/facts.hpp"
#include "harness/schedule/hazards.hpp"

namespace scanlab::simulator {

using Json = nlohmann::ordered_json;
using streams::Operation;
using streams::OperationKind;

bool does_the_job_alone(const streams::Schedule& schedule) {
  const streams::Job small{.workload = &streams::WorkloadRegistry::instance().all().begin()->second, .items = 64};
  const streams::CheckedSchedule checked({&schedule, small});
  return checked.right() && std::ranges::none_of(checked.recording.operations, [](const Operation& operation) {
           return operation.kind == OperationKind::side_kernel || operation.kind == OperationKind::host_work;
         });
}

bool ScheduleChoice::ties_with(const ScheduleChoice& other) const {
  return std::abs(seconds - other.seconds) <= 1e-9 * std::min(seconds, other.seconds);
}

std::string describe(const ScheduleChoice& choice) {
  return fmt::format("{}, {} chunk{}, {} stream{}", choice.schedule->about.id, choice.chunks,
                     choice.chunks == 1 ? "" : "s", choice.streams, choice.streams == 1 ? "" : "s");
}

Json to_json(const ScheduleChoice& choice, streams::Job job) {
  job.chunks = choice.chunks;
  job.streams = choice.streams;
  Json json = streams::facts_of({choice.schedule, job});
  json["predicted_us"] = 1e6 * choice.seconds;
  return json;
}

ScheduleChoice choice_of(const streams::Schedule& schedule, const streams::Recording& recording, double seconds) {
  return {.schedule = &schedule,
          .chunks = recording.job.chunks,
          .streams = streams_made(schedule, recording.job),
          .seconds = seconds,
          .calls = recording.operations.size(),
          .held = static_cast<double>(recording.buffers) * static_cast<double>(recording.buffer_items) /
                  static_cast<double>(recording.job.items)};
}

void rank(std::vector<ScheduleChoice>& choices) {
  const auto simplicity = [](const ScheduleChoice& choice) {
    const streams::ScheduleDescription& about = choice.schedule->about;
    return std::tuple(choice.streams, choice.chunks, about.captured, choice.calls, std::string_view(about.id));
  };
  std::ranges::sort(choices, {}, &ScheduleChoice::seconds);
  for (auto first = choices.begin(); first != choices.end();) {
    const auto last =
        std::find_if_not(first, choices.end(), [&](const ScheduleChoice& each) { return each.ties_with(*first); });
    std::sort(first, last,
              [&](const ScheduleChoice& a, const ScheduleChoice& b) { return simplicity(a) < simplicity(b); });
    first = last;
  }
}

SearchSpace usual_choices() {
  SearchSpace space{.schedules = {},
                    .chunks = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256},
                    .streams = {1, 2, 4, 8}};
  for (const auto& [id, schedule] : streams::ScheduleRegistry::instance().all()) {
    const bool pinned = schedule.about.memory == streams::HostMemory::pinned;
    if (pinned && !schedule.about.control && does_the_job_alone(schedule)) space.schedules.push_back(&schedule);
  }
  return space;
}

Advice advise(const streams::Job& wanted, const DeviceProfile& device, const KnownTimes& known,
              const SearchSpace& space) {
  if (const std::string reason = unknown_kernel_time(wanted, device, known); !reason.empty()) {
    throw std::invalid_argument(
        reason + ": take a profile of 'scanlab calibrate' with this work, or give bytes and --kernel-us");
  }
  streams::Job job = wanted;
  job.memory = streams::HostMemory::pinned;
  Advice advice;
  const auto try_out = [&](const streams::Schedule& schedule, int chunks, int streams) {
    job.chunks = chunks;
    job.streams = streams;
    const streams::Recording recording = record(schedule, job);
    const Costs all = costs(recording, device, known);
    // Chunks that are cut another way cost another time: below the least of their bounds is no choice.
    advice.bound = std::min(advice.bound, bounds(recording, device, all).pipeline);
    return choice_of(schedule, recording, simulate(recording, device, all).seconds);
  };
  advice.serial = try_out(*streams::ScheduleRegistry::instance().find("serial_pinned"), 1, 1);
  const streams::Recording serial = record(*advice.serial.schedule, job);
  advice.parts = parts(serial, costs(serial, device, known));
  for (const streams::Schedule* schedule : space.schedules) {
    std::set<int> numbers_of_streams;
    for (const int streams : space.streams) {
      job.streams = streams;
      numbers_of_streams.insert(streams_made(*schedule, job));
    }
    for (const int chunks : space.chunks) {
      if (chunks > std::max<std::int64_t>(1, job.items)) continue;
      for (const int streams : numbers_of_streams) advice.choices.push_back(try_out(*schedule, chunks, streams));
    }
  }
  if (advice.choices.empty()) throw std::invalid_argument("there is nothing to choose from");
  rank(advice.choices);
  advice.whole = advice.serial;
  for (const ScheduleChoice& choice : advice.choices) {
    if (choice.chunks == 1 && choice.seconds < advice.whole.seconds) advice.whole = choice;
  }
  return advice;
}

std::string limit_of(const Advice& advice, const DeviceProfile& device) {
  const auto& [in, kernel, out] = advice.parts;
  const double all = in + kernel + out;
  if (device.copy_engines.empty()) return "this device runs nothing beside a copy";
  if (advice.serial.seconds > 2 * all) return "calls and latencies take most of the time, and chunks add to them";
  if (all < 1.05 * advice.bound) {
    const double most = std::max(kernel, in + out);
    return fmt::format("the {} {:.0f}% of the work: were all else hidden behind {}, little would be saved",
                       kernel == most ? "kernel is" : "copies are", 100 * most / all, kernel == most ? "it" : "them");
  }
  return "chunks so short that they overlap cost more in calls and latencies than the overlap gains";
}

Json to_json(const Advice& advice, const streams::Job& job) {
  Json choices = Json::array();
  for (const ScheduleChoice& choice : advice.choices) choices.push_back(to_json(choice, job));
  return {{"worth_it", advice.worth_it()},       {"gain", advice.gain()},
          {"bound_us", 1e6 * advice.bound},      {"serial", to_json(advice.serial, job)},
          {"whole", to_json(advice.whole, job)}, {"advised", to_json(advice.advised(), job)},
          {"choices", std::move(choices)}};
}

}  // namespace scanlab::simulator
