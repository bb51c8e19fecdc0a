// Turns the accesses of one barrier interval of one block into counts, and finds its races.
#pragma once

#include <cstdint>
#include <source_location>
#include <span>
#include <unordered_map>
#include <vector>

#include "harness/simt/emulator.hpp"
#include "harness/simt/report.hpp"

namespace scanlab::simt {

/// Numbers source positions.
class Sites {
 public:
  std::uint32_t id(const std::source_location& where);
  static std::string text(const std::source_location& where);
  std::string text(std::uint32_t id) const { return text(sites_[id]); }

 private:
  struct Key {
    const char* file;
    std::uint64_t position;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const { return key.position * 0x9E3779B97F4A7C15u ^ (key.position >> 7); }
  };
  std::unordered_map<Key, std::uint32_t, Hash> ids_;
  std::vector<std::source_location> sites_;
};

struct Access {
  std::uint64_t address = 0;  ///< byte offset in shared memory, or address in global memory
  std::uint32_t site = 0;
  std::uint32_t occurrence = 0;
  std::uint16_t warp = 0;
  std::uint8_t lane = 0;
  std::uint8_t bytes = 0;
  Space space = Space::shared;
  bool write = false;
};

/// Largest number of different rows that accesses to shared memory want from one bank, of one group of lanes that is
/// served together.
int bank_conflict_degree(std::span<const Access> group, int banks);

/// Degrees of one warp-level request: lanes are split into the groups that a row of `banks` 4-byte banks can serve at
/// once (a half-warp for 16 banks and 4 bytes, a quarter-warp for 32 banks and 16 bytes).
BankCounts count_banks(std::span<const Access> request, int banks);

/// Sectors of 32 bytes touched by one warp-level request.
std::int64_t count_sectors(std::span<const Access> request);

/// Adds the accesses of one interval to `counts`; reorders `accesses`.
void count_accesses(std::vector<Access>& accesses, Counts& counts);

/// The last accesses to each cell of an array in global memory, or of a block's shared memory. Two accesses race if at
/// least one writes and nothing orders them: threads of one block with no barrier (in a warp: no sync_warp either)
/// between, or any two blocks of one launch.
class Shadow {
 public:
  /// The maker of an access: a thread of a block, between two of its barriers (`interval`, from 1 on) and two of its
  /// warp's (`warp_interval`), in a launch.
  struct Accessor {
    std::int64_t launch = 0;
    std::int64_t block = 0;
    std::int32_t interval = 0;
    std::int32_t warp_interval = 0;
    std::int32_t thread = 0;
    std::uint32_t site = 0;
  };
  struct Conflict {
    enum class What { none, race, never_written } what = What::none;
    Accessor other;
    bool other_wrote = false;
  };
  /// `cells`: one for each unit that is distinguished.
  void resize(std::size_t cells) { cells_.resize(cells); }
  void reset(std::size_t cells) { cells_.assign(cells, Cell{}); }
  /// The recorded access that an access to `cell` conflicts with, if any.
  Conflict conflict(std::size_t cell, bool write, const Accessor& by) const;
  void record(std::size_t cell, bool write, const Accessor& by);
  /// Whether anything was ever to be recorded.
  bool used() const { return !cells_.empty(); }

 private:
  /// The reads of a cell, or its writes, as far as they are needed to detect that a later access is unordered with one
  /// of them: the last, and the latest of each kind that was unordered with its successor.
  struct Made {
    Accessor last;
    Accessor other_lane;   ///< another thread of the warp
    Accessor other_warp;   ///< another warp of the block
    Accessor other_block;  ///< another block
    void add(const Accessor& by);
    const Accessor* unordered_with(const Accessor& by) const;  ///< null if there is none
  };
  struct Cell {
    Made writes;
    Made reads;
  };
  std::vector<Cell> cells_;
};

}  // namespace scanlab::simt
