// scanlab streams implicit-sync: what the sources say stops streams from overlapping, tried on this device; and
// concurrency: small grids side by side, against the formula, with 1, 8 and 32 hardware work queues; and features:
// what CUDA has since the lectures, beside programs without it.
#include "harness/cli/options.hpp"
#include "harness/cuda/hardware_queues.hpp"
#include "harness/features/feature.hpp"
#include "harness/host/fresh_process.hpp"
#include "harness/implicit_sync/concurrency.hpp"
#include "harness/implicit_sync/findings.hpp"

namespace scanlab::cli {

int streams_implicit_sync(const Words& arguments, Context& context) {
  if (!arguments.empty() && arguments[0] == kInFreshProcess) {
    context.out << implicit_sync::answer_in_fresh_process({arguments.begin() + 1, arguments.end()}) << "\n";
    return kOk;
  }
  OptionWords words;
  int trials = 15;
  bool list = false;
  Output json;
  Options options;
  options.list("experiment", "GLOB", words, "select experiments by name or glob; controls always run (default all)")
      .number("trials", trials, 1, 10000, "take N trials per experiment")
      .flag("list", list, "print the experiments and their sources; needs no device")
      .output("json", json, "write every trial to FILE, with provenance");
  if (!options.parse(arguments, context)) return kOk;
  const std::vector<const implicit_sync::Experiment*> asked = implicit_sync::select(words_of(words, "experiment"));
  if (list) {
    options.refuse_useless({"trials", "json", "force"}, "--list measures nothing");
    implicit_sync::print_list(asked, context.out);
    return kOk;
  }
  const measure::Facts provenance = measured(/*on_device=*/true, context);
  std::optional<WholeFile> file = json.open();

  const InterruptGuard guard;
  std::vector<implicit_sync::Finding> findings;
  {
    Progress progress(context.err);
    for (const implicit_sync::Experiment* each : asked) {
      progress.show(fmt::format("{} of {}: {}", findings.size() + 1, asked.size(), each->name));
      findings.push_back(find_out(*each, trials, {"streams", "implicit-sync"}));
      end_if_interrupted();
      require_control(findings.back());
    }
  }
  implicit_sync::print(findings, context.out);
  if (file) {
    file->write(implicit_sync::document(findings, provenance).dump(1) + "\n");
    fmt::print(context.out, "\n{} experiments in {}\n", findings.size(), *json.path);
  }
  return kOk;
}

int streams_concurrency(const Words& arguments, Context& context) {
  constexpr std::int64_t kMaxBlocks = 1 << 16;
  const bool fresh = !arguments.empty() && arguments[0] == kInFreshProcess;
  const Words own(arguments.begin() + (fresh ? 1 : 0), arguments.end());
  OptionWords words;
  streams::ConcurrencySettings settings;
  Output json;
  Options options;
  options.list("streams", "LIST", words, "set the numbers of concurrent streams: 1,2,4 or 1:128:x2")
      .list("kernels", "LIST", words, "set the kernels per stream")
      .list("blocks", "LIST", words, "set the blocks per kernel")
      .number("threads", settings.threads, 1, 1024, "set the threads per block")
      .number("repetitions", settings.repetitions, 1, 1000, "take N repetitions per case")
      .list("queues", "LIST", words, "set the hardware work queues, one process per number (default 1,8,32)")
      .output("json", json, "write every repetition to FILE, with provenance");
  if (!options.parse(own, context)) return kOk;
  const auto counts = [&](const char* option, std::int64_t most, const std::vector<std::int64_t>& otherwise) {
    return words.contains(option) ? counts_of(words, option, 1, most) : otherwise;
  };
  const std::vector<std::int64_t> queues = counts("queues", cuda::kMaxConnections, {1, 8, 32});
  std::vector<streams::SmallGrids> grids =
      streams::every_grid(counts("streams", streams::kMaxStreams, {1}), counts("kernels", streams::kMaxKernels, {1}),
                          counts("blocks", kMaxBlocks, {1}));
  const bool are_named = words.contains("streams") || words.contains("kernels") || words.contains("blocks");
  if (!are_named) grids.clear();  // the staircase of this device
  if (fresh) {
    context.out << streams::measure_cases(settings, grids).dump() << "\n";
    return kOk;
  }
  const measure::Facts provenance = measured(/*on_device=*/true, context);
  std::optional<WholeFile> file = json.open();

  Words again{"streams", "concurrency", kInFreshProcess};
  again.insert(again.end(), own.begin(), own.end());
  const InterruptGuard guard;
  measure::Facts cases = measure::Facts::array();
  {
    Progress progress(context.err);
    for (const std::int64_t connections : queues) {
      progress.show(fmt::format("with {} hardware work queues", connections));
      const measure::Facts measured = streams::measure_cases_with(connections, again);
      end_if_interrupted();
      cases.insert(cases.end(), measured.begin(), measured.end());
    }
  }
  streams::print(cases, queues, context.out);
  if (file) {
    const measure::Facts document{{"schema", streams::kConcurrencySchema}, {"context", provenance}, {"cases", cases}};
    file->write(document.dump(1) + "\n");
    fmt::print(context.out, "\n{} cases in {}\n", cases.size(), *json.path);
  }
  return kOk;
}

int streams_features(const Words& arguments, Context& context) {
  const std::vector<features::Feature> all = features::features();
  OptionWords words;
  int repetitions = 15;
  std::optional<std::string> profile;
  Output json;
  Options options;
  options.list("feature", "GLOB", words, "select features by name or glob (default all)")
      .number("repetitions", repetitions, 1, 1000, "take N repetitions per case, after one that is not timed")
      .file("profile", File::read, profile, "predict with the engine model of a device, by name or FILE.json")
      .output("json", json, "write every repetition to FILE, with provenance");
  if (!options.parse(arguments, context)) return kOk;
  std::optional<simulator::DeviceProfile> device;
  if (profile) device = simulator::device_profile(*profile);
  Words ids;
  for (const features::Feature& each : all) ids.push_back(each.about.id);
  const Words globs = words_of(words, "feature");
  for (const std::string& glob : globs) {
    if (std::ranges::none_of(ids, [&](const std::string& id) { return fits(glob, id); })) unknown("feature", glob, ids);
  }
  const auto asked = [&](const std::string& id) {
    return globs.empty() || std::ranges::any_of(globs, [&](const std::string& glob) { return fits(glob, id); });
  };
  const measure::Facts provenance = measured(/*on_device=*/true, context);
  std::optional<WholeFile> file = json.open();

  const InterruptGuard guard;
  std::vector<features::Measured> done;
  {
    Progress progress(context.err);
    for (const features::Feature& each : all) {
      if (!asked(each.about.id)) continue;
      progress.show(each.about.id);
      done.push_back(features::measure(each, repetitions, device ? &*device : nullptr));
      end_if_interrupted();
    }
  }
  for (const features::Measured& each : done) features::print(each, context.out);
  if (file) {
    measure::Facts document{{"schema", features::kSchema}, {"context", provenance}};
    document["profile"] = device ? device->name : "";
    document.update(features::to_json(done));
    file->write(document.dump(1) + "\n");
    fmt::print(context.out, "\n{} features in {}\n", done.size(), *json.path);
  }
  return kOk;
}

}  // namespace scanlab::cli
