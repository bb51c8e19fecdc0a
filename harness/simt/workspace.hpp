// The memory of one run: its arrays, and the workspace that a plan asked for.
#pragma once

#include <cstddef>
#include <cstdint>

namespace scanlab::simt {

/// Arrays of one run, as `Machine` addresses them.
template <class Machine, class Item>
struct Arrays {
  typename Machine::template Global<const Item> in;
  typename Machine::template Global<Item> out;
  const void* entries = nullptr;   ///< keys or offsets of segments, or flags
  std::uint64_t* count = nullptr;  ///< as in Buffers
  void* unique = nullptr;          ///< likewise
};

/// Hands out the workspace piece by piece, each aligned to 256 bytes. A plan measures with the same calls on a null
/// pointer: `bytes()` is then what to allocate.
class Workspace {
 public:
  Workspace() = default;
  /// `size`: the bytes that were allocated.
  explicit Workspace(void* base, std::size_t size = SIZE_MAX) : base_(static_cast<unsigned char*>(base)), size_(size) {}

  /// Null if the workspace is too small for it.
  template <class T>
  T* take(std::int64_t count) {
    const std::size_t begin = bytes_;
    const std::size_t end = begin + static_cast<std::size_t>(count) * sizeof(T);
    bytes_ = (end + 255) / 256 * 256;
    return base_ == nullptr || end < begin || end > size_ ? nullptr : reinterpret_cast<T*>(base_ + begin);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  unsigned char* base_ = nullptr;
  std::size_t size_ = SIZE_MAX;
  std::size_t bytes_ = 0;
};

}  // namespace scanlab::simt
