// Distributed scans, verified and timed: rank 0 leads the measuring engine, the others do as it says.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "harness/distributed/algorithm.hpp"
#include "harness/distributed/rank_backend.hpp"
#include "harness/measure/engine.hpp"

namespace scanlab::distributed {

struct DistributedCase : measure::Timing {
  const Algorithm* algorithm = nullptr;
  Problem problem{};
  Plan plan{};
  std::int64_t runs = 1;            ///< per sample
  std::int64_t compared_every = 1;  ///< of so many outputs, one is compared

  std::size_t bytes() const { return problem.array_bytes(); }  ///< of the whole array
};

struct SessionOptions {
  double sample_seconds = 20e-3;  ///< of timed work that a sample aims at
  std::uint64_t seed = 1;
  InputKind input = InputKind::random;
  bool timed = true;        ///< else verified alone
  std::int64_t repeat = 1;  ///< runs between the first check and the second
  bool replayed = false;    ///< as many are then replays of a run that each rank has captured, and are checked, too
  /// Collective, on every rank with its own: runs a case that was verified, for more than its time. The output of the
  /// last run is compared, too.
  std::function<void(const DistributedCase&, BoundRank&)> observed{};
  /// On rank 0, after each case is verified, or was not.
  std::function<void(const DistributedCase&)> checked{};
};

/// Outputs that are compared, of a large array: each is one of as many, so that host memory holds what is expected.
inline constexpr std::int64_t kMaxCompared = std::int64_t{1} << 26;

/// The cases of the same problem one after another share input and oracle: `cases` are best sorted by problem. All
/// ranks make the same.
class DistributedSession {
 public:
  /// Only the engine of rank 0 measures.
  DistributedSession(std::vector<DistributedCase>& cases, Communicator& communicator, RankBackend& backend,
                     const SessionOptions& options, measure::Engine& engine)
      : cases_(cases), communicator_(communicator), backend_(backend), options_(options), engine_(engine) {}

  /// Collective. Throws RankFailed; everything finished is kept.
  void run();

 private:
  struct Order;
  struct Bound {
    DistributedCase* timed = nullptr;
    std::unique_ptr<BoundRank> rank;
  };
  void run_group(std::vector<DistributedCase*> group);
  void verify(DistributedCase& timed, std::vector<Bound>& bound);
  void compare(DistributedCase& timed);
  void lead(const std::vector<DistributedCase*>& group, std::vector<Bound>& bound);
  void follow(std::vector<Bound>& bound);
  std::vector<double> take(Bound& bound, std::int64_t runs);
  void close(Bound& bound);
  measure::Sample sample(std::vector<Bound>& all, std::size_t index, std::int64_t runs);
  bool leads() const { return communicator_.rank() == 0; }

  std::vector<DistributedCase>& cases_;
  Communicator& communicator_;
  RankBackend& backend_;
  SessionOptions options_;
  measure::Engine& engine_;
  struct SharedOracle;
  std::shared_ptr<SharedOracle> oracle_;
};

/// The fields of a case, as the record has them.
void describe(const DistributedCase& timed, int ranks, measure::Facts& entry);
/// An algorithm's description, for the context of a file.
measure::Facts described(const Algorithm& algorithm);

}  // namespace scanlab::distributed
