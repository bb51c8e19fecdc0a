#include "harness/distributed/rank_cycles.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/measure/provenance.hpp"
#include "harness/simt/role_cycles.hpp"

namespace scanlab::distributed {

namespace {

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
