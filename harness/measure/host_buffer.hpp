// The host's memory for what host code is timed on.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <string>

#include "harness/measure/timing.hpp"

namespace scanlab::measure {

/// Every byte of an output that no run has written yet.
inline constexpr int kPoison = 0xFF;

/// Aligned like the device's memory.
class HostBuffer {
 public:
  std::size_t bytes() const { return bytes_; }
  void* data() const { return data_.get(); }

  /// Grows to at least `bytes`; growing discards the content. Throws LacksMemory, and is then empty.
  void grow(std::size_t bytes) {
    if (bytes_ >= bytes) return;
    bytes_ = 0;
    data_.reset();
    try {
      data_.reset(operator new(bytes, kAlignment));
    } catch (const std::bad_alloc&) {
      throw LacksMemory("out of host memory: wanted " + std::to_string(bytes) + " bytes");
    }
    bytes_ = bytes;
  }

 private:
  static constexpr std::align_val_t kAlignment{256};
  struct Free {
    void operator()(void* data) const { operator delete(data, kAlignment); }
  };
  std::size_t bytes_ = 0;
  std::unique_ptr<void, Free> data_;
};

}  // namespace scanlab::measure
