// scanlab verify: checks variants against the oracle, on the GPU or on the SIMT emulator.
#include <set>
#include <utility>

#include "harness/cli/options.hpp"
#include "harness/host/clock.hpp"
#include "harness/verify/summary.hpp"

namespace scanlab::cli {

namespace {

std::unique_ptr<verify::Checker> make_checker(const std::string& device, const simt::EmulatorOptions& options,
                                              const Context& context) {
  if (device == "cuda") require_device(context, "use --device simt, which runs the same kernels on the SIMT emulator");
#ifdef SCANLAB_WITH_CUDA
  std::string refusal;
  if (device != "simt" && measure::device_facts(refusal)) return verify::cuda_checker();
#endif
  return verify::cpu_checker(options);
}

/// The cases of a selection. Where all types or operators are asked for, a variant is checked with those that it has.
std::vector<Case> cases_of(const Selection& selection, bool with_small, const OptionWords& words) {
  std::vector<Case> cases = selection.cases(3);
  if (with_small) cases = verify::with_small(cases);
  const auto has = [](const auto& list, auto value) { return std::ranges::find(list, value) != list.end(); };
  const bool every_type = has(words_of(words, "type"), "all"), every_op = has(words_of(words, "op"), "all");
  std::erase_if(cases, [&](const Case& each) {
    const Description& about = each.variant->about;
    return (every_type && !has(about.types, each.problem.type)) ||
           (every_op && !has(about.operators, each.problem.op)) ||
           (every_type && every_op && !about.monoids.empty() &&
            !has(about.monoids, std::pair(each.problem.type, each.problem.op)));
  });
  return cases;
}

/// Checks each variant once past two levels of blocks, untraced, which is quicker, unless its checks were slow.
void check_levels(const std::vector<Case>& cases, const std::set<const Variant*>& slow, std::uint64_t seed,
                  const std::function<void(const verify::Check&)>& report) {
  std::vector<Case> levels = verify::past_two_levels(cases);
  std::erase_if(levels, [&](const Case& each) {
    if (!slow.contains(each.variant)) return false;
    report({.tested_case = each,
            .outcome = {.status = verify::Outcome::Status::skipped,
                        .message = "its checks take seconds; give --items to check it past two levels of blocks"}});
    return true;
  });
  const auto untraced = verify::cpu_checker({.trace = false, .seed = seed});
  verify::check_all(*untraced, levels, {.kinds = {InputKind::random}, .seed = seed}, report);
}

}  // namespace

int verify(const Words& arguments, Context& context) {
  OptionWords words;
  std::string device = "auto";
  bool untraced = false, interleave = false;
  verify::CheckRequest checks;
  Output json;
  Options options;
  add_selection_options(options, words, "sizes around warps and tiles");
  add_problem_options(options, words, "default all of a variant");
  options
      .choice("device", device, {{"auto", "auto"}, {"cuda", "cuda"}, {"simt", "simt"}},
              "select the GPU or the SIMT emulator")
      .list("input", "KIND", words,
            "select inputs: random, constant, alternating, one_hot, extremes, exact, or all (default by size)")
      .list("aliasing", "CASE", words,
            "select where arrays lie: apart, shifted (by 2, 4 or 6 items), in_place, or all (default apart, or all "
            "of a named variant)")
      .number("repeat", checks.repeat, 0, std::numeric_limits<int>::max(),
              "GPU: run each floating-point case N times more and count different outputs; 0: none")
      .seed(checks.seed, "seed the inputs, random sizes and --interleave")
      .flag("untraced", untraced, "SIMT emulator: skip the race check and keep the others, 5 times faster")
      .flag("interleave", interleave, "SIMT emulator: run blocks and threads in a random order, by seed")
      .flag("quick", checks.quick, "use few sizes and random input")
      .output("json", json, "write each check to FILE as one line of JSON");
  if (!options.parse(arguments, context)) return kOk;
  const bool named = options.given("variant") && !checks.quick;
  for (const char* option : {"type", "op"}) words.try_emplace(option, Words{"all"});
  Selection selection = select_scans(words);
  const bool of_arrays = scans_arrays(selection.primitive());
  if (of_arrays && !words.contains("mode")) selection.modes = {Mode::inclusive, Mode::exclusive};
  checks.kinds = values_of(words, "input", with_names(kInputKinds));
  if (words.contains("aliasing")) checks.aliasings = values_of(words, "aliasing", with_names(verify::kAliasings));
  if (checks.repeat == 1) refuse("--repeat 1: give 2 runs or more");
  const std::unique_ptr<verify::Checker> checker =
      make_checker(device,
                   {.trace = !untraced,
                    .order = interleave ? simt::BlockOrder::interleaved : simt::BlockOrder::in_order,
                    .seed = checks.seed},
                   context);
  const bool on_gpu = checker->on_gpu(), usual_sizes = selection.items.empty();
  if (checks.repeat > 0 && !on_gpu) {
    throw CommandError(
        device == "simt" ? kBadInput : kNoDevice,
        "--repeat needs a GPU: every run on the SIMT emulator is the same. Leave it out, or use --device cuda");
  }
  if (usual_sizes && of_arrays) {
    if (selection.primitive() == Primitive::scan)
      selection.items = verify::default_items(on_gpu, checks.quick, checks.seed);
    if (named && !words.contains("aliasing")) checks.aliasings.clear();
  }
  const verify::Checked checked{*checker, checks,
                                std::string(untraced ? " --untraced" : "") + (interleave ? " --interleave" : "")};
  measure::Facts facts = measured(on_gpu, context);
  facts["backend"] = checked.backend();
  facts["seed"] = std::to_string(checks.seed);
  std::optional<verify::ChecksFile> file;
  if (json.path) file.emplace(*json.path, json.force, facts);
  const bool with_small = usual_sizes && of_arrays && !on_gpu && selection.settings.empty() && !checks.quick;
  const std::vector<Case> cases = cases_of(selection, with_small, words);
  if (cases.empty()) refuse("no case is left to check: widen the selection");
  std::set<std::int64_t> sizes;
  for (const Case& each : cases) sizes.insert(each.problem.axis());
  fmt::print(context.out,
             "verifying on {}: {} variants and baselines, {} sizes from {} to {}, seed {}\ncommit {}{}{}\n",
             checked.backend(), selection.variants.size(), sizes.size(), *sizes.begin(), *sizes.rbegin(), checks.seed,
             facts["git_commit"].get<std::string>(), facts["git_dirty"] == "true" ? "+" : "",
             on_gpu ? ", on " + facts["device"].get<std::string>() : "");

  const InterruptGuard interrupt;
  verify::Summary summary(checked, context.out);
  const auto report = [&](const verify::Check& check) {
    if (file) file->add(to_json(check));
    summary.add(check);
  };
  try {
    constexpr double kSlow = 2;  // seconds: a check of 40 times the items may take 1,600 times as long
    std::set<const Variant*> slow;
    Clock::time_point last = Clock::now();
    verify::check_all(*checker, cases, checks, [&](const verify::Check& check) {
      if (seconds_since(std::exchange(last, Clock::now())) > kSlow) slow.insert(check.tested_case.variant);
      report(check);
    });
    if (usual_sizes && of_arrays && named && !on_gpu) check_levels(cases, slow, checks.seed, report);
  } catch (const verify::DeviceLost& lost) {
    summary.add_lost_device(lost);
  }
  if (file) file->add({{"ended", summary.counts()}});
  return summary.conclude(selection.variants, file ? file->path().string() : "");
}

}  // namespace scanlab::cli
