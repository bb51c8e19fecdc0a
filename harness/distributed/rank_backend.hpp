// Where a rank holds its part of an array, runs and is timed: the host's memory, or a GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "harness/core/input.hpp"
#include "harness/core/variant.hpp"
#include "harness/distributed/algorithm.hpp"
#include "harness/distributed/communicator.hpp"

namespace scanlab::distributed {

/// Work that has nothing to do with a scan, and runs beside it until this goes.
class OtherWork {
 public:
  virtual ~OtherWork() = default;
  /// Rounds that have ended so far. Throws the error that ended the work early.
  virtual std::int64_t rounds() const = 0;
};

class RankBackend {
 public:
  virtual ~RankBackend() = default;
  /// Gives the rank its part of the input, unless it has it. Throws measure::LacksMemory.
  virtual void fill(const Problem& problem, const Distribution& distribution, InputKind kind, std::uint64_t seed) = 0;
  /// Binds a scan to a problem, whose input the rank has, and rehearses it. Throws measure::LacksMemory.
  virtual std::unique_ptr<BoundRank> bind(const Algorithm& algorithm, const Problem& problem, const Plan& plan) = 0;
  /// `untimed` runs, then `runs` timed ones on poisoned output; waits for them. Seconds of all timed ones.
  virtual double time(BoundRank& bound, std::int64_t untimed, std::int64_t runs) = 0;
  /// One run on poisoned output, for a timeline; waits for it. `meet` is called when the device has nothing to do, and
  /// returns on all ranks at once: the run then begins as soon as its kernels are enqueued, so that none waits for the
  /// host's calls.
  virtual void run_alone(BoundRank& bound, const std::function<void()>& meet) = 0;
  /// The device, as CUDA counts; 0 in the host's memory.
  virtual int device() const { return 0; }
  /// One run of `bound`, kept in a CUDA graph: a run of the result is a replay. All ranks have run before, and none
  /// replays before all have kept theirs. `bound` outlives it. Throws std::runtime_error if it cannot be captured.
  virtual std::unique_ptr<BoundRank> captured(BoundRank& bound);
  /// Copies `bytes` bytes of the output, from `offset` on, to the host.
  virtual void read(std::size_t offset, std::size_t bytes, void* to) = 0;
  /// Keeps the rank's GPU busy, so that blocks of what else runs there come late; null in the host's memory. Each piece
  /// of this work ends by itself.
  virtual std::unique_ptr<OtherWork> work_beside() { return nullptr; }
  /// The processor's clock; 0: not known.
  virtual double sm_clock_mhz() { return 0; }
};

/// In a build with CUDA. Keeps `device`, the current one, busy: kernels that take the place of a scan's blocks, and
/// copies, by a thread and a stream of their own. Throws CudaError, and OutOfMemory.
std::unique_ptr<OtherWork> keep_busy(int device);

/// The kernel that holds back a GPU until a run is enqueued: it is no part of the run.
inline constexpr char kHoldsBack[] = "hold_back";

/// Ranks that share a GPU: one, or on machines with few GPUs, where a test has more ranks, what SCANLAB_RANKS_PER_GPU
/// says. Times of such are times of nothing.
int ranks_per_gpu();

std::unique_ptr<RankBackend> make_host_backend(const Communicator& communicator);

/// Makes the rank's GPU current in this thread: the one of its number among the ranks of its host. Collective. Throws
/// CommandError (status 3), on all ranks, if a host has fewer GPUs than ranks, or if GPUs are not alike: plans are made
/// for one kind.
std::unique_ptr<RankBackend> make_gpu_backend(Communicator& communicator);

}  // namespace scanlab::distributed
