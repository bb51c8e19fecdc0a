// scanlab streams check: which accesses of a schedule nothing orders, and what of the job it leaves undone. Needs no
// device.
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

}  // namespace

int streams_check(const std::vector<std::string>& arguments, Context& context) {
  OptionWords words;
  bool json = false;
  Options options;
  add_job_options(options, words, kDefaultWorkloads, kDefaultItems);
  options.flag("json", json, "print JSON, with every fault of every schedule");
  if (!options.parse(arguments, context)) return kOk;
  if (!words.contains("schedule")) refuse("check takes a schedule, or all, as in 'scanlab streams check depth_first'");
  const JobSelection selection = select_jobs(words, kDefaultWorkloads, kDefaultItems);
  int checked_cases = 0;
  int wrong = 0;
  Json all = {{"schema", "scanlab-streams-check/1"}, {"checked", Json::array()}};
  for (const streams::ScheduledJob& chosen : selection.jobs(&context.err)) {
    const streams::CheckedSchedule checked(chosen);
    // Named, a control is what it is: wrong. Among all, it is as it should be when it is caught.
    ++checked_cases;
    wrong += (selection.all ? as_expected(checked) : checked.right()) ? 0 : 1;
    if (json) {
      all["checked"].push_back(facts_of(checked));
    } else {
      print(checked, selection.all, context.out);
    }
  }
  if (json) {
    context.out << all.dump(1) << "\n";
  } else if (selection.all) {
    fmt::print(context.out, "{} passed, {} failed\n", checked_cases - wrong, wrong);
  }
  return wrong > 0 ? kFailed : kOk;
}

}  // namespace scanlab::cli
