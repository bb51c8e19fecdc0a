// scanlab streams list: every schedule and workload.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include "harness/cli/streams.hpp"
#include "harness/measure/record.hpp"
#include "harness/schedule/schedule.hpp"

namespace scanlab::cli {

namespace {

/// What every entry of a registry says of itself.
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

int streams_list(const std::vector<std::string>& arguments, Context& context) {
  po::options_description options("options");
  options.add_options()("json", "print JSON")("help,h", "print this text");
  po::variables_map values;
  if (!parse_options(arguments, options, {}, streams_command("list"), context, values)) return kOk;
  if (values.count("json") != 0) {
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
