// scanlab verify: checks variants against the oracle, on the GPU or on the CPU executor.
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <ostream>
#include <sstream>
#include <string_view>

#include "harness/cli/command.hpp"
#include "harness/cli/selection.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/verify/comparison.hpp"
#include "harness/verify/verification.hpp"
#ifdef SCANLAB_WITH_CUDA
#include "harness/cuda/error.hpp"
#include "harness/verify/cuda_verification.hpp"
#endif

namespace scanlab::cli {

namespace po = boost::program_options;
using verify::InputKind;
using verify::Oracle;
using verify::Outcome;
using verify::Placement;

namespace {

/// Where variants are checked.
class Checker {
 public:
  virtual ~Checker() = default;
  virtual const char* name() const = 0;
  /// Whether `variant` can be checked here; host code can be checked anywhere.
  virtual bool takes(const Variant& variant) const = 0;
  /// The oracle of the checks that follow; it outlives them.
  virtual void expect(const Oracle& oracle) = 0;
  virtual Outcome check(const Variant& variant, const Problem& problem, Placement placement) = 0;
  /// `runs` runs on one input; `different` becomes the number of different outputs.
  virtual Outcome repeat(const Variant& variant, const Problem& problem, int runs, int& different) = 0;
};

class CpuChecker : public Checker {
 public:
  explicit CpuChecker(simt::ExecutorOptions options) : options_(options) {}
  const char* name() const override { return "simt"; }
  bool takes(const Variant& variant) const override { return variant.machines.simt || variant.machines.host; }
  void expect(const Oracle& oracle) override { oracle_ = &oracle; }
  Outcome check(const Variant& variant, const Problem& problem, Placement placement) override {
    simt::ExecutorOptions options = options_;
    // Small tiles are there to be many: they are taken in the order that is worst for those that wait for others.
    const bool small = !problem.settings.empty() && problem.settings == small_settings(variant.about);
    if (small && options.order == simt::BlockOrder::in_order) options.order = simt::BlockOrder::reversed;
    return verify::verify_on_cpu(variant, problem, *oracle_, options, placement);
  }
  Outcome repeat(const Variant&, const Problem&, int, int&) override {
    return {.status = Outcome::Status::skipped, .message = "bits vary on a GPU only"};
  }

 private:
  simt::ExecutorOptions options_;
  const Oracle* oracle_ = nullptr;
};

#ifdef SCANLAB_WITH_CUDA
class CudaChecker : public Checker {
 public:
  const char* name() const override { return "cuda"; }
  bool takes(const Variant& variant) const override { return variant.machines.cuda || variant.machines.host; }
  void expect(const Oracle& oracle) override {
    oracle_ = &oracle;
    reference_.reset();
    lack_.reset();
  }
  Outcome check(const Variant& variant, const Problem& problem, Placement placement) override {
    if (!variant.machines.cuda) return verify::verify_on_cpu(variant, problem, *oracle_, {}, placement);
    if (!reference_ && !lack_) send_reference();
    return lack_ ? *lack_ : verify::verify_on_cuda(variant, problem, *reference_, placement);
  }
  Outcome repeat(const Variant& variant, const Problem& problem, int runs, int& different) override {
    if (!variant.machines.cuda) return {.status = Outcome::Status::skipped, .message = "runs on the host"};
    if (!reference_ && !lack_) send_reference();
    if (lack_) return *lack_;
    verify::Repeats repeats = verify::repeat_on_cuda(variant, problem, *reference_, runs);
    different = repeats.different;
    return std::move(repeats.outcome);
  }

 private:
  void send_reference() {
    try {
      reference_.emplace(*oracle_);
    } catch (const cuda::OutOfMemory& error) {
      lack_ = verify::lacking_device_memory(error.bytes);
    }
  }

  const Oracle* oracle_ = nullptr;
  std::optional<verify::CudaReference> reference_;
  std::optional<Outcome> lack_;
};
using verify::DeviceLost;
#else
struct DeviceLost : std::runtime_error {
  using std::runtime_error::runtime_error;
};
#endif

struct Request {
  std::unique_ptr<Checker> checker;
  Selection selection;
  std::vector<InputKind> kinds;  ///< empty: chosen by n
  std::vector<Placement> placements;
  int repeat = 0;           ///< runs of each case whose results round; 0: none
  bool every_type = false;  ///< as many as each variant has, not ones that were named
  bool every_op = false;    ///< likewise
  std::uint64_t seed = 1;
  bool quick = false;
  bool small = false;  ///< also with the small values of variants' parameters
  std::string flags;   ///< the words that make the executor run the same way again
};

// Sizes where scans break: nothing, one item, around a warp, around the tiles of 1024 and 2048 items that blocks take.
constexpr std::int64_t kSmallItems = 33;
constexpr std::array<std::int64_t, 7> kSmallSizes{0, 1, 2, 31, 32, 33, 100};
constexpr std::array<std::int64_t, 6> kTileSizes{1023, 1024, 1025, 2047, 2048, 2049};
// Past the second level of recursion, which the executor would take minutes for.
constexpr std::array<std::int64_t, 4> kLevelSizes{1'000'000, 1024 * 1024 + 1, 2048 * 2048, 2048 * 2048 + 1};

/// Tiles of 2 KiB or 3.5 are so many then that one looks back over two windows of them, and blocks that share tiles of
/// 16 KiB by two have several.
constexpr std::int64_t kSmallBytes = 240'000;

std::vector<std::int64_t> default_items(bool on_gpu, bool quick, std::uint64_t seed) {
  std::vector<std::int64_t> items(kSmallSizes.begin(), kSmallSizes.end());
  const auto random_below = [&](std::int64_t limit, std::int64_t which) {
    return static_cast<std::int64_t>(verify::random_bits(seed, verify::Draw::place, -which) %
                                     static_cast<std::uint64_t>(limit));
  };
  if (quick) {
    items.insert(items.end(), {1025, 2049});
  } else {
    items.insert(items.end(), kTileSizes.begin(), kTileSizes.end());
    items.insert(items.end(), {random_below(1024, 1), 16384 + random_below(16384, 2)});
  }
  if (on_gpu && !quick) {
    items.insert(items.end(), kLevelSizes.begin(), kLevelSizes.end());
    items.insert(items.end(), {random_below(100'000, 3), random_below(10'000'000, 4)});
  }
  std::ranges::sort(items);
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return items;
}

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
      ("help,h", "this text");
  return options;
}

/// The words of an option that takes several, each an option or a list of words with commas.
std::vector<std::string> read_words(const po::variables_map& values, const char* option) {
  std::vector<std::string> words;
  if (values.count(option) == 0) return words;
  for (const std::string& text : values[option].as<std::vector<std::string>>()) {
    std::istringstream list(text);
    for (std::string word; std::getline(list, word, ',');) words.push_back(word);
  }
  return words;
}

/// What `parse` makes of an option's words; `all` has every value that there is.
template <class Value, std::size_t kCount, class Parse>
std::vector<Value> read_values(const po::variables_map& values, const char* option,
                               const std::array<Value, kCount>& all, const Parse& parse) {
  std::vector<Value> chosen;
  for (const std::string& word : read_words(values, option)) {
    if (const auto value = parse(word)) {
      chosen.push_back(*value);
    } else if (word == "all") {
      chosen.insert(chosen.end(), all.begin(), all.end());
    } else {
      std::vector<std::string> known{"all"};
      for (const Value each : all) known.emplace_back(name(each));
      const std::vector<std::string> near = near_matches(word, known);
      throw CommandError(
          kBadInput, near.empty()
                         ? fmt::format("there is no {} '{}'; known: {}", option, word, fmt::join(known, ", "))
                         : fmt::format("there is no {} '{}'; did you mean {}?", option, word, fmt::join(near, " or ")));
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
    return std::make_unique<CudaChecker>();
#endif
  }
  if (device == "cuda") {
    throw CommandError(kNoDevice, fmt::format("no GPU to verify on: {}; use --device simt, which runs the same kernels "
                                              "on the CPU executor",
                                              why_not));
  }
  return std::make_unique<CpuChecker>(options);
}

Request read_request(po::variables_map values) {
  Request request;
  const auto every = [&](const char* option) {
    const std::vector<std::string> words = read_words(values, option);
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
  request.kinds = read_values(values, "input", verify::kInputKinds, verify::parse_input_kind);
  request.placements = read_values(values, "placement", verify::kPlacements, verify::parse_placement);
  if (request.placements.empty()) request.placements = {Placement::apart};
  request.repeat = values["repeat"].as<int>();
  if (request.repeat < 0 || request.repeat == 1) {
    throw CommandError(kBadInput, fmt::format("--repeat takes 2 runs or more, not {}", request.repeat));
  }
  request.seed = values["seed"].as<std::uint64_t>();
  request.quick = values.count("quick") != 0;

  simt::ExecutorOptions options;
  options.seed = request.seed;
  if (values.count("untraced") != 0) {
    options.trace = false;
    request.flags += " --untraced";
  }
  if (values.count("interleave") != 0) {
    options.order = simt::BlockOrder::interleaved;
    request.flags += " --interleave";
  }
  request.checker = make_checker(values["device"].as<std::string>(), options);
  if (request.repeat > 0 && request.checker->name() == std::string("simt")) {
    throw CommandError(values["device"].as<std::string>() == "simt" ? kBadInput : kNoDevice,
                       "--repeat needs a GPU: on the executor every run is the same");
  }
  if (request.selection.items.empty()) {
    request.small =
        request.checker->name() == std::string("simt") && request.selection.settings.empty() && !request.quick;
    request.selection.items =
        default_items(request.checker->name() == std::string("cuda"), request.quick, request.seed);
  }
  return request;
}

std::vector<InputKind> kinds_for(const Request& request, std::int64_t n) {
  if (!request.kinds.empty()) return request.kinds;
  const bool all = request.checker->name() == std::string("cuda") || n <= kSmallItems;
  if (request.quick || n == 0 || !all) return {InputKind::random};
  return {verify::kInputKinds.begin(), verify::kInputKinds.end()};
}

const char* machine_of(const Checker& checker) {
  return checker.name() == std::string("simt") ? "the CPU executor" : "the GPU";
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

class Session {
 public:
  Session(const Request& request, Context& context) : request_(request), context_(context) {}

  int run() {
    std::vector<Case> cases = request_.selection.cases();
    if (request_.small) cases = with_small(cases);
    std::erase_if(cases, [&](const Case& each) { return !meant(each); });
    const InterruptGuard interrupt;
    try {
      for (auto begin = cases.begin(); begin != cases.end() && !interrupted();) {
        const auto end = std::find_if(begin, cases.end(),
                                      [&](const Case& each) { return !same_problem(each.problem, begin->problem); });
        if (begin == cases.begin() || !same_group(begin->problem, std::prev(begin)->problem)) print_group();
        check_problem({begin, end});
        begin = end;
      }
    } catch (const DeviceLost& lost) {
      print_group();
      fmt::print(context_.out, "FAILED: the GPU stopped answering in {}; the checks that remain were not made\n",
                 lost.what());
      ++failed_;
    }
    print_group();
    return conclude();
  }

 private:
  static bool same_group(const Problem& a, const Problem& b) {
    return a.type == b.type && a.op == b.op && a.mode == b.mode;
  }
  static bool same_problem(const Problem& a, const Problem& b) { return same_group(a, b) && a.items == b.items; }

  /// Each type, operator and mode ends with as many items as make many tiles, of the variants that can be made small.
  static std::vector<Case> with_small(const std::vector<Case>& cases) {
    std::vector<Case> all;
    for (auto begin = cases.begin(); begin != cases.end();) {
      const auto end =
          std::find_if(begin, cases.end(), [&](const Case& each) { return !same_group(each.problem, begin->problem); });
      all.insert(all.end(), begin, end);
      for (auto each = begin; each != end && each->problem.items == begin->problem.items; ++each) {
        Problem small = each->problem;
        small.items = kSmallBytes / static_cast<std::int64_t>(item_bytes(small.type, small.op));
        small.settings = small_settings(each->variant->about);
        if (!small.settings.empty()) all.push_back({each->variant, small});
      }
      begin = end;
    }
    return all;
  }

  /// Of all types and operators only those are meant that a variant has.
  bool meant(const Case& each) const {
    const auto has = [](const auto& list, auto value) { return std::ranges::find(list, value) != list.end(); };
    const Description& about = each.variant->about;
    return (!request_.every_type || has(about.types, each.problem.type)) &&
           (!request_.every_op || has(about.operators, each.problem.op));
  }

  Standing& standing(const Case& each) {
    group_ = each.problem;
    const auto found = std::ranges::find(standings_, each.variant, &Standing::variant);
    return found != standings_.end() ? *found : standings_.emplace_back(Standing{.variant = each.variant});
  }

  void skip(const Case& each, const Outcome& outcome) {
    ++skipped_;
    out_of_memory_ |= outcome.out_of_memory;
    standing(each).skips[outcome.message].push_back(each.problem.items);
  }

  /// Why no input need be tried; empty if the case can be checked.
  std::string refusal(const Case& each) const {
    if (!request_.checker->takes(*each.variant)) {
      return fmt::format("{} has no form for {}", each.variant->about.id, machine_of(*request_.checker));
    }
    return each.variant->bind(each.problem).plan.refusal;
  }

  void check_problem(const std::vector<Case>& cases) {
    std::vector<const Case*> possible;
    for (const Case& each : cases) {
      if (const std::string why = refusal(each); !why.empty()) {
        skip(each, {.status = Outcome::Status::skipped, .message = why});
      } else {
        possible.push_back(&each);
      }
    }
    if (possible.empty()) return;
    for (const InputKind kind : kinds_for(request_, cases.front().problem.items)) {
      if (interrupted()) return;
      try {
        const Oracle oracle(cases.front().problem, kind, request_.seed);
        request_.checker->expect(oracle);
        for (const Case* each : possible) {
          if (interrupted()) return;
          for (const Placement placement : request_.placements) {
            record(*each, kind, placement, request_.checker->check(*each->variant, each->problem, placement));
          }
          if (request_.repeat > 0 && verify::rounds(each->problem)) repeat(*each, kind);
        }
      } catch (const std::bad_alloc&) {
        const std::string why = fmt::format("host memory does not hold {} items and what they are compared with",
                                            cases.front().problem.items);
        for (const Case* each : possible) {
          skip(*each, {.status = Outcome::Status::skipped, .message = why, .out_of_memory = true});
        }
        return;
      }
    }
  }

  void repeat(const Case& each, InputKind kind) {
    int different = 0;
    const Outcome outcome = request_.checker->repeat(*each.variant, each.problem, request_.repeat, different);
    if (outcome.status == Outcome::Status::skipped) return skip(each, outcome);
    Standing& of_variant = standing(each);
    ++of_variant.repeated;
    if (different > 1 && outcome.passed()) {
      of_variant.varying.push_back(fmt::format("{} different outputs in {} runs (n = {}, {} input)", different,
                                               request_.repeat, each.problem.items, name(kind)));
    }
    record(each, kind, Placement::apart, outcome);
  }

  void record(const Case& each, InputKind kind, Placement placement, const Outcome& outcome) {
    if (outcome.status == Outcome::Status::skipped) return skip(each, outcome);
    Standing& of_variant = standing(each);
    of_variant.worst = std::max(of_variant.worst, outcome.error_to_bound);
    if (outcome.passed()) {
      ++passed_;
      ++of_variant.passed;
      return;
    }
    ++failed_;
    ++of_variant.failed;
    of_variant.failures.push_back(fmt::format("n = {}, {} input: {}\n           again: {}", each.problem.items,
                                              name(kind), outcome.message, again(each, kind, placement)));
  }

  /// The words that make this one check once more.
  std::string again(const Case& each, InputKind kind, Placement placement) const {
    std::string words = fmt::format(
        "scanlab verify --device {} --variant {} --type {} --op {} --mode {} --items {} --input {} --seed {}",
        request_.checker->name(), each.variant->about.id, name(each.problem.type), name(each.problem.op),
        name(each.problem.mode), each.problem.items, name(kind), request_.seed);
    if (placement != Placement::apart) words += fmt::format(" --placement {}", name(placement));
    for (const auto& [parameter, value] : each.problem.settings) words += fmt::format(" --set {}={}", parameter, value);
    return words + request_.flags;
  }

  void print_group() {
    for (const Standing& each : standings_) print(each);
    standings_.clear();
    context_.out.flush();
  }

  void print(const Standing& each) const {
    std::string line = fmt::format("{:<20} {:<3} {:<6} {:<9}  {:>3} passed", each.variant->about.id, name(group_.type),
                                   name(group_.op), name(group_.mode), each.passed);
    if (each.failed > 0) line += fmt::format("  {} FAILED", each.failed);
    if (verify::rounds(group_) && each.passed + each.failed > 0) {
      line += fmt::format("  worst error/bound {:.3f}", each.worst);
    }
    if (each.repeated > 0 && each.varying.empty()) {
      line += fmt::format("  same bits in {} runs of each of {}", request_.repeat, each.repeated);
    }
    fmt::print(context_.out, "{}\n", line);
    if (!each.varying.empty()) {
      fmt::print(context_.out, "    bits vary in {} of {}: {}\n", each.varying.size(), each.repeated,
                 each.varying.front());
    }
    constexpr std::size_t kShown = 5;
    for (std::size_t i = 0; i < std::min(kShown, each.failures.size()); ++i) {
      fmt::print(context_.out, "    FAILED {}\n", each.failures[i]);
    }
    if (each.failures.size() > kShown) {
      fmt::print(context_.out, "    and {} more failures\n", each.failures.size() - kShown);
    }
    for (const auto& [why, sizes] : each.skips) {
      fmt::print(context_.out, "    skipped {}: {} (n = {})\n", sizes.size(), why, fmt::join(sizes, ", "));
    }
  }

  int conclude() const {
    const bool stopped = interrupted();
    fmt::print(context_.out, "{} passed, {} failed, {} skipped{}\n", passed_, failed_, skipped_,
               stopped ? "; interrupted before the end" : "");
    if (stopped) return kInterrupted;
    if (failed_ > 0) return kFailed;
    const auto takes = [&](const Variant* variant) { return request_.checker->takes(*variant); };
    if (passed_ == 0 && !std::ranges::all_of(request_.selection.variants, takes)) {
      throw CommandError(kNoDevice, fmt::format("nothing was checked: what was asked for has no form for {}",
                                                machine_of(*request_.checker)));
    }
    return out_of_memory_ ? kOutOfMemory : kOk;
  }

  const Request& request_;
  Context& context_;
  Problem group_;
  std::vector<Standing> standings_;
  int passed_ = 0;
  int failed_ = 0;
  int skipped_ = 0;
  bool out_of_memory_ = false;
};

/// Of which code and device this is, for those who keep it: "commit 0123…, on NVIDIA H200".
void print_origin(const Checker& checker, std::ostream& out) {
  const measure::Facts build = measure::build_facts();
  std::string why_not;
  const std::optional<measure::Facts> device =
      std::string_view(checker.name()) == "cuda" ? measure::device_facts(why_not) : std::nullopt;
  fmt::print(out, "commit {}{}{}\n", build["git_commit"].get<std::string>(), build["git_dirty"] == "true" ? "+" : "",
             device ? ", on " + (*device)["device"].get<std::string>() : "");
}

}  // namespace

int verify(const std::vector<std::string>& arguments, Context& context) {
  po::variables_map values;
  if (!parse_options(arguments, make_options(), {}, command("verify"), context, values)) return kOk;
  const Request request = read_request(values);
  const auto [least, most] = std::ranges::minmax(request.selection.items);
  fmt::print(context.out, "verifying on {}: {} variants and baselines, {} sizes from {} to {}, seed {}\n",
             request.checker->name(), request.selection.variants.size(), request.selection.items.size(), least, most,
             request.seed);
  print_origin(*request.checker, context.out);
  return Session(request, context).run();
}

}  // namespace scanlab::cli
