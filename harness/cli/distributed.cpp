// scanlab distributed: scans over several GPUs, or hosts; its commands but bench.
#include "harness/cli/distributed.hpp"

#include <sstream>

#include "harness/distributed/distributed_cases.hpp"
#include "harness/distributed/run_trace.hpp"
#include "harness/measure/timing_report.hpp"
#include "harness/verify/comparison.hpp"

namespace scanlab::cli {

using distributed::Algorithm;
using distributed::Algorithms;
using distributed::Communicator;
using distributed::DistributedCase;

namespace {

constexpr char kItemsHelp[] = "set the items of the whole array (default 2^28 per GPU)";
constexpr std::int64_t kItemsPerRank = std::int64_t{1} << 28;

bool any_algorithm_on_gpus() {
  return std::ranges::any_of(Algorithms::instance().all(), [](const auto& entry) { return entry.second.on_gpus; });
}

/// Runs the cases, and prints those that did not end well. Returns a Status.
int run_cases(std::vector<DistributedCase>& cases, Communicator& communicator, distributed::RankBackend& backend,
              const distributed::SessionOptions& options, Context& own) {
  distributed::DistributedSession session(cases, communicator, backend, options, nullptr, own.err);
  session.run();  // and all ranks have come to its end
  measure::print_untimed(measure::timings(cases), own.out);
  return measure::status_of(measure::timings(cases));
}

}  // namespace

int distributed_list(const Words& arguments, Context& context) {
  Options options;
  if (!options.parse(arguments, context)) return kOk;
  constexpr auto kRow = "{:<22}  {:<5}  {:<15}  {:<12}  {}\n";
  fmt::print(context.out, kRow, "id", "on", "traffic", "reproducible", "title");
  for (const auto& [id, each] : Algorithms::instance().all()) {
    fmt::print(context.out, kRow, id, each.on_gpus ? "GPUs" : "hosts", each.about.cost.traffic,
               each.about.bitwise_reproducible ? "yes" : "no", each.about.title);
  }
  fmt::print(context.out, "reproducible: floats have the same bits on every run of one n and number of ranks.\n");
  if (!distributed::has_mpi()) fmt::print(context.out, "This build has no MPI: ranks are threads of one process.\n");
  return kOk;
}

void DistributedWords::add_to(Options& options) {
  options.list("algorithm", "ID", words, "choose algorithms by id or glob (default all on GPUs)")
      .flag("on-hosts", on_hosts, "choose all algorithms in the hosts' memory instead")
      .list("set", "PARAMETER=VALUE", words, "set an algorithm's parameter, e.g. chunk=16")
      .number("gpus,g", gpus, 1, 1024, "use N GPUs by as many threads (default 1; under mpirun a process is a rank)")
      .seed(seed, "choose the inputs");
  add_problem_options(options, words, "default i32 and plus");
}

std::vector<DistributedCase> DistributedWords::cases(std::vector<std::int64_t> items, int ranks) const {
  OptionWords all = words;
  for (const auto& [option, otherwise] : {std::pair{"type", "i32"}, {"op", "plus"}, {"mode", "inclusive"}})
    all.try_emplace(option, Words{otherwise});
  if (words.contains("items")) items = counts_of(words, "items");
  std::vector<const Algorithm*> algorithms =
      matching<Algorithm>(words_of(words, "algorithm"),
                          [](const std::string& glob) { unknown("--algorithm", glob, Algorithms::instance().ids()); });
  const bool on_gpus = !on_hosts && any_algorithm_on_gpus();
  for (const auto& [id, each] : Algorithms::instance().all()) {
    if (!words.contains("algorithm") && each.on_gpus == on_gpus) algorithms.push_back(&each);
  }
  distributed::DistributedSelection selection{.algorithms = algorithms,
                                              .types = values_of(all, "type", named_values<ElementType>()),
                                              .operators = values_of(all, "op", named_values<Operator>()),
                                              .modes = values_of(all, "mode", named_values<Mode>())};
  selection.settings = settings_of(all, selection.algorithms);
  return cases_of(selection, items, ranks);
}

measure::Facts DistributedWords::provenance(bool on_gpus, int ranks, const Context& context) const {
  measure::Facts facts = measured(on_gpus, context);
  facts["seed"] = std::to_string(seed);
  facts["ranks"] = ranks;
  facts["ranks_are"] = distributed::is_mpi_process() ? "processes" : "threads";
  return facts;
}

int on_every_rank(const DistributedWords& asked, Context& context, const RankBody& body) {
  if (asked.gpus && !any_algorithm_on_gpus()) {
    throw CommandError(kNoDevice, fmt::format("--gpus {0}: this build has no CUDA. Scans on hosts have processes for "
                                              "ranks: mpirun -n {0} scanlab distributed …",
                                              *asked.gpus));
  }
  const InterruptGuard guard;  // one for all ranks of the process
  return distributed::run_on_ranks(asked.gpus.value_or(1), context.argv, [&](Communicator& communicator) {
    if (communicator.rank() == 0) return body(communicator, context);
    std::ostringstream silence;
    Context own{silence, silence, context.argv, context.command, context.called};
    return body(communicator, own);
  });
}

int distributed_verify(const Words& arguments, Context& context) {
  DistributedWords asked;
  int repeat = 1;
  bool busy = false, by_graph = false;
  Output json;
  Options options;
  asked.add_to(options);
  options.list("items", "LIST", asked.words, "set the items of the whole array (default sizes around tiles and shares)")
      .list("input", "KIND", asked.words,
            "choose random, constant, alternating, one_hot, extremes, exact (default random; of floats, exact too)")
      .number("repeat", repeat, 1, 1000000, "run N times back to back before the second check, e.g. 1000")
      .flag("beside", busy, "keep the GPU of rank 0 busy with other kernels and copies meanwhile")
      .choice("launch", by_graph, {{false, "stream"}, {true, "graph"}},
              "replay a CUDA graph per GPU, too, before a third check")
      .output("json", json, "write each check to FILE as one line of JSON");
  if (!options.parse(arguments, context)) return kOk;
  return on_every_rank(asked, context, [&](Communicator& communicator, Context& own) {
    const int ranks = communicator.ranks();
    std::vector<DistributedCase> cases = asked.cases(distributed::default_items(ranks), ranks);
    std::erase_if(cases, [](const DistributedCase& each) { return !writes(each.algorithm->about.kind); });
    for (DistributedCase& each : cases) {
      if (!by_graph || !each.plan.possible()) continue;
      if (std::string reason = capture_refusal(*each.algorithm); !reason.empty())
        each.plan = distributed::Plan::refuse(std::move(reason));
    }
    std::vector<InputKind> inputs = values_of(asked.words, "input", with_names(kInputKinds));
    if (inputs.empty()) inputs = {InputKind::random, InputKind::exact};
    if (busy && std::ranges::none_of(cases, [](const DistributedCase& each) { return each.algorithm->on_gpus; }))
      refuse("--beside keeps a GPU busy, and no chosen algorithm is on GPUs: leave it out");
    const std::unique_ptr<distributed::RankBackend> backend = backend_of(cases, communicator);
    distributed::Checks checks;  // of rank 0 alone
    leader_opens(communicator, [&] {
      if (!json.path) return;
      const bool on_gpus = cases.front().algorithm->on_gpus;
      measure::Facts facts = asked.provenance(on_gpus, ranks, own);
      facts["backend"] = on_gpus ? "cuda" : "host";
      facts["launch"] = by_graph ? "graph" : "stream";
      facts["beside_other_work"] = busy;
      checks.open(*json.path, json.force, facts);
    });
    std::unique_ptr<distributed::OtherWork> other_work;  // ends before the backend, however this ends
    if (busy && communicator.rank() == 0) other_work = backend->work_beside();
    int status = kOk;
    std::size_t passed = 0;
    for (const InputKind input : kInputKinds) {
      std::vector<DistributedCase> tried = cases;
      std::erase_if(tried, [&](const DistributedCase& each) {
        const std::vector<InputKind> distinct = verify::distinct_inputs(inputs, each.problem);
        return std::ranges::find(distinct, input) == distinct.end();
      });
      if (tried.empty()) continue;
      const int ended = run_cases(tried, communicator, *backend,
                                  {.seed = asked.seed,
                                   .input = input,
                                   .timed = false,
                                   .repeat = repeat,
                                   .replayed = by_graph,
                                   .checked = [&](const DistributedCase& each) { checks.add(each, input); }},
                                  own);
      passed += static_cast<std::size_t>(std::ranges::count_if(tried, &DistributedCase::verified));
      status = worse(status, ended);
    }
    checks.end();
    fmt::print(
        own.out, "{} checks passed on {} ranks{}\n", passed, ranks,
        other_work ? fmt::format(", beside {} rounds of other work on the GPU of rank 0", other_work->rounds()) : "");
    if (passed != 0 || status != kOk) return status;
    fmt::print(own.err, "scanlab: nothing was checked: {}\n", kAllSkipped);
    return static_cast<int>(kBadInput);
  });
}

int distributed_cycles(const Words& arguments, Context& context) {
  DistributedWords asked;
  Output csv;
  Options options;
  asked.add_to(options);
  options.list("items", "LIST", asked.words, kItemsHelp).output("csv", csv, "write the cycles to FILE as a table");
  if (!options.parse(arguments, context)) return kOk;
  if (!asked.words.contains("algorithm"))
    refuse("distributed cycles takes an algorithm, as in --algorithm peer_look_ahead");
  return on_every_rank(asked, context, [&](Communicator& communicator, Context& own) {
    std::vector<DistributedCase> cases = asked.cases({kItemsPerRank * communicator.ranks()}, communicator.ranks());
    const auto backend = backend_of(cases, communicator);
    std::optional<WholeFile> file;
    leader_opens(communicator, [&] {
      if (csv.path) file.emplace(*csv.path, csv.force);
    });
    distributed::RankCycles seen;
    const auto watch = [&](const DistributedCase& each, distributed::BoundRank& bound) {
      constexpr std::int64_t kUntimed = 3;  // the first run finds the clocks low and the code cold
      const bool watches = bound.begin_watching();
      communicator.barrier();  // every rank has loaded its kernel before one waits for another
      if (!watches) {
        fmt::print(own.err, "skipped: {}: it has no form that watches its warps\n", each.name);
        return;
      }
      backend->time(bound, kUntimed, 1);
      seen.add(each, bound.cycles(), communicator, own.out);
    };
    const int status =
        run_cases(cases, communicator, *backend, {.seed = asked.seed, .timed = false, .observed = watch}, own);
    if (communicator.rank() != 0 || status == kFailed) return status;
    if (seen.rows().empty())
      refuse("no chosen case has a form that watches its warps; peer_look_ahead has one for i32 and f32 sums");
    if (file) file->write(seen.rows());
    return status;
  });
}

int distributed_trace(const Words& arguments, Context& context) {
  DistributedWords asked;
  int runs = 5;
  Output out;
  Options options;
  asked.add_to(options);
  options.list("items", "LIST", asked.words, kItemsHelp)
      .number("runs", runs, 1, 1000, "trace N runs of a case")
      .output("out", out, "write the traces to FILE as JSON");
  if (!options.parse(arguments, context)) return kOk;
  // Activities of other ranks could not be distinguished, or are on another clock.
  if (distributed::is_mpi_process())
    refuse("the processes of mpirun share no clock for a trace: use one process with --gpus N instead");
  if (distributed::ranks_per_gpu() > 1) refuse("SCANLAB_RANKS_PER_GPU: a trace needs one rank per GPU, so unset it");
  if (asked.on_hosts) refuse("--on-hosts: a trace is of GPUs; choose by --algorithm");
  measure::Facts about = asked.provenance(/*on_gpus=*/true, asked.gpus.value_or(1), context);
  about["kind"] = "cuda";
  std::optional<WholeFile> file = out.open();
  streams::ActivityCollector collector(/*of_schedules=*/false);  // of the process, which is all ranks
  distributed::RunTracer tracer(runs, [&] { return collector.now(); });
  return on_every_rank(asked, context, [&](Communicator& communicator, Context& own) {
    std::vector<DistributedCase> cases = asked.cases({kItemsPerRank * communicator.ranks()}, communicator.ranks());
    if (!std::ranges::all_of(cases, [](const DistributedCase& each) { return each.algorithm->on_gpus; }))
      refuse("a trace is of algorithms on GPUs: scanlab distributed list has them");
    const auto backend = backend_of(cases, communicator);
    leader_opens(communicator, [&] { collector.begin(); });
    const auto trace = [&](const DistributedCase& each, distributed::BoundRank& bound) {
      tracer.trace(each, bound, *backend, communicator);
    };
    const int status =
        run_cases(cases, communicator, *backend, {.seed = asked.seed, .timed = false, .observed = trace}, own);
    if (communicator.rank() != 0) return status;
    const measure::Facts traces = tracer.traces(collector.end());
    distributed::print_traces(traces, own.out);
    if (file && !traces.empty()) {
      const measure::Facts document{{"schema", distributed::kTraceSchema}, {"context", about}, {"traces", traces}};
      file->write(document.dump() + "\n");
    }
    return status;
  });
}

}  // namespace scanlab::cli
