// Messages between the ranks of a distributed scan, on the host, and outside what is timed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/verify/verification.hpp"

namespace scanlab::distributed {

/// A rank has failed or never came: the sentence names it. Nothing more can be run.
struct RankFailed : verify::DeviceLost {
  using verify::DeviceLost::DeviceLost;
};

/// Ranks wait so long for each other, on the host and on the device: 30 s, or what SCANLAB_PATIENCE says, in seconds.
std::chrono::milliseconds patience();
/// "30 s".
std::string in_words(std::chrono::milliseconds time);

class Nccl;

/// One rank's view of all. All ranks call the collective functions in the same order.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;

  /// Collective. Every rank gives `bytes` bytes; `all` gets those of each rank, in order. Throws RankFailed.
  virtual void all_gather(const void* mine, std::size_t bytes, void* all) = 0;

  /// Throws RankFailed if another rank is known to have failed: for a rank that waits for its device. mpirun ends this
  /// process when another dies.
  virtual void check_others() {}

  /// Ends all ranks' waits: this one has failed where the others may wait for it. Throws RankFailed, or ends the ranks.
  [[noreturn]] virtual void fail(const std::string& reason) = 0;

  /// Ends all ranks, with one sentence and status 1, without waiting for a device on which a kernel may spin for ever.
  /// Written output stays.
  [[noreturn]] virtual void abandon(const std::string& reason) = 0;

  /// NCCL's communicator, made once for these ranks, and theirs alone: another run makes its own. Null until then. It
  /// asks this one at its end, so the class of each lets it go.
  std::shared_ptr<Nccl>& nccl() { return nccl_; }

  void barrier() { gather(char{}); }
  /// Collective: the values of all ranks. T is trivially copyable.
  template <class T>
  std::vector<T> gather(const T& mine) {
    std::vector<T> all(static_cast<std::size_t>(ranks()));
    all_gather(&mine, sizeof(T), all.data());
    return all;
  }
  /// Collective: the value of rank 0.
  template <class T>
  T from_leader(const T& mine) {
    return gather(mine).front();
  }
  /// Collective: the first rank's text that is not empty, after the rank's number; empty if all are. Cut after 200
  /// letters.
  std::string first_complaint(const std::string& mine);

 protected:
  friend class LongStep;
  std::chrono::milliseconds longer_{0};  ///< than patience(), a rank waits in collective functions

 private:
  std::shared_ptr<Nccl> nccl_;
};

/// While it lives, this rank waits so much longer for the others: for steps that take their time, on ranks that have
/// much to do.
class LongStep {
 public:
  LongStep(Communicator& communicator, std::chrono::milliseconds longer)
      : communicator_(communicator), before_(std::exchange(communicator.longer_, longer)) {}
  ~LongStep() { communicator_.longer_ = before_; }
  LongStep(const LongStep&) = delete;
  LongStep& operator=(const LongStep&) = delete;

 private:
  Communicator& communicator_;
  std::chrono::milliseconds before_;
};

/// Calls `work`, which waits for the other ranks and cannot be told that one has failed. If that takes more than
/// patience(), calls `late`, which ends the process.
void with_patience(const std::function<void()>& work, const std::function<void()>& late);

/// A number that tells this process from the others: random, since containers number processes alike.
std::uint64_t process_number();

/// Runs `body` on `ranks` threads of this process, each a rank. An exception of a rank ends the others' waits; the
/// first exception is thrown again. `patience`: how long a rank waits for the others.
void run_threads(int ranks, std::chrono::milliseconds patience, const std::function<void(Communicator&)>& body);

/// Whether this process was started as a rank by mpirun, or a launcher like it.
bool is_mpi_process();

/// Whether this build has MPI.
bool has_mpi();

/// This process as a rank of MPI_COMM_WORLD, from the first call to the end of the program. Throws CommandError
/// (status 3) if this build has no MPI.
Communicator& mpi_rank();

/// Collective. Throws CommandError (status 2) on all ranks, unless all were built from the same commit and started with
/// the same words.
void agree(Communicator& communicator, const std::vector<std::string>& argv, const std::string& commit);

/// Runs `body` on every rank: this process under mpirun, else a thread for each of `asked` GPUs. Returns the status of
/// rank 0. Throws CommandError: status 2 for ranks that do not agree(), 1 for a rank that failed.
int run_on_ranks(int asked, const std::vector<std::string>& argv, const std::function<int(Communicator&)>& body);

/// Collective. Calls `open` on rank 0, such as to open a file, and throws its error on all ranks: none is left to wait
/// for rank 0.
void leader_opens(Communicator& communicator, const std::function<void()>& open);

}  // namespace scanlab::distributed
