// Arithmetic of integers that wraps, on every machine.
#pragma once

#include <type_traits>

#include "harness/core/portable.hpp"

namespace scanlab {

/// Signed overflow is undefined in C++ and wraps on the device: integers are therefore added as unsigned, and those
/// smaller than an int, which C++ would widen to a signed one first, as unsigned int.
template <class T>
using Wrapping = std::common_type_t<std::make_unsigned_t<T>, unsigned>;

template <class T>
SCANLAB_HD constexpr T wrapping_add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = Wrapping<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return a + b;
  }
}

template <class T>
SCANLAB_HD constexpr T wrapping_multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = Wrapping<T>;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  } else {
    return a * b;
  }
}

}  // namespace scanlab
