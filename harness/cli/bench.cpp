// scanlab bench: verifies cases and times them.
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "harness/cli/command.hpp"
#include "harness/cli/google_flags.hpp"
#include "harness/cli/loop_options.hpp"
#include "harness/cli/selection.hpp"
#include "harness/cli/sweep.hpp"
#include "harness/core/median.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/whole_file.hpp"
#include "harness/measure/record.hpp"
#include "harness/measure/scan_session.hpp"

namespace scanlab::cli {

namespace po = boost::program_options;

namespace {

constexpr char kDefaultItems[] = "2^10:2^28:x4";

constexpr char kNotes[] =
    "Each case is verified first; one that fails is not timed. Then the sweep goes in rounds, one repetition of each\n"
    "case a round, and each finished repetition is in FILE before the next starts. A case is left out of further\n"
    "rounds, after six at the earliest, when its median is known to 1 %. In its last round the output of a\n"
    "case is verified again. A FILE that holds something is left alone unless --force is given.\n"
    "cold: the device's L2 cache is evicted before every run; warm: runs back to back. stream: each run is launched\n"
    "by the host; graph: all are in one CUDA graph; batch, warm only: all are enqueued behind a kernel that waits for\n"
    "the last of them, so that short runs show the device and not the host. Host code is timed warm only.\n"
    "All --benchmark_* flags are taken: --benchmark_out is --out, --benchmark_repetitions is --rounds,\n"
    "--benchmark_min_time sets the timed work of a repetition, --benchmark_filter chooses among the cases.\n"
    "With --once, 'ncu --profile-from-start off' sees the chosen cases and nothing else.\n";

std::string sweep_help() {
  std::string text =
      "a named list of cases instead of a selection, which --variant, --type, --op, --mode, --cache and "
      "--launch may narrow:";
  for (const Sweep& sweep : sweeps()) text += fmt::format(" {} ({});", sweep.name, sweep.about);
  text.pop_back();
  return text;
}

po::options_description bench_options() {
  po::options_description options("options");
  add_selection_options(options, kDefaultItems);
  add_loop_options(options, {});
  const auto text = [](const char* value_name) { return po::value<std::string>()->value_name(value_name); };
  options.add_options()  //
      ("cache", po::value<std::vector<std::string>>()->composing()->value_name("STATE"),
       "cold, warm (default both)")  //
      ("launch", po::value<std::vector<std::string>>()->composing()->value_name("WAY"),
       "stream, graph, batch (default stream and graph)")                                          //
      ("sweep", text("NAME"), sweep_help().c_str())                                                //
      ("quick", "the same as --sweep quick")                                                       //
      ("out", text("FILE"), "results: Google Benchmark's JSON, raw repetitions, with provenance")  //
      ("force", "replace FILE if it holds something")                                              //
      ("seed", po::value<std::uint64_t>()->value_name("N"), "of the inputs (default 1)")           //
      ("once",
       "run each case once, untimed, in an NVTX range of its name, for nsys and ncu; --out has the cases by name")  //
      ("help,h", "this text");
  return options;
}

struct Request {
  measure::ScanOptions options;
  std::uint64_t seed = 1;
  std::vector<SweepCase> cases;
  std::optional<std::string> out;
  measure::IfExists if_exists = measure::IfExists::refuse;
  std::vector<std::pair<std::string, std::string>> context;  ///< what the user adds to the provenance
  bool once = false;
  bool list = false;
};

// ------------------------------------------------------------------------------------------- words to request

bool among(const auto& values, const auto& value) { return std::ranges::find(values, value) != values.end(); }

/// The states that a list names; `usual` if it is not given.
template <class State, std::size_t kStates>
std::vector<State> read_states(const po::variables_map& values, const char* option,
                               const std::array<std::pair<State, std::string_view>, kStates>& names,
                               const std::vector<State>& usual) {
  std::vector<State> states;
  for (const std::string& word : option_words(values, option)) {
    const auto known = std::ranges::find_if(names, [&](const auto& entry) { return entry.second == word; });
    if (known == names.end()) {
      std::vector<std::string_view> words;
      for (const auto& [state, text] : names) words.push_back(text);
      throw CommandError(kBadInput, fmt::format("--{} takes {}, not '{}'", option, fmt::join(words, " or "), word));
    }
    if (!among(states, known->first)) states.push_back(known->first);
  }
  return states.empty() ? usual : states;
}

/// Whether a sweep's case is left by the options that narrow it. A floor does not depend on the problem.
bool stays(const Case& scan, const Selection& wanted, const po::variables_map& values) {
  const Problem& problem = scan.problem;
  if (!among(wanted.variants, scan.variant)) return false;
  if (scan.variant->about.kind == Kind::empty_launch) return true;
  return (values.count("type") == 0 || among(wanted.types, problem.type)) &&
         (values.count("op") == 0 || among(wanted.operators, problem.op)) &&
         (values.count("mode") == 0 || among(wanted.modes, problem.mode));
}

std::vector<SweepCase> sweep_cases(const Sweep& sweep, const po::variables_map& values) {
  for (const char* option : {"items", "set"}) {
    if (values.count(option) == 0) continue;
    throw CommandError(kBadInput, fmt::format("a sweep sets --{} itself; only --variant, --type, --op, --mode, --cache "
                                              "and --launch narrow it",
                                              option));
  }
  if (sweep.of_chosen && values.count("variant") == 0) {
    throw CommandError(kBadInput, fmt::format("the sweep {0} is too long for every variant: choose some, as in --sweep "
                                              "{0} --variant 'best,cub*'",
                                              sweep.name));
  }
  const Selection wanted = read_selection(values);
  const std::vector<measure::Cache> caches =
      read_states(values, "cache", measure::kCacheNames, {measure::Cache::cold, measure::Cache::warm});
  const std::vector<measure::Launch> launches =
      read_states(values, "launch", measure::kLaunchNames,
                  {measure::Launch::stream, measure::Launch::graph, measure::Launch::batch});
  std::vector<SweepCase> all = cases(sweep);
  std::erase_if(all, [&](const SweepCase& each) { return !stays(each.scan, wanted, values); });
  for (SweepCase& each : all) {
    std::erase_if(each.caches, [&](measure::Cache cache) { return !among(caches, cache); });
    std::erase_if(each.launches, [&](measure::Launch launch) { return !among(launches, launch); });
  }
  return all;
}

std::vector<SweepCase> selected_cases(const po::variables_map& values) {
  Selection selection = read_selection(values);
  if (selection.items.empty()) selection.items = parse_items(kDefaultItems);
  const std::vector<measure::Cache> caches =
      read_states(values, "cache", measure::kCacheNames, {measure::Cache::cold, measure::Cache::warm});
  const std::vector<measure::Launch> launches =
      read_states(values, "launch", measure::kLaunchNames, {measure::Launch::stream, measure::Launch::graph});
  std::vector<SweepCase> all;
  for (Case& each : selection.cases()) all.push_back({std::move(each), caches, launches});
  return all;
}

template <class T>
std::optional<T> given(const po::variables_map& values, const char* option) {
  return values.count(option) == 0 ? std::nullopt : std::optional<T>(values[option].as<T>());
}

Request read_request(const po::variables_map& values, const GoogleFlags& flags) {
  Request request;
  const std::optional<std::string> asked =
      values.count("quick") != 0 ? std::optional<std::string>("quick") : given<std::string>(values, "sweep");
  const Sweep* const sweep = asked ? &find_named("sweep", sweeps(), *asked) : nullptr;
  measure::LoopOptions defaults;
  if (sweep != nullptr) {
    defaults.rounds = sweep->rounds;
    request.options.device_seconds = sweep->seconds;
  }
  request.options.loop = read_loop_options(values, flags, defaults);
  request.options.seconds = flags.seconds;
  request.options.runs = flags.runs;
  request.seed = given<std::uint64_t>(values, "seed").value_or(1);
  request.cases = sweep != nullptr ? sweep_cases(*sweep, values) : selected_cases(values);
  request.out = either<std::string>(values, "out", flags.out);
  request.if_exists = values.count("force") != 0 ? measure::IfExists::replace : measure::IfExists::refuse;
  request.once = values.count("once") != 0;
  request.context = flags.context;
  request.list = flags.list;
  return request;
}

// ------------------------------------------------------------------------------------------ request to cases

/// Every way in which a case is timed. Host code has no launches, and nobody evicts its cache. A batch has no room for
/// evictions.
std::vector<std::pair<measure::Cache, measure::Launch>> columns(const SweepCase& each) {
  const bool on_host = measure::TimedCase(each.scan).on_host();
  std::vector<std::pair<measure::Cache, measure::Launch>> all;
  for (const measure::Cache cache : each.caches) {
    for (const measure::Launch launch : each.launches) {
      const bool warm = cache == measure::Cache::warm;
      const bool possible =
          on_host ? warm && launch == measure::Launch::stream : warm || launch != measure::Launch::batch;
      if (possible) all.emplace_back(cache, launch);
    }
  }
  return all;
}

/// Each case once, problem by problem: an oracle serves all variants of its problem.
std::vector<measure::TimedCase> timed_cases(const Request& request) {
  std::vector<measure::TimedCase> all;
  std::set<std::string> names;
  for (const SweepCase& each : request.cases) {
    for (const auto& [cache, launch] : columns(each)) {
      measure::TimedCase timed(each.scan, cache, launch);
      timed.name = case_name(timed.about(), timed.problem());
      if (!request.once) timed.name += fmt::format("/cache:{}", name(cache));
      if (!request.once && !timed.on_host()) timed.name += fmt::format("/launch:{}", name(launch));
      if (passes_google_filter(timed.name) && names.insert(timed.name).second) all.push_back(std::move(timed));
    }
  }
  const auto problem = [](const measure::TimedCase& timed) {
    const Problem& p = timed.problem();
    return std::tuple(p.type, p.op, p.mode, p.items);
  };
  std::ranges::stable_sort(all, {}, problem);
  return all;
}

/// Throws CommandError (status 3) if a case needs a device that is not here.
void require_device(const std::vector<measure::TimedCase>& cases, const std::optional<measure::Facts>& device,
                    const std::string& why_not) {
  const auto needs = std::ranges::find_if(cases, [](const measure::TimedCase& timed) { return !timed.on_host(); });
  if (needs == cases.end()) return;
  const std::string& id = needs->about().id;
  if (device && needs->scan.variant->machines.cuda) return;
  throw CommandError(kNoDevice,
                     fmt::format("{} is timed on a CUDA device, and there is none: {}. Without one, time the "
                                 "CPU baselines (--variant 'cpu_*'){}",
                                 id, device ? "this build runs it on the CPU executor only" : why_not,
                                 needs->scan.variant->machines.simt
                                     ? fmt::format(", check it on the CPU executor (scanlab verify --device simt "
                                                   "--variant {0}), or count its steps (scanlab explain {0})",
                                                   id)
                                     : std::string{}));
}

measure::Facts provenance(const Request& request, const std::vector<measure::TimedCase>& cases,
                          const std::optional<measure::Facts>& device, const Context& context) {
  measure::Facts facts{{"schema", measure::kResultsSchema}, {"kind", device ? "cuda" : "host"}};
  if (device) facts.update(*device);
  facts.update(measure::host_facts());
  facts.update(measure::build_facts());
  facts["seed"] = std::to_string(request.seed);
  add_loop_facts(request.options.loop, facts);
  facts["seconds_a_repetition"] = fmt::format("{}", request.options.seconds.value_or(request.options.device_seconds));
  for (const auto& [key, value] : request.context) {
    if (!facts.contains(key)) facts[key] = value;
  }
  facts["argv"] = fmt::format("{}", fmt::join(context.argv, " "));
  std::vector<const Variant*> variants;
  for (const measure::TimedCase& timed : cases) variants.push_back(timed.scan.variant);
  facts["variants"] = measure::described(variants);
  return facts;
}

measure::Backends make_backends(const std::vector<measure::TimedCase>& cases, measure::OracleStore& oracles) {
  measure::Backends backends;
  const auto on_host = [](const measure::TimedCase& timed) { return timed.on_host(); };
  if (std::ranges::any_of(cases, on_host)) backends.host = measure::make_host_scan_backend(oracles);
#ifdef SCANLAB_WITH_CUDA
  if (!std::ranges::all_of(cases, on_host)) backends.cuda = measure::make_cuda_scan_backend(oracles);
#endif
  return backends;
}

/// What each range is of, so that who reads a profiler's report takes nothing from the names in it.
measure::Facts described_range(const measure::TimedCase& timed) {
  measure::Facts range{{"name", timed.name}};
  describe(timed, range);
  for (const char* of_timing : {"cache", "launch", "prepare_ns"}) range.erase(of_timing);
  return range;
}

int run_each_once(const std::vector<measure::TimedCase>& cases, const measure::Backends& backends, WholeFile* file,
                  measure::Facts provenance, Context& context) {
  int status = kOk;
  measure::Facts ranges = measure::Facts::array();
  for (const measure::TimedCase& timed : cases) {
    if (interrupted()) return kInterrupted;
    if (!timed.bound.plan.possible()) {
      fmt::print(context.out, "{}: skipped: {}\n", timed.name, timed.bound.plan.refusal);
      continue;
    }
    try {
      backends.of(timed).run_once(timed);
      fmt::print(context.out, "{}: ran once\n", timed.name);
      ranges.push_back(described_range(timed));
    } catch (const measure::LacksMemory& lack) {
      fmt::print(context.out, "{}: skipped: {}\n", timed.name, lack.what());
      status = kOutOfMemory;
    }
  }
  if (file != nullptr) {
    provenance["schema"] = "scanlab-ranges/1";
    file->write(measure::Facts{{"context", provenance}, {"ranges", ranges}}.dump(1) + "\n");
  }
  return status;
}

// ----------------------------------------------------------------------------------------------------- report

std::string time_in_words(double nanoseconds) {
  if (nanoseconds < 1e3) return fmt::format("{:.0f} ns", nanoseconds);
  if (nanoseconds < 1e6) return fmt::format("{:.2f} us", nanoseconds / 1e3);
  return nanoseconds < 1e9 ? fmt::format("{:.3f} ms", nanoseconds / 1e6) : fmt::format("{:.3f} s", nanoseconds / 1e9);
}

void print_table(const std::vector<measure::TimedCase>& cases, std::ostream& out) {
  std::size_t width = 4;
  for (const measure::TimedCase& timed : cases) width = std::max(width, timed.name.size());
  fmt::print(out, "{:<{}}  {:>11}  {:>8}  {:>6}  {}\n", "case", width, "median", "GB/s", "rounds", "verified");
  for (const measure::TimedCase& timed : cases) {
    if (timed.nanoseconds.empty()) continue;
    const double time = median(timed.nanoseconds);
    const bool moves = timed.about().kind != Kind::empty_launch;
    const double rate = static_cast<double>(timed.problem().ideal_bytes()) / time;
    const char* const verified = timed.state == measure::TimedCase::State::failed ? "FAILED"
                                 : timed.verified                                 ? "yes"
                                                                                  : "before only";
    const std::string& choice = timed.bound.plan.choice;
    fmt::print(out, "{:<{}}  {:>11}  {:>8}  {:>6}  {}{}\n", timed.name, width, time_in_words(time),
               moves ? fmt::format("{:.4g}", rate) : "", timed.nanoseconds.size(), verified,
               choice.empty() ? "" : "  ran " + choice);
  }
}

/// Cases that were not timed, those of one reason together.
void print_untimed(const std::vector<measure::TimedCase>& cases, std::ostream& out) {
  std::map<std::string, std::pair<int, const measure::TimedCase*>> reasons;
  for (const measure::TimedCase& timed : cases) {
    if (timed.state == measure::TimedCase::State::timed) continue;
    auto& [count, first] = reasons[timed.reason];
    if (count++ == 0) first = &timed;
  }
  for (const auto& [reason, entry] : reasons) {
    const auto& [count, first] = entry;
    fmt::print(out, "{} {} case{}: {} ({}{})\n",
               first->state == measure::TimedCase::State::failed ? "FAILED" : "skipped", count, count == 1 ? "" : "s",
               reason, count == 1 ? "" : "first ", first->name);
  }
}

/// A hand-written kernel that needs local memory is one whose registers did not suffice: worth knowing before its time
/// is believed.
void warn_of_local_memory(const std::vector<measure::TimedCase>& cases, std::ostream& err) {
  std::map<std::string, std::size_t> most;
  for (const measure::TimedCase& timed : cases) {
    if (timed.scan.variant->origin != Origin::variant || timed.kernels.local_bytes == 0) continue;
    std::size_t& bytes =
        most[fmt::format("{} of {} {}", timed.about().id, name(timed.problem().type), name(timed.problem().op))];
    bytes = std::max(bytes, timed.kernels.local_bytes);
  }
  for (const auto& [scan, bytes] : most) {
    fmt::print(err,
               "scanlab: warning: {} uses {} bytes of local memory a thread: spilled registers, or an array that is "
               "indexed at run time\n",
               scan, bytes);
  }
}

void print_times(const measure::ScanTimes& times, std::ostream& out) {
  const double all = std::max(times.verify + times.calibrate + times.time, 1e-9);
  fmt::print(out, "wall time {}: verify {:.0f}%, calibrate {:.0f}%, time {:.0f}%\n", in_words(all),
             100 * times.verify / all, 100 * times.calibrate / all, 100 * times.time / all);
}

int status_of(const std::vector<measure::TimedCase>& cases) {
  if (interrupted()) return kInterrupted;
  if (std::ranges::any_of(cases,
                          [](const measure::TimedCase& t) { return t.state == measure::TimedCase::State::failed; }))
    return kFailed;
  if (std::ranges::any_of(cases, [](const measure::TimedCase& t) { return t.out_of_memory; })) return kOutOfMemory;
  return kOk;
}

int time_all(std::vector<measure::TimedCase> cases, const measure::Backends& backends,
             const measure::ScanOptions& options, measure::ResultsFile* file, Context& context) {
  measure::ScanSession session(std::move(cases), backends, options, file, context.err);
  std::string lost;
  try {
    session.run();
  } catch (const verify::DeviceLost& error) {
    lost = error.what();
  }
  print_table(session.cases(), context.out);
  print_untimed(session.cases(), context.out);
  warn_of_local_memory(session.cases(), context.err);
  print_times(session.times(), context.out);
  if (file != nullptr) fmt::print(context.out, "{} entries in {}\n", file->entries(), file->path().string());
  if (interrupted()) fmt::print(context.err, "scanlab: interrupted; every finished repetition is kept\n");
  if (lost.empty()) return status_of(session.cases());
  fmt::print(context.err, "scanlab: the device is lost to this process ({}); every finished repetition is kept\n",
             lost);
  return kFailed;
}

}  // namespace

int bench(const std::vector<std::string>& arguments, Context& context) {
  const GoogleFlags flags = take_google_flags(arguments);
  const po::options_description options = bench_options();
  po::variables_map values;
  if (!parse_options(flags.others, options, {}, command("bench"), context, values)) {
    context.out << "\n" << kNotes;
    return kOk;
  }
  const Request request = read_request(values, flags);
  std::vector<measure::TimedCase> cases = timed_cases(request);
  if (request.list) {
    for (const measure::TimedCase& timed : cases) fmt::print(context.out, "{}\n", timed.name);
    return kOk;
  }
  if (cases.empty())
    throw CommandError(kBadInput, "no case is left to time (host code is timed --cache warm --launch stream only)");

  std::string why_not;
  const bool host_only = std::ranges::all_of(cases, [](const measure::TimedCase& timed) { return timed.on_host(); });
  const std::optional<measure::Facts> device = host_only ? std::nullopt : measure::device_facts(why_not);
  require_device(cases, device, why_not);
  std::optional<measure::ResultsFile> file;
  std::optional<WholeFile> ranges;
  if (request.out && request.once) ranges.emplace(*request.out, request.if_exists == measure::IfExists::replace);
  if (request.out && !request.once) {
    file.emplace(*request.out, provenance(request, cases, device, context), request.if_exists);
  }

  const InterruptGuard guard;
  measure::OracleStore oracles(request.seed);
  const measure::Backends backends = make_backends(cases, oracles);
  for (measure::TimedCase& timed : cases) timed.bound = timed.scan.variant->bind(timed.problem());
  if (request.once) {
    return run_each_once(cases, backends, ranges ? &*ranges : nullptr, provenance(request, cases, device, context),
                         context);
  }
  return time_all(std::move(cases), backends, request.options, file ? &*file : nullptr, context);
}

}  // namespace scanlab::cli
