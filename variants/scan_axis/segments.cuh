// Segments of an array, each scanned alone: the operator that restarts where a segment begins, at a head; and the heads
// of the rows of a tensor, by arithmetic.
//
// Source  Blelloch, "Prefix sums and their applications", 1990: a segmented scan is a scan of pairs.
#pragma once

#include <cstdint>
#include <type_traits>

#include "harness/core/associative.hpp"

namespace scanlab::scan_axis {

/// An item with whether a segment begins there; or the fold of neighbours since the last head among them, with whether
/// there is any.
template <class T>
struct Headed {
  T item;
  std::uint32_t head;
};

/// An operator within segments. The arrays hold items without heads.
template <Associative Op>
struct Segmented {
  using Item = Headed<typename Op::Item>;
  using In = InOf<Op>;
  using Out = OutOf<Op>;
  static constexpr bool kCommutative = false;
  static constexpr bool kHeavy = false;
  Op op{};

  SCANLAB_HD static constexpr Item identity() requires HasIdentity<Op> { return {Op::identity(), 0}; }
  SCANLAB_HD Item operator()(const Item& a, const Item& b) const {
    return {b.head != 0 ? b.item : op(a.item, b.item), a.head | b.head};
  }
  SCANLAB_HD Item operator()(const Maybe<Item>& a, const Item& b) const { return a.any ? (*this)(a.item, b) : b; }
  SCANLAB_HD Maybe<Item> operator()(const Maybe<Item>& a, const Maybe<Item>& b) const {
    return b.any ? Maybe<Item>((*this)(a, b.item)) : a;
  }
};

/// A function without identity, for a kernel that needs one: of items or none.
template <Associative Function>
struct Optional {
  struct Item : Maybe<typename Function::Item> {
    using Base = Maybe<typename Function::Item>;
    Item() = default;
    SCANLAB_HD constexpr Item(const Base& base) : Base(base) {}
    SCANLAB_HD explicit operator OutOf<Function>() const { return static_cast<OutOf<Function>>(Base::item); }
  };
  using In = InOf<Function>;
  using Out = OutOf<Function>;
  static constexpr bool kCommutative = Function::kCommutative;
  static constexpr bool kHeavy = Function::kHeavy;
  Function function;

  SCANLAB_HD static constexpr Item identity() { return typename Item::Base{{}, false}; }
  SCANLAB_HD Item initial_value() const requires kHasInitialValue<Function> {
    return typename Item::Base(function.initial_value());
  }
  SCANLAB_HD Item operator()(const Item& left, const Item& right) const {
    using Base = typename Item::Base;
    return function(static_cast<const Base&>(left), static_cast<const Base&>(right));
  }
};

template <Associative Op>
using WithIdentity = std::conditional_t<HasIdentity<Op>, Op, Optional<Op>>;

/// Items with heads: what the classes that tell heads have in common. The first item of a segment has in it what every
/// segment starts from.
template <Associative Op>
struct HeadedItems {
  using Item = Headed<typename Op::Item>;
  Op op;

  SCANLAB_HD void begin_vector() const {}
  SCANLAB_HD Item with_head(const InOf<Op>& item, bool head) const {
    auto own = static_cast<typename Op::Item>(item);
    if constexpr (kHasInitialValue<Op>) {
      if (head) own = op(op.initial_value(), own);
    }
    return {own, head};
  }
  /// The result at the place of an item. before: the fold of what comes before it; next: with it.
  SCANLAB_HD OutOf<Op> result(Mode mode, const Before<Segmented<Op>>& before, const Item& own, const Item& next) const {
    if (mode == Mode::inclusive) return static_cast<OutOf<Op>>(next.item);
    return static_cast<OutOf<Op>>(own.head != 0 ? item_of(before_all(op)) : item_of(before).item);
  }
};

/// The items of one line along the axis, one after another, each with whether it is the first of its row.
template <Associative Op>
struct RowItems : HeadedItems<Op> {
  int period;   ///< items of a row; or more than a thread has
  int to_head;  ///< items before the next head: 0 at a head

  SCANLAB_HD auto next(const InOf<Op>& item) {
    const bool head = to_head == 0;
    to_head = (head ? period : to_head) - 1;
    return this->with_head(item, head);
  }
};

/// The items of vectors whose heads are bits, which a derived class reads where a vector begins.
template <Associative Op>
struct BitItems : HeadedItems<Op> {
  std::uint32_t heads = 0;  ///< of a vector, the next item's lowest

  SCANLAB_HD auto next(const InOf<Op>& item) {
    const bool head = (heads & 1) != 0;
    heads >>= 1;
    return this->with_head(item, head);
  }
};

/// Heads that lie in memory, a bit an item.
struct HeadBits {
  const std::uint32_t* bits;
};

/// Where rows of equal length begin that lie one behind the other.
struct Rows {
  std::int64_t axis;  ///< items of a row, at least 1
  double per_row;     ///< 1 / axis

  explicit Rows(std::int64_t items_of_a_row) : axis(items_of_a_row), per_row(1.0 / static_cast<double>(axis)) {}

  /// Items of its row before the one at `place` < 2^53. A division of 64-bit integers takes a hundred instructions;
  /// this quotient is wrong by one at most.
  SCANLAB_HD std::int64_t column(std::int64_t place) const {
    std::int64_t rest = place - static_cast<std::int64_t>(static_cast<double>(place) * per_row) * axis;
    if (rest < 0) rest += axis;
    return rest >= axis ? rest - axis : rest;
  }
  /// The row of the item at `place` < 2^53.
  SCANLAB_HD std::int64_t row(std::int64_t place) const {
    const auto row = static_cast<std::int64_t>(static_cast<double>(place) * per_row);
    const std::int64_t rest = place - row * axis;
    return rest < 0 ? row - 1 : rest >= axis ? row + 1 : row;
  }
  /// Items from `place` to the first of the next row: 0 if it is the first of its own.
  SCANLAB_HD std::int64_t to_head(std::int64_t place) const {
    const std::int64_t before = column(place);
    return before == 0 ? 0 : axis - before;
  }
  template <Associative Op>
  SCANLAB_HD RowItems<Op> items_from(std::int64_t place, const Op& op) const {
    constexpr std::int64_t kFar = 1 << 30;
    const std::int64_t left = to_head(place);
    return {{op}, static_cast<int>(axis < kFar ? axis : kFar), static_cast<int>(left < kFar ? left : kFar)};
  }
};

}  // namespace scanlab::scan_axis
