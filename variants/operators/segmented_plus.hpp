// segmented_plus: the sum since the last item that begins a segment.
//
// An item is (value, flag): a flag that is not 0 begins a segment. Scans of many short arrays at once, and sparse
// matrices, are made of it (Blelloch 1990). It is not commutative.
//
// Cost    an addition and a selection, on items of two elements.
// Error   integers wrap: exact. Floats: as plus, over the segment.
// Bits    of floats depend on the grouping, so a scan is reproducible where its grouping is fixed; integers always are.
// Input   values as of plus; one item of 64 begins a segment, in the extremes and the exact input one of 4,096, else
//         every 1,000th.
#pragma once

#include "variants/operators/plus.hpp"

namespace scanlab {

template <class T>
struct alignas(8) ValueAndFlag {
  T value;
  std::int32_t flag;
  friend SCANLAB_HD constexpr bool operator==(const ValueAndFlag& a, const ValueAndFlag& b) {
    return a.value == b.value && a.flag == b.flag;
  }
  template <class F>
  void each_field(F f) const {
    f("value", value);
    f("flag", flag);
  }
};

template <class T>
requires std::same_as<T, std::int32_t> || std::same_as<T, float>
struct SegmentedPlus {
  using Element = T;
  using Item = ValueAndFlag<T>;
  static constexpr Operator kOperator{"segmented_plus"};
  static constexpr bool kCommutative = false;
  static constexpr bool kHeavy = false;
  SCANLAB_HD static constexpr Item identity() { return {T{0}, 0}; }
  SCANLAB_HD constexpr Item operator()(Item left, Item right) const {
    return {right.flag != 0 ? right.value : wrapping_add(left.value, right.value), left.flag | right.flag};
  }

  static constexpr bool kRounds = std::is_floating_point_v<T>;
  SCANLAB_HD static constexpr T rounded_part(const Item& item) { return item.value; }
  SCANLAB_HD static constexpr bool rest_is_right(const Item& got, const Item& expected) {
    return got.flag == expected.flag;
  }
  struct Wide {
    WideSum<T> sum;
    std::int32_t flag = 0;
    void push(const Item& item) {
      if (item.flag != 0) sum = {};
      sum.push(item.value);
      flag |= item.flag;
    }
    void append(const Wide& right) {
      if (right.flag != 0) sum = {};
      sum.append(right.sum);
      flag |= right.flag;
    }
    void normalise() { sum.normalise(); }
    Rounded<T> rounded() const { return sum.rounded(); }
    Item with(T value) const { return {value, flag}; }
  };

  SCANLAB_HD static constexpr Item constant_item(std::uint64_t seed) { return {Plus<T>::constant_item(seed), 0}; }
  SCANLAB_HD static constexpr Item repeated_item(std::uint64_t seed, std::int64_t i) {
    return {Plus<T>::repeated_item(seed, i), begins(i)};
  }
  SCANLAB_HD static constexpr Item alternating_item(std::uint64_t seed, std::int64_t i) {
    return {Plus<T>::alternating_item(seed, i), begins(i)};
  }
  SCANLAB_HD static constexpr Item scattered_item(bool extremes, std::uint64_t seed, std::int64_t i) {
    return {Plus<T>::scattered_item(extremes, seed, i), begins_by_chance(extremes ? kFew : 64, seed, i)};
  }
  SCANLAB_HD static constexpr Item exact_item(std::uint64_t seed, std::int64_t i) requires kRounds {
    return {Plus<T>::exact_item(seed, i), begins_by_chance(kFew, seed, i)};
  }

 private:
  static constexpr std::uint64_t kFew = 4096;
  SCANLAB_HD static constexpr std::int32_t begins_by_chance(std::uint64_t one_of, std::uint64_t seed, std::int64_t i) {
    return random_bits(seed, Draw::scale, i) % one_of == 0 ? 1 : 0;
  }
  SCANLAB_HD static constexpr std::int32_t begins(std::int64_t i) { return i % 1000 == 999 ? 1 : 0; }
};

}  // namespace scanlab
