// Ranks that are threads of one process, and how the ranks of a command start and agree.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <future>
#include <mutex>
#include <random>
#include <string_view>
#include <thread>

#include "harness/distributed/communicator.hpp"
#include "harness/host/status.hpp"
#include "harness/results/provenance.hpp"

namespace scanlab::distributed {

std::chrono::milliseconds patience() {
  const char* const variable = std::getenv("SCANLAB_PATIENCE");
  if (variable == nullptr) return std::chrono::seconds(30);
  constexpr double kMost = 1e6;
  const std::string_view text = variable;
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), seconds);
  if (error != std::errc{} || end != text.end() || !(seconds > 0 && seconds <= kMost)) {
    throw CommandError(kBadInput, fmt::format("SCANLAB_PATIENCE={}: give seconds above 0, {:g} at most", text, kMost));
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * seconds));
}

void with_patience(const std::function<void()>& work, const std::function<void()>& late) {
  std::jthread watch;
  std::promise<void> done;  // whose end, before that of `watch`, is what `watch` waits for: also after an exception
  watch = std::jthread([&, end = done.get_future()] {
    if (end.wait_for(patience()) == std::future_status::timeout) late();
  });
  work();
}

std::uint64_t process_number() {
  static const std::uint64_t number = std::uint64_t{std::random_device{}()} << 32 | std::random_device{}();
  return number;
}

std::string in_words(std::chrono::milliseconds time) {
  return fmt::format("{:.3g} s", std::chrono::duration<double>(time).count());
}

std::string Communicator::first_complaint(const std::string& mine) {
  struct Text {
    char letters[201];
  } text{};
  mine.copy(text.letters, sizeof(text.letters) - 1);
  const std::vector<Text> all = gather(text);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].letters[0] != '\0') return "rank " + std::to_string(rank) + ": " + all[rank].letters;
  }
  return {};
}

namespace {

/// A table that the threads share: one that all fill in, then all read, in rounds.
class Meeting {
 public:
  Meeting(int ranks, std::chrono::milliseconds patience)
      : patience_(patience), given_(static_cast<std::size_t>(ranks)), here_(given_.size(), false) {}

  int ranks() const { return static_cast<int>(given_.size()); }

  void all_gather(int rank, const void* mine, std::size_t bytes, void* all, std::chrono::milliseconds longer) {
    const std::chrono::milliseconds patience = patience_ + longer;
    std::unique_lock lock(mutex_);
    wait(lock, rank, patience, [&] { return !reading_; });  // of the round before all have read
    given_[static_cast<std::size_t>(rank)].assign(static_cast<const char*>(mine),
                                                  static_cast<const char*>(mine) + bytes);
    here_[static_cast<std::size_t>(rank)] = true;
    if (++arrived_ == ranks()) {
      reading_ = true;
      changed_.notify_all();
    }
    wait(lock, rank, patience, [&] { return reading_; });
    for (const auto& each : given_) {
      if (each.size() == bytes) continue;
      failure_ = "ranks have come to different steps, as after an error of one alone";
      changed_.notify_all();
      throw RankFailed(failure_);
    }
    for (std::size_t r = 0; r < given_.size(); ++r) {
      std::memcpy(static_cast<char*>(all) + r * bytes, given_[r].data(), bytes);
    }
    if (--arrived_ == 0) {
      reading_ = false;
      here_.assign(here_.size(), false);
      changed_.notify_all();
    }
  }

  void fail(int rank, const std::string& reason) {
    const std::scoped_lock lock(mutex_);
    if (failure_.empty()) failure_ = "rank " + std::to_string(rank) + " has failed: " + reason;
    changed_.notify_all();
  }

  void check() {
    const std::scoped_lock lock(mutex_);
    if (!failure_.empty()) throw RankFailed(failure_);
  }

  /// Waits until all ranks have ended, or one has failed and the others have not ended `grace` later: then it gives the
  /// failure.
  std::string failure_that_hangs(std::chrono::milliseconds grace) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ == ranks() || !failure_.empty(); });
    const bool all = changed_.wait_for(lock, grace, [&] { return ended_ == ranks(); });
    return all ? std::string{} : failure_;
  }
  void end() {
    const std::scoped_lock lock(mutex_);
    ++ended_;
    changed_.notify_all();
  }

 private:
  template <class Condition>
  void wait(std::unique_lock<std::mutex>& lock, int rank, std::chrono::milliseconds patience, Condition condition) {
    const bool in_time = changed_.wait_for(lock, patience, [&] { return condition() || !failure_.empty(); });
    if (!failure_.empty()) throw RankFailed(failure_);
    if (in_time) return;
    failure_ = "the ranks have not left an exchange within " + in_words(patience);
    for (std::size_t other = 0; other < here_.size(); ++other) {
      if (here_[other] || static_cast<int>(other) == rank) continue;
      failure_ = "rank " + std::to_string(other) + " has not come within " + in_words(patience);
      break;
    }
    changed_.notify_all();
    throw RankFailed(failure_);
  }

  std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<char>> given_;
  std::vector<bool> here_;  ///< ranks that have come to this round
  int arrived_ = 0;         ///< of them, those that have not read yet
  bool reading_ = false;
  std::string failure_;
  int ended_ = 0;  ///< ranks
};

[[noreturn]] void end_process(const std::string& reason) {
  static std::mutex one_speaks;
  const std::scoped_lock lock(one_speaks);
  std::fprintf(stderr, "scanlab: %s; every finished repetition is kept\n", reason.c_str());
  std::fflush(nullptr);
  std::_Exit(1);
}

class ThreadRank : public Communicator {
 public:
  ThreadRank(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  ~ThreadRank() override { nccl().reset(); }
  int rank() const override { return rank_; }
  int ranks() const override { return meeting_.ranks(); }
  void all_gather(const void* mine, std::size_t bytes, void* all) override {
    meeting_.all_gather(rank_, mine, bytes, all, longer_);
  }
  void check_others() override { meeting_.check(); }
  [[noreturn]] void fail(const std::string& reason) override {
    meeting_.fail(rank_, reason);
    meeting_.check();  // throws the first failure, of which this one may be a consequence
    std::abort();
  }
  [[noreturn]] void abandon(const std::string& reason) override { end_process(reason); }

 private:
  Meeting& meeting_;
  int rank_;
};

/// The commit of this build.
std::string built_from() {
  const measure::Facts build = measure::build_facts();
  return build["git_commit"].get<std::string>() + (build["git_dirty"] == "true" ? " and changes" : "");
}

int run_as_process(int asked, const std::vector<std::string>& argv, const std::function<int(Communicator&)>& body) {
  if (asked > 1) {
    throw CommandError(kBadInput, fmt::format("--gpus {}: under mpirun each process is a rank with one GPU; start {} "
                                              "processes instead",
                                              asked, asked));
  }
  Communicator& communicator = mpi_rank();
  int status = kOk;
  try {
    agree(communicator, argv, built_from());
    status = body(communicator);
    communicator.nccl().reset();         // before the device's library ends, and MPI
  } catch (const CommandError& error) {  // all ranks have it
    if (communicator.rank() == 0) throw;
    status = error.status;
  } catch (const std::exception& error) {
    communicator.abandon(fmt::format("rank {}: {}", communicator.rank(), error.what()));
  }
  return status;
}

}  // namespace

void run_threads(int ranks, std::chrono::milliseconds patience, const std::function<void(Communicator&)>& body) {
  Meeting meeting(ranks, patience);
  std::mutex mutex;
  std::exception_ptr first;
  const auto run_rank = [&](int rank) {
    ThreadRank own(meeting, rank);
    try {
      body(own);
    } catch (const std::exception& error) {
      {
        const std::scoped_lock lock(mutex);
        if (first == nullptr) first = std::current_exception();
      }
      meeting.fail(rank, error.what());
    }
    own.nccl().reset();  // what it made with the others, while somebody watches
    meeting.end();
  };
  {
    // A rank may wait where no message reaches it, as in a launch behind a kernel that waits for another rank.
    const std::jthread watch([&] {
      if (const std::string reason =
              meeting.failure_that_hangs(std::min<std::chrono::milliseconds>(patience, std::chrono::seconds(5)));
          !reason.empty())
        end_process(reason);
    });
    std::vector<std::jthread> others;
    for (int rank = 1; rank < ranks; ++rank) others.emplace_back(run_rank, rank);
    run_rank(0);
  }
  if (first != nullptr) std::rethrow_exception(first);
}

void agree(Communicator& communicator, const std::vector<std::string>& argv, const std::string& commit) {
  struct Started {
    std::size_t words;
    char build[60];  ///< its commit
  } own{};
  own.words =
      std::hash<std::string>{}(fmt::format("{}", fmt::join(argv.begin() + (argv.empty() ? 0 : 1), argv.end(), " ")));
  commit.copy(own.build, sizeof(own.build) - 1);
  const Started first = communicator.from_leader(own);
  std::string reason;
  if (std::string_view(own.build) != first.build) {
    reason = fmt::format("it is a build of commit {}, and rank 0 of {}: mpirun must start the same program everywhere",
                         own.build, first.build);
  } else if (own.words != first.words) {
    reason = "it was started with other words than rank 0: mpirun must give all the same";
  }
  if (reason = communicator.first_complaint(reason); !reason.empty()) throw CommandError(kBadInput, reason);
}

int run_on_ranks(int asked, const std::vector<std::string>& argv, const std::function<int(Communicator&)>& body) {
  const std::chrono::milliseconds patient = patience();  // if it says no number, no rank begins to wait
  if (is_mpi_process()) return run_as_process(asked, argv, body);
  int status = kOk;
  try {
    run_threads(asked, patient, [&](Communicator& communicator) {
      const int own = body(communicator);
      if (communicator.rank() == 0) status = own;
    });
  } catch (const RankFailed& failure) {
    throw CommandError(kFailed, fmt::format("{}; every finished repetition is kept", failure.what()));
  }
  return status;
}

void leader_opens(Communicator& communicator, const std::function<void()>& open) {
  struct Refusal {
    Status status = kOk;
    char sentence[1000] = {};
  } refusal;
  const auto keep = [&](Status status, std::string_view sentence) {
    refusal.status = status;
    sentence.copy(refusal.sentence, sizeof(refusal.sentence) - 1);
  };
  try {
    if (communicator.rank() == 0) open();
  } catch (const CommandError& error) {
    keep(error.status, error.what());
  } catch (const std::exception& error) {
    keep(kFailed, error.what());
  }
  refusal = communicator.from_leader(refusal);
  if (refusal.status != kOk) throw CommandError(refusal.status, refusal.sentence);
}

}  // namespace scanlab::distributed
