// scanlab streams check: which accesses of a schedule nothing orders, and what of the job it leaves undone. Needs no
// device.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <nlohmann/json.hpp>

#include "harness/cli/options.hpp"
#include "harness/cli/streams.hpp"
#include "harness/schedule/check_report.hpp"
#include "harness/schedule/facts.hpp"

namespace scanlab::cli {

using Json = nlohmann::ordered_json;

namespace {

constexpr const char* kDefaultWorkloads = "all";
constexpr const char* kDefaultItems = "2^20";

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
  int checked_cases = 0;
  int wrong = 0;
  Json all = {{"schema", "scanlab-streams-check/1"}, {"checked", Json::array()}};
  for (const streams::ScheduledJob& chosen : selection.jobs(&context.err)) {
    const streams::CheckedSchedule checked(chosen);
    // Named, a control is what it is: wrong. Among all, it is as it should be when it is caught.
    ++checked_cases;
    wrong += (selection.all ? as_expected(checked) : checked.right()) ? 0 : 1;
    if (values.count("json") != 0) {
      all["checked"].push_back(facts_of(checked));
    } else {
      print(checked, selection.all, context.out);
    }
  }
  if (values.count("json") != 0) {
    context.out << all.dump(1) << "\n";
  } else if (selection.all) {
    fmt::print(context.out, "{} passed, {} failed\n", checked_cases - wrong, wrong);
  }
  return wrong > 0 ? kFailed : kOk;
}

}  // namespace scanlab::cli
