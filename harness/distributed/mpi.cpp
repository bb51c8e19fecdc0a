// Ranks that are processes, started by mpirun. Each message has its own time limit, so that a rank that never comes is
// named; a rank that dies is seen by mpirun, which ends the others.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "harness/distributed/communicator.hpp"
#include "harness/host/clock.hpp"
#include "harness/host/status.hpp"
#ifdef SCANLAB_WITH_MPI
#include <mpi.h>
#endif

namespace scanlab::distributed {

bool is_mpi_process() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"}) {
    if (std::getenv(variable) != nullptr) return true;
  }
  return false;
}

#ifdef SCANLAB_WITH_MPI

bool has_mpi() { return true; }

namespace {

/// mpirun passes on what a process says, and may drop it if the process ends at once.
void let_it_be_read() { std::this_thread::sleep_for(std::chrono::milliseconds(200)); }

class MpiRank : public Communicator {
 public:
  MpiRank() {
    int has = 0;
    with_patience([&] { MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &has); },
                  [] {
                    std::fprintf(stderr, "scanlab: a process of mpirun has not come within %s\n",
                                 in_words(patience()).c_str());
                    let_it_be_read();
                    std::_Exit(kFailed);
                  });
    MPI_Comm_dup(MPI_COMM_WORLD, &world_);  // messages of ours are not those of an algorithm
    MPI_Comm_rank(world_, &rank_);
    MPI_Comm_size(world_, &ranks_);
  }
  ~MpiRank() override {
    nccl().reset();
    MPI_Comm_free(&world_);
    MPI_Finalize();
  }
  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }

  /// Through rank 0, which so knows who is missing.
  void all_gather(const void* mine, std::size_t bytes, void* all) override {
    const int count = static_cast<int>(bytes);
    const int total = count * ranks_;
    auto* const table = static_cast<char*>(all);
    constexpr int kTag = 1;
    const std::chrono::milliseconds longest = patience() + longer_;
    MPI_Request request{};
    if (rank_ != 0) {
      MPI_Isend(mine, count, MPI_BYTE, 0, kTag, world_, &request);
      wait(request, 0, 2 * longest);
      MPI_Irecv(table, total, MPI_BYTE, 0, kTag, world_, &request);
      return wait(request, 0, 2 * longest, total);  // rank 0 waits less, and knows more
    }
    std::memcpy(table, mine, bytes);
    for (int other = 1; other < ranks_; ++other) {
      MPI_Irecv(table + static_cast<std::size_t>(other) * bytes, count, MPI_BYTE, other, kTag, world_, &request);
      wait(request, other, longest, count);
    }
    for (int other = 1; other < ranks_; ++other) {
      MPI_Isend(table, total, MPI_BYTE, other, kTag, world_, &request);
      wait(request, other, longest);
    }
  }

  [[noreturn]] void abandon(const std::string& reason) override {
    std::fprintf(stderr, "scanlab: %s; every finished repetition is kept\n", reason.c_str());
    std::fflush(nullptr);
    let_it_be_read();
    MPI_Abort(MPI_COMM_WORLD, kFailed);
    std::_Exit(kFailed);
  }
  [[noreturn]] void fail(const std::string& reason) override {
    MpiRank::abandon("rank " + std::to_string(rank_) + " has failed: " + reason);
  }

 private:
  /// `bytes`: that another rank must have sent; -1: this one sends.
  void wait(MPI_Request& request, int other, std::chrono::milliseconds longest, int bytes = -1) {
    const Clock::time_point end = Clock::now() + longest;
    for (int polls = 0;; ++polls) {
      int done = 0;
      MPI_Status status{};
      MPI_Test(&request, &done, &status);
      if (done != 0) {
        int came = bytes;
        if (bytes >= 0) MPI_Get_count(&status, MPI_BYTE, &came);
        if (came != bytes) abandon("ranks have come to different steps, as after an error of one alone");
        return;
      }
      if (Clock::now() > end) {
        abandon("rank " + std::to_string(other) + " has not come within " + in_words(longest));
      }
      if (polls > 1000) std::this_thread::sleep_for(std::chrono::microseconds(50));  // cores may be fewer than ranks
    }
  }

  MPI_Comm world_{};
  int rank_ = 0;
  int ranks_ = 1;
};

}  // namespace

Communicator& mpi_rank() {
  static MpiRank rank;
  return rank;
}

#else

bool has_mpi() { return false; }

Communicator& mpi_rank() {
  throw CommandError(kNoDevice,
                     "this build has no MPI: install libopenmpi-dev and configure it again, or start ranks that are "
                     "threads of one process by --gpus");
}

#endif

}  // namespace scanlab::distributed
