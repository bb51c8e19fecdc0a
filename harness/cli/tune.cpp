// scanlab tune: measures which scan is the fastest, and writes the table that `best` goes by.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>

#include "harness/cli/command.hpp"
#include "harness/cli/loop_options.hpp"
#include "harness/cli/selection.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/whole_file.hpp"
#include "harness/measure/record.hpp"
#include "harness/tuning/tuner.hpp"

namespace scanlab::cli {

namespace po = boost::program_options;

namespace {

constexpr char kNotes[] =
    "Every scan that takes all types and operators is timed, with each value of its parameters, cold and warm, from a\n"
    "stream and in a graph. For each n the one is chosen that is nowhere far from the fastest: its worst column "
    "counts.\n"
    "Without --type and --op: plus, max and affine of every type; min is taken to be as max. What a table lacks, best\n"
    "takes from items of the same size. A table in data/tuned/ becomes part of the program at the next build; until "
    "then\n"
    "SCANLAB_TUNING=FILE scanlab ... uses it.\n";

po::options_description tune_options() {
  po::options_description options("options");
  const auto list_of = [](const char* name) {
    return po::value<std::vector<std::string>>()->composing()->value_name(name);
  };
  const auto file = [] { return po::value<std::string>()->value_name("FILE"); };
  options.add_options()                                                                    //
      ("type", list_of("TYPE"), "i8, i16, i32, i64, f16, f32, f64, or all")                //
      ("op", list_of("OP"), "plus, max, min, affine, or all")                              //
      ("items", list_of("LIST"),                                                           //
       "numbers of items (default from 2^8 to 2^30, and those halfway, up to 4 GiB)")      //
      ("from", file(), "choose from these results of scanlab bench instead of measuring")  //
      ("samples", file(), "keep every sample of every candidate: a results file")          //
      ("seed", po::value<std::uint64_t>()->value_name("N"), "of the inputs (default 1)")   //
      ("out", file(), "the table: JSON with provenance; a whole file or none")             //
      ("force", "replace FILE if it exists")                                               //
      ("help,h", "this text");
  add_loop_options(options, tuning::kTuningLoop);
  return options;
}

/// What is measured: what is asked for, or what matters most in a few minutes.
std::vector<tuning::TypeAndOperator> monoids(const po::variables_map& values) {
  using enum ElementType;
  using enum Operator;
  const Selection selection = read_selection(values);
  std::vector<tuning::TypeAndOperator> all;
  if (values.count("type") == 0 && values.count("op") == 0) {
    for (const Operator op : {plus, max, affine}) {
      for (const auto& [type, word] : named_values<ElementType>()) all.emplace_back(type, op);
    }
    return all;
  }
  for (const ElementType type : selection.types) {
    for (const Operator op : selection.operators) all.emplace_back(type, op);
  }
  return all;
}

measure::Facts provenance(const measure::Facts& device, const Context& context) {
  measure::Facts facts = device;
  facts.update(measure::build_facts());
  facts["date"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  facts["argv"] = fmt::format("{}", fmt::join(context.argv, " "));
  return facts;
}

/// Throws CommandError (status 3) without a device.
tuning::Measured measure_candidates(const po::variables_map& values, Context& context, bool& any_failed) {
  const std::uint64_t seed = values.count("seed") == 0 ? 1 : values["seed"].as<std::uint64_t>();
  std::string why_not;
  const std::optional<measure::Facts> device = measure::device_facts(why_not);
  if (!device) {
    throw CommandError(kNoDevice, fmt::format("tune measures on a CUDA device, and there is none: {}. Without one, "
                                              "choose from results with --from",
                                              why_not));
  }
  const measure::LoopOptions options = read_loop_options(values, {}, tuning::kTuningLoop);
  tuning::Measured measured{.from = "this device", .context = provenance(*device, context), .timings = {}};
  std::optional<measure::ResultsFile> samples;
  if (values.count("samples") != 0) {
    measure::Facts facts = measured.context;
    facts["schema"] = measure::kResultsSchema;
    facts["kind"] = "cuda";
    facts["seed"] = std::to_string(seed);
    add_loop_facts(options, facts);
    std::vector<const Variant*> variants;
    for (const Choice& choice : tuning::candidates()) variants.push_back(Registry::instance().find(choice.variant));
    facts["variants"] = measure::described(variants);
    samples.emplace(values["samples"].as<std::string>(), facts,
                    values.count("force") != 0 ? measure::IfExists::replace : measure::IfExists::refuse);
  }
  measure::OracleStore oracles(seed);
  measure::Backends backends;
#ifdef SCANLAB_WITH_CUDA
  backends.cuda = measure::make_cuda_scan_backend(oracles);
#endif
  tuning::Tuner tuner(backends, tuning::candidates(), options, samples ? &*samples : nullptr, context.err);
  std::vector<std::int64_t> asked = read_selection(values).items;
  std::ranges::sort(asked);
  for (const tuning::TypeAndOperator& monoid : monoids(values)) {
    measured.timings[monoid] = tuner.measure(monoid, asked.empty() ? tuning::tuning_sizes(monoid) : asked);
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

int tune(const std::vector<std::string>& arguments, Context& context) {
  const po::options_description options = tune_options();
  po::variables_map values;
  if (!parse_options(arguments, options, {}, command("tune"), context, values)) {
    context.out << "\n" << kNotes;
    return kOk;
  }
  for (const char* option : {"type", "op", "items", "samples", "rounds", "width", "cap", "seed"}) {
    if (values.count("from") != 0 && values.count(option) != 0) {
      throw CommandError(kBadInput, fmt::format("--from takes what the results hold: leave out --{}", option));
    }
  }
  std::optional<WholeFile> out;
  if (values.count("out") != 0) out.emplace(values["out"].as<std::string>(), values.count("force") != 0);

  const InterruptGuard guard;
  bool any_failed = false;
  const tuning::Measured measured = values.count("from") != 0 ? tuning::read_results(values["from"].as<std::string>())
                                                              : measure_candidates(values, context, any_failed);
  if (interrupted()) {
    fmt::print(context.err, "scanlab: interrupted; no table is written\n");
    return kInterrupted;
  }
  const TuningTable table = tuning::make_table(measured);
  print(table, context.out);
  if (out) out->write(to_text(table));
  return any_failed ? kFailed : kOk;
}

}  // namespace scanlab::cli
