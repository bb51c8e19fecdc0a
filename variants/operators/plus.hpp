// plus: the sum.
//
// Cost    one addition; f16 and f32 on the GPU: one instruction.
// Error   integers wrap: exact. Floats: |error| <= gamma_d * sum|x_j|, d the longest chain of additions.
// Bits    of floats depend on the grouping, so a scan is reproducible where its grouping is fixed; integers always are.
// Input   sums of halves come out exact, whatever their grouping (harness/core/input.hpp says why they must); those of
//         floats and doubles do on the exact input. They telescope: item i is h(i) - h(i-1), with h(-1) = 0 and every
//         other h a small multiple of one quantum, so that items i to j add up to h(j) - h(i-1), which a half holds;
//         every output is an h. A sum commutes, and CUB adds halves two by two, every other item of a thread: with |h|
//         at most 15 quanta (480 each in the extremes) any 64 items, neighbours or not, have an exact sum too; with |h|
//         at most 511 any 2^14 floats.
#pragma once

#include "harness/core/input.hpp"
#include "harness/core/monoid.hpp"
#include "harness/core/rounding.hpp"

namespace scanlab {

template <class T>
struct Plus {
  using Element = T;
  using Item = T;
  static constexpr Operator kOperator{"plus"};
  static constexpr bool kCommutative = true;
  static constexpr bool kHeavy = false;
  static constexpr WarpReduction kWarpReduction = WarpReduction::add;
  SCANLAB_HD static constexpr Item identity() { return T{0}; }
  SCANLAB_HD constexpr Item operator()(Item left, Item right) const { return wrapping_add(left, right); }

  static constexpr bool kRounds = std::is_floating_point_v<T>;
  using Wide = WideSum<T>;
  static Item chain_through(Item left, Item right) { return longer_chain(left, right); }

  SCANLAB_HD static constexpr Item constant_item(std::uint64_t seed) {
    if constexpr (kTelescopes) {
      return constant_half(seed);
    } else {
      return constant_element<T>(seed);
    }
  }
  SCANLAB_HD static constexpr Item repeated_item(std::uint64_t seed, std::int64_t i) {
    const Item item = constant_item(seed);
    return kTelescopes && falling(i) ? negated(item) : item;
  }
  SCANLAB_HD static constexpr Item alternating_item(std::uint64_t seed, std::int64_t i) {
    const Item item = constant_item(seed);
    return i % 2 != 0 ? negated(item) : item;
  }
  SCANLAB_HD static constexpr Item scattered_item(bool extremes, std::uint64_t seed, std::int64_t i) {
    if constexpr (kTelescopes) {
      const float before = held(extremes, seed, i - 1);
      const float here = held(extremes, seed, i);
      const bool negative_zero = here == before && random_bits(seed, Draw::value, i) >> 63 != 0;
      return negative_zero ? -T{0} : T(here - before);
    } else {
      return scattered_element<T>(extremes, seed, i);
    }
  }
  SCANLAB_HD static constexpr Item exact_item(std::uint64_t seed, std::int64_t i) requires kRounds {
    return T(held(false, seed, i) - held(false, seed, i - 1));
  }

 private:
  static constexpr bool kTelescopes = std::is_same_v<T, Half>;

  /// h(i). Even and odd by turns, so that no item is 0: one that is left out is missed.
  SCANLAB_HD static constexpr float held(bool extremes, std::uint64_t seed, std::int64_t i) {
    if (i < 0) return 0;
    const std::uint64_t bits = random_bits(seed, Draw::value, i);
    if (extremes) return 480.0f * static_cast<float>(static_cast<int>(bits % 3) - 1);
    constexpr int kReach = kTelescopes ? 14 : 510;
    return kQuantum * static_cast<float>(2 * static_cast<int>(bits % (kReach + 1)) - kReach + (i % 2 == 0 ? 1 : 0));
  }
};

}  // namespace scanlab
