// scanlab bench: verifies cases and times them.
#include "harness/cli/options.hpp"
#include "harness/host/clock.hpp"
#include "harness/measure/profiled_runs.hpp"
#include "harness/measure/record.hpp"
#include "harness/measure/scan_cases.hpp"
#include "harness/measure/scan_report.hpp"
#include "harness/measure/timing_report.hpp"
#include "harness/tuning/short_tuning.hpp"

namespace scanlab::cli {

namespace {

constexpr char kDefaultItems[] = "2^10:2^28:x4";

struct Request {
  measure::ScanOptions options;
  std::uint64_t seed = 1;
  std::vector<measure::TimedCase> cases;
  std::optional<std::string> out;
  bool once = false;
  tuning::Asked best_requests;
  bool tune_now = false;
};

/// The request, without the cases.
struct BenchOptions {
  OptionWords words;
  LoopWords loop;
  std::optional<std::string> sweep, out;
  std::uint64_t seed = 1;
  bool quick = false, compare = false, force = false, once = false, tune_now = false;

  Options options;

  BenchOptions() {
    add_selection_options(options, words, kDefaultItems);
    add_problem_options(options, words, "default i32 and plus, or the first that the variant has");
    loop.add_to(options, {});
    options.list("cache", "STATE", words, "select the cache state: cold, warm (default both)")
        .list("launch", "WAY", words, "select the launch: stream, graph, batch, pipeline (default stream and graph)")
        .text("sweep", "NAME", sweep,
              sweep_help(measure::scan_sweeps(), "--variant, --type, --op, --mode, --cache and --launch"))
        .flag("quick", quick, "short for --sweep quick")
        .flag("compare", compare, "time also what scans are compared with: best, every CUB, copies, an empty launch")
        .file("out", File::written, out, "write results: Google Benchmark's JSON, every repetition, provenance")
        .force(force)
        .seed(seed, "choose the inputs, and where in device memory the arrays lie")
        .flag("once", once, "run each case once, untimed, in an NVTX range of its name, for nsys and ncu")
        .flag("tune-now", tune_now, "if this device has no table for best, measure one first, in under a minute")
        .note(measure::kGoogleFlagsNote);
  }
};

Request read_request(BenchOptions& asked, const measure::GoogleFlags& flags) {
  Request request;
  if (asked.quick) asked.options.refuse_useless({"sweep"}, "--quick is a sweep of its own; leave out one of the two");
  if (asked.quick) asked.sweep = "quick";
  const measure::ScanSweep* const sweep =
      asked.sweep ? &find_named("sweep", measure::scan_sweeps(), *asked.sweep) : nullptr;
  measure::LoopOptions defaults;
  if (sweep != nullptr) {
    defaults.rounds = sweep->rounds;
    request.options.device_seconds = sweep->seconds;
  }
  request.options.loop = asked.loop.over(defaults, flags);
  request.options.seconds = flags.seconds;
  request.options.runs = flags.runs;
  request.seed = asked.seed;
  request.out = either("out", asked.out, flags.out);
  request.once = asked.once;
  if (request.once) {
    constexpr char kWhy[] = "--once runs each case once, untimed; leave out one of the two";
    asked.options.refuse_useless({"rounds", "width", "cap"}, kWhy);
    if (flags.rounds || flags.seconds || flags.runs)
      refuse(fmt::format("{} would have no effect: {}",
                         flags.rounds ? "--benchmark_repetitions" : "--benchmark_min_time", kWhy));
  }
  const OptionWords words = asked.compare ? measure::add_rivals(asked.words) : asked.words;
  request.cases = measure::timed_cases(
      sweep != nullptr ? measure::selected_scans(*sweep, words) : measure::selected_scans(words, kDefaultItems),
      request.once, [&](const std::string& name) { return flags.passes(name); });
  request.best_requests = tuning::best_requests(request.cases);
  request.tune_now = asked.tune_now;
  if (request.tune_now && request.best_requests.empty())
    refuse("--tune-now measures a table for best, which no case needs: add best to --variant, or leave out --tune-now");
  if (request.tune_now && !request.out) refuse("--tune-now writes its table beside the results: give --out FILE");
  return request;
}

bool on_host(const measure::TimedCase& timed) { return timed.on_host(); }

/// Throws CommandError (status 3) if a case needs a device that is not here.
void require_device(const std::vector<measure::TimedCase>& cases, const std::optional<measure::Facts>& device,
                    const std::string& refusal) {
  const auto needs = std::ranges::find_if_not(cases, on_host);
  if (needs == cases.end()) return;
  const std::string& id = needs->about().id;
  if (device && needs->scan.variant->machines.cuda) return;
  throw CommandError(kNoDevice,
                     fmt::format("{} needs a CUDA device, and there is none: {}. Without one, time the "
                                 "CPU baselines (--variant 'cpu_*'){}",
                                 id, device ? "this build runs it on the SIMT emulator only" : refusal,
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
  BenchOptions asked;
  if (!asked.options.parse(flags.others, context)) return kOk;
  Request request = read_request(asked, flags);
  std::vector<measure::TimedCase>& cases = request.cases;
  if (flags.list) {
    for (const measure::TimedCase& timed : cases) fmt::print(context.out, "{}\n", timed.name);
    return kOk;
  }
  if (cases.empty())
    refuse(
        "no case is left to time: widen the selection, or --benchmark_filter if it was given. Host code is timed "
        "with --cache warm --launch stream only");

  std::string refusal;
  const std::optional<measure::Facts> device =
      std::ranges::all_of(cases, on_host) ? std::nullopt : measure::device_facts(refusal);
  require_device(cases, device, refusal);
  std::string table = request.best_requests.empty() ? "" : tuning::table_in_use(*device);
  const bool tunes = request.tune_now && table == tuning::kNoTable;
  if (tunes) {
    table = "measured before this run: " + tuning::short_table_path(*request.out).filename().string();
  } else if (request.tune_now) {
    fmt::print(context.err, "scanlab: best has a table for this device ({}): none is measured\n", table);
  } else if (table == tuning::kNoTable) {
    fmt::print(context.err, "scanlab: {}", tuning::no_table((*device)["device"].get<std::string>()));
  }
  std::optional<WholeFile> table_file;
  if (tunes) table_file.emplace(tuning::short_table_path(*request.out), asked.force);
  const measure::Facts facts = provenance(request, device, table, flags, context);
  std::optional<WholeFile> ranges;
  if (request.out && request.once) ranges.emplace(*request.out, asked.force);
  std::optional<measure::ResultsFile> file =
      results_file(request.once ? std::nullopt : request.out, facts, asked.force);

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
    const int status = time_all(std::move(cases), backends, request.options, pointer(file), context);
    return status == kOk && any_failed ? kFailed : status;
  }
  const measure::ProfiledRuns runs = run_each_once(cases, backends, context.out);
  if (ranges && runs.status != kInterrupted) {
    ranges->write(measure::Facts{{"context", facts}, {"ranges", runs.ranges}}.dump(1) + "\n");
  }
  return runs.status;
}

}  // namespace scanlab::cli
