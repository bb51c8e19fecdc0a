#include "harness/distributed/distributed_cases.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>

#include "harness/core/median.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/status.hpp"
#include "harness/measure/timing.hpp"
#include "harness/results/provenance.hpp"

namespace scanlab::distributed {

namespace {

/// "yes", "FAILED", or "before only" if the output after the last run was not looked at.
std::string verified_in_words(const DistributedCase& timed) {
  if (timed.state == measure::Timing::State::failed) return "FAILED";
  return timed.verified ? "yes" : "before only";
}

/// Collective: the roles of each rank.
std::vector<std::vector<RoleCycles>> gather_cycles(Communicator& communicator, const std::vector<RoleCycles>& own) {
  std::vector<std::vector<RoleCycles>> all(static_cast<std::size_t>(communicator.ranks()), own);
  const auto gather = [&](double mine, auto place) {
    const std::vector<double> values = communicator.gather(mine);
    for (std::size_t rank = 0; rank < all.size(); ++rank) place(all[rank]) = values[rank];
  };
  for (std::size_t i = 0; i < own.size(); ++i) {
    gather(own[i].total, [&](auto& roles) -> double& { return roles[i].total; });
    for (const auto& [what, cycles] : own[i].waiting) {
      gather(cycles, [&, &kind = what](auto& roles) -> double& { return roles[i].waiting[kind]; });
    }
  }
  return all;
}

}  // namespace

std::vector<DistributedCase> cases_of(const DistributedSelection& selection, const std::vector<Shape>& shapes,
                                      int ranks) {
  std::vector<DistributedCase> cases;
  for (const ElementType type : selection.types) {
    for (const Operator op : selection.operators) {
      for (const Mode mode : selection.modes) {
        for (const Shape& shape : shapes) {
          for (const Algorithm* algorithm : selection.algorithms) {
            DistributedCase& added = cases.emplace_back();
            added.algorithm = algorithm;
            added.problem = {.type = type, .op = op, .mode = mode};
            for (const Parameter& each : algorithm->about.parameters) {
              const auto chosen = selection.settings.find(each.name);
              if (chosen != selection.settings.end()) added.problem.settings.insert(*chosen);
            }
            set_shape(added, shape, ranks);
          }
        }
      }
    }
  }
  return cases;
}

void set_shape(DistributedCase& timed, const Shape& shape, int ranks) {
  timed.problem.items = shape.axis * shape.rows * shape.inner;
  timed.problem.rows = shape.rows;
  timed.problem.inner = shape.inner;
  timed.plan = timed.algorithm->plan(timed.problem, ranks);
  timed.name = fmt::format("{}/ranks:{}", case_name(timed.algorithm->about, timed.problem), ranks);
}

std::vector<std::int64_t> default_items(int ranks) {
  std::vector<std::int64_t> all{0, 1, 2, 3, 33, 1000, 4097};
  for (const std::int64_t per_rank : {std::int64_t{1} << 14, std::int64_t{1} << 18, (std::int64_t{1} << 21) + 4321}) {
    all.push_back(per_rank * ranks - 1);
    all.push_back(per_rank * ranks + 7);
  }
  return all;
}

std::vector<Shape> default_shapes(int ranks) {
  const std::int64_t some = ranks;
  return {{0},
          {1},
          {3, 1, 4},
          {33, 3, 33},
          {1000, 5, 2},
          {4097, 1, 64},
          {some * 500 + 3, 1, 1000},
          {some * 64 - 1, 7, 512},
          {some * 20'000 + 7, 1, 32},
          {some * 999, 3, 96},
          {9, 4000, 128},
          {some * 100 + 1, 2, 8192},
          {some * 3000 + 11, 1, 4096},
          {17, some * 3 + 1, 10'000}};
}

std::string capture_refusal(const Algorithm& algorithm) {
  if (!algorithm.on_gpus) return algorithm.about.id + " runs in the hosts' memory, so no CUDA graph can replay it";
  if (algorithm.waits) return algorithm.about.id + " waits for the device within a run, so no CUDA graph can replay it";
  return {};
}

void Checks::open(const std::string& path, bool replace, const measure::Facts& context) {
  file_.emplace(path, replace, context);
}

void Checks::add(const DistributedCase& each, InputKind input) {
  using Status = verify::Outcome::Status;
  const bool skipped = each.state == measure::Timing::State::skipped;
  ++(each.verified ? passed_ : skipped ? skipped_ : failed_);
  if (!file_) return;
  verify::Outcome outcome{.message = each.reason, .out_of_memory = each.out_of_memory};
  if (!each.verified) outcome.status = skipped ? Status::skipped : Status::failed;
  file_->add(to_json(each.algorithm->about, each.problem, input, verify::Aliasing::apart, outcome));
}

void Checks::end() {
  if (!file_) return;
  file_->add(
      {{"ended", {{"passed", passed_}, {"failed", failed_}, {"skipped", skipped_}, {"interrupted", interrupted()}}}});
}

void print_table(const std::vector<DistributedCase>& cases, int ranks, std::ostream& out) {
  fmt::print(out, "# busbw = algbw * 2 / {} ranks\n{:>14} {:>14} {:>5} {:>12}  {:<22} {:>12} {:>9} {:>9}  {}\n", ranks,
             "size (B)", "count", "type", "redop", "algorithm", "time (us)", "algbw", "busbw", "verified");
  for (const DistributedCase& each : cases) {
    if (each.nanoseconds.empty()) continue;
    const double time = median(each.nanoseconds);
    const double rate = static_cast<double>(each.bytes()) / time;
    const Kind kind = each.algorithm->about.kind;
    const bool moves = kind != Kind::empty_launch;
    const int passes = kind == Kind::read ? 1 : 2;  // a read, and as a rule a write
    const auto in_gb_s = [&](double value) { return moves ? fmt::format("{:.1f}", value) : ""; };
    fmt::print(out, "{:>14} {:>14} {:>5} {:>12}  {:<22} {:>12.2f} {:>9} {:>9}  {}\n", each.bytes(), each.problem.items,
               name(each.problem.type), name(each.problem.op), each.algorithm->about.id, time / 1e3, in_gb_s(rate),
               in_gb_s(rate * passes / ranks), moves && writes(kind) ? verified_in_words(each) : "");
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

void RankCycles::add(const DistributedCase& timed, const std::vector<RoleCycles>& own, Communicator& communicator,
                     std::ostream& out) {
  const std::vector<std::vector<RoleCycles>> ranks = gather_cycles(communicator, own);
  if (communicator.rank() != 0) return;
  if (rows_.empty()) provenance_ = measure::provenance_columns();  // the same in all rows
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const auto ran = [](const RoleCycles& role) { return role.total > 0; };
    if (!std::ranges::all_of(ranks[rank], ran)) continue;  // it holds nothing of the array
    simt::print(fmt::format("{}/rank:{}", timed.name, rank), ranks[rank], out);
    simt::RunColumns columns{{"variant", timed.algorithm->about.id},
                             {"items", std::to_string(timed.problem.items)},
                             {"type", std::string(name(timed.problem.type))},
                             {"ranks", std::to_string(ranks.size())},
                             {"rank", std::to_string(rank)}};
    columns.insert(columns.end(), provenance_.begin(), provenance_.end());
    if (rows_.empty()) rows_ = simt::csv_head(columns, ranks[rank]);
    rows_ += simt::csv_rows(columns, ranks[rank]);
  }
}

}  // namespace scanlab::distributed
