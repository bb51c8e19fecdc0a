// scanlab calibrate: measures on a device what the engine model wants to know of it.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "harness/calibration/calibration.hpp"
#include "harness/cli/options.hpp"
#include "harness/cli/simulate.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/progress.hpp"
#ifdef SCANLAB_WITH_CUDA
#include "harness/cuda/device.hpp"
#include "harness/replay/schedule_trace.hpp"
#endif

namespace scanlab::cli {

namespace {

constexpr int kDefaultRepetitions = 5;
constexpr char kCalibrated[] = "calibrated";  // the profile's name, unless another is given

std::vector<int> works_of(OptionWords words) {
  words.try_emplace("work", Words{"1", "64", "512", "4096"});
  std::vector<int> works;
  for (const std::int64_t work : counts_of(words, "work")) {
    if (work < 1 || work > 1'000'000) refuse(fmt::format("--work {}: give numbers between 1 and 1000000", work));
    works.push_back(static_cast<int>(work));
  }
  return works;
}

#ifdef SCANLAB_WITH_CUDA

simulator::Calibration measure(const std::vector<int>& works, int repetitions, measure::Facts provenance,
                               Context& context) {
  const auto device = cuda::probe_device().facts.value();
  const simulator::DeviceLimits limits{.name = device.name,
                                       .compute_capability = device.compute_capability,
                                       .multiprocessors = device.multiprocessors,
                                       .resident_blocks = device.resident_blocks,
                                       .resident_threads = device.resident_threads};
  const InterruptGuard guard;
  Progress progress(context.err);
  std::unique_ptr<streams::HostArrays> arrays;
  return simulator::calibrate(limits, works, std::move(provenance), [&](const simulator::Microbenchmark& experiment) {
    if (interrupted()) throw CommandError(kInterrupted, "interrupted; nothing is written");
    progress.show(experiment.name);
    const streams::Recording& recording = experiment.recording;
    if (!arrays || !arrays->serves(recording.job)) {
      arrays.reset();
      arrays = std::make_unique<streams::HostArrays>(recording.job, 1);
    }
    return streams::measure_replays(recording, *arrays,
                                    {.repetitions = repetitions, .stamped = true, .verified = false});
  });
}

#endif

void complain_of_failures(const simulator::Calibration& calibration, std::ostream& err) {
  for (const simulator::MeasuredExperiment& each : calibration.experiments) {
    if (!each.failure.empty()) fmt::print(err, "scanlab: {}: {}\n", each.experiment.name, each.failure);
  }
}

/// The profile's text. Throws CommandError (status 1) if an experiment is missing that a figure is read from.
std::string profile_text(const simulator::Calibration& calibration, const std::string& name) {
  try {
    return simulator::profile_of(calibration, name).dump(1) + "\n";
  } catch (const simulator::CalibrationError& error) {
    throw CommandError(kFailed, error.what());
  }
}

}  // namespace

simulator::DeviceProfile calibrated_here([[maybe_unused]] Context& context) {
  const measure::Facts provenance = measure::measured_on("scanlab advise without --profile", context.argv);
#ifdef SCANLAB_WITH_CUDA
  const simulator::Calibration calibration = measure(works_of({}), kDefaultRepetitions, provenance, context);
  complain_of_failures(calibration, context.err);
  return simulator::parse_device_profile(profile_text(calibration, kCalibrated), "the device's profile");
#else
  throw std::logic_error("a device was found by a program that knows none");
#endif
}

int calibrate(const std::vector<std::string>& arguments, Context& context) {
  OptionWords words;
  std::optional<std::string> out, raw, from;
  std::string name = kCalibrated;
  int repetitions = kDefaultRepetitions;
  bool force = false;
  Options options;
  options.file("out", File::written, out, "write the profile to FILE, for simulate --profile FILE")
      .text("name", "NAME", name, "name the profile")
      .file("raw", File::written, raw, "write every repetition to FILE, with provenance")
      .file("from", File::read, from, "read a FILE of --raw instead of measuring")
      .list("work", "LIST", words, "set the work per item of every workload's kernels (default 1,64,512,4096)")
      .number("repetitions", repetitions, 1, 1000, "take N repetitions with tracing and N without")
      .force(force);
  if (!options.parse(arguments, context)) return kOk;
  if (!out && !raw) refuse("calibrate writes a profile: give its file, as in 'scanlab calibrate --out mine.json'");
  if (!is_one_line(name)) refuse("--name: give one line of text, as in --name my_gpu");
  const std::vector<int> works = works_of(words);
  if (from) options.refuse_useless({"work", "repetitions"}, "the file of --from has its own");
  measure::Facts provenance;
  if (!from) provenance = measure::measured_on("scanlab calibrate", context.argv);
  std::optional<WholeFile> out_file = output_file(out, force);
  std::optional<WholeFile> raw_file = output_file(raw, force);
#ifdef SCANLAB_WITH_CUDA
  const simulator::Calibration calibration =
      from ? simulator::parse_calibration(read_json(*from)) : measure(works, repetitions, provenance, context);
#else
  const simulator::Calibration calibration = simulator::parse_calibration(read_json(*from));
#endif
  if (raw_file) raw_file->write(simulator::to_json(calibration).dump() + "\n");
  if (out_file) out_file->write(profile_text(calibration, name));
  complain_of_failures(calibration, context.err);  // of what the profile went without
  return kOk;
}

}  // namespace scanlab::cli
