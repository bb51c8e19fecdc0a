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
};

/// Hands out the workspace piece by piece, each aligned to 256 bytes. A plan measures with the same calls on a null
/// pointer: `bytes()` is then what to allocate.
class Workspace {
 public:
  Workspace() = default;
  explicit Workspace(void* base) : base_(static_cast<unsigned char*>(base)) {}

  template <class T>
  T* take(std::int64_t count) {
    unsigned char* piece = base_ == nullptr ? nullptr : base_ + bytes_;
    bytes_ += (static_cast<std::size_t>(count) * sizeof(T) + 255) / 256 * 256;
    return reinterpret_cast<T*>(piece);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  unsigned char* base_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace scanlab::simt
