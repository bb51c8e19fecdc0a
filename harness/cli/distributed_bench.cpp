// scanlab distributed bench: verifies algorithms and times them over a range of sizes.

#include "harness/cli/distributed.hpp"
#include "harness/measure/timing_report.hpp"

namespace scanlab::cli {

namespace {

using distributed::DistributedCase;

struct BenchOptions {
  DistributedWords asked;
  LoopWords loop;
  std::size_t least = 0, most = 0;  ///< bytes
  int factor = 4;
  bool total = false;
  Output out;
  Options options;

  BenchOptions() {
    options.bytes("minbytes,b", least, "begin with so many bytes per rank", "4MiB")
        .bytes("maxbytes,e", most, "end with so many bytes per rank", "1GiB")
        .number("stepfactor,f", factor, 2, 1 << 20, "multiply by N from size to size")
        .flag("total", total, "take sizes as those of the whole array (strong scaling)");
    asked.add_to(options);
    loop.add_to(options, {});
    options.output("out", out, "write results: Google Benchmark's JSON, every repetition, provenance")
        .note(measure::kGoogleFlagsNote);
  }
};

std::vector<DistributedCase> cases_of_sizes(const BenchOptions& bench, int ranks) {
  std::vector<DistributedCase> all;
  for (std::size_t size = bench.least; size <= bench.most; size *= static_cast<std::size_t>(bench.factor)) {
    const std::size_t bytes = bench.total ? size : size * static_cast<std::size_t>(ranks);
    // Items of a type are not those of another: a size gives each its own number.
    for (DistributedCase& each : bench.asked.cases({1}, ranks)) {
      const std::size_t items = bytes / item_bytes(each.problem.type, each.problem.op);
      set_items(each, std::max<std::int64_t>(1, static_cast<std::int64_t>(items)), ranks);
      all.push_back(std::move(each));
    }
  }
  return all;
}

measure::Facts provenance(const DistributedWords& asked, const measure::GoogleFlags& flags,
                          const measure::LoopOptions& loop, const std::vector<DistributedCase>& cases, int ranks,
                          const Context& context) {
  const bool on_gpus = cases.front().algorithm->on_gpus;
  measure::Facts facts{{"schema", measure::kResultsSchema}, {"kind", on_gpus ? "cuda" : "host"}};
  facts.update(asked.provenance(on_gpus, ranks, context));
  facts.erase("date");  // Google Benchmark has it
  add_loop_facts(loop, facts);
  flags.add_context(facts);
  measure::Facts& algorithms = facts["algorithms"] = measure::Facts::object();
  for (const DistributedCase& each : cases)
    algorithms[each.algorithm->about.id] = distributed::described(*each.algorithm);
  return facts;
}

}  // namespace

int distributed_bench(const Words& arguments, Context& context) {
  const measure::GoogleFlags flags = measure::take_google_flags(arguments);
  measure::refuse_min_time(flags, "distributed bench", "as many runs per sample as 20 ms hold");
  BenchOptions bench;
  if (!bench.options.parse(flags.others, context)) return kOk;
  const measure::LoopOptions loop = bench.loop.over({}, flags);
  if (bench.least == 0) refuse("--minbytes 0: give 1 byte or more, as in --minbytes 4MiB");
  if (bench.least > bench.most)
    refuse(fmt::format("--minbytes {} is more than --maxbytes {}: exchange them", bench.least, bench.most));
  return on_every_rank(bench.asked, context, [&](distributed::Communicator& communicator, Context& own) {
    std::vector<DistributedCase> cases = cases_of_sizes(bench, communicator.ranks());
    std::erase_if(cases, [&](const DistributedCase& each) { return !flags.passes(each.name); });
    if (flags.list) {
      for (const DistributedCase& each : cases) fmt::print(own.out, "{}\n", each.name);
      return static_cast<int>(kOk);
    }
    const auto backend = backend_of(cases, communicator);
    std::optional<measure::ResultsFile> file;
    leader_opens(communicator, [&] {
      const std::optional<std::string> out = either("out", bench.out.path, flags.out);
      if (!out) return;
      file.emplace(*out, provenance(bench.asked, flags, loop, cases, communicator.ranks(), own),
                   bench.out.force ? measure::IfExists::replace : measure::IfExists::refuse);
    });
    distributed::DistributedSession session(cases, communicator, *backend, {.loop = loop, .seed = bench.asked.seed},
                                            pointer(file), own.err);
    session.run();
    distributed::print_table(cases, communicator.ranks(), own.out);
    measure::print_untimed(measure::timings(cases), own.out);
    if (file) fmt::print(own.out, "{} entries in {}\n", file->entries(), file->path().string());
    return measure::status_or_nothing_ran(measure::timings(cases), own.err);
  });
}

}  // namespace scanlab::cli
