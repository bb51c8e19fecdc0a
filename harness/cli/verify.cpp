// scanlab verify: checks variants against the oracle, on the GPU or on the SIMT emulator.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <ostream>

#include "harness/cli/command.hpp"
#include "harness/cli/selection.hpp"
#include "harness/host/append_file.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/verify/checks.hpp"
#include "harness/verify/comparison.hpp"

namespace scanlab::cli {

namespace po = boost::program_options;
using verify::Check;
using verify::Checker;
using verify::InputKind;
using verify::Outcome;
using verify::Placement;
using Json = nlohmann::ordered_json;

namespace {

struct Request {
  std::unique_ptr<Checker> checker;
  Selection selection;
  verify::CheckRequest checks;
  bool every_type = false;  ///< as many as each variant has, not ones that were named
  bool every_op = false;    ///< likewise
  bool small = false;       ///< also with the small values of variants' parameters
  std::string flags;        ///< the words that make the emulator run the same way again

  const char* device() const { return checker->on_gpu() ? "cuda" : "simt"; }
};

po::options_description make_options() {
  po::options_description options(
      "Without --items: n = 0, 1, 2, 31, 32, 33, 100, around the tiles 1024 and 2048, and random sizes by seed.\n"
      "On the GPU also past 1024^2 and 2048^2. On the executor also, without --set, 240 kB in small tiles or by\n"
      "few blocks where a variant has a parameter for that, the last block first. Without --input: every kind on\n"
      "the GPU; on the executor every kind to n = 33 and random input above, which keeps the whole check of all\n"
      "variants to about a minute on one core.\noptions",
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
  const auto list_of = [](const char* value) {
    return po::value<std::vector<std::string>>()->composing()->value_name(value);
  };
  options.add_options()                                                                                             //
      ("type", list_of("TYPE"), "i8, i16, i32, i64, f16, f32, f64 (default all that a variant has)")                //
      ("op", list_of("OP"), "plus, max, min, affine (default all that a variant has)")                              //
      ("mode", list_of("MODE"), "inclusive, exclusive (default all)")                                               //
      ("device", po::value<std::string>()->default_value("auto")->value_name("DEVICE"),                             //
       "cuda, simt (the CPU executor), or auto: cuda if there is a GPU")                                            //
      ("input", list_of("KIND"), "random, constant, alternating, one_hot, extremes")                                //
      ("placement", list_of("PLACE"),                                                                               //
       "apart: two aligned arrays (default); shifted: from their second, fourth, sixth item on; in_place; or all")  //
      ("repeat", po::value<int>()->default_value(0)->value_name("N"),                                               //
       "GPU: also run each floating case N times, half of them beside other work, and count different outputs")     //
      ("seed", po::value<std::uint64_t>()->default_value(1)->value_name("N"), "of inputs, sizes and --interleave")  //
      ("untraced", "executor: check bounds, barriers and results, but look for no races (5 times faster)")          //
      ("interleave", "executor: blocks and threads in a random order by seed")                                      //
      ("quick", "few sizes, random input")                                                                          //
      ("json", po::value<std::string>()->value_name("FILE"), "every check as a line of JSON, as it is made")        //
      ("force", "replace FILE if it exists")                                                                        //
      ("help,h", "this text");
  return options;
}

/// What `parse` makes of an option's words; `all` has every value that there is.
template <class Value, std::size_t kCount, class Parse>
std::vector<Value> read_values(const po::variables_map& values, const char* option,
                               const std::array<Value, kCount>& all, const Parse& parse) {
  std::vector<Value> chosen;
  for (const std::string& word : option_words(values, option)) {
    if (const auto value = parse(word)) {
      chosen.push_back(*value);
    } else if (word == "all") {
      chosen.insert(chosen.end(), all.begin(), all.end());
    } else {
      std::vector<std::string> known{"all"};
      for (const Value each : all) known.emplace_back(name(each));
      unknown(option, word, known);
    }
  }
  return chosen;
}

std::unique_ptr<Checker> make_checker(const std::string& device, const simt::ExecutorOptions& options) {
  if (device != "auto" && device != "cuda" && device != "simt") {
    throw CommandError(kBadInput, fmt::format("--device is cuda, simt or auto, not '{}'", device));
  }
  std::string why_not;
  if (device != "simt" && measure::device_facts(why_not)) {
#ifdef SCANLAB_WITH_CUDA
    return verify::cuda_checker();
#endif
  }
  if (device == "cuda") {
    throw CommandError(kNoDevice, fmt::format("no GPU to verify on: {}; use --device simt, which runs the same kernels "
                                              "on the CPU executor",
                                              why_not));
  }
  return verify::cpu_checker(options);
}

Request read_request(po::variables_map values) {
  Request request;
  verify::CheckRequest& checks = request.checks;
  const auto every = [&](const char* option) {
    const std::vector<std::string> words = option_words(values, option);
    return words.empty() || std::ranges::find(words, "all") != words.end();
  };
  request.every_type = every("type");
  request.every_op = every("op");
  for (const char* option : {"type", "op", "mode"}) {
    if (values.count(option) == 0) {
      values.insert({option, po::variable_value(std::vector<std::string>{"all"}, true)});
    }
  }
  request.selection = read_selection(values);
  checks.kinds = read_values(values, "input", verify::kInputKinds, verify::parse_input_kind);
  if (values.count("placement") != 0) {
    checks.placements = read_values(values, "placement", verify::kPlacements, verify::parse_placement);
  }
  checks.repeat = values["repeat"].as<int>();
  if (checks.repeat < 0 || checks.repeat == 1) {
    throw CommandError(kBadInput, fmt::format("--repeat takes 2 runs or more, not {}", checks.repeat));
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
  const std::string device = values["device"].as<std::string>();
  request.checker = make_checker(device, options);
  const bool on_gpu = request.checker->on_gpu();
  if (checks.repeat > 0 && !on_gpu) {
    throw CommandError(device == "simt" ? kBadInput : kNoDevice,
                       "--repeat needs a GPU: on the executor every run is the same");
  }
  if (request.selection.items.empty()) {
    request.small = !on_gpu && request.selection.settings.empty() && !checks.quick;
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

/// What was found of one variant with one type, operator and mode.
struct Standing {
  const Variant* variant = nullptr;
  int passed = 0;
  int failed = 0;
  double worst = 0;
  std::vector<std::string> failures;
  std::map<std::string, std::vector<std::int64_t>> skips;  ///< reason to the n's skipped for it
  int repeated = 0;                                        ///< cases that were run many times
  std::vector<std::string> varying;                        ///< those of them whose bits varied
};

/// Prints what was found of each type, operator and mode, variant by variant, and counts.
class Summary {
 public:
  Summary(const Request& request, std::ostream& out) : request_(request), out_(out) {}

  void add(const Check& check) {
    const Problem& problem = check.of.problem;
    if (problem.type != group_.type || problem.op != group_.op || problem.mode != group_.mode) print_group();
    group_ = problem;
    const auto found = std::ranges::find(standings_, check.of.variant, &Standing::variant);
    Standing& standing =
        found != standings_.end() ? *found : standings_.emplace_back(Standing{.variant = check.of.variant});
    const Outcome& outcome = check.outcome;
    if (outcome.status == Outcome::Status::skipped) {
      ++skipped_;
      out_of_memory_ |= outcome.out_of_memory;
      standing.skips[outcome.message].push_back(problem.items);
      return;
    }
    standing.worst = std::max(standing.worst, outcome.error_to_bound);
    if (check.runs > 0) {
      ++standing.repeated;
      if (check.different > 1 && outcome.passed()) {
        standing.varying.push_back(fmt::format("{} different outputs in {} runs (n = {}, {} input)", check.different,
                                               check.runs, problem.items, name(*check.input)));
      }
    }
    if (outcome.passed()) {
      ++passed_;
      ++standing.passed;
      return;
    }
    ++failed_;
    ++standing.failed;
    standing.failures.push_back(fmt::format("n = {}, {} input: {}\n           again: {}", problem.items,
                                            name(*check.input), outcome.message, again(check)));
  }

  void add_lost_device(const verify::DeviceLost& lost) {
    print_group();
    fmt::print(out_, "FAILED: the GPU stopped answering in {}; the checks that remain were not made\n", lost.what());
    ++failed_;
  }

  /// Prints what is left, and the counts. Returns a Status; throws CommandError.
  int conclude() {
    print_group();
    const bool stopped = interrupted();
    fmt::print(out_, "{} passed, {} failed, {} skipped{}\n", passed_, failed_, skipped_,
               stopped ? "; interrupted before the end" : "");
    if (stopped) return kInterrupted;
    if (failed_ > 0) return kFailed;
    const auto takes = [&](const Variant* variant) { return request_.checker->takes(*variant); };
    if (passed_ == 0 && !std::ranges::all_of(request_.selection.variants, takes)) {
      throw CommandError(kNoDevice, fmt::format("nothing was checked: what was asked for has no form for {}",
                                                request_.checker->on_gpu() ? "the GPU" : "the CPU executor"));
    }
    return out_of_memory_ ? kOutOfMemory : kOk;
  }

  /// The last line of the results file.
  Json counts() const {
    return {{"passed", passed_}, {"failed", failed_}, {"skipped", skipped_}, {"interrupted", interrupted()}};
  }

 private:
  /// The words that make this one check once more.
  std::string again(const Check& check) const {
    const Problem& problem = check.of.problem;
    std::string words = fmt::format(
        "scanlab verify --device {} --variant {} --type {} --op {} --mode {} --items {} --input {} --seed {}",
        request_.device(), check.of.variant->about.id, name(problem.type), name(problem.op), name(problem.mode),
        problem.items, name(*check.input), request_.checks.seed);
    if (check.placement != Placement::apart) words += fmt::format(" --placement {}", name(*check.placement));
    for (const auto& [parameter, value] : problem.settings) words += fmt::format(" --set {}={}", parameter, value);
    return words + request_.flags;
  }

  void print_group() {
    for (const Standing& each : standings_) print(each);
    standings_.clear();
    out_.flush();
  }

  void print(const Standing& each) const {
    std::string line = fmt::format("{:<20} {:<3} {:<6} {:<9}  {:>3} passed", each.variant->about.id, name(group_.type),
                                   name(group_.op), name(group_.mode), each.passed);
    if (each.failed > 0) line += fmt::format("  {} FAILED", each.failed);
    if (verify::rounds(group_) && each.passed + each.failed > 0) {
      line += fmt::format("  worst error/bound {:.3f}", each.worst);
    }
    if (each.repeated > 0 && each.varying.empty()) {
      line += fmt::format("  same bits in {} runs of each of {}", request_.checks.repeat, each.repeated);
    }
    fmt::print(out_, "{}\n", line);
    if (!each.varying.empty()) {
      fmt::print(out_, "    bits vary in {} of {}: {}\n", each.varying.size(), each.repeated, each.varying.front());
    }
    constexpr std::size_t kShown = 5;
    for (std::size_t i = 0; i < std::min(kShown, each.failures.size()); ++i) {
      fmt::print(out_, "    FAILED {}\n", each.failures[i]);
    }
    if (each.failures.size() > kShown) {
      fmt::print(out_, "    and {} more failures\n", each.failures.size() - kShown);
    }
    for (const auto& [why, sizes] : each.skips) {
      fmt::print(out_, "    skipped {}: {} (n = {})\n", sizes.size(), why, fmt::join(sizes, ", "));
    }
  }

  const Request& request_;
  std::ostream& out_;
  Problem group_;
  std::vector<Standing> standings_;
  int passed_ = 0;
  int failed_ = 0;
  int skipped_ = 0;
  bool out_of_memory_ = false;
};

/// Of which code and device this is.
measure::Facts provenance(const Request& request, const Context& context) {
  if (request.checker->on_gpu()) return measure::measured_on("scanlab verify", context.argv);
  measure::Facts facts = measure::host_facts();
  facts.update(measure::build_facts());
  facts["date"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  facts["argv"] = fmt::format("{}", fmt::join(context.argv, " "));
  return facts;
}

}  // namespace

int verify(const std::vector<std::string>& arguments, Context& context) {
  po::variables_map values;
  if (!parse_options(arguments, make_options(), {}, command("verify"), context, values)) return kOk;
  const Request request = read_request(values);
  measure::Facts facts = provenance(request, context);
  facts["backend"] = request.device();
  facts["seed"] = std::to_string(request.checks.seed);
  std::optional<AppendFile> file;
  const auto keep = [&](const Json& line) {
    if (file) file->append(line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  };
  if (values.count("json") != 0) {
    file.emplace(values["json"].as<std::string>(), values.count("force") != 0, "", std::chrono::seconds(1));
  }
  keep({{"schema", verify::kVerificationSchema}, {"context", facts}});
  const auto [least, most] = std::ranges::minmax(request.selection.items);
  fmt::print(context.out, "verifying on {}: {} variants and baselines, {} sizes from {} to {}, seed {}\n",
             request.device(), request.selection.variants.size(), request.selection.items.size(), least, most,
             request.checks.seed);
  fmt::print(context.out, "commit {}{}{}\n", facts["git_commit"].get<std::string>(),
             facts["git_dirty"] == "true" ? "+" : "",
             request.checker->on_gpu() ? ", on " + facts["device"].get<std::string>() : "");

  const InterruptGuard interrupt;
  Summary summary(request, context.out);
  try {
    verify::check_all(*request.checker, cases_of(request), request.checks, [&](const Check& check) {
      keep(to_json(check));
      summary.add(check);
    });
  } catch (const verify::DeviceLost& lost) {
    summary.add_lost_device(lost);
  }
  keep({{"ended", summary.counts()}});
  return summary.conclude();
}

}  // namespace scanlab::cli
