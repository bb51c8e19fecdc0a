// A timeline held against a measured one of the same recording: a simulated one, or a repetition.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/streams/timeline.hpp"

namespace scanlab::engines {

/// Seconds. Two operations of which one waits for the other, or for its engine, may seem to overlap by as much as
/// clocks and hand-overs differ.
constexpr double kOverlapResolution = 5e-6;

/// Predicted less measured, in seconds.
struct OperationError {
  std::size_t operation = 0;
  double start = 0;
  double end = 0;
  double duration = 0;
};

struct Comparison {
  std::vector<OperationError> operations;  ///< those that are work, in the order of issue
  std::size_t overlap_in_either = 0;       ///< pairs of operations
  std::size_t overlap_in_both = 0;

  /// 1 where nothing overlaps in either.
  double overlap_share() const;
};

/// Both of one recording, with the same zero: when the host began to issue. Two operations overlap if they ran at once
/// for longer than `resolution` seconds: one that begins where another ends is beside it by accident. Throws
/// std::invalid_argument if the two are not of the same operations.
Comparison compare(const streams::Timeline& predicted, const streams::Timeline& measured, double resolution);

}  // namespace scanlab::engines
