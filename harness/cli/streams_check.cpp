// scanlab streams check: which accesses of a schedule nothing orders. Needs no device.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <nlohmann/json.hpp>

#include "harness/cli/options.hpp"
#include "harness/cli/streams.hpp"
#include "harness/schedule/facts.hpp"

namespace scanlab::cli {

using Json = nlohmann::ordered_json;

namespace {

constexpr const char* kDefaultWorkloads = "all";
constexpr const char* kDefaultItems = "2^20";

struct Checked {
  const streams::ScheduledJob& chosen;
  streams::Recording recording;
  streams::CheckResult result;
};

constexpr std::size_t kShown = 20;  // a schedule that is wrong is so in every chunk

std::size_t faults(const Checked& checked) {
  return checked.result.hazards.size() + checked.result.waits_for_nothing.size();
}

/// What is wrong, in a sentence. `fault` is less than faults().
std::string describe(const Checked& checked, std::size_t fault) {
  const auto& [hazards, waits_for_nothing] = checked.result;
  if (fault < hazards.size()) return describe(checked.recording, hazards[fault]);
  return fmt::format("{} waits for nothing: no earlier operation records the event",
                     describe(checked.recording.operations[waits_for_nothing[fault - hazards.size()]]));
}

bool as_expected(const Checked& checked) {
  return streams::as_expected(*checked.chosen.schedule, checked.recording, checked.result);
}

/// With `brief` a control that is caught takes two lines.
void print(const Checked& checked, bool brief, std::ostream& out) {
  const streams::Job& job = checked.chosen.job;
  const bool control = checked.chosen.schedule->about.control;
  const std::size_t all = faults(checked);
  const std::string verdict = all == 0 ? "ordered" : fmt::format("NOT ORDERED: {} faults", all);
  const char* const remark = !control               ? ""
                             : all > 0              ? " (a control, kept to be caught: it is)"
                             : as_expected(checked) ? " (a control, but nothing is issued)"
                                                    : " (a control, kept to be caught: it is NOT)";
  fmt::print(out, "{}, {}: {} items in {} chunks, {} streams, {}: {} operations, {}{}\n",
             checked.chosen.schedule->about.id, job.workload->about.id, job.items, job.chunks, job.streams,
             name(job.memory), checked.recording.operations.size(), verdict, remark);
  const bool one_is_enough = brief && control;
  const std::size_t shown = std::min(all, one_is_enough ? 1 : kShown);
  for (std::size_t i = 0; i < shown; ++i) fmt::print(out, "  {}\n", describe(checked, i));
  if (shown < all && !one_is_enough) fmt::print(out, "  and {} more: --json has them all\n", all - shown);
}

}  // namespace

int streams_check(const std::vector<std::string>& arguments, Context& context) {
  po::options_description options("options");
  add_job_options(options, kDefaultWorkloads, kDefaultItems);
  options.add_options()("json", "print JSON, with every fault of every schedule")("help,h", "print this text");
  po::positional_options_description positional;
  positional.add("schedule", -1);
  po::variables_map values;
  if (!parse_options(arguments, options, positional, streams_command("check"), context, values)) return kOk;
  if (values.count("schedule") == 0) {
    throw CommandError(kBadInput, "check takes a schedule, or all, as in 'scanlab streams check depth_first'");
  }
  const JobSelection selection = select_jobs(said(values), kDefaultWorkloads, kDefaultItems);
  int status = kOk;
  Json all = {{"schema", "scanlab-streams-check/1"}, {"checked", Json::array()}};
  for (const streams::ScheduledJob& chosen : selection.jobs()) {
    Checked checked{chosen, record(*chosen.schedule, chosen.job), {}};
    checked.result = streams::check(checked.recording);
    // Named, a control is what it is: wrong. Among all, it is as it should be when it is caught.
    if (!(selection.all ? as_expected(checked) : checked.result.ordered())) status = kFailed;
    if (values.count("json") != 0) {
      all["checked"].push_back(facts_of(chosen, checked.recording, checked.result));
    } else {
      print(checked, selection.all, context.out);
    }
  }
  if (values.count("json") != 0) context.out << all.dump(1) << "\n";
  return status;
}

}  // namespace scanlab::cli
