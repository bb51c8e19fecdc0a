// scanlab distributed trace: what each GPU did in a few runs of an algorithm, by CUPTI.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/cli/distributed.hpp"
#include "harness/distributed/run_trace.hpp"
#include "harness/measure/timing_report.hpp"

namespace scanlab::cli {

namespace {

using distributed::DistributedCase;

/// Throws CommandError for ranks whose activities cannot be told apart, or are on no common clock.
void refuse_ranks(bool on_hosts) {
  if (distributed::is_mpi_process()) {
    throw CommandError(kBadInput,
                       "the processes of mpirun share no clock for a trace: use one process with --gpus N instead");
  }
  if (distributed::ranks_per_gpu() > 1) {
    throw CommandError(kBadInput, "SCANLAB_RANKS_PER_GPU: a trace needs one rank per GPU, so unset it");
  }
  if (on_hosts) {
    throw CommandError(kBadInput, "--on-hosts: a trace is of GPUs; choose by --algorithm");
  }
}

measure::Facts provenance(std::uint64_t seed, const Context& context) {
  measure::Facts facts{{"kind", "cuda"}};
  facts.update(measure::measured_on("scanlab distributed trace", context.argv));
  facts["seed"] = std::to_string(seed);
  facts["ranks_are"] = "threads";
  return facts;
}

/// Runs `work`, and turns an error of CUPTI into an error of the command.
template <class Work>
auto by_cupti(Work work) {
  try {
    return work();
  } catch (const std::runtime_error& error) {
    throw CommandError(kFailed, error.what());
  }
}

}  // namespace

int distributed_trace(const std::vector<std::string>& arguments, Context& context) {
  DistributedWords asked;
  int runs = 5;
  std::optional<std::string> out;
  bool force = false;
  Options options;
  asked.add_to(options, kLargeItems);
  options.number("runs", runs, 1, 1000, "trace N runs of a case")
      .file("out", File::written, out, "write the traces to FILE as JSON")
      .force(force);
  if (!options.parse(arguments, context)) return kOk;
  refuse_ranks(asked.on_hosts);
  measure::Facts about = provenance(asked.seed, context);
  std::optional<WholeFile> file = output_file(out, force);
  // CUPTI collects for the process, which is all ranks.
  std::optional<streams::ActivityCollector> collector;
  by_cupti([&] { collector.emplace(/*of_schedules=*/false); });
  distributed::RunTracer tracer(runs, [&] { return collector->now(); });
  return on_every_rank(asked, context, [&](distributed::Communicator& communicator, Context& own) {
    std::vector<DistributedCase> cases = asked.large_cases(communicator.ranks());
    if (std::ranges::any_of(cases, [](const DistributedCase& each) { return !each.algorithm->on_gpus; })) {
      throw CommandError(kBadInput, "a trace is of algorithms on GPUs: scanlab distributed list has them");
    }
    const auto backend = backend_of(cases, communicator);
    if (!leader_can(communicator, [&] { by_cupti([&] { collector->begin(); }); })) return int{kFailed};
    distributed::DistributedSession session(
        cases, communicator, *backend,
        {.seed = asked.seed,
         .timed = false,
         .observed = [&](const DistributedCase& each,
                         distributed::BoundRank& bound) { tracer.trace(each, bound, *backend, communicator); }},
        nullptr, own.err);
    session.run();  // and all ranks have come to its end
    if (communicator.rank() == 0) {
      const measure::Facts traces = by_cupti([&] { return tracer.traces(collector->end()); });
      distributed::print_traces(traces, own.out);
      about["ranks"] = communicator.ranks();
      if (file && !traces.empty()) {
        file->write(
            measure::Facts{{"schema", distributed::kTraceSchema}, {"context", about}, {"traces", traces}}.dump() +
            "\n");
      }
    }
    measure::print_untimed(measure::timings(cases), own.out);
    return measure::status_of(measure::timings(cases));
  });
}

}  // namespace scanlab::cli
