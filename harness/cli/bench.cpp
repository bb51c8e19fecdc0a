// scanlab bench: verifies cases and times them.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>

#include "harness/cli/options.hpp"
#include "harness/host/clock.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/measure/profiled_runs.hpp"
#include "harness/measure/record.hpp"
#include "harness/measure/scan_cases.hpp"
#include "harness/measure/scan_report.hpp"
#include "harness/measure/timing_report.hpp"
#include "harness/tuning/short_tuning.hpp"

namespace scanlab::cli {

namespace {

constexpr char kDefaultItems[] = "2^10:2^28:x4";

constexpr char kNotes[] =
    "Verification comes first; a case that fails is not timed. Each round takes one repetition of every case and\n"
    "writes it to FILE at once. A case has converged, after six rounds at the earliest, when its median is known to\n"
    "1 %. The last round of a case verifies its output again.\n"
    "Cache states: `cold` has an L2 flush before every run; in `warm` runs follow each other.\n"
    "Launches: in `stream` the host launches each run; in `graph` all runs are in one CUDA graph. In `batch` (warm)\n"
    "all runs wait behind a kernel, so that short runs show the device and not the host. In `pipeline` (warm) each\n"
    "run is timed with a kernel that writes its input and one that reads its output. Host code is timed warm.\n"
    "With --once, 'ncu --profile-from-start off' profiles the selected cases and nothing else.\n"
    "The flag --benchmark_min_time sets the timed work per repetition: 0.2s, or 100x runs.\n";

po::options_description bench_options() {
  po::options_description options("options");
  add_selection_options(options, kDefaultItems);
  add_loop_options(options, {}, SweepSets::rounds);
  const std::string sweeps =
      sweep_help(measure::scan_sweeps(), "--variant, --type, --op, --mode, --cache and --launch");
  options.add_options()  //
      ("cache", list_of("STATE"),
       "select the cache state: cold, warm (default both)")  //
      ("launch", list_of("WAY"),
       "select the launch: stream, graph, batch, pipeline (default stream and graph)")  //
      ("sweep", text("NAME"), sweeps.c_str())                                           //
      ("quick", "short for --sweep quick")                                              //
      ("compare",
       "time beside the chosen scans what they are compared with: best, every CUB, copies, an empty launch")  //
      ("out", text("FILE"),
       "write results to FILE: Google Benchmark's JSON with every repetition and its provenance")  //
      ("force", "replace FILE if it exists")                                                       //
      ("seed", po::value<std::uint64_t>()->value_name("N"),
       "choose the inputs, and where in device memory the arrays lie (default 1)")  //
      ("once",
       "run each case once, untimed, in an NVTX range of its name, for nsys and ncu; --out lists the ranges")  //
      ("tune-now",
       "measure a table for best first, in under a minute, if this device has none. Its file is NAME.tuning.json "
       "beside "
       "--out; set SCANLAB_TUNING to it to reuse it")  //
      ("help,h", "print this text");
  return options;
}

struct Request {
  measure::ScanOptions options;
  std::uint64_t seed = 1;
  std::vector<measure::TimedCase> cases;
  std::optional<std::string> out;
  bool once = false;
  tuning::Asked best_requests;
  bool tune_now = false;
};

Request read_request(const po::variables_map& values, const measure::GoogleFlags& flags) {
  Request request;
  if (values.count("quick") != 0)
    refuse_options(values, {"sweep"}, "--quick is a sweep of its own; leave out one of the two");
  const std::optional<std::string> asked =
      values.count("quick") != 0 ? std::optional<std::string>("quick") : given<std::string>(values, "sweep");
  const measure::ScanSweep* const sweep = asked ? &find_named("sweep", measure::scan_sweeps(), *asked) : nullptr;
  measure::LoopOptions defaults;
  if (sweep != nullptr) {
    defaults.rounds = sweep->rounds;
    request.options.device_seconds = sweep->seconds;
  }
  request.options.loop = read_loop_options(values, flags, defaults);
  request.options.seconds = flags.seconds;
  request.options.runs = flags.runs;
  request.seed = given<std::uint64_t>(values, "seed").value_or(1);
  request.out = either<std::string>(values, "out", flags.out);
  request.once = values.count("once") != 0;
  if (request.once) {
    constexpr char kWhy[] = "--once runs each case once, untimed; leave out one of the two";
    refuse_options(values, {"rounds", "width", "cap"}, kWhy);
    if (flags.rounds || flags.seconds || flags.runs) {
      throw CommandError(kBadInput,
                         fmt::format("{} would have no effect: {}",
                                     flags.rounds ? "--benchmark_repetitions" : "--benchmark_min_time", kWhy));
    }
  }
  const OptionWords words = values.count("compare") != 0 ? measure::add_rivals(said(values)) : said(values);
  request.cases = measure::timed_cases(
      sweep != nullptr ? measure::selected_scans(*sweep, words) : measure::selected_scans(words, kDefaultItems),
      request.once, [&](const std::string& name) { return flags.passes(name); });
  request.best_requests = tuning::best_requests(request.cases);
  request.tune_now = values.count("tune-now") != 0;
  if (request.tune_now && request.best_requests.empty()) {
    throw CommandError(
        kBadInput,
        "--tune-now measures a table for best, which no case needs: add best to --variant, or leave out --tune-now");
  }
  if (request.tune_now && !request.out) {
    throw CommandError(kBadInput, "--tune-now writes its table beside the results: give --out FILE");
  }
  return request;
}

bool on_host(const measure::TimedCase& timed) { return timed.on_host(); }

/// Throws CommandError (status 3) if a case needs a device that is not here.
void require_device(const std::vector<measure::TimedCase>& cases, const std::optional<measure::Facts>& device,
                    const std::string& why_not) {
  const auto needs = std::ranges::find_if_not(cases, on_host);
  if (needs == cases.end()) return;
  const std::string& id = needs->about().id;
  if (device && needs->scan.variant->machines.cuda) return;
  throw CommandError(kNoDevice,
                     fmt::format("{} needs a CUDA device, and there is none: {}. Without one, time the "
                                 "CPU baselines (--variant 'cpu_*'){}",
                                 id, device ? "this build runs it on the SIMT emulator only" : why_not,
                                 needs->scan.variant->machines.simt
                                     ? fmt::format(", check it on the SIMT emulator (scanlab verify --device simt "
                                                   "--variant {0}), or count its steps (scanlab explain {0})",
                                                   id)
                                     : std::string{}));
}

/// `table`: where that of best is from; empty if best is not timed.
measure::Facts provenance(const Request& request, const std::optional<measure::Facts>& device, const std::string& table,
                          const measure::GoogleFlags& flags, const Context& context) {
  measure::Facts facts{{"schema", request.once ? measure::kRangesSchema : measure::kResultsSchema},
                       {"kind", device ? "cuda" : "host"}};
  if (device) facts.update(*device);
  facts.update(measure::measured_on_host(context.argv));
  if (!request.once) facts.erase("date");  // of results Google Benchmark has it
  facts["seed"] = std::to_string(request.seed);
  add_loop_facts(request.options.loop, facts);
  if (!table.empty()) facts["tuning"] = table;
  facts["seconds_a_repetition"] = fmt::format("{}", request.options.seconds.value_or(request.options.device_seconds));
  flags.add_context(facts);
  std::vector<const Variant*> variants;
  for (const measure::TimedCase& timed : request.cases) variants.push_back(timed.scan.variant);
  facts["variants"] = measure::described(variants);
  return facts;
}

/// Measures a table for best, which goes by it from then on. Returns whether a candidate failed.
bool tune_now(const Request& request, const measure::Facts& device, const measure::Backends& backends, WholeFile& file,
              Context& context) {
  fmt::print(context.err, "scanlab: measuring a table for best on {}, in under a minute\n",
             device["device"].get<std::string>());
  const auto elapsed = [began = Clock::now()] { return seconds_since(began); };
  measure::Facts facts = device;
  facts.update(measure::run_facts(context.argv));
  tuning::Tuner tuner(backends, tuning::kShortLoop, nullptr, context.err);
  const TuningTable table = tuning::tune_shortly(request.best_requests, tuner, facts, elapsed);
  if (interrupted()) return false;
  const std::filesystem::path path = tuning::short_table_path(*request.out);
  tuning::use_table(table, file, path);
  fmt::print(context.err, "scanlab: measured in {:.0f} s; best goes by it here, and elsewhere with {}={}\n", elapsed(),
             kTuningVariable, path.string());
  return tuner.any_failed();
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
  print(session, context.out, context.err);
  if (file != nullptr) fmt::print(context.out, "{} entries in {}\n", file->entries(), file->path().string());
  if (interrupted()) fmt::print(context.err, "scanlab: interrupted; every finished repetition is kept\n");
  if (lost.empty()) return measure::status_or_nothing_ran(measure::timings(session.cases()), context.err);
  fmt::print(context.err, "scanlab: the device is lost to this process ({}); every finished repetition is kept\n",
             lost);
  return kFailed;
}

}  // namespace

int bench(const std::vector<std::string>& arguments, Context& context) {
  const measure::GoogleFlags flags = measure::take_google_flags(arguments);
  po::variables_map values;
  if (!parse_options(flags.others, bench_options(), {}, command("bench"), context, values)) {
    context.out << "\n" << kNotes << measure::kGoogleFlagsNote;
    return kOk;
  }
  Request request = read_request(values, flags);
  std::vector<measure::TimedCase>& cases = request.cases;
  if (flags.list) {
    for (const measure::TimedCase& timed : cases) fmt::print(context.out, "{}\n", timed.name);
    return kOk;
  }
  if (cases.empty())
    throw CommandError(kBadInput,
                       "no case is left to time: widen the selection, or --benchmark_filter if it was given. Host code "
                       "is timed with --cache warm --launch stream only");

  std::string why_not;
  const std::optional<measure::Facts> device =
      std::ranges::all_of(cases, on_host) ? std::nullopt : measure::device_facts(why_not);
  require_device(cases, device, why_not);
  std::string table = request.best_requests.empty() ? "" : tuning::table_in_use(*device);
  const bool tunes = request.tune_now && table == tuning::kNoTable;
  if (tunes) {
    table = "measured before this run: " + tuning::short_table_path(*request.out).filename().string();
  } else if (request.tune_now) {
    fmt::print(context.err, "scanlab: best has a table for this device ({}): none is measured\n", table);
  } else if (table == tuning::kNoTable) {
    fmt::print(context.err, "scanlab: {}", tuning::no_table((*device)["device"].get<std::string>()));
  }
  const bool replace = values.count("force") != 0;
  std::optional<WholeFile> table_file;
  if (tunes) table_file.emplace(tuning::short_table_path(*request.out), replace);
  const measure::Facts facts = provenance(request, device, table, flags, context);
  std::optional<WholeFile> ranges;
  if (request.out && request.once) ranges.emplace(*request.out, replace);
  std::optional<measure::ResultsFile> file = results_file(request.once ? std::nullopt : request.out, facts, values);

  const InterruptGuard guard;
  measure::OracleStore oracles(request.seed);
  const measure::Backends backends = make_backends(cases, oracles);
  const bool any_failed = tunes && tune_now(request, *device, backends, *table_file, context);
  if (tunes && interrupted()) {
    fmt::print(context.err, "scanlab: interrupted; no table is written, and nothing was timed\n");
    return kInterrupted;
  }
  for (measure::TimedCase& timed : cases) timed.bound = timed.scan.variant->bind(timed.problem());
  if (!request.once) {
    const int status = time_all(std::move(cases), backends, request.options, file ? &*file : nullptr, context);
    return status == kOk && any_failed ? kFailed : status;
  }
  const measure::ProfiledRuns runs = run_each_once(cases, backends, context.out);
  if (ranges && runs.status != kInterrupted) {
    ranges->write(measure::Facts{{"context", facts}, {"ranges", runs.ranges}}.dump(1) + "\n");
  }
  return runs.status;
}

}  // namespace scanlab::cli
