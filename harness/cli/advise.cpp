// scanlab advise: which schedule, how many chunks and streams, and whether streams are worth it. Needs no device where
// a profile is given.
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/advice/advice_score.hpp"
#include "harness/cli/options.hpp"
#include "harness/cli/simulate.hpp"
#include "harness/core/ceil.hpp"

namespace scanlab::cli {

namespace {

using simulator::Advice;

constexpr char kAdviceSchema[] = "scanlab-advice/1";
constexpr char kAgainstSchema[] = "scanlab-advice-against/1";

struct Problem {
  std::optional<std::size_t> bytes_in, bytes_out;
  std::optional<double> kernel_seconds;
  std::optional<std::string> workload;
  std::optional<std::int64_t> items;
  streams::Job job;

  bool by_bytes() const { return bytes_in || bytes_out || kernel_seconds; }
  simulator::KnownTimes known(const simulator::DeviceProfile& device) const {
    if (!by_bytes()) return {};
    return {.copy_in = static_cast<double>(bytes_in.value_or(0)) / device.alone.in,
            .kernel = kernel_seconds,
            .copy_out = static_cast<double>(bytes_out.value_or(0)) / device.alone.out};
  }
  double copied_bytes() const {
    if (by_bytes()) return static_cast<double>(bytes_in.value_or(0) + bytes_out.value_or(0));
    const streams::WorkloadDescription& about = job.workload->about;
    return static_cast<double>(job.items) * static_cast<double>(about.item_bytes()) * (about.inputs + 1);
  }
};

/// Sets the job of the problem. Throws CommandError (status 2).
void complete(Problem& problem, const Options& options) {
  if (problem.by_bytes() == (problem.workload || problem.items))
    refuse("advise takes --bytes-in, --bytes-out and --kernel-us; or --workload and --items in their place");
  const std::string id = problem.workload.value_or("scale");
  streams::Job& job = problem.job;
  job.workload = streams::WorkloadRegistry::instance().find(id);
  if (job.workload == nullptr) unknown("workload", id, streams::WorkloadRegistry::instance().ids());
  job.items = problem.items.value_or(0);
  if (problem.by_bytes()) {
    options.refuse_useless({"work"}, "--kernel-us is the time of all work");
    if (!problem.kernel_seconds) refuse("--kernel-us is missing: give the time of the kernel, which may be 0");
    const auto most = static_cast<std::int64_t>(std::max(problem.bytes_in.value_or(0), problem.bytes_out.value_or(0)));
    job.items = ceil_div(most, static_cast<std::int64_t>(job.workload->about.item_bytes()));
  }
  if (const std::string reason = streams::refusal(job); !reason.empty()) refuse(reason);
  if (job.items < 1)
    refuse(fmt::format("there is nothing to copy, and so nothing to overlap: give {}",
                       problem.by_bytes() ? "--bytes-in or --bytes-out" : "--items, as in --items 2^26"));
}

}  // namespace

int advise(const std::vector<std::string>& arguments, Context& context) {
  Problem problem;
  std::optional<std::string> profile, against, json;
  int show = 5;
  bool force = false;
  Options options;
  options
      .file("profile", File::read, profile, "select the device profile, by name or FILE (default: measure this device)")
      .bytes("bytes-in", problem.bytes_in, "set the H2D bytes of the whole problem: 2^28, 256MiB")
      .bytes("bytes-out", problem.bytes_out, "set the D2H bytes of the whole problem")
      .microseconds("kernel-us", problem.kernel_seconds, "set the time of the kernel of the whole problem")
      .text("workload", "ID", problem.workload, "use a workload instead of bytes and time: scale")
      .count("items", problem.items, "set the items of the workload: 2^26")
      .number("work", problem.job.work, 0, streams::kMaxChunksOrStreams, "set the work per item of the workload")
      .number("show", show, 0, 1'000'000, "print this number of choices")
      .file("against", File::read, against, "compare the advice with results of 'streams run --sweep advise'")
      .file("json", File::written, json, "write every choice, or the comparison of --against, to FILE")
      .force(force);
  if (!options.parse(arguments, context)) return kOk;
  if (against) {
    options.refuse_useless({"bytes-in", "bytes-out", "kernel-us", "workload", "items", "work", "show"},
                           "the file of --against has its own problems");
  } else {
    complete(problem, options);
  }
  simulator::DeviceProfile device;
  if (profile) device = simulator::device_profile(*profile);
  std::optional<WholeFile> file = output_file(json, force);
  if (!profile) device = calibrated_here(context);  // takes a while: behind all that may be refused
  measure::Facts facts = measure::build_facts();
  facts["argv"] = fmt::format("{}", fmt::join(context.argv, " "));
  if (against) {
    const simulator::AdviceScore score = simulator::score_advice(*against, device);
    measure::add_measured(facts, score.context);
    print(score, context.out);
    measure::Facts document{{"schema", kAgainstSchema}, {"context", facts}, {"profile", device.name}};
    document.update(to_json(score));
    if (file) file->write(document.dump(1) + "\n");
    return kOk;
  }
  Advice advice;
  try {
    advice = simulator::advise(problem.job, device, problem.known(device), simulator::usual_choices());
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  }
  fmt::print(context.out, "{}: {}\n", device.name, device.title);
  print(advice, device, show, context.out);
  fmt::print(context.out, "device memory that it takes: {:.3g} GiB; the model does not know how much there is\n",
             advice.advised().held * problem.copied_bytes() / (1 << 30));
  fmt::print(context.out, "the calls of this schedule: variants/schedules/{}.cpp\n",
             advice.advised().schedule->about.id);
  if (file) {
    measure::Facts document{{"schema", kAdviceSchema}, {"context", facts}, {"profile", device.name}};
    if (problem.by_bytes()) {
      document.update({{"bytes_in", problem.bytes_in.value_or(0)},
                       {"bytes_out", problem.bytes_out.value_or(0)},
                       {"kernel_us", 1e6 * *problem.kernel_seconds}});
    }
    document.update(to_json(advice, problem.job));
    file->write(document.dump(1) + "\n");
  }
  return kOk;
}

}  // namespace scanlab::cli
