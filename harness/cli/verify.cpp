// scanlab verify: checks variants against the oracle, on the GPU or on the SIMT emulator.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "harness/cli/options.hpp"
#include "harness/host/append_file.hpp"
#include "harness/host/clock.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/verify/summary.hpp"

namespace scanlab::cli {

using verify::Checker;
using Json = nlohmann::ordered_json;

namespace {

struct Request {
  std::unique_ptr<Checker> checker;
  Selection selection;
  verify::CheckRequest checks;
  bool every_type = false;  ///< as many as each variant has, not ones that were named
  bool every_op = false;    ///< likewise
  bool small = false;       ///< also with the small values of variants' parameters
  bool levels = false;      ///< also past two levels of blocks
  std::string flags;        ///< as verify::Checked has them
};

struct VerifyOptions {
  OptionWords words;
  std::string device = "auto";
  int repeat = 0;
  std::uint64_t seed = 1;
  bool untraced = false, interleave = false, quick = false, force = false;
  std::optional<std::string> json;
  Options options;

  VerifyOptions() {
    add_selection_options(options, words, "sizes around warps and tiles");
    add_problem_options(options, words, "default all of a variant");
    options.choice("device", device, {"auto", "cuda", "simt"}, "select the GPU or the SIMT emulator")
        .list("input", "KIND", words,
              "select inputs: random, constant, alternating, one_hot, extremes, exact, or all (default by size)")
        .list("aliasing", "CASE", words,
              "select where arrays lie: apart, shifted (by 2, 4 or 6 items), in_place, or all (default apart)")
        .number("repeat", repeat, 0, std::numeric_limits<int>::max(),
                "GPU: run each floating-point case N times more and count different outputs; 0: none")
        .seed(seed, "seed the inputs, random sizes and --interleave")
        .flag("untraced", untraced, "SIMT emulator: skip the race check and keep the others, 5 times faster")
        .flag("interleave", interleave, "SIMT emulator: run blocks and threads in a random order, by seed")
        .flag("quick", quick, "use few sizes and random input")
        .file("json", File::written, json, "write each check to FILE as one line of JSON")
        .force(force);
  }
};

std::unique_ptr<Checker> make_checker(const std::string& device, const simt::EmulatorOptions& options) {
  std::string refusal;
  if (device != "simt" && measure::device_facts(refusal)) {
#ifdef SCANLAB_WITH_CUDA
    return verify::cuda_checker();
#endif
  }
  if (device == "cuda") {
    throw CommandError(kNoDevice, fmt::format("no GPU to verify on: {}; use --device simt, which runs the same kernels "
                                              "on the SIMT emulator",
                                              refusal));
  }
  return verify::cpu_checker(options);
}

Request read_request(const VerifyOptions& asked) {
  Request request;
  verify::CheckRequest& checks = request.checks;
  OptionWords words = asked.words;
  for (const char* option : {"type", "op", "mode"}) words.try_emplace(option, Words{"all"});
  const auto every = [&](const char* option) {
    const Words named = words_of(words, option);
    return std::ranges::find(named, "all") != named.end();
  };
  request.every_type = every("type");
  request.every_op = every("op");
  request.selection = select_scans(words);
  checks.kinds = values_of(words, "input", with_names(kInputKinds));
  if (words.contains("aliasing")) checks.aliasings = values_of(words, "aliasing", with_names(verify::kAliasings));
  checks.repeat = asked.repeat;
  if (checks.repeat == 1) refuse("--repeat 1: give 2 runs or more");
  checks.seed = asked.seed;
  checks.quick = asked.quick;
  if (asked.untraced) request.flags += " --untraced";
  if (asked.interleave) request.flags += " --interleave";
  simt::EmulatorOptions options;
  options.seed = checks.seed;
  options.trace = !asked.untraced;
  if (asked.interleave) options.order = simt::BlockOrder::interleaved;
  request.checker = make_checker(asked.device, options);
  const bool on_gpu = request.checker->on_gpu();
  if (checks.repeat > 0 && !on_gpu) {
    throw CommandError(
        asked.device == "simt" ? kBadInput : kNoDevice,
        "--repeat needs a GPU: every run on the SIMT emulator is the same. Leave it out, or use --device cuda");
  }
  if (request.selection.items.empty()) {
    request.small = !on_gpu && request.selection.settings.empty() && !checks.quick;
    const bool named = words.contains("variant") && !checks.quick;
    request.levels = named && !on_gpu;
    if (named && !words.contains("aliasing")) checks.aliasings.clear();
    request.selection.items = verify::default_items(on_gpu, checks.quick, checks.seed);
  }
  return request;
}

/// The cases that are meant: of all types and operators only those that a variant has.
std::vector<Case> cases_of(const Request& request) {
  std::vector<Case> cases = request.selection.cases();
  if (request.small) cases = verify::with_small(cases);
  std::erase_if(cases, [&](const Case& each) {
    const auto has = [](const auto& list, auto value) { return std::ranges::find(list, value) != list.end(); };
    const Description& about = each.variant->about;
    return (request.every_type && !has(about.types, each.problem.type)) ||
           (request.every_op && !has(about.operators, each.problem.op));
  });
  return cases;
}

/// A check of 40 times the items may take 1,600 times as long.
constexpr double kSlow = 2;  // seconds

/// Once past two levels of blocks, and untraced, which is quicker: variants whose checks were quick.
void check_levels(const Request& request, const std::vector<Case>& cases, const std::set<const Variant*>& slow,
                  const std::function<void(const verify::Check&)>& report) {
  std::vector<Case> levels = verify::past_two_levels(cases);
  std::erase_if(levels, [&](const Case& each) {
    if (!slow.contains(each.variant)) return false;
    report({.tested_case = each,
            .outcome = {.status = verify::Outcome::Status::skipped,
                        .message = "its checks take seconds; give --items to check it past two levels of blocks"}});
    return true;
  });
  const std::unique_ptr<Checker> untraced = verify::cpu_checker({.trace = false, .seed = request.checks.seed});
  verify::check_all(*untraced, levels, {.kinds = {InputKind::random}, .seed = request.checks.seed}, report);
}

}  // namespace

int verify(const std::vector<std::string>& arguments, Context& context) {
  VerifyOptions asked;
  if (!asked.options.parse(arguments, context)) return kOk;
  const Request request = read_request(asked);
  const verify::Checked checked{*request.checker, request.checks, request.flags};
  measure::Facts facts = request.checker->on_gpu() ? measure::measured_on("scanlab verify", context.argv)
                                                   : measure::measured_on_host(context.argv);
  facts["backend"] = checked.backend();
  facts["seed"] = std::to_string(request.checks.seed);
  std::optional<AppendFile> file;
  const auto text = [](const Json& line) { return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; };
  if (asked.json) {
    file.emplace(*asked.json, asked.force, "", std::chrono::seconds(1));
    file->begin(text({{"schema", verify::kVerificationSchema}, {"context", facts}}));
  }
  const auto [least, most] = std::ranges::minmax(request.selection.items);
  fmt::print(context.out, "verifying on {}: {} variants and baselines, {} sizes from {} to {}, seed {}\n",
             checked.backend(), request.selection.variants.size(), request.selection.items.size(), least, most,
             request.checks.seed);
  fmt::print(context.out, "commit {}{}{}\n", facts["git_commit"].get<std::string>(),
             facts["git_dirty"] == "true" ? "+" : "",
             request.checker->on_gpu() ? ", on " + facts["device"].get<std::string>() : "");

  const InterruptGuard interrupt;
  verify::Summary summary(checked, context.out);
  const auto report = [&](const verify::Check& check) {
    if (file) file->append(text(to_json(check)));
    summary.add(check);
  };
  try {
    const std::vector<Case> cases = cases_of(request);
    std::set<const Variant*> slow;
    Clock::time_point last = Clock::now();
    verify::check_all(*request.checker, cases, request.checks, [&](const verify::Check& check) {
      if (seconds_since(std::exchange(last, Clock::now())) > kSlow) slow.insert(check.tested_case.variant);
      report(check);
    });
    if (request.levels) check_levels(request, cases, slow, report);
  } catch (const verify::DeviceLost& lost) {
    summary.add_lost_device(lost);
  }
  if (file) file->append(text({{"ended", summary.counts()}}));
  return summary.conclude(request.selection.variants, file ? file->path().string() : "");
}

}  // namespace scanlab::cli
