#include "harness/distributed/distributed_cases.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <utility>

#include "harness/core/median.hpp"
#include "harness/host/status.hpp"
#include "harness/measure/timing_report.hpp"

namespace scanlab::distributed {

std::vector<DistributedCase> cases_of(const DistributedSelection& selection, const std::vector<std::int64_t>& items,
                                      int ranks) {
  const auto takes = [](const Algorithm& algorithm, const std::string& parameter) {
    return std::ranges::find(algorithm.about.parameters, parameter, &Parameter::name) !=
           algorithm.about.parameters.end();
  };
  std::vector<DistributedCase> cases;
  for (const ElementType type : selection.types) {
    for (const Operator op : selection.operators) {
      for (const Mode mode : selection.modes) {
        for (const std::int64_t n : items) {
          for (const Algorithm* algorithm : selection.algorithms) {
            DistributedCase& added = cases.emplace_back();
            added.algorithm = algorithm;
            added.problem = {.type = type, .op = op, .mode = mode};
            for (const auto& setting : selection.settings) {
              if (takes(*algorithm, setting.first)) added.problem.settings.insert(setting);
            }
            set_items(added, n, ranks);
          }
        }
      }
    }
  }
  return cases;
}

void set_items(DistributedCase& timed, std::int64_t items, int ranks) {
  timed.problem.items = items;
  timed.plan = timed.algorithm->plan(timed.problem, ranks);
  timed.name = fmt::format("{}/ranks:{}", case_name(timed.algorithm->about, timed.problem), ranks);
}

void print_table(const std::vector<DistributedCase>& cases, int ranks, std::ostream& out) {
  fmt::print(out,
             "# busbw = algbw * 2 / {} ranks\n{:>14} {:>14} {:>5} {:>12}  "
             "{:<22} {:>12} {:>9} {:>9}  {}\n",
             ranks, "size (B)", "count", "type", "redop", "algorithm", "time (us)", "algbw", "busbw", "verified");
  for (const DistributedCase& each : cases) {
    if (each.nanoseconds.empty()) continue;
    const double time = median(each.nanoseconds);
    const double rate = static_cast<double>(each.bytes()) / time;
    if (each.algorithm->about.kind == Kind::empty_launch) {
      fmt::print(out, "{:>14} {:>14} {:>5} {:>12}  {:<22} {:>12.2f} {:>9} {:>9}\n", each.bytes(), each.problem.items,
                 name(each.problem.type), name(each.problem.op), each.algorithm->about.id, time / 1e3, "", "");
      continue;
    }
    const Kind kind = each.algorithm->about.kind;
    const int passes = kind == Kind::read ? 1 : 2;  // a read, and as a rule a write
    fmt::print(out, "{:>14} {:>14} {:>5} {:>12}  {:<22} {:>12.2f} {:>9.1f} {:>9.1f}  {}\n", each.bytes(),
               each.problem.items, name(each.problem.type), name(each.problem.op), each.algorithm->about.id, time / 1e3,
               rate, rate * passes / ranks, writes(kind) ? measure::verified_in_words(each) : "");
  }
}

std::unique_ptr<RankBackend> backend_of(const std::vector<DistributedCase>& cases, Communicator& communicator) {
  const auto on_gpus = [](const DistributedCase& each) { return each.algorithm->on_gpus; };
  if (cases.empty())
    throw CommandError(kBadInput, "no case is left to run: scanlab distributed list has the algorithms");
  if (std::ranges::none_of(cases, on_gpus)) return make_host_backend(communicator);
  if (!std::ranges::all_of(cases, on_gpus)) {
    throw CommandError(kBadInput, "algorithms on GPUs and on hosts run one after another: choose by --algorithm");
  }
#ifdef SCANLAB_WITH_CUDA
  return make_gpu_backend(communicator);
#else
  throw CommandError(kNoDevice, "this build has no CUDA: choose an algorithm on hosts, --on-hosts");
#endif
}

}  // namespace scanlab::distributed
