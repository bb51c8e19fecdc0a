// Settings and counts of the library that stands in for NCCL.
#pragma once

#include <atomic>

struct StubState {
  std::atomic<int> fails_on{-1};    ///< rank whose communicator cannot be made
  std::atomic<bool> never_comes{};  ///< making one waits, as for a rank that is not there
  std::atomic<int> met{};           ///< error that communicators have met on their own
  std::atomic<int> made{};          ///< communicators, by all ranks
  std::atomic<int> ranks{};         ///< of the last
  std::atomic<int> destroyed{};
  std::atomic<int> aborted{};
};
