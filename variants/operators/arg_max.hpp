// arg_max: the largest value and where it is; of equal ones, the first.
//
// Cost    two comparisons and a selection, on items of two elements.
// Error   none.
// Bits    the same for any grouping.
// Input   item i has the index i. Few different values, so that ties decide; in the extremes the ends of the type.
#pragma once

#include "harness/core/input.hpp"
#include "harness/core/monoid.hpp"

namespace scanlab {

template <class T>
struct alignas(8) ValueAndIndex {
  T value;
  std::int32_t index;
  friend SCANLAB_HD constexpr bool operator==(const ValueAndIndex& a, const ValueAndIndex& b) {
    return a.value == b.value && a.index == b.index;
  }
  template <class F>
  void each_field(F f) const {
    f("value", value);
    f("index", index);
  }
};

template <class T>
requires std::same_as<T, std::int32_t> || std::same_as<T, float>
struct ArgMax {
  using Element = T;
  using Item = ValueAndIndex<T>;
  static constexpr Operator kOperator{"arg_max"};
  static constexpr bool kCommutative = true;
  static constexpr bool kHeavy = false;
  SCANLAB_HD static constexpr Item identity() {
    constexpr std::int32_t kLast = std::numeric_limits<std::int32_t>::max();
    if constexpr (kIsFloating<T>) {
      return {-std::numeric_limits<T>::infinity(), kLast};
    } else {
      return {std::numeric_limits<T>::lowest(), kLast};
    }
  }
  SCANLAB_HD constexpr Item operator()(Item left, Item right) const {
    const bool is_right = left.value < right.value || (left.value == right.value && right.index < left.index);
    return is_right ? right : left;
  }

  static constexpr bool kRounds = false;

  SCANLAB_HD static constexpr Item constant_item(std::uint64_t seed) { return {constant_element<T>(seed), 0}; }
  SCANLAB_HD static constexpr Item repeated_item(std::uint64_t seed, std::int64_t i) {
    return {constant_element<T>(seed), index_of(i)};
  }
  SCANLAB_HD static constexpr Item alternating_item(std::uint64_t seed, std::int64_t i) {
    const T value = constant_element<T>(seed);
    return {i % 2 != 0 ? negated(value) : value, index_of(i)};
  }
  SCANLAB_HD static constexpr Item scattered_item(bool extremes, std::uint64_t seed, std::int64_t i) {
    const std::uint64_t bits = random_bits(seed, Draw::value, i);
    return {extremes ? extreme_element<T>(bits) : static_cast<T>(static_cast<int>(bits % 1024) - 512), index_of(i)};
  }

 private:
  /// The index, cut down where there are more items than it can number.
  SCANLAB_HD static constexpr std::int32_t index_of(std::int64_t i) {
    return static_cast<std::int32_t>(i & 0x7FFFFFFF);
  }
};

}  // namespace scanlab
