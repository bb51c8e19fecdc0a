// scanlab distributed verify: checks algorithms against the oracle.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <optional>

#include "harness/cli/distributed.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/measure/timed_case.hpp"
#include "harness/measure/timing_report.hpp"
#include "harness/verify/comparison.hpp"

namespace scanlab::cli {

namespace {

using distributed::DistributedCase;

struct VerifyOptions {
  DistributedWords asked;
  int repeat = 1;
  bool beside = false, force = false;
  std::string launch = "stream";
  std::optional<std::string> json;
  Options options;

  VerifyOptions() {
    asked.add_to(options, "set the items of the whole array (default sizes around tiles and shares)");
    options
        .list("input", "KIND", asked.words,
              "choose random, constant, alternating, one_hot, extremes, exact (default random; of floats, exact too)")
        .number("repeat", repeat, 1, 1000000, "run N times back to back before the second check, e.g. 1000")
        .flag("beside", beside, "keep the GPU of rank 0 busy with other kernels and copies meanwhile")
        .choice("launch", launch, {"stream", "graph"}, "replay a CUDA graph per GPU, too, before a third check")
        .file("json", File::written, json, "write each check to FILE as one line of JSON")
        .force(force);
  }
};

measure::Facts provenance(const VerifyOptions& options, bool on_gpus, int ranks, const Context& context) {
  measure::Facts facts = on_gpus ? measure::measured_on("scanlab distributed verify", context.argv)
                                 : measure::measured_on_host(context.argv);
  facts["backend"] = on_gpus ? "cuda" : "host";
  facts["seed"] = std::to_string(options.asked.seed);
  facts["ranks"] = ranks;
  facts["ranks_are"] = distributed::is_mpi_process() ? "processes" : "threads";
  facts["launch"] = options.launch;
  facts["beside_other_work"] = options.beside;
  return facts;
}

/// Those that write an output. What no graph captures is refused, if runs are replayed by one.
std::vector<DistributedCase> cases_to_check(const distributed::DistributedSelection& selection,
                                            const std::vector<std::int64_t>& items, int ranks, bool by_graph) {
  std::vector<DistributedCase> cases = cases_of(selection, items, ranks);
  std::erase_if(cases, [](const DistributedCase& each) { return !writes(each.algorithm->about.kind); });
  for (DistributedCase& each : cases) {
    if (!by_graph || !each.plan.possible()) continue;
    if (std::string reason = capture_refusal(*each.algorithm); !reason.empty()) {
      each.plan = distributed::Plan::refuse(std::move(reason));
    }
  }
  return cases;
}

}  // namespace

int distributed_verify(const std::vector<std::string>& arguments, Context& context) {
  VerifyOptions options;
  if (!options.options.parse(arguments, context)) return kOk;
  const bool by_graph = options.launch == "graph";
  return on_every_rank(options.asked, context, [&](distributed::Communicator& communicator, Context& own) {
    const OptionWords& words = options.asked.words;
    const distributed::DistributedSelection selection = options.asked.selection();
    std::vector<std::int64_t> items = counts_of(words, "items");
    if (items.empty()) items = distributed::default_items(communicator.ranks());
    std::vector<InputKind> inputs = values_of(words, "input", with_names(kInputKinds));
    if (inputs.empty()) inputs = {InputKind::random, InputKind::exact};
    const std::vector<DistributedCase> cases = cases_to_check(selection, items, communicator.ranks(), by_graph);
    const auto on_gpu = [](const DistributedCase& each) { return each.algorithm->on_gpus; };
    if (options.beside && std::ranges::none_of(cases, on_gpu)) {
      throw CommandError(kBadInput, "--beside keeps a GPU busy, and no chosen algorithm is on GPUs: leave it out");
    }
    const std::unique_ptr<distributed::RankBackend> backend = backend_of(cases, communicator);
    distributed::Checks checks;  // told on rank 0 alone
    const bool open = leader_can(communicator, [&] {
      if (!options.json) return;
      checks.open(*options.json, options.force,
                  provenance(options, cases.front().algorithm->on_gpus, communicator.ranks(), own));
    });
    if (!open) return static_cast<int>(kBadInput);
    std::unique_ptr<distributed::OtherWork> beside;  // ends before the backend, however this ends
    if (options.beside && communicator.rank() == 0) beside = backend->work_beside();
    int status = kOk;
    std::size_t passed = 0;
    for (const InputKind input : kInputKinds) {
      std::vector<DistributedCase> tried = cases;
      std::erase_if(tried, [&](const DistributedCase& each) {
        const std::vector<InputKind> distinct = verify::distinct_inputs(inputs, each.problem);
        return std::ranges::find(distinct, input) == distinct.end();
      });
      if (tried.empty()) continue;
      distributed::DistributedSession session(
          tried, communicator, *backend,
          {.seed = options.asked.seed,
           .input = input,
           .timed = false,
           .repeat = options.repeat,
           .replayed = by_graph,
           .checked = [&](const DistributedCase& each) { checks.add(each, input); }},
          nullptr, own.err);
      session.run();
      measure::print_untimed(measure::timings(tried), own.out);
      passed += static_cast<std::size_t>(std::ranges::count_if(tried, &DistributedCase::verified));
      status = worse(status, measure::status_of(measure::timings(tried)));
    }
    checks.end();
    fmt::print(own.out, "{} checks passed on {} ranks{}\n", passed, communicator.ranks(),
               beside ? fmt::format(", beside {} rounds of other work on the GPU of rank 0", beside->rounds()) : "");
    if (passed != 0 || status != kOk) return status;
    fmt::print(own.err, "scanlab: nothing was checked: {}\n", kAllSkipped);
    return static_cast<int>(kBadInput);
  });
}

}  // namespace scanlab::cli
