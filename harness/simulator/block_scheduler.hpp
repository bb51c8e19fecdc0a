// The block scheduler of the engine model: grids start blocks in the order of their streams' priorities and of their
// launch, as multiprocessors have room, and share what the device can compute, the oldest first.
#pragma once

#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "harness/simulator/model_run.hpp"

namespace scanlab::simulator {

inline constexpr int kSpreadGroups = 16;  ///< groups of blocks that start together and end apart

/// Returns when a group of blocks ends relative to the mean, in parts of the spread, from -1 to 1.
inline double end_of_group(int group, int groups) { return groups == 1 ? 0 : 2.0 * group / (groups - 1) - 1; }

class BlockScheduler {
 public:
  BlockScheduler(std::int64_t slots, int resident_grids, std::size_t operations)
      : slots_(slots), free_(slots), resident_grids_(static_cast<std::size_t>(resident_grids)), kernels_(operations) {}

  /// Adds a kernel before the run. Throws std::invalid_argument if it has no blocks.
  void add(std::size_t operation, const OperationCost& cost);

  void arrive(std::size_t operation) { arrived_.push_back(operation); }
  /// Starts blocks while there is room. Running blocks are not preempted.
  struct Started {
    std::vector<std::size_t> grids;  ///< the grids that started their first blocks
    bool all_of_one = false;         ///< whether some grid has started its last block
  };
  Started start_blocks(Ticks now);
  void set_paces(Ticks now);

  bool runs() const { return !running_.empty(); }
  bool all_started(std::size_t operation) const { return kernels_[operation].all_started; }
  Ticks next_end() const { return next_to_end()->next_end(); }
  /// Ends the blocks that are due at `now`. Returns the kernel if these were its last blocks.
  std::optional<std::size_t> end_blocks(Ticks now);

 private:
  struct Kernel {
    std::int64_t blocks_left = 0;  ///< to be started
    std::int64_t blocks_running = 0;
    Ticks block_time = 0;
    double block_share = 0;
    Ticks block_spread = 0;
    int priority = 0;
    bool begun = false;
    bool all_started = false;
  };
  /// Blocks of one grid that started together and end together.
  struct Cohort {
    Ticks end = 0;  ///< by the grid's own time
    std::int64_t blocks = 0;

    bool operator>(const Cohort& other) const { return end > other.end; }
  };
  /// A kernel with running blocks. Its own time advances more slowly if the device cannot meet the demands of its
  /// blocks.
  struct Grid {
    std::size_t operation = 0;
    Ticks own_time = 0;  ///< at `since`
    Ticks since = 0;
    double pace = 1;                ///< the rate of its own time
    std::vector<Cohort> cohorts{};  ///< a heap, the first to end on top

    Ticks own_time_at(Ticks now) const;
    Ticks next_end() const;  ///< of its blocks
  };

  /// Returns the grid whose blocks end next; among several, the first issued.
  std::vector<Grid>::const_iterator next_to_end() const;
  void fill(Ticks now, Started& started);
  void run_blocks(Grid& grid, std::int64_t blocks, Ticks now) const;
  void skip_full_waves(Kernel& kernel, Grid& grid) const;

  std::int64_t slots_;
  std::int64_t free_;
  std::size_t resident_grids_;
  std::vector<Kernel> kernels_;                           ///< by operation
  int first_priority_ = std::numeric_limits<int>::max();  ///< of all kernels
  std::vector<std::size_t> arrived_;                      ///< since blocks were last started
  std::map<int, std::deque<std::size_t>> waiting_;        ///< by priority: grids with blocks to start, as they arrived
  std::vector<Grid> running_;                             ///< the oldest first
};

}  // namespace scanlab::simulator
