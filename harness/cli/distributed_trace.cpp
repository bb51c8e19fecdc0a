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

constexpr char kNotes[] =
    "Each case is verified first, and the output of the last traced run is compared, too. All ranks begin a run at\n"
    "once, on idle GPUs, and its kernels wait until the host has enqueued all. FILE has each kernel, copy and memset\n"
    "of each GPU, in nanoseconds from the first start of the run; the figure ranks_timeline draws it. CUPTI brings\n"
    "the clocks of the GPUs to one, to within microseconds.\n";

po::options_description make_options() {
  po::options_description options("options");
  add_distributed_options(options);
  add_large_items(options);
  options.add_options()                                                                        //
      ("runs", po::value<int>()->default_value(5)->value_name("N"), "trace N runs of a case")  //
      ("out", text("FILE"), "write the traces to FILE as JSON")                                //
      ("force", "replace FILE if it holds something");
  return options;
}

/// Throws CommandError for ranks whose activities cannot be told apart, or are on no common clock.
void refuse_ranks(const po::variables_map& values) {
  if (distributed::is_mpi_process()) {
    throw CommandError(kBadInput,
                       "the processes of mpirun share no clock for a trace: use one process with --gpus N instead");
  }
  if (distributed::ranks_per_gpu() > 1) {
    throw CommandError(kBadInput, "SCANLAB_RANKS_PER_GPU: a trace needs one rank per GPU, so unset it");
  }
  if (values.count("on-hosts") != 0) {
    throw CommandError(kBadInput, "--on-hosts: a trace is of GPUs; choose by --algorithm");
  }
}

measure::Facts provenance(const po::variables_map& values, const Context& context) {
  measure::Facts facts{{"kind", "cuda"}};
  facts.update(measure::measured_on("scanlab distributed trace", context.argv));
  facts["seed"] = std::to_string(values["seed"].as<std::uint64_t>());
  facts["ranks_are"] = "threads";
  return facts;
}

/// What CUPTI says, as a command ends by it.
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
  po::variables_map values;
  if (!parse_options(arguments, make_options(), {}, distributed_command("trace"), context, values)) {
    context.out << "\n" << kNotes;
    return kOk;
  }
  const int runs = option_number(values, "runs", 1, 1000);
  refuse_ranks(values);
  measure::Facts about = provenance(values, context);
  std::optional<WholeFile> file = output_file(values);
  // Of all ranks: CUPTI collects for the process.
  std::optional<streams::ActivityCollector> collector;
  by_cupti([&] { collector.emplace(); });
  distributed::RunTracer tracer(runs, [&] { return collector->now(); });
  return on_every_rank(values, context, [&](distributed::Communicator& communicator, Context& own) {
    std::vector<DistributedCase> cases = large_cases(values, communicator.ranks());
    if (std::ranges::any_of(cases, [](const DistributedCase& each) { return !each.algorithm->on_gpus; })) {
      throw CommandError(kBadInput, "a trace is of algorithms on GPUs: scanlab distributed list has them");
    }
    const auto backend = backend_of(cases, communicator);
    if (!leader_can(communicator, [&] { by_cupti([&] { collector->begin_on_devices(); }); })) return int{kFailed};
    distributed::DistributedSession session(
        cases, communicator, *backend,
        {.seed = values["seed"].as<std::uint64_t>(),
         .timed = false,
         .observed = [&](const DistributedCase& each,
                         distributed::BoundRank& bound) { tracer.trace(each, bound, *backend, communicator); }},
        nullptr, own.err);
    session.run();  // and all ranks have come to its end
    if (communicator.rank() == 0) {
      const measure::Facts traces = by_cupti([&] { return tracer.traces(collector->end_on_devices()); });
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
