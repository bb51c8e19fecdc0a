// scanlab distributed: scans over several GPUs, or hosts.
#include <algorithm>
#include <functional>
#include <iterator>
#include <sstream>

#include "harness/cli/options.hpp"
#include "harness/distributed/communicator.hpp"
#include "harness/distributed/distributed_cases.hpp"
#include "harness/distributed/run_trace.hpp"
#include "harness/measure/timing.hpp"
#include "harness/verify/comparison.hpp"

namespace scanlab::cli {

using distributed::Algorithm;
using distributed::Algorithms;
using distributed::Communicator;
using distributed::DistributedCase;

namespace {

constexpr char kItemsHelp[] = "set the items of the whole array, or of its axis (default 2^28 per GPU in all)";
constexpr std::int64_t kItemsPerRank = std::int64_t{1} << 28;

bool any_algorithm_on_gpus() {
  return std::ranges::any_of(Algorithms::instance().all(), [](const auto& entry) { return entry.second.on_gpus; });
}

/// --algorithm, --on-hosts, --type, --op, --mode, --set, --items, --gpus and --seed.
struct DistributedWords {
  OptionWords words;
  bool on_hosts = false;
  std::optional<int> gpus;
  std::uint64_t seed = 1;

  void add_to(Options& options) {
    options.list("algorithm", "ID", words, "choose algorithms by id or glob (default all on GPUs)")
        .flag("on-hosts", on_hosts, "choose all algorithms in the hosts' memory instead")
        .list("set", "PARAMETER=VALUE", words, "set an algorithm's parameter, e.g. chunk=16")
        .number("gpus,g", gpus, 1, 1024, "use N GPUs by as many threads (default 1; under mpirun a process is a rank)")
        .seed(seed, "choose the inputs")
        .list("primitive", "NAME", words, "select scan or scan_axis (default scan, unless none is chosen)")
        .list("rows", "LIST", words, "scan_axis: set numbers of rows (default 1)")
        .list("inner", "LIST", words,
              "scan_axis: set numbers of items from one to the next of the axis (default 1024)");
    add_problem_options(options, words, "default i32 and plus");
  }
  /// Returns the cases that are asked for, of --items or of the default `items` in all; of tensors, where nothing of
  /// their shape is stated, of `tensors` if there are any. Throws CommandError (status 2).
  std::vector<DistributedCase> cases(const std::vector<std::int64_t>& items, int ranks,
                                     const std::vector<Shape>& tensors = {}) const;
  measure::Facts provenance(bool on_gpus, int ranks, const Context& context) const {
    measure::Facts facts = measured(on_gpus, context);
    facts["seed"] = std::to_string(seed);
    facts["ranks"] = ranks;
    facts["ranks_are"] = distributed::is_mpi_process() ? "processes" : "threads";
    return facts;
  }
};

std::vector<DistributedCase> DistributedWords::cases(const std::vector<std::int64_t>& items, int ranks,
                                                     const std::vector<Shape>& tensors) const {
  OptionWords all = words;
  for (const auto& [option, otherwise] : {std::pair{"type", "i32"}, {"op", "plus"}, {"mode", "inclusive"}})
    all.try_emplace(option, Words{otherwise});
  std::vector<const Algorithm*> algorithms =
      matching<Algorithm>(words_of(words, "algorithm"),
                          [](const std::string& glob) { unknown("--algorithm", glob, Algorithms::instance().ids()); });
  const bool on_gpus = !on_hosts && any_algorithm_on_gpus();
  for (const auto& [id, each] : Algorithms::instance().all()) {
    if (!words.contains("algorithm") && each.on_gpus == on_gpus) algorithms.push_back(&each);
  }
  const std::vector<Primitive> asked = values_of(words, "primitive", kPrimitiveNames);
  for (const Primitive each : asked) {
    if (asked.size() > 1 || (each != Primitive::scan && each != Primitive::scan_axis))
      refuse("--primitive takes scan or scan_axis here");
  }
  const auto is_no_scan = [](const Algorithm& each) { return each.about.kind != Kind::scan; };
  const bool of_axis = keep_primitives(words, "algorithm", algorithms, is_no_scan).front() == Primitive::scan_axis;
  std::vector<std::int64_t> stated, rows, inner;
  add_counts(words, "items", 0, stated);
  add_counts(words, "rows", 1, rows);
  add_counts(words, "inner", 1, inner);
  if (!of_axis && !(rows.empty() && inner.empty()))
    refuse("--rows and --inner would have no effect: choose --primitive scan_axis");
  std::vector<Shape> shapes;
  if (of_axis && stated.empty() && rows.empty() && inner.empty()) shapes = tensors;
  if (shapes.empty()) {
    const bool in_all = of_axis && stated.empty() && tensors.empty();
    if (stated.empty() && of_axis) std::ranges::transform(tensors, std::back_inserter(stated), &Shape::axis);
    if (stated.empty()) stated = items;
    if (rows.empty()) rows = {1};
    if (inner.empty()) inner = {of_axis ? 1024 : 1};
    for (const std::int64_t r : rows) {
      for (const std::int64_t between : inner) {
        const std::int64_t columns = items_of({1, r, between});
        for (const std::int64_t n : stated) {
          shapes.push_back({in_all ? std::max<std::int64_t>(n / columns, 1) : n, r, between});
          items_of(shapes.back());  // if there can be so many
        }
      }
    }
  }
  return distributed::cases_of({.algorithms = algorithms,
                                .types = values_of(all, "type", named_values<ElementType>()),
                                .operators = values_of(all, "op", named_values<Operator>()),
                                .modes = values_of(all, "mode", named_values<Mode>()),
                                .settings = settings_of(all, algorithms)},
                               shapes, ranks);
}

/// Runs `body` on every rank: this process under mpirun, else a thread for each GPU that --gpus asks for. Only rank 0
/// prints. Returns the status of rank 0.
int on_every_rank(const DistributedWords& asked, Context& context,
                  const std::function<int(Communicator&, Context&)>& body) {
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

/// Runs the cases, and prints those that did not end well. Returns a Status.
int run_cases(std::vector<DistributedCase>& cases, Communicator& communicator, distributed::RankBackend& backend,
              const distributed::SessionOptions& options, Context& own) {
  measure::Engine engine({}, nullptr, own.err);
  distributed::DistributedSession session(cases, communicator, backend, options, engine);
  session.run();  // and all ranks have come to its end
  measure::print_untimed(measure::timings(cases), own.out);
  return measure::status_of(measure::timings(cases));
}

struct BenchOptions {
  DistributedWords asked;
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
    options.output("out", out, "write every repetition at once: Google Benchmark's JSON, typed, with provenance")
        .note(measure::kGoogleFlagsNote);
  }
};

std::vector<DistributedCase> cases_of_sizes(const BenchOptions& bench, int ranks) {
  std::vector<DistributedCase> all;
  for (std::size_t size = bench.least; size <= bench.most; size *= static_cast<std::size_t>(bench.factor)) {
    const std::size_t bytes = bench.total ? size : size * static_cast<std::size_t>(ranks);
    // Items of a type are not those of another: a size gives each its own number.
    for (DistributedCase& each : bench.asked.cases({1}, ranks)) {
      const auto items = static_cast<std::int64_t>(bytes / item_bytes(each.problem.type, each.problem.op));
      const std::int64_t rows = each.problem.rows, inner = each.problem.inner;
      if (rows * inner > std::max<std::int64_t>(items, 1)) {
        refuse(fmt::format("--rows {} --inner {}: these are more than {} bytes in all: give more by --minbytes", rows,
                           inner, bytes));
      }
      set_shape(each, {std::max<std::int64_t>(1, items / (rows * inner)), rows, inner}, ranks);
      all.push_back(std::move(each));
    }
  }
  return all;
}

measure::Facts provenance(const DistributedWords& asked, const std::vector<DistributedCase>& cases, int ranks,
                          const Context& context) {
  const bool on_gpus = cases.front().algorithm->on_gpus;
  measure::Facts facts{{"schema", measure::kResultsSchema}, {"kind", on_gpus ? "cuda" : "host"}};
  facts.update(asked.provenance(on_gpus, ranks, context));
  facts.erase("date");  // Google Benchmark has it
  facts["rounds"] = std::to_string(std::ranges::max(cases, {}, &DistributedCase::repetitions).repetitions);
  measure::Facts& algorithms = facts["algorithms"] = measure::Facts::object();
  for (const DistributedCase& each : cases)
    algorithms[each.algorithm->about.id] = distributed::described(*each.algorithm);
  return facts;
}

/// Erases the cases that Google Benchmark does not choose for rank 0. Returns whether any is left to run: not after
/// the names were printed instead. Throws CommandError (status 2) on all ranks if none is chosen.
bool choose_on_all(std::vector<DistributedCase>& cases, Communicator& communicator, std::ostream& out) {
  std::vector<DistributedCase> chosen = cases;
  int goes_on = 1;
  leader_opens(communicator, [&] { goes_on = measure::choose_cases(chosen, out) ? 1 : 0; });
  if (communicator.from_leader(goes_on) == 0) return false;
  for (DistributedCase& each : cases) {
    const auto match = std::ranges::find(chosen, each.name, &DistributedCase::name);
    each.repetitions = communicator.from_leader(match == chosen.end() ? 0 : match->repetitions);
  }
  std::erase_if(cases, [](const DistributedCase& each) { return each.repetitions == 0; });
  return true;
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

int distributed_verify(const Words& arguments, Context& context) {
  DistributedWords asked;
  int repeat = 1;
  bool busy = false, by_graph = false;
  Output json;
  Options options;
  asked.add_to(options);
  options
      .list("items", "LIST", asked.words,
            "set the items of the whole array, or of its axis (default around tiles and shares)")
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
    std::vector<DistributedCase> cases =
        asked.cases(distributed::default_items(ranks), ranks, distributed::default_shapes(ranks));
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

int distributed_bench(const Words& arguments, Context& context) {
  const measure::GoogleFlags flags(arguments);
  if (flags.given("min_time"))
    refuse("--benchmark_min_time would have no effect: a sample has as many runs as 20 ms hold; leave it out");
  BenchOptions bench;
  if (!bench.options.parse(flags.others(), context)) return kOk;
  if (bench.least == 0) refuse("--minbytes 0: give 1 byte or more, as in --minbytes 4MiB");
  if (bench.least > bench.most)
    refuse(fmt::format("--minbytes {} is more than --maxbytes {}: exchange them", bench.least, bench.most));
  flags.parse();
  return on_every_rank(bench.asked, context, [&](Communicator& communicator, Context& own) {
    std::vector<DistributedCase> cases = cases_of_sizes(bench, communicator.ranks());
    if (!choose_on_all(cases, communicator, own.out)) return static_cast<int>(kOk);
    const auto backend = backend_of(cases, communicator);
    measure::Facts facts;
    std::optional<measure::ResultsFile> file;
    leader_opens(communicator, [&] {
      facts = provenance(bench.asked, cases, communicator.ranks(), own);
      if (bench.out.path) file.emplace(*bench.out.path, facts, bench.out.force);
    });
    measure::Engine engine(flags, flags.given("format") ? &own.out : nullptr, own.err, pointer(file));
    engine.add_context(facts);
    distributed::DistributedSession session(cases, communicator, *backend, {.seed = bench.asked.seed}, engine);
    session.run();
    engine.end_table();
    std::ostream& out = flags.given("format") ? own.err : own.out;
    distributed::print_table(cases, communicator.ranks(), out);
    measure::print_untimed(measure::timings(cases), out);
    if (file) fmt::print(out, "{} entries in {}\n", file->entries(), file->path().string());
    return measure::status_or_nothing_ran(measure::timings(cases), own.err);
  });
}

}  // namespace scanlab::cli
