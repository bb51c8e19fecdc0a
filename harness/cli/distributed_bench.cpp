// scanlab distributed bench: verifies algorithms and times them over a range of sizes.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>

#include "harness/cli/distributed.hpp"
#include "harness/measure/timing_report.hpp"

namespace scanlab::cli {

namespace {

using distributed::DistributedCase;

constexpr char kNotes[] =
    "Sizes are those of each rank, or with --total those of the whole array. A case is verified first, then timed\n"
    "back to back in a stream; its time is that of the slowest rank. The column `algbw` has the array's bytes per\n"
    "second. The column `busbw` is algbw * 2 / ranks: the memory rate that each GPU needs at least, for one read and\n"
    "one write per item. For read_all it is algbw / ranks, since it only reads. Compare it with copy_all.\n";

po::options_description make_options() {
  po::options_description options("options");
  options.add_options()                                                                                         //
      ("minbytes,b", text("BYTES")->default_value("4MiB"), "begin with so many bytes per rank")                 //
      ("maxbytes,e", text("BYTES")->default_value("1GiB"), "end with so many bytes per rank")                   //
      ("stepfactor,f", po::value<int>()->default_value(4)->value_name("N"), "multiply by N from size to size")  //
      ("total", "take sizes as those of the whole array (strong scaling)");
  add_distributed_options(options);
  add_loop_options(options, {});
  options.add_options()                                                                             //
      ("out", text("FILE"), "write results: Google Benchmark's JSON, raw repetitions, provenance")  //
      ("force", "replace FILE if it holds something");
  return options;
}

/// Bytes from the least to the most.
std::vector<std::size_t> sizes_of(const po::variables_map& values) {
  const std::size_t least = parse_bytes(values["minbytes"].as<std::string>(), "--minbytes");
  const std::size_t most = parse_bytes(values["maxbytes"].as<std::string>(), "--maxbytes");
  const int factor = option_number(values, "stepfactor", 2, 1 << 20);
  if (least == 0) throw CommandError(kBadInput, "--minbytes 0: give 1 byte or more, as in --minbytes 4MiB");
  if (least > most) {
    throw CommandError(kBadInput, fmt::format("--minbytes {} is more than --maxbytes {}: exchange them", least, most));
  }
  std::vector<std::size_t> sizes;
  for (std::size_t size = least; size <= most; size *= static_cast<std::size_t>(factor)) sizes.push_back(size);
  return sizes;
}

std::vector<DistributedCase> cases_of_sizes(const po::variables_map& values, int ranks) {
  std::vector<DistributedCase> all;
  const distributed::DistributedSelection selection = selected_algorithms(values);
  for (const std::size_t size : sizes_of(values)) {
    const std::size_t bytes = values.count("total") != 0 ? size : size * static_cast<std::size_t>(ranks);
    // Items of a type are not those of another: a size gives each its own number.
    for (DistributedCase& each : cases_of(selection, {1}, ranks)) {
      const std::size_t items = bytes / item_bytes(each.problem.type, each.problem.op);
      set_items(each, std::max<std::int64_t>(1, static_cast<std::int64_t>(items)), ranks);
      all.push_back(std::move(each));
    }
  }
  return all;
}

measure::Facts provenance(const po::variables_map& values, const measure::GoogleFlags& flags,
                          const measure::LoopOptions& loop, const std::vector<DistributedCase>& cases, int ranks,
                          const Context& context) {
  const bool on_gpus = cases.front().algorithm->on_gpus;
  measure::Facts facts{{"schema", measure::kResultsSchema}, {"kind", on_gpus ? "cuda" : "host"}};
  facts.update(on_gpus ? measure::measured_on("scanlab distributed bench", context.argv)
                       : measure::measured_on_host(context.argv));
  facts.erase("date");  // Google Benchmark has it
  facts["seed"] = std::to_string(values["seed"].as<std::uint64_t>());
  facts["ranks"] = ranks;
  facts["ranks_are"] = distributed::is_mpi_process() ? "processes" : "threads";
  add_loop_facts(loop, facts);
  flags.add_context(facts);
  measure::Facts& algorithms = facts["algorithms"] = measure::Facts::object();
  for (const DistributedCase& each : cases) {
    algorithms[each.algorithm->about.id] = distributed::described(*each.algorithm);
  }
  return facts;
}

}  // namespace

int distributed_bench(const std::vector<std::string>& arguments, Context& context) {
  const measure::GoogleFlags flags = measure::take_google_flags(arguments);
  measure::refuse_min_time(flags, "distributed bench", "as many runs per sample as 20 ms hold");
  po::variables_map values;
  if (!parse_options(flags.others, make_options(), {}, distributed_command("bench"), context, values)) {
    context.out << "\n" << kNotes << measure::kGoogleFlagsNote;
    return kOk;
  }
  const measure::LoopOptions loop = read_loop_options(values, flags, {});
  sizes_of(values);  // what is wrong is said before ranks are started
  return on_every_rank(values, context, [&](distributed::Communicator& communicator, Context& own) {
    std::vector<DistributedCase> cases = cases_of_sizes(values, communicator.ranks());
    std::erase_if(cases, [&](const DistributedCase& each) { return !flags.passes(each.name); });
    if (flags.list) {
      for (const DistributedCase& each : cases) fmt::print(own.out, "{}\n", each.name);
      return static_cast<int>(kOk);
    }
    const auto backend = backend_of(cases, communicator);
    using MaybeFile = std::optional<measure::ResultsFile>;
    std::unique_ptr<MaybeFile> opened;
    const bool open = leader_can(communicator, [&] {
      opened.reset(
          new MaybeFile(results_file(either<std::string>(values, "out", flags.out),
                                     provenance(values, flags, loop, cases, communicator.ranks(), own), values)));
    });
    if (!open) return static_cast<int>(kBadInput);
    measure::ResultsFile* const file = opened && *opened ? &**opened : nullptr;
    distributed::DistributedSession session(cases, communicator, *backend,
                                            {.loop = loop, .seed = values["seed"].as<std::uint64_t>()}, file, own.err);
    session.run();
    distributed::print_table(cases, communicator.ranks(), own.out);
    measure::print_untimed(measure::timings(cases), own.out);
    if (file != nullptr) fmt::print(own.out, "{} entries in {}\n", file->entries(), file->path().string());
    return measure::status_or_nothing_ran(measure::timings(cases), own.err);
  });
}

}  // namespace scanlab::cli
