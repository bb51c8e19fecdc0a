// scanlab streams: chooses one of its commands; and streams list.
#include "harness/cli/streams.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "harness/cli/options.hpp"
#include "harness/measure/record.hpp"

namespace scanlab::cli {

namespace {

const CommandGroup& group() {
  static const CommandGroup all{
      "scanlab streams",
      "check, time, trace and diagnose schedules of copies and kernels over streams",
      "scanlab streams check all",
      {
          {"list", "print every schedule and workload: id, title, source, expectation", "scanlab streams list",
           streams_list},
          {"check", "name accesses that a schedule leaves unordered, and work that it leaves undone; needs no GPU",
           "scanlab streams check three_streams_unordered --workload scale --chunks 2", streams_check},
          {"run", "time schedules over workloads and parameters, and verify every repetition",
           "scanlab streams run all --workload scale --items 2^28 --chunks 8,64 --out results/streams.json",
           streams_run},
          {"trace", "record the timeline of a schedule: operations, overlap, and the reason of each idle gap",
           "scanlab streams trace depth_first --items 2^28 --chunks 16 --out results/depth_first.trace.json",
           streams_trace},
          {"diagnose", "name what delays a schedule, with the evidence, or compare two schedules",
           "scanlab streams diagnose null_stream_trap depth_first --items 2^26 --chunks 16", streams_diagnose},
          {"import", "convert an export of Nsight Systems to a trace; needs no GPU",
           "scanlab streams import report.sqlite --out results/report.trace.json", streams_import},
          {"implicit-sync", "test on this device which calls block the host, and which serialise streams",
           "scanlab streams implicit-sync --json results/implicit_sync.json", streams_implicit_sync},
          {"concurrency", "time small concurrent grids against the formula of waves and tails",
           "scanlab streams concurrency --json results/concurrency.json", streams_concurrency},
      }};
  return all;
}

/// Returns the descriptions of all entries of a registry.
template <class Entry>
measure::Facts all_of(const RegistryOf<Entry>& registry) {
  measure::Facts all = measure::Facts::array();
  for (const auto& [id, entry] : registry.all()) {
    all.push_back({{"id", id}});
    all.back().update(measure::described(entry));
  }
  return all;
}

void print(const streams::ScheduleDescription& about, std::ostream& out) {
  fmt::print(out, "{} ({}{}{})\n  {}\n  source    {}\n  expect    {}\n\n", about.id, name(about.memory),
             about.captured ? ", captured" : "", about.control ? ", control" : "", about.title, about.source,
             about.expectation);
}

void print(const streams::WorkloadDescription& about, std::ostream& out) {
  fmt::print(out, "{} ({}, {} input{}{})\n  {}\n  source    {}\n  work      {}\n\n", about.id, name(about.type),
             about.inputs, about.inputs == 1 ? "" : "s", about.ordered ? ", kernels in the chunks' order" : "",
             about.title, about.source, about.work);
}

}  // namespace

int streams(const std::vector<std::string>& arguments, Context& context) {
  return dispatch(group(), arguments, context);
}

int streams_list(const std::vector<std::string>& arguments, Context& context) {
  bool json = false;
  Options options;
  options.flag("json", json, "print JSON");
  if (!options.parse(arguments, context)) return kOk;
  if (json) {
    const measure::Facts all{{"schema", "scanlab-streams-list/1"},
                             {"schedules", all_of(streams::ScheduleRegistry::instance())},
                             {"workloads", all_of(streams::WorkloadRegistry::instance())}};
    context.out << all.dump(2) << "\n";
    return kOk;
  }
  fmt::print(context.out, "SCHEDULES\n\n");
  for (const auto& [id, schedule] : streams::ScheduleRegistry::instance().all()) print(schedule.about, context.out);
  fmt::print(context.out, "WORKLOADS\n\n");
  for (const auto& [id, workload] : streams::WorkloadRegistry::instance().all()) print(workload.about, context.out);
  return kOk;
}

}  // namespace scanlab::cli
