// Allocators for Thrust over the workspace that the harness owns. `par_nosync` leaves out the synchronisation that
// Thrust's algorithms end with: without the two, a timing of Thrust is a timing of cudaMalloc and a host round trip.
#pragma once

#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/system_error.h>

#include <cstddef>
#include <new>
#include <string>
#include <utility>

#include "harness/core/variant.hpp"

namespace scanlab {
namespace {

constexpr std::size_t kAlignment = 256;

constexpr std::size_t padded(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// Hands out one piece of memory from its start; throws std::bad_alloc rather than reach past its end.
class BumpAllocator {
 public:
  using value_type = char;
  BumpAllocator(void* memory, std::size_t bytes) : next_(static_cast<char*>(memory)), left_(bytes) {}

  char* allocate(std::ptrdiff_t bytes) {
    const std::size_t piece = padded(static_cast<std::size_t>(bytes));
    if (piece > left_) throw std::bad_alloc();
    left_ -= piece;
    return std::exchange(next_, next_ + piece);
  }
  void deallocate(char*, std::size_t) {}

 private:
  char* next_;
  std::size_t left_;
};

/// Learns what Thrust asks for: throws it back before anything is enqueued.
class AskingAllocator {
 public:
  struct Asked {
    std::size_t bytes;
  };
  using value_type = char;
  char* allocate(std::ptrdiff_t bytes) { throw Asked{padded(static_cast<std::size_t>(bytes))}; }
  void deallocate(char*, std::size_t) {}
};

/// The workspace that scan(allocator) asks for.
template <class Scan>
std::size_t asked_bytes(const Scan& scan) {
  AskingAllocator allocator;
  try {
    scan(allocator);
  } catch (const AskingAllocator::Asked& asked) {
    return asked.bytes;
  }
  return 0;
}

/// The plan of scan(allocator): the workspace that it asks for, or why Thrust cannot say.
template <class Scan>
Plan thrust_plan(const Scan& scan) {
  try {
    return {.workspace_bytes = asked_bytes(scan)};
  } catch (const thrust::system_error& error) {
    return Plan::refuse(std::string("Thrust cannot say what workspace it needs: ") + error.what());
  }
}

}  // namespace
}  // namespace scanlab
