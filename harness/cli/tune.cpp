// scanlab tune: measures which scan is the fastest, and writes the table that `best` goes by; or, of a rival's shapes,
// which is the fastest, and writes the table that the rival is compiled with.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>

#include "harness/cli/options.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/measure/record.hpp"
#include "harness/tuning/tuner.hpp"

namespace scanlab::cli {

namespace {

struct TuneOptions {
  OptionWords words;
  LoopWords loop;
  std::string rival;
  std::optional<std::string> from, samples, out;
  std::uint64_t seed = 1;
  Words keep;
  bool force = false;
  Options options;

  TuneOptions() {
    options.list("type", "TYPE", words, "select element types: " + all_names<ElementType>() + ", or all (default all)")
        .list("op", "OP", words, "select operators: " + all_names<Operator>() + ", or all (default plus, max, affine)")
        .list("items", "LIST", words, "set numbers of items (default 2^8 to 2^30 and odd sizes halfway, up to 4 GiB)")
        .text("rival", "NAME", rival, "tune a rival instead of best: cub")
        .file("from", File::read, from, "choose from results of scanlab bench instead of measuring")
        .file("samples", File::written, samples, "write every sample of every candidate to a results file")
        .seed(seed, "seed the inputs")
        .file("out", File::written, out, "write the table to FILE: JSON with provenance")
        .files("keep", File::none, keep, "take entries that are not tuned now from tables of the same device")
        .force(force);
    loop.add_to(options, tuning::kTuningLoop);
  }
};

/// Of ours, or of a rival that is named. Throws CommandError (status 3) without a device, and (status 2) if a table to
/// keep is of another.
tuning::Measured measure_candidates(const TuneOptions& asked, const std::vector<TuningTable>& before, Context& context,
                                    bool& any_failed) {
  std::string refusal;
  const std::optional<measure::Facts> device = measure::device_facts(refusal);
  if (!device) {
    throw CommandError(kNoDevice, fmt::format("tune needs a CUDA device, and there is none: {}. Without one, "
                                              "choose from results with --from",
                                              refusal));
  }
  const measure::LoopOptions options = asked.loop.over(tuning::kTuningLoop);
  tuning::Measured measured{.from = "this device", .context = *device, .timings = {}};
  for (const TuningTable& each : before) tuning::check_same_device(each, measured);
  measured.context.update(measure::run_facts(context.argv));
  measure::Facts facts = measured.context;
  facts.update({{"schema", measure::kResultsSchema}, {"kind", "tuning"}, {"seed", std::to_string(asked.seed)}});
  add_loop_facts(options, facts);
  facts["variants"] = measure::described(tuning::timed_variants(asked.rival));
  std::optional<measure::ResultsFile> samples = results_file(asked.samples, facts, asked.force);
  measure::OracleStore oracles(asked.seed);
  measure::Backends backends;
#ifdef SCANLAB_WITH_CUDA
  backends.cuda = measure::make_cuda_scan_backend(oracles);
#endif
  tuning::Tuner tuner(backends, options, pointer(samples), context.err);
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
  TuneOptions asked;
  if (!asked.options.parse(arguments, context)) return kOk;
  if (asked.from)
    asked.options.leave_out({"type", "op", "items", "samples", "rounds", "width", "cap", "seed"},
                            "--from takes what the results hold");
  if (asked.options.given("rival")) check_rival(asked.rival, asked.from.has_value());
  std::vector<TuningTable> before;
  for (const std::string& path : asked.keep) before.push_back(read_tuning_table(path, path));
  std::optional<WholeFile> out = output_file(asked.out, asked.force);

  const InterruptGuard guard;
  bool any_failed = false;
  const tuning::Measured measured = asked.from ? tuning::read_results(*asked.from, asked.rival)
                                               : measure_candidates(asked, before, context, any_failed);
  if (interrupted()) {
    fmt::print(context.err, "scanlab: interrupted; no table is written\n");
    return kInterrupted;
  }
  if (asked.from) {  // what is measured was compared before
    for (const TuningTable& each : before) tuning::check_same_device(each, measured);
  }
  TuningTable table = tuning::make_table(measured);
  tuning::keep_entries(before, table);
  print(table, context.out);
  if (out) out->write(to_text(table));
  return any_failed ? kFailed : kOk;
}

}  // namespace scanlab::cli
