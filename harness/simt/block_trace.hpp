// Inside the emulator: what a block touches, interval by interval. Counts it and looks for races.
#pragma once

#include <cstdint>
#include <source_location>
#include <vector>

#include "harness/simt/emulator_core.hpp"
#include "harness/simt/trace.hpp"

namespace scanlab::simt {

class BlockTrace {
 public:
  BlockTrace(EmulatorCore& core, const std::byte* shared, std::size_t shared_bytes);

  /// One access of the running thread, to `items` items in a row.
  void access(const Array& array, std::int64_t index, int items, bool write, const std::source_location& where,
              const Shadow::Accessor& by);
  void atomic(const Array& array, std::int64_t index, bool write, const std::source_location& where,
              const Shadow::Accessor& by);
  void begin_interval() { interval_ = ++core_.intervals; }
  /// Adds up what the accesses of the interval cost.
  void end_interval() { count_accesses(accesses_, core_.counts()); }

 private:
  void look_for_shared_races(std::uint64_t offset, const Array& array, std::int64_t index, int items, bool write,
                             const std::source_location& where, const Shadow::Accessor& by);
  void look_for_global_races(const Array& array, std::int64_t index, int items, bool write,
                             const std::source_location& where, const Shadow::Accessor& by);
  void report_race(const Shadow::Conflict& conflict, const Array& array, std::int64_t index, bool write,
                   const std::source_location& where, const Shadow::Accessor& by);

  EmulatorCore& core_;
  const std::byte* shared_;
  Shadow shared_shadow_;
  std::uint64_t interval_ = 0;  // unlike that of every other block
  std::vector<Access> accesses_;
};

}  // namespace scanlab::simt
