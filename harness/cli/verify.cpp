// scanlab verify: checks variants against the oracle, on the GPU or on the SIMT emulator.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <array>
#include <functional>
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

po::options_description make_options() {
  po::options_description options(
      "Default sizes: n = 0, 1, 2, 31, 32, 33, 100, around the tiles 1024 and 2048, and random sizes by seed. The GPU\n"
      "adds sizes past 1024^2 and 2048^2. The SIMT emulator adds, without --set, 240 kB in small tiles or few blocks,\n"
      "for variants with a parameter for that, the last block first. Default inputs: every kind. Above n = 33 the\n"
      "emulator takes random ones and, of floats, exact ones: all variants take about a minute on one core.\n"
      "Variants that --variant names are also tried in every aliasing and alignment case, with random input, on the\n"
      "emulator for n <= 100 and n = 2049. There they are tried once past two levels of blocks of 1024, at\n"
      "n = 1024^2 + 1, without a look for races.\n"
      "Sums of an exact input do not round: one lost item is seen, however long the array. Races are looked for in\n"
      "arrays of up to 2^23 items.\noptions",
      110);
  po::options_description selectors;
  add_selection_options(selectors, "");
  // Unlike the other commands this one checks every combination unless told otherwise.
  const auto narrowed = [](const std::string& option) {
    return option == "type" || option == "op" || option == "mode";
  };
  for (const auto& option : selectors.options()) {
    if (!narrowed(option->long_name())) options.add(option);
  }
  options.add_options()  //
      ("type", list_of("TYPE"),
       ("select element types: " + all_names<ElementType>() + " (default all of a variant)").c_str())                //
      ("op", list_of("OP"), ("select operators: " + all_names<Operator>() + " (default all of a variant)").c_str())  //
      ("mode", list_of("MODE"), "select inclusive or exclusive (default all)")                                       //
      ("device", text("DEVICE")->default_value("auto"),                                                              //
       "select cuda, simt (the SIMT emulator), or auto: cuda if a GPU is present")                                   //
      ("input", list_of("KIND"),
       "select inputs: random, constant, alternating, one_hot, extremes, exact (default above)")  //
      ("aliasing", list_of("CASE"),                                                               //
       "select where arrays lie: apart (two aligned arrays), shifted (they begin at item 2, 4 or 6), in_place, or "
       "all (default above, else apart)")                              //
      ("repeat", po::value<int>()->default_value(0)->value_name("N"),  //
       "GPU: run each floating-point case N times more, half of them beside other work, and count different outputs; "
       "0: none")  //
      ("seed", po::value<std::uint64_t>()->default_value(1)->value_name("N"),
       "seed the inputs, random sizes and --interleave")                                      //
      ("untraced", "SIMT emulator: skip the race check and keep the others, 5 times faster")  //
      ("interleave", "SIMT emulator: run blocks and threads in a random order, by seed")      //
      ("quick", "use few sizes and random input")                                             //
      ("json", text("FILE"), "write each check to FILE as one line of JSON")                  //
      ("force", "replace FILE if it exists")                                                  //
      ("help,h", "print this text");
  return options;
}

std::unique_ptr<Checker> make_checker(const std::string& device, const simt::ExecutorOptions& options) {
  std::string why_not;
  if (device != "simt" && measure::device_facts(why_not)) {
#ifdef SCANLAB_WITH_CUDA
    return verify::cuda_checker();
#endif
  }
  if (device == "cuda") {
    throw CommandError(kNoDevice, fmt::format("no GPU to verify on: {}; use --device simt, which runs the same kernels "
                                              "on the SIMT emulator",
                                              why_not));
  }
  return verify::cpu_checker(options);
}

Request read_request(const po::variables_map& values) {
  Request request;
  verify::CheckRequest& checks = request.checks;
  OptionWords words = said(values);
  for (const char* option : {"type", "op", "mode"}) words.try_emplace(option, Words{"all"});
  const auto every = [&](const char* option) {
    const Words named = words_of(words, option);
    return std::ranges::find(named, "all") != named.end();
  };
  request.every_type = every("type");
  request.every_op = every("op");
  request.selection = select_scans(words);
  checks.kinds = values_of(words, "input", with_names(kInputKinds));
  if (words.contains("aliasing")) {
    checks.placements = values_of(words, "aliasing", with_names(verify::kPlacements));
  }
  checks.repeat = values["repeat"].as<int>();
  if (checks.repeat < 0 || checks.repeat == 1) {
    throw CommandError(kBadInput, fmt::format("--repeat {}: give 2 runs or more", checks.repeat));
  }
  checks.seed = values["seed"].as<std::uint64_t>();
  checks.quick = values.count("quick") != 0;

  simt::ExecutorOptions options;
  options.seed = checks.seed;
  if (values.count("untraced") != 0) {
    options.trace = false;
    request.flags += " --untraced";
  }
  if (values.count("interleave") != 0) {
    options.order = simt::BlockOrder::interleaved;
    request.flags += " --interleave";
  }
  const std::string device = parse_word(values, "device", {"auto", "cuda", "simt"});
  request.checker = make_checker(device, options);
  const bool on_gpu = request.checker->on_gpu();
  if (checks.repeat > 0 && !on_gpu) {
    throw CommandError(
        device == "simt" ? kBadInput : kNoDevice,
        "--repeat needs a GPU: every run on the SIMT emulator is the same. Leave it out, or use --device cuda");
  }
  if (request.selection.items.empty()) {
    request.small = !on_gpu && request.selection.settings.empty() && !checks.quick;
    const bool named = values.count("variant") != 0 && !checks.quick;
    request.levels = named && !on_gpu;
    if (named && !words.contains("aliasing")) checks.placements.clear();
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
  po::variables_map values;
  const std::vector<std::string> words = renamed(arguments, "--placement", "--aliasing");
  if (!parse_options(words, make_options(), {}, command("verify"), context, values)) return kOk;
  const Request request = read_request(values);
  const verify::Checked checked{*request.checker, request.checks, request.flags};
  measure::Facts facts = request.checker->on_gpu() ? measure::measured_on("scanlab verify", context.argv)
                                                   : measure::measured_on_host(context.argv);
  facts["backend"] = checked.backend();
  facts["seed"] = std::to_string(request.checks.seed);
  std::optional<AppendFile> file;
  const auto text = [](const Json& line) { return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; };
  if (values.count("json") != 0) {
    file.emplace(values["json"].as<std::string>(), values.count("force") != 0, "", std::chrono::seconds(1));
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
