// The block scheduler of the engine model: grids start blocks in the order of their streams' priorities and of their
// launch, as the multiprocessors of their partition have room, and share what the device can compute, the oldest first.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/simulator/model_run.hpp"

namespace scanlab::simulator {

inline constexpr int kSpreadGroups = 16;  ///< groups of blocks that start together and end apart

/// Returns when a group of blocks ends relative to the mean, in parts of the spread, from -1 to 1.
inline double end_of_group(int group, int groups) { return groups == 1 ? 0 : 2.0 * group / (groups - 1) - 1; }

class BlockScheduler {
 public:
  /// slots: blocks that each partition holds at once.
  BlockScheduler(const std::vector<std::int64_t>& slots, int resident_grids, std::size_t operations)
      : resident_grids_(static_cast<std::size_t>(resident_grids)), kernels_(operations) {
    for (const std::int64_t count : slots) partitions_.push_back({.slots = count, .free = count});
  }

  /// Adds a kernel before the run. Throws std::invalid_argument if it has no blocks.
  void add(std::size_t operation, const OperationCost& cost) {
    if (cost.blocks < 1) throw std::invalid_argument("a kernel has one block at least");
    Partition& partition = partitions_.at(static_cast<std::size_t>(cost.partition));
    kernels_[operation] = {.blocks_left = cost.blocks,
                           .block_time = ticks(cost.block_seconds),
                           .block_share = cost.share / static_cast<double>(std::min(cost.blocks, partition.slots)),
                           .block_spread = ticks(cost.spread * cost.block_seconds),
                           .priority = cost.priority,
                           .partition = static_cast<std::size_t>(cost.partition)};
    partition.first_priority = std::min(partition.first_priority, cost.priority);
  }

  void arrive(std::size_t operation) { arrived_.push_back(operation); }
  /// Starts blocks while there is room. Running blocks are not preempted.
  struct Started {
    std::vector<std::size_t> grids;  ///< the grids that started their first blocks
    bool all_of_one = false;         ///< whether some grid has started its last block
  };
  /// Each grid that has arrived starts what it can before a later one takes its place in the order.
  Started start_blocks(Ticks now) {
    Started started;
    for (const std::size_t operation : std::exchange(arrived_, {})) {
      const Kernel& kernel = kernels_[operation];
      partitions_[kernel.partition].waiting[kernel.priority].push_back(operation);
      fill(partitions_[kernel.partition], now, started);
    }
    for (Partition& partition : partitions_) fill(partition, now, started);
    return started;
  }
  /// The oldest grid comes first, as a multiprocessor issues from its oldest warps; the next gets what it leaves.
  void set_paces(Ticks now) {
    constexpr double kRounding = 1 + 1e-12;
    double left = 1;
    for (Grid& grid : running_) {
      const Kernel& kernel = kernels_[grid.operation];
      const double demand = kernel.block_share * static_cast<double>(kernel.blocks_running);
      const double pace = demand <= left * kRounding ? 1 : left / demand;
      left = std::max(0.0, left - demand);
      if (pace == grid.pace) continue;
      grid.own_time = grid.own_time_at(now);
      grid.since = now;
      grid.pace = pace;
    }
  }

  bool runs() const { return !running_.empty(); }
  bool all_started(std::size_t operation) const { return kernels_[operation].all_started; }
  Ticks next_end() const { return next_to_end()->next_end(); }
  /// Ends the blocks that are due at `now`. Returns the kernel if these were its last blocks.
  std::optional<std::size_t> end_blocks(Ticks now) {
    Grid& grid = running_[static_cast<std::size_t>(next_to_end() - running_.cbegin())];
    std::ranges::pop_heap(grid.cohorts, std::greater<>{});
    const Cohort cohort = grid.cohorts.back();
    grid.cohorts.pop_back();
    grid.own_time = cohort.end;
    grid.since = now;
    Kernel& kernel = kernels_[grid.operation];
    partitions_[kernel.partition].free += cohort.blocks;
    kernel.blocks_running -= cohort.blocks;
    if (kernel.blocks_left > 0 || kernel.blocks_running > 0) return {};
    const std::size_t operation = grid.operation;
    running_.erase(running_.begin() + (&grid - running_.data()));
    return operation;
  }

 private:
  struct Kernel {
    std::int64_t blocks_left = 0;  ///< to be started
    std::int64_t blocks_running = 0;
    Ticks block_time = 0;
    double block_share = 0;
    Ticks block_spread = 0;
    int priority = 0;
    std::size_t partition = 0;
    bool begun = false;
    bool all_started = false;
  };
  /// Blocks of one grid that started together and end together.
  struct Cohort {
    Ticks end = 0;  ///< by the grid's own time
    std::int64_t blocks = 0;

    bool operator>(const Cohort& other) const { return end > other.end; }
  };
  /// A kernel with running blocks. Its own time is slower if the device cannot meet their demands.
  struct Grid {
    std::size_t operation = 0;
    Ticks own_time = 0;  ///< at `since`
    Ticks since = 0;
    double pace = 1;                ///< the rate of its own time
    std::vector<Cohort> cohorts{};  ///< a heap, the first to end on top

    Ticks own_time_at(Ticks now) const {
      return own_time + (pace == 1 ? now - since : std::llround(static_cast<double>(now - since) * pace));
    }
    Ticks next_end() const {
      if (pace == 0 || cohorts.empty()) return std::numeric_limits<Ticks>::max();
      const Ticks left = cohorts.front().end - own_time;
      return since + (pace == 1 ? left : std::llround(static_cast<double>(left) / pace));
    }
  };

  /// Multiprocessors that only the kernels of some streams use.
  struct Partition {
    std::int64_t slots = 0;  ///< blocks that it holds at once
    std::int64_t free = 0;
    int first_priority = std::numeric_limits<int>::max();  ///< of its kernels
    std::map<int, std::deque<std::size_t>> waiting{};      ///< by priority: grids with blocks to start, as they arrived
  };

  /// Returns the grid whose blocks end next; among several, the first issued.
  std::vector<Grid>::const_iterator next_to_end() const {
    return std::ranges::min_element(running_, {},
                                    [](const Grid& grid) { return std::pair(grid.next_end(), grid.operation); });
  }
  void fill(Partition& partition, Ticks now, Started& started) {
    for (auto& [priority, grids] : partition.waiting) {
      while (!grids.empty() && partition.free > 0) {
        const std::size_t operation = grids.front();
        Kernel& kernel = kernels_[operation];
        if (!kernel.begun) {
          if (running_.size() == resident_grids_) break;
          started.grids.push_back(operation);
          running_.push_back({.operation = operation, .since = now});
          kernel.begun = true;
        }
        Grid& grid = *std::ranges::find(running_, operation, &Grid::operation);
        const std::int64_t blocks = std::min(partition.free, kernel.blocks_left);
        partition.free -= blocks;
        kernel.blocks_left -= blocks;
        kernel.blocks_running += blocks;
        run_blocks(grid, blocks, now);
        if (kernel.blocks_left > 0) {
          skip_full_waves(partition, kernel, grid);
          return;
        }
        started.all_of_one = kernel.all_started = true;
        grids.pop_front();
      }
    }
  }
  /// Blocks that start together end together, or spread around their time.
  void run_blocks(Grid& grid, std::int64_t blocks, Ticks now) const {
    const Kernel& kernel = kernels_[grid.operation];
    const int groups = kernel.block_spread > 0 ? static_cast<int>(std::min<std::int64_t>(kSpreadGroups, blocks)) : 1;
    for (int group = 0; group < groups; ++group) {
      const std::int64_t count = blocks * (group + 1) / groups - blocks * group / groups;
      const Ticks time =
          kernel.block_time + std::llround(end_of_group(group, groups) * static_cast<double>(kernel.block_spread));
      grid.cohorts.push_back({grid.own_time_at(now) + time, count});
      std::ranges::push_heap(grid.cohorts, std::greater<>{});
    }
  }
  /// While one grid fills its partition and none can come before it, whole waves are done in one step, all but the
  /// last.
  static void skip_full_waves(const Partition& partition, Kernel& kernel, Grid& grid) {
    if (kernel.blocks_running < partition.slots || kernel.block_spread > 0) return;
    if (kernel.priority > partition.first_priority) return;
    const std::int64_t waves = (kernel.blocks_left - 1) / partition.slots;
    kernel.blocks_left -= waves * partition.slots;
    for (Cohort& cohort : grid.cohorts) cohort.end += waves * kernel.block_time;
  }

  std::vector<Partition> partitions_;
  std::size_t resident_grids_;
  std::vector<Kernel> kernels_;       ///< by operation
  std::vector<std::size_t> arrived_;  ///< since blocks were last started
  std::vector<Grid> running_;         ///< the oldest first
};

}  // namespace scanlab::simulator
