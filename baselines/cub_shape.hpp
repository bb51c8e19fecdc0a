// How CUB's scan may be cut up: the shapes of its two algorithms, as its public tuning interface takes them, and as
// settings on the command line and in a tuning table. No CUDA here.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "harness/core/variant.hpp"

namespace scanlab {

/// The type in which sums are added. `InclusiveSum` adds items smaller than an int as ints, as C++ does; asked for a
/// scan by cuda::std::plus<Item>, CUB adds items. The results are the same, since both wrap.
enum class CubAccumulator { cub, item };

inline std::string name(CubAccumulator accumulator) { return accumulator == CubAccumulator::cub ? "cub" : "item"; }

/// Look-ahead: cub::ScanLookaheadPolicy, field by field.
struct CubLookAhead {
  int warps = 4;          ///< that reduce, and as many that scan
  int items = 63;         ///< a thread of them
  int ahead = 4;          ///< items that a look-ahead lane fetches at once
  int ahead_stages = 2;   ///< of the look-ahead warp; below 1: so many fewer than there are stages
  int index_stages = -1;  ///< of tile numbers, likewise
  CubAccumulator accumulator = CubAccumulator::cub;

  static constexpr const char* kVariant = "cub_look_ahead_shape";

  Settings settings() const {
    return {{"warps", std::to_string(warps)},
            {"items", std::to_string(items)},
            {"ahead", std::to_string(ahead)},
            {"ahead_stages", std::to_string(ahead_stages)},
            {"index_stages", std::to_string(index_stages)},
            {"accumulator", name(accumulator)}};
  }
  friend constexpr bool operator==(const CubLookAhead&, const CubLookAhead&) = default;
};

/// Look-back: cub::ScanLookbackPolicy. Loads and stores are transposed by warps, as CUB ships them for 9.0.
struct CubLookBack {
  enum class Delay { fixed, halving };  ///< of CUB: fixed_delay, and exponential_backon, each half the one before

  int threads = 128;  ///< a block
  int items = 24;     ///< a thread
  Delay delay = Delay::fixed;
  int nanoseconds = 400;  ///< of the delay
  int l2_latency = 1200;  ///< nanoseconds before a tile looks back for the first time
  CubAccumulator accumulator = CubAccumulator::cub;

  static constexpr const char* kVariant = "cub_look_back_shape";

  Settings settings() const {
    return {{"threads", std::to_string(threads)},
            {"items", std::to_string(items)},
            {"delay", delay == Delay::fixed ? "fixed" : "halving"},
            {"nanoseconds", std::to_string(nanoseconds)},
            {"l2_latency", std::to_string(l2_latency)},
            {"accumulator", name(accumulator)}};
  }
  friend constexpr bool operator==(const CubLookBack&, const CubLookBack&) = default;
};

/// Why `id` cannot look ahead on a device, 90 for compute capability 9.0; empty if it can. Below that CUB launches a
/// kernel without code (DeviceScanKernel in cub/device/dispatch/kernels/kernel_scan.cuh), and no item is written.
inline std::string look_ahead_refusal(const std::string& id, int compute_capability) {
  if (compute_capability >= 90) return {};
  return id + " needs compute capability 9.0: CUB has no look-ahead scan below";
}

/// A shape, and the n from which on it was found to be the fastest.
template <std::int64_t kFrom_, auto kShape_>
struct CubRow {
  static constexpr std::int64_t kFrom = kFrom_;
  static constexpr auto kShape = kShape_;
};

/// The tuned shapes for a type and operator, as a type: rows by rising n, the first from 0 on.
template <ElementType kType_, Operator kOp_, class... Rows_>
struct CubTunedFor {
  static constexpr ElementType kType = kType_;
  static constexpr Operator kOp = kOp_;
  using Rows = std::tuple<Rows_...>;
};

}  // namespace scanlab
