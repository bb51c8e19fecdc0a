// Where the warps of a distributed scan spend their cycles on each rank: told to rank 0, which prints and keeps them.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "harness/distributed/distributed_session.hpp"
#include "harness/simt/role_cycles.hpp"

namespace scanlab::distributed {

class RankCycles {
 public:
  /// Collective: each rank gives its own cycles of a run. Rank 0 prints those of all, and keeps them.
  void add(const DistributedCase& timed, const std::vector<RoleCycles>& own, Communicator& communicator,
           std::ostream& out);

  /// A table in CSV: one row per case, rank and role. Empty if nothing was added, and on other ranks than 0.
  const std::string& rows() const { return rows_; }

 private:
  std::string rows_;
  simt::RunColumns provenance_;
};

}  // namespace scanlab::distributed
