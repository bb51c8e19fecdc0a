// scanlab calibrate: measures on a device what the engine model wants to know of it.
#include "harness/cli/calibrate.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "harness/calibration/calibration.hpp"
#include "harness/cli/options.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/progress.hpp"
#include "harness/measure/provenance.hpp"
#ifdef SCANLAB_WITH_CUDA
#include "harness/cuda/device.hpp"
#include "harness/replay/cuda_timeline.hpp"
#endif

namespace scanlab::cli {

namespace {

const std::vector<std::string> kDefaultWork{"1", "64", "512", "4096"};
constexpr int kDefaultRepetitions = 5;
constexpr char kCalibrated[] = "calibrated";  // the profile's name, unless another is given

constexpr char kNotes[] =
    "Microbenchmarks alone are run: copies in one and in both directions, kernels behind the copy of their items,\n"
    "dependencies between engines, and API calls. No schedule is run that a simulation is compared with.\n";

po::options_description calibrate_options() {
  po::options_description options("options");
  options.add_options()                                                                //
      ("out", text("FILE"), "write the profile to FILE, for simulate --profile FILE")  //
      ("name", text("NAME")->default_value(kCalibrated), "name the profile")           //
      ("raw", text("FILE"), "write every repetition to FILE, with provenance")         //
      ("from", text("FILE"), "read a FILE of --raw instead of measuring")              //
      ("work", list_of("LIST"),
       fmt::format("set the work per item of every workload's kernels (default {})", fmt::join(kDefaultWork, ","))
           .c_str())  //
      ("repetitions", po::value<int>()->default_value(kDefaultRepetitions)->value_name("N"),
       "take N repetitions with tracing and N without")  //
      ("force", "replace files that exist")              //
      ("help,h", "print this text");
  return options;
}

std::vector<int> works_of(const po::variables_map& values) {
  OptionWords words = said(values);
  words.try_emplace("work", kDefaultWork);
  std::vector<int> works;
  for (const std::int64_t work : counts_of(words, "work")) {
    if (work < 1 || work > 1'000'000)
      throw CommandError(kBadInput, fmt::format("--work {}: give numbers between 1 and 1000000", work));
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
  po::variables_map values;
  if (!parse_options(arguments, calibrate_options(), {}, command("calibrate"), context, values)) {
    context.out << "\n" << kNotes;
    return kOk;
  }
  if (values.count("out") == 0 && values.count("raw") == 0) {
    throw CommandError(kBadInput,
                       "calibrate writes a profile: give its file, as in 'scanlab calibrate --out mine.json'");
  }
  if (!is_one_line(values["name"].as<std::string>())) {
    throw CommandError(kBadInput, "--name: give one line of text, as in --name my_gpu");
  }
  const std::vector<int> works = works_of(values);
  [[maybe_unused]] const int repetitions = option_number(values, "repetitions", 1, 1000);
  const bool measures = values.count("from") == 0;
  if (!measures) refuse_options(values, {"work", "repetitions"}, "the file of --from has its own");
  measure::Facts provenance;
  if (measures) provenance = measure::measured_on("scanlab calibrate", context.argv);
  std::optional<WholeFile> out = output_file(values);
  std::optional<WholeFile> raw = output_file(values, "raw");
#ifdef SCANLAB_WITH_CUDA
  const simulator::Calibration calibration =
      measures ? measure(works, repetitions, provenance, context)
               : simulator::parse_calibration(read_json(values["from"].as<std::string>()));
#else
  const simulator::Calibration calibration = simulator::parse_calibration(read_json(values["from"].as<std::string>()));
#endif
  if (raw) raw->write(simulator::to_json(calibration).dump() + "\n");
  if (out) out->write(profile_text(calibration, values["name"].as<std::string>()));
  complain_of_failures(calibration, context.err);  // of what the profile went without
  return kOk;
}

}  // namespace scanlab::cli
