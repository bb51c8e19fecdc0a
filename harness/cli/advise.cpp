// scanlab advise: which schedule, how many chunks and streams, and whether streams are worth it. Needs no device where
// a profile is given. And scanlab calibrate: measures the profile of a device.

#include "harness/advice/advice_score.hpp"
#include "harness/calibration/calibration.hpp"
#include "harness/cli/options.hpp"
#include "harness/core/ceil.hpp"
#ifdef SCANLAB_WITH_CUDA
#include "harness/cuda/device.hpp"
#include "harness/replay/schedule_trace.hpp"
#endif

namespace scanlab::cli {

namespace {

constexpr int kDefaultRepetitions = 5;
constexpr char kCalibrated[] = "calibrated";  // the profile's name, unless another is given

std::vector<int> works_of(const OptionWords& words) {
  const std::vector<std::int64_t> works = counts_of(words, "work", 1, 1'000'000);
  if (works.empty()) return {1, 64, 512, 4096};
  return {works.begin(), works.end()};
}

/// Measures this device.
simulator::Calibration measure_device([[maybe_unused]] const std::vector<int>& works, [[maybe_unused]] int repetitions,
                                      [[maybe_unused]] measure::Facts provenance, [[maybe_unused]] Context& context) {
#ifdef SCANLAB_WITH_CUDA
  const auto device = cuda::probe_device().facts.value();
  const simulator::DeviceLimits limits{.name = device.name,
                                       .compute_capability = device.compute_capability,
                                       .multiprocessors = device.multiprocessors,
                                       .resident_blocks = device.resident_blocks,
                                       .resident_threads = device.resident_threads};
  const InterruptGuard guard;
  Progress progress(context.err);
  std::optional<streams::HostArrays> arrays;
  return simulator::calibrate(limits, works, std::move(provenance), [&](const simulator::Microbenchmark& experiment) {
    end_if_interrupted();
    progress.show(experiment.name);
    const streams::Recording& recording = experiment.recording;
    return streams::measure_replays(recording, streams::HostArrays::of(recording.job, arrays),
                                    {.repetitions = repetitions, .stamped = true, .verified = false});
  });
#else
  throw std::logic_error("a device was found by a program that knows none");
#endif
}

void complain_of_failures(const simulator::Calibration& calibration, std::ostream& err) {
  for (const simulator::MeasuredExperiment& each : calibration.experiments) {
    if (!each.failure.empty()) fmt::print(err, "scanlab: {}: {}\n", each.experiment.name, each.failure);
  }
}

struct Asked {
  std::optional<std::size_t> bytes_in, bytes_out;
  std::optional<double> kernel_seconds;
  std::optional<std::string> workload;
  std::optional<std::int64_t> items;
  streams::Job job;

  bool by_bytes() const { return bytes_in || bytes_out || kernel_seconds; }
  double copied_bytes() const {
    if (by_bytes()) return static_cast<double>(bytes_in.value_or(0) + bytes_out.value_or(0));
    return static_cast<double>(job.workload->about.array_bytes(job.items));
  }
};

/// Sets the job of the problem. Throws CommandError (status 2).
void complete(Asked& asked, const Options& options) {
  if (asked.by_bytes() == (asked.workload || asked.items))
    refuse("advise takes --bytes-in, --bytes-out and --kernel-us; or --workload and --items in their place");
  const std::string id = asked.workload.value_or(kDefaultWorkload);
  streams::Job& job = asked.job;
  job.workload = streams::WorkloadRegistry::instance().find(id);
  if (job.workload == nullptr) unknown("workload", id, streams::WorkloadRegistry::instance().ids());
  job.items = asked.items.value_or(0);
  if (asked.by_bytes()) {
    options.refuse_useless({"work"}, "--kernel-us is the time of all work");
    if (!asked.kernel_seconds) refuse("--kernel-us is missing: give the time of the kernel, which may be 0");
    const auto most = static_cast<std::int64_t>(std::max(asked.bytes_in.value_or(0), asked.bytes_out.value_or(0)));
    job.items = ceil_div(most, static_cast<std::int64_t>(job.workload->about.item_bytes()));
  }
  if (const std::string reason = streams::refusal(job); !reason.empty()) refuse(reason);
  if (job.items < 1)
    refuse(fmt::format("there is nothing to copy, and so nothing to overlap: give {}",
                       asked.by_bytes() ? "--bytes-in or --bytes-out" : "--items, as in --items 2^26"));
}

}  // namespace

int advise(const Words& arguments, Context& context) {
  Asked asked;
  std::optional<std::string> profile, against;
  int show = 5;
  Output json;
  Options options;
  options
      .file("profile", File::read, profile, "select the device profile, by name or FILE (default: measure this device)")
      .bytes("bytes-in", asked.bytes_in, "set the H2D bytes of the whole problem: 2^28, 256MiB")
      .bytes("bytes-out", asked.bytes_out, "set the D2H bytes of the whole problem")
      .microseconds("kernel-us", asked.kernel_seconds, "set the time of the kernel of the whole problem")
      .text("workload", "ID", asked.workload, "use a workload instead of bytes and time: scale")
      .count("items", asked.items, "set the items of the workload: 2^26")
      .number("work", asked.job.work, 0, streams::kMaxChunksOrStreams, "set the work per item of the workload")
      .number("show", show, 0, 1'000'000, "print this number of choices")
      .file("against", File::read, against, "compare the advice with results of 'streams run --sweep advise'")
      .output("json", json, "write every choice, or the comparison of --against, to FILE");
  if (!options.parse(arguments, context)) return kOk;
  if (against) {
    options.refuse_useless({"bytes-in", "bytes-out", "kernel-us", "workload", "items", "work", "show"},
                           "the file of --against has its own problems");
  } else {
    complete(asked, options);
  }
  simulator::DeviceProfile device;
  if (profile) device = simulator::device_profile(*profile);
  std::optional<WholeFile> file = json.open();
  if (!profile) {  // takes a while: behind all that may be refused
    require_device(context, "give --profile");
    const simulator::Calibration measured_now =
        measure_device(works_of({}), kDefaultRepetitions, measured(/*on_device=*/true, context), context);
    complain_of_failures(measured_now, context.err);
    device = simulator::parse_device_profile(simulator::profile_of(measured_now, kCalibrated).dump(), "this device");
  }
  measure::Facts facts = measure::build_facts();
  facts["argv"] = fmt::format("{}", fmt::join(context.argv, " "));
  measure::Facts document{{"schema", against ? "scanlab-advice-against/1" : "scanlab-advice/1"},
                          {"context", facts},
                          {"profile", device.name}};
  if (against) {
    const simulator::AdviceScore score = simulator::score_advice(*against, device);
    measure::add_measured(document["context"], score.context);
    print(score, context.out);
    document.update(to_json(score));
  } else {
    simulator::KnownTimes known;
    if (asked.by_bytes()) {
      known = {.copy_in = static_cast<double>(asked.bytes_in.value_or(0)) / device.alone.in,
               .kernel = asked.kernel_seconds,
               .copy_out = static_cast<double>(asked.bytes_out.value_or(0)) / device.alone.out};
      document.update({{"bytes_in", asked.bytes_in.value_or(0)},
                       {"bytes_out", asked.bytes_out.value_or(0)},
                       {"kernel_us", 1e6 * *asked.kernel_seconds}});
    }
    const simulator::Advice advice = simulator::advise(asked.job, device, known, simulator::usual_choices());
    fmt::print(context.out, "{}: {}\n", device.name, device.title);
    print(advice, device, show, context.out);
    fmt::print(context.out,
               "device memory that it takes: {:.3g} GiB; the model does not know how much there is\n"
               "the calls of this schedule: variants/schedules/{}.cpp\n",
               advice.advised().held * asked.copied_bytes() / (1 << 30), advice.advised().schedule->about.id);
    document.update(to_json(advice, asked.job));
  }
  if (file) file->write(document.dump(1) + "\n");
  return kOk;
}

int calibrate(const Words& arguments, Context& context) {
  OptionWords words;
  std::optional<std::string> raw, from;
  Output out;
  std::string name = kCalibrated;
  int repetitions = kDefaultRepetitions;
  Options options;
  options.output("out", out, "write the profile to FILE, for simulate --profile FILE")
      .text("name", "NAME", name, "name the profile")
      .file("raw", File::written, raw, "write every repetition to FILE, with provenance")
      .file("from", File::read, from, "read a FILE of --raw instead of measuring")
      .list("work", "LIST", words, "set the work per item of every workload's kernels (default 1,64,512,4096)")
      .number("repetitions", repetitions, 1, 1000, "take N repetitions with tracing and N without");
  if (!options.parse(arguments, context)) return kOk;
  if (!out.path && !raw) refuse("calibrate writes a profile: give its file, as in 'scanlab calibrate --out mine.json'");
  if (!is_one_line(name)) refuse("--name: give one line of text, as in --name my_gpu");
  const std::vector<int> works = works_of(words);
  if (from) options.refuse_useless({"work", "repetitions"}, "the file of --from has its own");
  measure::Facts provenance;
  if (!from) provenance = measured(/*on_device=*/true, context);
  std::optional<WholeFile> profile = out.open();
  std::optional<WholeFile> raw_file = Output{raw, out.force}.open();
  const simulator::Calibration calibration =
      from ? simulator::parse_calibration(read_json(*from)) : measure_device(works, repetitions, provenance, context);
  if (raw_file) raw_file->write(simulator::to_json(calibration).dump() + "\n");
  if (profile) profile->write(simulator::profile_of(calibration, name).dump(1) + "\n");
  complain_of_failures(calibration, context.err);  // of what the profile went without
  return kOk;
}

}  // namespace scanlab::cli
