// scanlab tune: measures which scan is the fastest, and writes the table that `best` goes by; or, of a rival's shapes,
// which is the fastest, and writes the table that the rival is compiled with.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>

#include "harness/cli/command.hpp"
#include "harness/cli/options.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/measure/record.hpp"
#include "harness/tuning/tuner.hpp"

namespace scanlab::cli {

namespace {

constexpr char kNotes[] =
    "The command times every scan that takes all types, with each value of its parameters, cold and warm, by stream\n"
    "and by graph. For each n it chooses the scan whose worst column is nearest to the fastest. Default types and\n"
    "operators: plus, max and affine of every type, and log_sum_exp; min uses the choices of max. For types that a\n"
    "table lacks, best uses items of the same size. A table in data/tuned/ becomes part of the program at the next\n"
    "build; until then SCANLAB_TUNING=FILE selects it.\n"
    "\n"
    "With --rival cub the command times every compiled configuration of CUB's scan, beside CUB as shipped and a copy.\n"
    "The times are by stream, cold and warm, at 2^22 and 2^26 items and at 1 GiB, of verified scans. Two\n"
    "configurations per type and operator remain: the fastest at 2^22, and the fastest at the larger sizes. These two\n"
    "are timed at all other sizes, as our scans are. The table says from which n each is used.\n"
    "A build with -DSCANLAB_CUB_TUNED=TABLE compiles cub_tuned.\n";

po::options_description tune_options() {
  po::options_description options("options");
  const auto file = [] { return text("FILE"); };
  options.add_options()  //
      ("type", list_of("TYPE"),
       ("select element types: " + all_names<ElementType>() + ", or all (default below)").c_str())                //
      ("op", list_of("OP"), ("select operators: " + all_names<Operator>() + ", or all (default below)").c_str())  //
      ("items", list_of("LIST"),                                                                                  //
       "set the numbers of items (default 2^8 to 2^30 with odd sizes halfway, up to 4 GiB)")                      //
      ("rival", text("NAME"), "tune a rival instead of best: cub")                                                //
      ("from", file(), "choose from results of scanlab bench instead of measuring")                               //
      ("samples", file(), "write every sample of every candidate to a results file")                              //
      ("seed", po::value<std::uint64_t>()->value_name("N"), "seed the inputs (default 1)")                        //
      ("out", file(), "write the table to FILE: JSON with provenance")                                            //
      ("keep", po::value<std::vector<std::string>>()->composing()->value_name("FILE"),                            //
       "take entries that are not tuned now from this table of the same device; repeatable")                      //
      ("force", "replace FILE if it exists")                                                                      //
      ("help,h", "print this text");
  add_loop_options(options, tuning::kTuningLoop);
  return options;
}

/// Of ours, or of a rival that is named. Throws CommandError (status 3) without a device, and (status 2) if a table to
/// keep is of another.
tuning::Measured measure_candidates(const po::variables_map& values, const std::string& rival,
                                    const std::vector<TuningTable>& before, Context& context, bool& any_failed) {
  const std::uint64_t seed = given<std::uint64_t>(values, "seed").value_or(1);
  std::string why_not;
  const std::optional<measure::Facts> device = measure::device_facts(why_not);
  if (!device) {
    throw CommandError(kNoDevice, fmt::format("tune needs a CUDA device, and there is none: {}. Without one, "
                                              "choose from results with --from",
                                              why_not));
  }
  const measure::LoopOptions options = read_loop_options(values, {}, tuning::kTuningLoop);
  tuning::Measured measured{.from = "this device", .context = *device, .timings = {}};
  for (const TuningTable& each : before) tuning::check_same_device(each, measured);
  measured.context.update(measure::run_facts(context.argv));
  measure::Facts facts = measured.context;
  facts.update({{"schema", measure::kResultsSchema}, {"kind", "tuning"}, {"seed", std::to_string(seed)}});
  add_loop_facts(options, facts);
  facts["variants"] = measure::described(tuning::timed_variants(rival));
  std::optional<measure::ResultsFile> samples = results_file(given<std::string>(values, "samples"), facts, values);
  measure::OracleStore oracles(seed);
  measure::Backends backends;
#ifdef SCANLAB_WITH_CUDA
  backends.cuda = measure::make_cuda_scan_backend(oracles);
#endif
  tuning::Tuner tuner(backends, options, samples ? &*samples : nullptr, context.err);
  const Selection selection = select_scans(said(values));
  std::vector<std::int64_t> asked = selection.items;
  std::ranges::sort(asked);
  const bool are_named = values.count("type") + values.count("op") != 0;
  const auto usual = rival.empty() ? tuning::usual_monoids() : tuning::rival_monoids(rival);
  const auto monoids = are_named ? tuning::monoids_of(selection.types, selection.operators) : usual;
  for (const tuning::TypeAndOperator& monoid : monoids) {
    measured.timings[monoid] =
        !rival.empty()
            ? tuner.tune_rival(rival, monoid, asked)
            : tuner.measure(monoid, asked.empty() ? tuning::tuning_sizes(monoid) : asked, tuning::candidates());
  }
  any_failed = tuner.any_failed();
  return measured;
}

/// Throws CommandError (status 2) if no rival of that name can be tuned, and says how it could.
void check_rival(const std::string& rival, bool from_results) {
  if (rival != "cub") {
    throw CommandError(kBadInput, fmt::format("--rival '{}' cannot be tuned: give --rival cub", rival));
  }
  if (!from_results && tuning::rival_monoids(rival).empty()) {
    throw CommandError(kBadInput,
                       "the shapes of CUB are not compiled into this program. Build one that has them: cmake --preset "
                       "cuda -B build/candidates -DSCANLAB_CUB_CANDIDATES=ON && cmake --build build/candidates "
                       "--target scanlab");
  }
}

void print(const TuningTable& table, std::ostream& out) {
  fmt::print(out, "{}, {} multiprocessors\n", table.device, table.multiprocessors);
  for (const TuningTable::Entry& entry : table.entries) {
    fmt::print(out, "{} {}\n", name(entry.type), name(entry.op));
    for (const TuningTable::Row& row : entry.rows) {
      fmt::print(out, "  from {:>12}  {}\n", row.from_items, row.choice.label());
    }
  }
}

}  // namespace

int tune(const std::vector<std::string>& arguments, Context& context) {
  po::variables_map values;
  if (!parse_options(arguments, tune_options(), {}, command("tune"), context, values)) {
    context.out << "\n" << kNotes;
    return kOk;
  }
  for (const char* option : {"type", "op", "items", "samples", "rounds", "width", "cap", "seed"}) {
    if (values.count("from") != 0 && values.count(option) != 0) {
      throw CommandError(kBadInput, fmt::format("--from takes what the results hold: leave out --{}", option));
    }
  }
  const std::string rival = given<std::string>(values, "rival").value_or("");
  if (!rival.empty()) check_rival(rival, values.count("from") != 0);
  std::vector<TuningTable> before;
  for (const std::string& path : given<std::vector<std::string>>(values, "keep").value_or(std::vector<std::string>{}))
    before.push_back(read_tuning_table(path, path));
  std::optional<WholeFile> out = output_file(values);

  const InterruptGuard guard;
  bool any_failed = false;
  const tuning::Measured measured = values.count("from") != 0
                                        ? tuning::read_results(values["from"].as<std::string>(), rival)
                                        : measure_candidates(values, rival, before, context, any_failed);
  if (interrupted()) {
    fmt::print(context.err, "scanlab: interrupted; no table is written\n");
    return kInterrupted;
  }
  if (values.count("from") != 0) {  // what is measured was compared before
    for (const TuningTable& each : before) tuning::check_same_device(each, measured);
  }
  TuningTable table = tuning::make_table(measured);
  tuning::keep_entries(before, table);
  print(table, context.out);
  if (out) out->write(to_text(table));
  return any_failed ? kFailed : kOk;
}

}  // namespace scanlab::cli
