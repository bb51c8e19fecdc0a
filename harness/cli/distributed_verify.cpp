// scanlab distributed verify: checks algorithms against the oracle.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/cli/distributed.hpp"
#include "harness/host/append_file.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/measure/timed_case.hpp"
#include "harness/measure/timing_report.hpp"
#include "harness/verify/checks.hpp"

namespace scanlab::cli {

namespace {

using distributed::DistributedCase;
using Json = nlohmann::ordered_json;

/// Nothing; less than an item per rank; around a tile and a chunk of each rank; uneven shares.
std::vector<std::int64_t> default_items(int ranks) {
  std::vector<std::int64_t> all{0, 1, 2, 3, 33, 1000, 4097};
  for (const std::int64_t per_rank : {std::int64_t{1} << 14, std::int64_t{1} << 18, (std::int64_t{1} << 21) + 4321}) {
    all.push_back(per_rank * ranks - 1);
    all.push_back(per_rank * ranks + 7);
  }
  return all;
}

po::options_description make_options() {
  po::options_description options("options");
  add_distributed_options(options);
  options.add_options()                                                                                       //
      ("items", list_of("N"), "set the items of the whole array (default sizes around tiles and shares)")     //
      ("input", list_of("KIND"), "choose random, constant, alternating, one_hot, extremes (default random)")  //
      ("repeat", po::value<int>()->default_value(1)->value_name("N"),
       "run N times back to back before the second check, e.g. 1000")                    //
      ("beside", "keep the GPU of rank 0 busy with other kernels and copies meanwhile")  //
      ("launch", text("WAY")->default_value("stream"),
       "select the launch: stream, or graph to replay a CUDA graph per GPU, too, before a third check")  //
      ("json", text("FILE"), "write each check to FILE as one line of JSON")                             //
      ("force", "replace FILE if it holds something");
  return options;
}

/// Checks, as lines of a file in the form of `scanlab verify --json`, and counted. Of rank 0.
class Checks {
 public:
  void open(const std::string& path, bool replace, const measure::Facts& context) {
    file_.emplace(path, replace, "", std::chrono::seconds(1));
    keep({{"schema", verify::kVerificationSchema}, {"context", context}});
  }
  void add(const DistributedCase& each, InputKind input) {
    using State = measure::Timing::State;
    ++(each.verified ? passed_ : each.state == State::skipped ? skipped_ : failed_);
    Json line{{"check", "verify"},
              {"variant", each.algorithm->about.id},
              {"type", name(each.problem.type)},
              {"op", name(each.problem.op)},
              {"mode", name(each.problem.mode)},
              {"items", each.problem.items},
              {"settings", Json(each.problem.settings)},
              {"input", name(input)},
              {"placement", "apart"},
              {"outcome", each.verified                  ? "passed"
                          : each.state == State::skipped ? "skipped"
                                                         : "failed"},
              {"reason", each.reason}};
    if (each.state == State::skipped) line["out_of_memory"] = each.out_of_memory;
    keep(line);
  }
  void end() {
    keep(
        {{"ended", {{"passed", passed_}, {"failed", failed_}, {"skipped", skipped_}, {"interrupted", interrupted()}}}});
  }

 private:
  void keep(const Json& line) {
    if (file_) file_->append(line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  }
  std::optional<AppendFile> file_;
  std::size_t passed_ = 0;
  std::size_t failed_ = 0;
  std::size_t skipped_ = 0;
};

/// Whether runs are replayed by a graph. Throws CommandError (status 2).
bool asks_for_graph(const po::variables_map& values) {
  const std::string way = values["launch"].as<std::string>();
  const std::string stream(name(measure::Launch::stream));
  const std::string graph(name(measure::Launch::graph));
  if (way != stream && way != graph) unknown("--launch", way, {stream, graph});
  return way == graph;
}

/// Why no graph can replay the runs of an algorithm; empty if one can.
std::string why_not_captured(const distributed::Algorithm& algorithm) {
  if (!algorithm.on_gpus) return algorithm.about.id + " runs in the hosts' memory, so no CUDA graph can replay it";
  if (algorithm.waits) return algorithm.about.id + " waits for the device within a run, so no CUDA graph can replay it";
  return {};
}

measure::Facts provenance(const po::variables_map& values, bool on_gpus, int ranks, const Context& context) {
  measure::Facts facts = on_gpus ? measure::measured_on("scanlab distributed verify", context.argv)
                                 : measure::measured_on_host(context.argv);
  facts["backend"] = on_gpus ? "cuda" : "host";
  facts["seed"] = std::to_string(values["seed"].as<std::uint64_t>());
  facts["ranks"] = ranks;
  facts["ranks_are"] = distributed::is_mpi_process() ? "processes" : "threads";
  facts["launch"] = values["launch"].as<std::string>();
  facts["beside_other_work"] = values.count("beside") != 0;
  return facts;
}

}  // namespace

int distributed_verify(const std::vector<std::string>& arguments, Context& context) {
  po::variables_map values;
  if (!parse_options(arguments, make_options(), {}, distributed_command("verify"), context, values)) return kOk;
  const int repeat = option_number(values, "repeat", 1, 1000000);
  const bool by_graph = asks_for_graph(values);
  return on_every_rank(values, context, [&](distributed::Communicator& communicator, Context& own) {
    const OptionWords words = said(values);
    std::vector<std::int64_t> items = counts_of(words, "items");
    if (items.empty()) items = default_items(communicator.ranks());
    std::vector<std::pair<InputKind, std::string_view>> kinds;
    for (const InputKind kind : kInputKinds) kinds.emplace_back(kind, name(kind));
    std::vector<InputKind> inputs = values_of(words, "input", kinds);
    if (inputs.empty()) inputs = {InputKind::random};

    std::unique_ptr<distributed::RankBackend> backend;
    std::unique_ptr<distributed::OtherWork> beside;  // ends before the backend, however this ends
    int status = kOk;
    Checks checks;  // told on rank 0 alone
    std::size_t passed = 0;
    for (const InputKind input : inputs) {
      std::vector<DistributedCase> cases = distributed_cases(values, items, communicator.ranks());
      std::erase_if(cases, [](const DistributedCase& each) { return !writes(each.algorithm->about.kind); });
      for (DistributedCase& each : cases) {
        if (!by_graph || !each.plan.possible()) continue;
        if (std::string why = why_not_captured(*each.algorithm); !why.empty()) {
          each.plan = distributed::Plan::refuse(std::move(why));
        }
      }
      if (backend == nullptr) {
        const auto on_gpu = [](const DistributedCase& each) { return each.algorithm->on_gpus; };
        if (values.count("beside") != 0 && std::ranges::none_of(cases, on_gpu)) {
          throw CommandError(kBadInput, "--beside keeps a GPU busy, and no chosen algorithm is on GPUs: leave it out");
        }
        backend = backend_of(cases, communicator);
        const bool open = leader_can(communicator, [&] {
          if (values.count("json") == 0) return;
          checks.open(values["json"].as<std::string>(), values.count("force") != 0,
                      provenance(values, cases.front().algorithm->on_gpus, communicator.ranks(), own));
        });
        if (!open) return static_cast<int>(kBadInput);
        if (values.count("beside") != 0 && communicator.rank() == 0) beside = backend->work_beside();
      }
      distributed::DistributedSession session(
          cases, communicator, *backend,
          {.seed = values["seed"].as<std::uint64_t>(),
           .input = input,
           .timed = false,
           .repeat = repeat,
           .replayed = by_graph,
           .checked = [&](const DistributedCase& each) { checks.add(each, input); }},
          nullptr, own.err);
      session.run();
      measure::print_untimed(measure::timings(cases), own.out);
      passed += static_cast<std::size_t>(std::ranges::count_if(cases, &DistributedCase::verified));
      status = std::max(status, measure::status_of(measure::timings(cases)));
    }
    checks.end();
    fmt::print(own.out, "{} checks passed on {} ranks{}\n", passed, communicator.ranks(),
               beside ? fmt::format(", beside {} rounds of other work on the GPU of rank 0", beside->rounds()) : "");
    return passed == 0 && status == kOk ? static_cast<int>(kFailed) : status;
  });
}

}  // namespace scanlab::cli
