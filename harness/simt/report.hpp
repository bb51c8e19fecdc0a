// The report of the CPU emulator: faults, and counts by launch and step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace scanlab::simt {

enum class FaultKind {
  race,                ///< two threads touch one item, at least one writing, and no barrier (or end of launch) between
  out_of_bounds,       ///< an index outside its array
  never_written,       ///< a read of shared memory that no thread of the block has written
  barrier_divergence,  ///< some threads wait at a barrier that others never reach, or at another barrier
  warp_divergence,     ///< some lanes of a warp are at a shuffle or vote that others never reach, or at another one
  misaligned,          ///< an access of several items, or an atomic, that is not aligned to all its bytes
  no_progress,         ///< more barriers, accesses or pauses than any kernel here needs: a loop that does not advance
};

const char* name(FaultKind kind);

struct Fault {
  FaultKind kind;
  std::string kernel;
  std::string where;    ///< file:line of the access or barrier
  std::string message;  ///< one sentence: who did what to what
  std::int64_t occurrences = 1;
};

/// Bank conflicts of shared-memory requests. A request is one warp executing one access; it is served in groups of
/// lanes whose accesses together fill one row of banks, and the degree of a group is the largest number of different
/// rows that it wants from one bank: 1 is conflict-free, d is served in d turns.
struct BankCounts {
  std::int64_t groups = 0;        ///< turns if nothing conflicted
  std::int64_t transactions = 0;  ///< turns needed: the sum of degrees
  int max_degree = 0;
  bool operator==(const BankCounts&) const = default;
  double mean_degree() const { return groups == 0 ? 0.0 : static_cast<double>(transactions) / groups; }
  void add(const BankCounts& other);
};

/// Counts between two barriers (a step), summed over the blocks of a launch. Atomics are in none.
struct Counts {
  std::int64_t active_threads = 0;  ///< threads that touched memory
  std::int64_t operations = 0;      ///< applications of the scan operator
  std::int64_t swaps = 0;
  std::int64_t shared_requests = 0;    ///< warp-level accesses to shared memory
  BankCounts banks16;                  ///< 16 banks serving half-warps: compute capability 1.x (2007)
  BankCounts banks32;                  ///< 32 banks serving warps: compute capability 2.0 and later
  std::int64_t global_bytes_read = 0;  ///< distinct bytes of each warp-level request
  std::int64_t global_bytes_written = 0;
  std::int64_t global_sectors = 0;        ///< 32-byte sectors touched, request by request
  std::int64_t global_ideal_sectors = 0;  ///< the fewest that could hold the bytes asked for
  void add(const Counts& other);
  bool operator==(const Counts&) const = default;
};

struct Step {
  std::string name;         ///< as the kernel says it, or "interval": from one barrier to the next
  std::int64_t number = 0;  ///< among the steps of one name; 0: it stands alone
  Counts counts;

  /// "up-sweep 4", "load"
  std::string label() const;
};

struct Launch {
  std::string kernel;
  std::int64_t blocks = 0;
  int threads = 0;
  std::size_t shared_bytes = 0;
  std::int64_t barriers = 0;  ///< barriers of one block, the most of any block
  std::vector<Step> steps;
};

struct Report {
  std::vector<Launch> launches;
  std::vector<Fault> faults;
  Counts totals() const;
  std::int64_t barriers() const;  ///< sum over launches of the barriers of one block
};

}  // namespace scanlab::simt
