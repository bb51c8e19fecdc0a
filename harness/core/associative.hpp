// A scan's kernel needs an associative operator, and no more. The operator may lack an identity, and the arrays may
// hold other types than it adds up. There are no names and no registry: a program that includes a kernel needs only
// this.
#pragma once

#include <concepts>
#include <type_traits>

#include "harness/core/portable.hpp"

namespace scanlab {

/// Whether a result includes the item at its own place.
enum class Mode { inclusive, exclusive };

/// A function of two items, applied from left to right.
template <class F>
concept Associative = std::is_copy_constructible_v<F> && std::is_trivially_copyable_v<typename F::Item> &&
    requires(const F op, typename F::Item item) {
  { F::kCommutative } -> std::convertible_to<bool>;      // whether operands may change places
  { F::kHeavy } -> std::convertible_to<bool>;            // whether it computes more than it moves
  { op(item, item) } -> std::same_as<typename F::Item>;  // the left operand comes first in the array
};

/// Left and right of any item it changes nothing.
template <class F>
concept HasIdentity = requires {
  { F::identity() } -> std::same_as<typename F::Item>;
};

/// The instruction (redux.sync) by which a warp folds integers of up to 32 bits, if the operator is one of these.
enum class WarpReduction { none, add, max, min };
template <Associative Op>
inline constexpr WarpReduction kWarpReduction = [] {
  if constexpr (requires { Op::kWarpReduction; }) {
    return Op::kWarpReduction;
  } else {
    return WarpReduction::none;
  }
}();

// ---- types of the arrays

template <class Op>
struct TypesOf {
  using In = typename Op::Item;
  using Out = typename Op::Item;
};
template <class Op>
requires requires { typename Op::In; }
struct TypesOf<Op> {
  using In = typename Op::In;    // converted to Item where it is read
  using Out = typename Op::Out;  // Item is converted to it where it is written
};
template <Associative Op>
using InOf = typename TypesOf<Op>::In;
template <Associative Op>
using OutOf = typename TypesOf<Op>::Out;

/// Whether both arrays hold items.
template <Associative Op>
inline constexpr bool kSameTypes =
    std::is_same_v<InOf<Op>, typename Op::Item>&& std::is_same_v<OutOf<Op>, typename Op::Item>;

// ---- what comes before an item, a warp's part or a tile

/// An item, or none: an operand of an operator without identity, the left one or both.
template <class T>
struct Maybe {
  T item;
  bool any;
  Maybe() = default;
  SCANLAB_HD constexpr Maybe(const T& given) : item(given), any(true) {}
  SCANLAB_HD constexpr Maybe(const T& given, bool is_there) : item(given), any(is_there) {}
};

/// The prefix of an item: the identity where nothing comes before; without identity, an item or none.
template <Associative Op>
using Before = std::conditional_t<HasIdentity<Op>, typename Op::Item, Maybe<typename Op::Item>>;

template <Associative Op>
SCANLAB_HD constexpr Before<Op> nothing() {
  if constexpr (HasIdentity<Op>) {
    return Op::identity();
  } else {
    return {typename Op::Item{}, false};
  }
}

/// `item`, if there is any.
template <Associative Op>
SCANLAB_HD constexpr Before<Op> if_any(bool any, const typename Op::Item& item) {
  if constexpr (HasIdentity<Op>) {
    return any ? item : Op::identity();
  } else {
    return {item, any};
  }
}

/// As if_any, of an item that is the identity already where there is none.
template <Associative Op>
SCANLAB_HD constexpr Before<Op> read_back(bool any, const typename Op::Item& item) {
  if constexpr (HasIdentity<Op>) {
    return item;
  } else {
    return {item, any};
  }
}

/// The item; without identity, one of no meaning where there is none.
template <class T>
SCANLAB_HD constexpr const T& item_of(const Maybe<T>& before) {
  return before.item;
}
template <class T>
SCANLAB_HD constexpr const T& item_of(const T& item) {
  return item;  // NOLINT(bugprone-return-const-ref-from-parameter): used up within the expression that it is called in
}

/// Whether the operator carries an initial value, which comes before the first item.
template <Associative Op>
inline constexpr bool kHasInitialValue = requires(const Op op) {
  op.initial_value();
};
template <Associative Op>
SCANLAB_HD constexpr Before<Op> before_all(const Op& op) {
  if constexpr (kHasInitialValue<Op>) {
    return op.initial_value();
  } else {
    return nothing<Op>();
  }
}

}  // namespace scanlab
