// Items that show which items of an array were combined, in any number of bytes.
#pragma once

#include <cstdint>

namespace scanlab {

/// Items first to last of an array. Who joins two of them takes neighbours alone.
template <class T, int kPadding>
struct Range {
  T first;
  T last;
  std::int8_t padding[kPadding];
};
template <class T>
struct Range<T, 0> {
  T first;
  T last;
};

template <class T, int kPadding>
bool operator==(const Range<T, kPadding>& a, const Range<T, kPadding>& b) {
  return a.first == b.first && a.last == b.last;
}

}  // namespace scanlab
