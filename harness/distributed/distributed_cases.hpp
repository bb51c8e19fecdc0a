// The cases of distributed scans that a selection means, the place where their ranks run, and what is printed and kept
// of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "harness/distributed/distributed_session.hpp"
#include "harness/distributed/rank_backend.hpp"
#include "harness/simt/role_cycles.hpp"
#include "harness/verify/checks.hpp"

namespace scanlab::distributed {

struct DistributedSelection {
  std::vector<const Algorithm*> algorithms;
  std::vector<ElementType> types;
  std::vector<Operator> operators;
  std::vector<Mode> modes;
  Settings settings{};  ///< of those that have these parameters
};

/// Every combination, on so many ranks; shapes: of the whole arrays.
std::vector<DistributedCase> cases_of(const DistributedSelection& selection, const std::vector<Shape>& shapes,
                                      int ranks);

/// Makes it a case of such a whole array.
void set_shape(DistributedCase& timed, const Shape& shape, int ranks);

/// Nothing; less than an item per rank; around a tile and a chunk of each rank; uneven shares.
std::vector<std::int64_t> default_items(int ranks);
/// The same of tensors: axes shorter, as long and longer than bands and chunks of each rank, of rows that end anywhere
/// in them; lines of one item, of a part of a strip, and of many strips.
std::vector<Shape> default_shapes(int ranks);

/// Why no graph can replay the runs of an algorithm; empty if one can.
std::string capture_refusal(const Algorithm& algorithm);

/// Checks, counted, and kept as lines of a file in the form of `scanlab verify --json`. Rank 0 has it.
class Checks {
 public:
  /// Throws as AppendFile does. Without it nothing is kept.
  void open(const std::string& path, bool replace, const measure::Facts& context);
  void add(const DistributedCase& checked, InputKind input);
  void end();

 private:
  std::optional<verify::ChecksFile> file_;
  std::size_t passed_ = 0;
  std::size_t failed_ = 0;
  std::size_t skipped_ = 0;
};

/// As nccl-tests print them: a line per case that was timed, with its median, algorithm and bus bandwidth in GB/s.
void print_table(const std::vector<DistributedCase>& cases, int ranks, std::ostream& out);

/// The place of the ranks of these cases. Throws CommandError (status 2) if some are on GPUs and some are not, and
/// (status 3) for GPUs in a build without CUDA.
std::unique_ptr<RankBackend> backend_of(const std::vector<DistributedCase>& cases, Communicator& communicator);

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
