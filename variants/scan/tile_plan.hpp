// The plan that scans with tiles in registers share before they launch: how many vectors a problem has, how long its
// chains of additions are, and how its arrays can be accessed.
#pragma once

#include "harness/core/ceil.hpp"
#include "harness/core/variant.hpp"
#include "harness/simt/registration.hpp"
#include "variants/scan/register_tile.cuh"

namespace scanlab::scan {

/// Vectors of 16 bytes that hold the items of a problem.
inline std::int64_t vectors_of(const Problem& problem) {
  return ceil_div(problem.items * static_cast<std::int64_t>(item_bytes(problem.type, problem.op)), 16);
}

/// Longest chain of additions in a tile of so many rows and warps: along a vector, its row, the rows and the warps;
/// then what comes before the tile, before the vector, and before the item.
inline std::int64_t tile_chain(const Problem& problem, int rows, int warps) {
  const auto vector = static_cast<std::int64_t>(16 / item_bytes(problem.type, problem.op));
  return (vector - 1) + ceil_log2(kLanes) + (rows - 1) + ceil_log2(warps) + 2 + vector;
}

/// Whether both arrays can be accessed by vectors.
template <class Machine, class Item>
bool aligned(const simt::Arrays<Machine, Item>& arrays) {
  return Machine::aligned(arrays.in, 16) && Machine::aligned(arrays.out, 16);
}

/// Calls `run` with std::true_type if the arrays are aligned, else with std::false_type, for kernels that come in both
/// forms.
template <class Machine, class Item, class Run>
auto by_aligned(const simt::Arrays<Machine, Item>& arrays, Run run) {
  return aligned(arrays) ? run(std::true_type{}) : run(std::false_type{});
}

}  // namespace scanlab::scan
