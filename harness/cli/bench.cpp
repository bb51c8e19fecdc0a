// scanlab bench: verifies cases and times them.
#include "harness/cli/options.hpp"
#include "harness/host/clock.hpp"
#include "harness/measure/record.hpp"
#include "harness/measure/scan_session.hpp"
#include "harness/tuning/short_tuning.hpp"

namespace scanlab::cli {

namespace {

constexpr char kRangesSchema[] = "scanlab-ranges/1";
constexpr char kDefaultItems[] = "2^10:2^28:x4";

struct Request {
  OptionWords words;
  std::optional<std::string> sweep;
  Output out;
  std::uint64_t seed = 1;
  bool quick = false, compare = false, once = false, tune_now = false;
  Options options;

  measure::ScanOptions timing;
  int repetitions = measure::kRepetitions;
  std::vector<measure::TimedCase> cases;
  tuning::Asked best_requests;

  Request() {
    add_selection_options(options, words, kDefaultItems);
    add_problem_options(options, words, "default i32 and plus, or the first that the variant has");
    options.list("cache", "STATE", words, "select the cache state: cold, warm (default both)")
        .list("launch", "WAY", words, "select the launch: stream, graph, batch, pipeline (default stream and graph)")
        .text("sweep", "NAME", sweep,
              sweep_help(scan_sweeps(), "--variant, --type, --op, --mode, --cache and --launch"))
        .flag("quick", quick, "short for --sweep quick")
        .flag("compare", compare, "time also what scans are compared with: best, every CUB, copies, an empty launch")
        .output("out", out, "write every repetition at once: Google Benchmark's JSON, typed, with provenance")
        .seed(seed, "choose the inputs, and where in device memory the arrays lie")
        .flag("once", once, "run each case once, untimed, in an NVTX range of its name, for nsys and ncu")
        .flag("tune-now", tune_now, "if this device has no table for best, measure one first, in under a minute")
        .note(measure::kGoogleFlagsNote);
  }

  /// Sets the cases and their timing, from the parsed words.
  void choose_cases(const measure::GoogleFlags& flags) {
    if (quick) options.refuse_useless({"sweep"}, "--quick is a sweep of its own; leave out one of the two");
    if (quick) sweep = "quick";
    const ScanSweep* const named = sweep ? &find_named("sweep", scan_sweeps(), *sweep) : nullptr;
    if (named != nullptr) {
      repetitions = named->rounds;
      timing.device_seconds = named->seconds;
    }
    timing.seconds = flags.seconds();
    timing.runs = flags.runs();
    timing.fixed_repetitions = flags.given("repetitions");
    for (const char* flag : {"repetitions", "min_time", "out"}) {
      if (!once || !flags.given(flag)) continue;
      refuse(fmt::format(
          "--benchmark_{} would have no effect: --once runs each case once, untimed; leave out one of the two", flag));
    }
    if (compare) words = add_rivals(words);
    cases = measure::timed_cases(
        named != nullptr ? selected_scans(*named, words) : selected_scans(words, kDefaultItems), once);
    if (cases.empty())
      refuse(
          "no case is left to time: widen the selection. Host code is timed with --cache warm --launch stream only, "
          "and a variant that waits on the host with --launch stream");
    if (tune_now && !out.path) refuse("--tune-now writes its table beside the results: give --out FILE");
  }
};

/// Throws CommandError (status 3) if a case needs a device that is not here.
void require_device(const std::vector<measure::TimedCase>& cases, const std::optional<measure::Facts>& device,
                    const std::string& refusal) {
  const auto needs = std::ranges::find_if_not(cases, &measure::TimedCase::on_host);
  if (needs == cases.end()) return;
  const std::string& id = needs->about().id;
  if (device && needs->scan.variant->backends.cuda) return;
  throw CommandError(kNoDevice,
                     fmt::format("{} needs a CUDA device, and there is none: {}. Without one, time the "
                                 "CPU baselines (--variant 'cpu_*'){}",
                                 id, device ? "this build runs it on the SIMT emulator only" : refusal,
                                 needs->scan.variant->backends.simt
                                     ? fmt::format(", check it on the SIMT emulator (scanlab verify --device simt "
                                                   "--variant {0}), or count its steps (scanlab explain {0})",
                                                   id)
                                     : std::string{}));
}

/// `table`: where that of best is from; empty if best is not timed.
measure::Facts provenance(const Request& request, const std::optional<measure::Facts>& device, const std::string& table,
                          const Context& context) {
  measure::Facts facts{{"schema", request.once ? kRangesSchema : measure::kResultsSchema},
                       {"kind", device ? "cuda" : "host"}};
  if (device) facts.update(*device);
  facts.update(measure::measured_on_host(context.argv));
  if (!request.once) facts.erase("date");  // of results Google Benchmark has it
  facts["seed"] = std::to_string(request.seed);
  facts["rounds"] = std::to_string(std::ranges::max(request.cases, {}, &measure::TimedCase::repetitions).repetitions);
  if (!table.empty()) facts["tuning"] = table;
  facts["seconds_a_repetition"] = fmt::format("{}", request.timing.seconds.value_or(request.timing.device_seconds));
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
  measure::Engine engine({}, nullptr, context.err);
  tuning::Tuner tuner(backends, engine);
  const TuningTable table = tuning::tune_shortly(request.best_requests, tuner, facts, elapsed);
  if (interrupted()) return false;
  const std::filesystem::path path = tuning::short_table_path(*request.out.path);
  tuning::use_table(table, file, path);
  fmt::print(context.err, "scanlab: measured in {:.0f} s; best goes by it here, and elsewhere with {}={}\n", elapsed(),
             kTuningVariable, path.string());
  return tuner.any_failed();
}

/// Prints the cases that were not timed, and how many had few repetitions; to `err` which hand-written kernels need
/// local memory: their registers did not suffice, which is worth knowing before their times are believed.
void print_rest(const std::vector<measure::TimedCase>& cases, std::ostream& out, std::ostream& err) {
  measure::print_untimed(measure::timings(cases), out);
  std::map<std::string, std::size_t> most_bytes;
  for (const measure::TimedCase& timed : cases) {
    if (timed.scan.variant->origin != Origin::variant || timed.kernels.local_bytes == 0) continue;
    std::size_t& bytes =
        most_bytes[fmt::format("{} of {} {}", timed.about().id, name(timed.problem().type), name(timed.problem().op))];
    bytes = std::max(bytes, timed.kernels.local_bytes);
  }
  for (const auto& [scan, bytes] : most_bytes) {
    fmt::print(err,
               "scanlab: warning: {} uses {} bytes of local memory a thread: spilled registers, or an array that is "
               "indexed at run time\n",
               scan, bytes);
  }
  const auto most = std::ranges::max(cases, {}, &measure::TimedCase::repetitions).repetitions;
  const auto few = std::ranges::count_if(cases, [&](const auto& each) { return each.repetitions < most; });
  if (few > 0)
    fmt::print(out, "{} repetitions instead of {} of {} cases, whose runs take above a second\n",
               measure::kFewRepetitions, most, few);
}

int time_all(std::vector<measure::TimedCase> cases, const measure::Backends& backends,
             const measure::ScanOptions& options, measure::Engine& engine, measure::ResultsFile* file,
             std::ostream& out, Context& context) {
  measure::ScanSession session(std::move(cases), backends, options, engine);
  std::string lost;
  try {
    session.run();
  } catch (const verify::DeviceLost& error) {
    lost = error.what();
  }
  engine.end_table();
  print_rest(session.cases(), out, context.err);
  if (file != nullptr) fmt::print(out, "{} entries in {}\n", file->entries(), file->path().string());
  if (interrupted()) fmt::print(context.err, "scanlab: interrupted; every finished repetition is kept\n");
  if (lost.empty()) return measure::status_or_nothing_ran(measure::timings(session.cases()), context.err);
  fmt::print(context.err, "scanlab: the device is lost to this process ({}); every finished repetition is kept\n",
             lost);
  return kFailed;
}

/// Runs each case that its variant can take once, untimed, in the profiler's capture range. `ranges` gets the name of
/// each range and the fields of its case, so that readers of a profiler's report take nothing from the names in it.
int run_each_once(const std::vector<measure::TimedCase>& cases, const measure::Backends& backends,
                  measure::Facts& ranges, std::ostream& out) {
  int status = kOk;
  for (const measure::TimedCase& timed : cases) {
    if (interrupted()) return kInterrupted;
    if (!timed.bound.plan.possible()) {
      fmt::print(out, "{}: skipped: {}\n", timed.name, timed.bound.plan.refusal);
      continue;
    }
    try {
      backends.backend_for(timed).run_once(timed);
      fmt::print(out, "{}: ran once\n", timed.name);
      measure::Facts& range = ranges.emplace_back(measure::Facts{{"name", timed.name}});
      describe(timed, range);
      for (const char* field : {"cache", "launch", "prepare_ns"}) range.erase(field);
    } catch (const measure::LacksMemory& lack) {
      fmt::print(out, "{}: skipped: {}\n", timed.name, lack.what());
      status = kOutOfMemory;
    }
  }
  return status;
}

}  // namespace

int bench(const Words& arguments, Context& context) {
  const measure::GoogleFlags flags(arguments);
  Request request;
  if (!request.options.parse(flags.others(), context)) return kOk;
  request.choose_cases(flags);
  std::vector<measure::TimedCase>& cases = request.cases;
  flags.parse(request.repetitions);
  if (!measure::choose_cases(cases, context.out)) return kOk;
  request.best_requests = tuning::best_requests(cases);
  if (request.tune_now && request.best_requests.empty())
    refuse("--tune-now measures a table for best, which no case needs: add best to --variant, or leave out --tune-now");

  std::string refusal;
  const std::optional<measure::Facts> device =
      std::ranges::all_of(cases, &measure::TimedCase::on_host) ? std::nullopt : measure::device_facts(refusal);
  require_device(cases, device, refusal);
  std::string table = request.best_requests.empty() ? "" : tuning::table_in_use(*device);
  const bool tunes = request.tune_now && table == tuning::kNoTable;
  if (tunes) {
    table = "measured before this run: " + tuning::short_table_path(*request.out.path).filename().string();
  } else if (request.tune_now) {
    fmt::print(context.err, "scanlab: best has a table for this device ({}): none is measured\n", table);
  } else if (table == tuning::kNoTable) {
    fmt::print(context.err, "scanlab: {}", tuning::no_table((*device)["device"].get<std::string>()));
  }
  std::optional<WholeFile> table_file;
  if (tunes) table_file.emplace(tuning::short_table_path(*request.out.path), request.out.force);
  const measure::Facts facts = provenance(request, device, table, context);
  std::optional<WholeFile> ranges;
  if (request.out.path && request.once) ranges.emplace(*request.out.path, request.out.force);
  std::optional<measure::ResultsFile> file =
      results_file(request.once ? std::nullopt : request.out.path, facts, request.out.force);

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
    measure::Engine engine(flags, &context.out, context.err, pointer(file));
    engine.add_context(facts);
    const int status = time_all(std::move(cases), backends, request.timing, engine, pointer(file),
                                flags.given("format") ? context.err : context.out, context);
    return status == kOk && any_failed ? kFailed : status;
  }
  measure::Facts once = measure::Facts::array();
  const int status = run_each_once(cases, backends, once, context.out);
  if (ranges && status != kInterrupted) {
    ranges->write(measure::Facts{{"context", facts}, {"ranges", once}}.dump(1) + "\n");
  }
  return status;
}

}  // namespace scanlab::cli
