// scanlab advise: which schedule, how many chunks and streams, and whether streams are worth it. Needs no device where
// a profile is given.
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/advice/advice_cuda.hpp"
#include "harness/advice/advice_report.hpp"
#include "harness/cli/calibrate.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/options.hpp"
#include "harness/core/ceil.hpp"
#include "harness/measure/provenance.hpp"

namespace scanlab::cli {

namespace {

using simulator::Advice;

constexpr char kAdviceSchema[] = "scanlab-advice/1";
constexpr char kAgainstSchema[] = "scanlab-advice-against/1";

constexpr char kNotes[] =
    "The problem is given by its bytes and the kernel's time. A workload of 'scanlab streams list' may take their\n"
    "place. With work above 1 it needs a profile of 'scanlab calibrate', which has its time.\n"
    "Every choice is simulated. Streams gain where copies overlap kernels, or each other. They gain nothing with\n"
    "little to copy, or with chunks shorter than their latencies.\n"
    "The program of --emit cuda has pinned memory, streams, events, and the chunks in the recommended order. A\n"
    "kernel in it is to be replaced by yours; its main times and verifies the schedule beside a version without\n"
    "streams.\n";

po::options_description advise_options() {
  po::options_description options("options");
  options.add_options()  //
      ("profile", text("NAME"),
       "select the device profile, by name or FILE.json of 'scanlab calibrate' (default: measure this device)")  //
      ("bytes-in", text("BYTES"), "set the H2D bytes of the whole problem: 2^28, 256MiB")                        //
      ("bytes-out", text("BYTES"), "set the D2H bytes of the whole problem")                                     //
      ("kernel-us", po::value<double>()->value_name("T"),
       "set the time of the kernel of the whole problem, in microseconds")                                    //
      ("workload", text("ID"), "use a workload instead of bytes and time: scale")                             //
      ("items", text("N"), "set the items of the workload: 2^26")                                             //
      ("work", po::value<int>()->default_value(1)->value_name("N"), "set the work per item of the workload")  //
      ("show", po::value<int>()->default_value(5)->value_name("N"), "print this number of choices")           //
      ("against", text("FILE"),
       "compare the advice with results of 'streams run --sweep advise', problem by problem")         //
      ("emit", text("cuda"), "write the recommended schedule as a CUDA program, into --out FILE.cu")  //
      ("out", text("FILE"), "write the program of --emit to FILE")                                    //
      ("json", text("FILE"), "write every choice, or the comparison of --against, to FILE")           //
      ("force", "replace FILE if it exists")                                                          //
      ("help,h", "print this text");
  return options;
}

std::int64_t number(const po::variables_map& values, const char* option) {
  if (values.count(option) == 0) return 0;
  const std::string flag = fmt::format("--{}", option);
  const std::vector<std::int64_t> all = parse_items(values[option].as<std::string>(), flag);
  if (all.size() != 1) throw CommandError(kBadInput, fmt::format("{} takes one number, as in {} 2^26", flag, flag));
  return all.front();
}

std::int64_t bytes(const po::variables_map& values, const char* option) {
  if (values.count(option) == 0) return 0;
  return static_cast<std::int64_t>(parse_bytes(values[option].as<std::string>(), fmt::format("--{}", option)));
}

/// What is to be done: a job, or so many bytes and the kernel's time in its place.
struct Asked {
  streams::Job job;
  struct Sizes {
    std::int64_t in = 0;        ///< bytes
    std::int64_t out = 0;       ///< bytes
    double kernel_seconds = 0;  ///< of the whole problem
  };
  std::optional<Sizes> sizes{};

  simulator::KnownTimes known(const simulator::DeviceProfile& device) const {
    if (!sizes) return {};
    return {.copy_in = static_cast<double>(sizes->in) / device.alone.in,
            .kernel = sizes->kernel_seconds,
            .copy_out = static_cast<double>(sizes->out) / device.alone.out};
  }
};

/// What the whole problem copies.
simulator::CopiedBytes copied_bytes(const Asked& asked) {
  if (asked.sizes) return {asked.sizes->in, asked.sizes->out};
  const streams::WorkloadDescription& workload = asked.job.workload->about;
  const auto array = asked.job.items * static_cast<std::int64_t>(workload.item_bytes());
  return {array * workload.inputs, array};
}

/// The program that --emit asks for, if it does. Refuses before anything is measured what could not be written.
std::optional<WholeFile> program_file(const po::variables_map& values, const Asked& asked) {
  if (values.count("emit") != values.count("out")) {
    throw CommandError(kBadInput, "--emit and --out go together, as in --emit cuda --out pipeline.cu");
  }
  if (values.count("emit") == 0) return {};
  if (const auto what = values["emit"].as<std::string>(); what != "cuda") unknown("form to emit", what, {"cuda"});
  if (values.count("against") != 0) throw CommandError(kBadInput, "--against has many problems, and --emit is of one");
  if (const auto out = values["out"].as<std::string>(); !out.ends_with(".cu")) {
    throw CommandError(kBadInput, fmt::format("--out {}: nvcc takes a program by its ending, FILE.cu", out));
  }
  if (const std::string why = program_refusal(asked.job, copied_bytes(asked)); !why.empty()) {
    throw CommandError(kBadInput, fmt::format("--emit: {}", why));
  }
  return output_file(values);
}

Asked asked_for(const po::variables_map& values) {
  const bool by_bytes = values.count("bytes-in") + values.count("bytes-out") + values.count("kernel-us") > 0;
  const bool by_workload = values.count("workload") + values.count("items") > 0;
  if (by_bytes == by_workload) {
    throw CommandError(
        kBadInput, "advise takes --bytes-in, --bytes-out and --kernel-us; or --workload and --items in their place");
  }
  Asked asked;
  asked.job.work = values["work"].as<int>();
  const std::string id = by_workload && values.count("workload") != 0 ? values["workload"].as<std::string>() : "scale";
  asked.job.workload = streams::WorkloadRegistry::instance().find(id);
  if (asked.job.workload == nullptr) unknown("workload", id, streams::WorkloadRegistry::instance().ids());
  if (by_workload) {
    asked.job.items = number(values, "items");
  } else {
    refuse_options(values, {"work"}, "--kernel-us is the time of all work");
    if (values.count("kernel-us") == 0) {
      throw CommandError(kBadInput, "--kernel-us is missing: give the time of the kernel, which may be 0");
    }
    const std::int64_t in = bytes(values, "bytes-in");
    const std::int64_t out = bytes(values, "bytes-out");
    asked.job.items = ceil_div(std::max(in, out), static_cast<std::int64_t>(asked.job.workload->about.item_bytes()));
    asked.sizes = {.in = in, .out = out, .kernel_seconds = *seconds_of(values, "kernel-us")};
  }
  if (const std::string why = streams::refusal(asked.job); !why.empty()) throw CommandError(kBadInput, why);
  if (asked.job.items < 1)
    throw CommandError(kBadInput,
                       fmt::format("there is nothing to copy, and so nothing to overlap: give {}",
                                   by_workload ? "--items, as in --items 2^26" : "--bytes-in or --bytes-out"));
  return asked;
}

}  // namespace

int advise(const std::vector<std::string>& arguments, Context& context) {
  po::variables_map values;
  if (!parse_options(arguments, advise_options(), {}, command("advise"), context, values)) {
    context.out << "\n" << kNotes;
    return kOk;
  }
  const bool against = values.count("against") != 0;
  if (against) {
    refuse_options(values, {"bytes-in", "bytes-out", "kernel-us", "workload", "items", "work", "show"},
                   "the file of --against has its own problems");
  }
  const Asked asked = against ? Asked{} : asked_for(values);
  simulator::DeviceProfile device;
  const bool is_given = values.count("profile") != 0;
  if (is_given) device = simulator::device_profile(values["profile"].as<std::string>());
  std::optional<WholeFile> program = program_file(values, asked);
  std::optional<WholeFile> file = output_file(values, "json");
  if (!is_given) device = calibrated_here(context);  // takes a while: behind all that may be refused
  measure::Facts facts = measure::build_facts();
  facts["argv"] = fmt::format("{}", fmt::join(context.argv, " "));
  if (against) {
    const simulator::AdviceScore score = simulator::score_advice(values["against"].as<std::string>(), device);
    measure::add_measured(facts, score.context);
    print(score, context.out);
    measure::Facts document{{"schema", kAgainstSchema}, {"context", facts}, {"profile", device.name}};
    document.update(to_json(score));
    if (file) file->write(document.dump(1) + "\n");
    return kOk;
  }
  Advice advice;
  try {
    advice = simulator::advise(asked.job, device, asked.known(device), simulator::usual_choices());
  } catch (const std::invalid_argument& error) {
    throw CommandError(kBadInput, error.what());
  }
  std::string text;
  if (program) {
    const std::filesystem::path out = values["out"].as<std::string>();
    text = cuda_program(advice, device, copied_bytes(asked), out.filename().string());
  }
  fmt::print(context.out, "{}: {}\n", device.name, device.title);
  print(advice, device, option_number(values, "show", 0, 1'000'000), context.out);
  const simulator::CopiedBytes copied = copied_bytes(asked);
  fmt::print(context.out, "device memory that it takes: {:.3g} GiB; the model does not know how much there is\n",
             advice.advised().held * static_cast<double>(copied.in + copied.out) / (1 << 30));
  if (file) {
    measure::Facts document{{"schema", kAdviceSchema}, {"context", facts}, {"profile", device.name}};
    if (asked.sizes) {
      document.update({{"bytes_in", asked.sizes->in},
                       {"bytes_out", asked.sizes->out},
                       {"kernel_us", 1e6 * asked.sizes->kernel_seconds}});
    }
    document.update(to_json(advice, asked.job));
    file->write(document.dump(1) + "\n");
  }
  if (program) {
    program->write(text);
    fmt::print(context.out, "{} in {}\n", describe(advice.advised()), values["out"].as<std::string>());
  }
  return kOk;
}

}  // namespace scanlab::cli
