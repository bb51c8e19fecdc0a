// The shapes of CUB's scan that `scanlab tune --rival cub` times, by the operator's item: both of CUB's algorithms,
// around what CUB ships and what was found to be fast. Compiled into the program where the build is asked for them
// (SCANLAB_CUB_CANDIDATES): each takes the compiler some seconds.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <tuple>
#include <type_traits>

#include "baselines/cub_shape.hpp"
#include "harness/core/operators.hpp"

namespace scanlab {

/// The monoids that CUB is tuned for: a sum of each size of item that a sum has, a composition of maps for those of 16
/// bytes, and the operators that compute more than they move.
using CubMonoids = std::tuple<Plus<std::int8_t>, Plus<std::int16_t>, Plus<std::int32_t>, Plus<std::int64_t>,
                              Affine<std::int64_t>, ComplexMultiply<float>, LogSumExp<float>, LogSumExp<double>>;

template <class Shape>
struct CubCandidates {
  static constexpr std::size_t kMax = 128;

  std::array<Shape, kMax> shapes{};
  std::size_t count = 0;

  constexpr void add(const Shape& shape) { shapes[count++] = shape; }
  constexpr auto begin() const { return shapes.begin(); }
  constexpr auto end() const { return shapes.begin() + count; }
};

/// The shared memory that CUB needs at once for a tile, which every architecture must have: its items, and a partial
/// result a thread and a warp.
template <class Item>
constexpr bool cub_accepts(const CubLookAhead& shape) {
  constexpr std::size_t kMaxBytes = 48 << 10;
  constexpr std::size_t kBarriers = 256;
  const auto warps = static_cast<std::size_t>(shape.warps);
  return (32 * warps * shape.items + 33 * warps) * sizeof(Item) + kBarriers <= kMaxBytes;
}

/// Likewise: a block's items pass through shared memory, at the accumulator's size.
template <class Item>
constexpr bool cub_accepts(const CubLookBack& shape) {
  constexpr std::size_t kMaxBytes = (48 << 10) - 256;
  const std::size_t bytes =
      shape.accumulator == CubAccumulator::item ? sizeof(Item) : std::max(sizeof(Item), sizeof(int));
  return shape.threads * shape.items * bytes <= kMaxBytes;
}

/// Items a thread are odd in number, so that the threads of a warp read different banks. CUB ships {2, -1} stages for
/// 10.0 and {-2, -2} for 10.7. Around the shapes that were the fastest of these, with few warps: one warp, the largest
/// tiles that CUB accepts, and look-ahead lanes that fetch fewer or more items at once.
template <class Op>
constexpr CubCandidates<CubLookAhead> cub_look_ahead_candidates() {
  using Item = typename Op::Item;
  CubCandidates<CubLookAhead> all;
  const auto add_each = [&all](std::initializer_list<int> warps, std::initializer_list<int> items,
                               std::initializer_list<std::array<int, 3>> fetches,
                               CubAccumulator accumulator = CubAccumulator::cub) {
    for (const int w : warps) {
      for (const int i : items) {
        for (const auto& [ahead, ahead_stages, index_stages] : fetches) {
          const CubLookAhead shape{w, i, ahead, ahead_stages, index_stages, accumulator};
          if (cub_accepts<Item>(shape)) all.add(shape);
        }
      }
    }
  };
  const auto add = [&](std::initializer_list<int> warps, std::initializer_list<int> items) {
    add_each(warps, items, {{4, 2, -1}, {8, 2, -1}, {6, -2, -2}});
  };
  const auto add_fetches = [&](std::initializer_list<int> warps, std::initializer_list<int> items) {
    add_each(warps, items, {{2, 2, -1}, {12, 2, -1}, {16, 2, -1}});
  };
  if constexpr (Op::kOperator == Operator{"log_sum_exp"} || Op::kOperator == Operator{"complex_multiply"}) {
    add({4, 6, 8, 10}, {15, 31});  // more of them take the compiler minutes
  } else if constexpr (sizeof(Item) == 1) {
    add({2, 3, 4, 6}, {95, 127, 143, 159});
    add_fetches({3, 4}, {143});
    add_each({2, 3, 4}, {127, 143, 159}, {{2, 2, -1}, {4, 2, -1}}, CubAccumulator::item);
  } else if constexpr (sizeof(Item) == 2) {
    add({2, 3, 4, 6}, {79, 95, 111, 127, 143});
    add_fetches({3, 4}, {127});
  } else if constexpr (sizeof(Item) == 4) {
    add({2, 3, 4, 6}, {47, 63, 79, 95, 111, 127, 143, 159});
    add({1}, {127, 191, 255});
    add_fetches({1, 2}, {127, 159});
  } else if constexpr (sizeof(Item) == 8) {
    add({2, 3, 4, 6}, {23, 31, 39, 47, 63, 79, 87});
    add({1, 2}, {93});
    add({1}, {63, 127, 159});
    add_fetches({2}, {79, 87, 93});
  } else {
    add({2, 3, 4, 5}, {11, 15, 19, 23, 31, 39});
    add({1, 2}, {45});
    add({1}, {31, 63, 79});
    add_fetches({1, 2}, {39, 45});
  }
  return all;
}

template <class Op>
constexpr CubCandidates<CubLookBack> cub_look_back_candidates() {
  using Item = typename Op::Item;
  using Delay = CubLookBack::Delay;
  CubCandidates<CubLookBack> all;
  const auto add = [&all](std::initializer_list<int> threads, std::initializer_list<int> items,
                          CubAccumulator accumulator = CubAccumulator::cub) {
    for (const int t : threads) {
      for (const int i : items) {
        for (CubLookBack shape : {CubLookBack{t, i, Delay::fixed, 350, 450}, CubLookBack{t, i, Delay::fixed, 650, 1200},
                                  CubLookBack{t, i, Delay::halving, 800, 800}}) {
          shape.accumulator = accumulator;
          if (cub_accepts<Item>(shape)) all.add(shape);
        }
      }
    }
  };
  if constexpr (Op::kOperator == Operator{"log_sum_exp"} || Op::kOperator == Operator{"complex_multiply"}) {
    add({128, 256, 512}, {7, 11, 15, 23});
    add({128}, {31});
  } else if constexpr (sizeof(Item) == 1) {
    all.add({192, 22, Delay::fixed, 168, 1140});  // this and its like below: as shipped for 9.0
    add({128, 192, 256, 512}, {22, 32, 48});
    add({128, 256}, {32, 48, 64, 96}, CubAccumulator::item);
  } else if constexpr (sizeof(Item) == 2) {
    all.add({512, 12, Delay::fixed, 376, 1125});
    add({128, 256, 512}, {12, 16, 24, 32});
    add({128, 192}, {40, 48});
    add({128, 256}, {24, 32, 40, 48}, CubAccumulator::item);
  } else if constexpr (sizeof(Item) == 4) {
    all.add({128, 24, Delay::fixed, 648, 1245});
    add({128, 192, 256, 384}, {16, 24, 32});
    add({128, 192}, {40, 48});
  } else if constexpr (sizeof(Item) == 8) {
    all.add({224, 24, Delay::fixed, 632, 1290});
    add({128, 224, 256, 384}, {11, 15, 24});
  } else {
    add({128, 192, 256}, {5, 7, 9, 12});
  }
  return all;
}

/// Calls f(monoid, shape) for every candidate.
template <class F>
void for_each_cub_candidate(F f) {
  [&]<class... Op>(std::tuple<Op...>) {
    const auto with_each = [&]<class Each>(Each op) {
      for (const CubLookAhead& shape : cub_look_ahead_candidates<Each>()) f(op, shape);
      for (const CubLookBack& shape : cub_look_back_candidates<Each>()) f(op, shape);
    };
    (with_each(Op{}), ...);
  }(CubMonoids{});
}

}  // namespace scanlab
