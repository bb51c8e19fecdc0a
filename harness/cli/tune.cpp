// scanlab tune: measures which scan is the fastest, and writes the table that `best` goes by; or, of a rival's shapes,
// which is the fastest, and writes the table that the rival is compiled with.
#include "harness/cli/options.hpp"
#include "harness/measure/record.hpp"
#include "harness/tuning/tuner.hpp"

namespace scanlab::cli {

namespace {

struct TuneOptions {
  OptionWords words;
  std::string rival;
  std::optional<std::string> samples;
  Output out;
  std::uint64_t seed = 1;
  int repetitions = tuning::kTuningRepetitions;
};

/// Measures the candidates, or those of a rival that is named. Throws CommandError (status 3) without a device, and
/// (status 2) if a table to keep is of another.
tuning::Measured measure_candidates(const TuneOptions& asked, const std::vector<TuningTable>& before, Context& context,
                                    bool& any_failed) {
  const measure::Facts device = require_device(context, "choose from results with --from");
  tuning::Measured measured{.from = "this device", .context = device, .timings = {}};
  for (const TuningTable& each : before) tuning::check_same_device(each, measured);
  measured.context.update(measure::run_facts(context.argv));
  measure::Facts facts = measured.context;
  facts.update({{"schema", measure::kResultsSchema}, {"kind", "tuning"}, {"seed", std::to_string(asked.seed)}});
  facts["rounds"] = std::to_string(asked.repetitions);
  facts["variants"] = measure::described(tuning::timed_variants(asked.rival));
  std::optional<measure::ResultsFile> samples = results_file(asked.samples, facts, asked.out.force);
  measure::OracleStore oracles(asked.seed);
  measure::Backends backends;
#ifdef SCANLAB_WITH_CUDA
  backends.cuda = measure::make_cuda_scan_backend(oracles);
#endif
  measure::GoogleFlags().parse();  // samples are interleaved
  measure::Engine engine({}, nullptr, context.err, pointer(samples));
  tuning::Tuner tuner(backends, engine, asked.repetitions);
  const Selection selection = select_scans(asked.words);
  std::vector<std::int64_t> sizes = selection.items;
  std::ranges::sort(sizes);
  const std::string& rival = asked.rival;
  const bool are_named = asked.words.contains("type") || asked.words.contains("op");
  const auto usual = rival.empty() ? tuning::usual_monoids() : tuning::rival_monoids(rival);
  const auto monoids = are_named ? tuning::defined_monoids(selection.types, selection.operators) : usual;
  for (const tuning::TypeAndOperator& monoid : monoids) {
    measured.timings[monoid] =
        !rival.empty()
            ? tuner.tune_rival(rival, monoid, sizes)
            : tuner.measure(monoid, sizes.empty() ? tuning::tuning_sizes(monoid) : sizes, tuning::candidates());
  }
  any_failed = tuner.any_failed();
  return measured;
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

int tune(const Words& arguments, Context& context) {
  TuneOptions asked;
  std::optional<std::string> from;
  Words keep;
  Options options;
  options
      .list("type", "TYPE", asked.words, "select element types: " + all_names<ElementType>() + ", or all (default all)")
      .list("op", "OP", asked.words,
            "select operators: " + all_names<Operator>() + ", or all (default plus, max, affine)")
      .list("items", "LIST", asked.words,
            "set numbers of items (default 2^8 to 2^30 and 60 odd sizes between, up to 4 GiB)")
      .text("rival", "NAME", asked.rival, "tune a rival instead of best: cub")
      .file("from", File::read, from, "choose from results of scanlab bench instead of measuring")
      .file("samples", File::written, asked.samples, "write every sample of every candidate to a results file")
      .seed(asked.seed, "seed the inputs")
      .output("out", asked.out, "write the table to FILE: JSON with provenance")
      .files("keep", keep, "take entries that are not tuned now from tables of the same device")
      .number("repetitions", asked.repetitions, 1, 1000, "take N samples of each candidate in each condition");
  if (!options.parse(arguments, context)) return kOk;
  if (from)
    options.refuse_useless({"type", "op", "items", "samples", "repetitions", "seed"},
                           "--from takes what the results hold");
  if (options.given("rival") && asked.rival != "cub")
    refuse(fmt::format("--rival '{}' cannot be tuned: give --rival cub", asked.rival));
  if (options.given("rival") && !from && tuning::rival_monoids(asked.rival).empty())
    refuse(
        "the shapes of CUB are not compiled into this program. Build one that has them: cmake --preset cuda -B "
        "build/candidates -DSCANLAB_CUB_CANDIDATES=ON && cmake --build build/candidates --target scanlab");
  std::vector<TuningTable> before;
  for (const std::string& path : keep) before.push_back(read_tuning_table(path, path));
  std::optional<WholeFile> out = asked.out.open();

  const InterruptGuard guard;
  bool any_failed = false;
  const tuning::Measured measured =
      from ? tuning::read_results(*from, asked.rival) : measure_candidates(asked, before, context, any_failed);
  end_if_interrupted("no table is written");
  for (const TuningTable& each : before) tuning::check_same_device(each, measured);
  TuningTable table = tuning::make_table(measured);
  tuning::keep_entries(before, table);
  print(table, context.out);
  if (out) out->write(to_text(table));
  return any_failed ? kFailed : kOk;
}

}  // namespace scanlab::cli
