#include "harness/distributed/communicator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>

#include "harness/host/status.hpp"
#include "harness/measure/provenance.hpp"

namespace scanlab::distributed {

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

namespace {

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
    return error.status;
  } catch (const std::exception& error) {
    communicator.abandon(fmt::format("rank {}: {}", communicator.rank(), error.what()));
  }
  return status;
}

}  // namespace

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
