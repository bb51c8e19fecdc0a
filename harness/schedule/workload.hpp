// A workload, which is computed between the copies, in words and numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "harness/core/element.hpp"
#include "harness/core/registry.hpp"
#include "harness/core/variant.hpp"

namespace scanlab::streams {

/// A workload's description. Every workload reads `inputs` arrays and writes one output, all of n items of one
/// type; on the device the output has memory of its own.
struct WorkloadDescription {
  std::string id;  ///< the file's name
  std::string title;
  std::string source;
  ElementType type = ElementType::f32;
  int inputs = 1;
  /// Whether the kernel of chunk i must come before that of chunk i + 1, to which it leaves a carry.
  bool ordered = false;
  std::string work;  ///< what `work` an item means, e.g. "multiplications"

  std::size_t item_bytes() const { return element_bytes(type); }
  /// Bytes of so many items of each input and of the output.
  std::int64_t array_bytes(std::int64_t items) const {
    return items * static_cast<std::int64_t>(item_bytes()) * (inputs + 1);
  }
};

/// The host arrays' items, and the right output: pure functions of an item's number, so that any range can be had
/// by itself, and all ranges at once. Neither throws.
struct WorkloadData {
  /// Writes items [first, first + items) of input `array` to `to`.
  std::function<void(int array, std::int64_t first, std::int64_t items, void* to)> input;
  /// Writes what items [first, first + items) of the output must be, to the bit.
  std::function<void(std::int64_t first, std::int64_t items, void* to)> expected;
};

/// Writes all `items` items of input `array` to `to`, on all cores.
void fill_input(const WorkloadData& data, std::size_t item_bytes, int array, std::int64_t items, void* to);

/// Compares all `items` items of `output`, bit by bit, on all cores. Empty if they are right; else how many are wrong,
/// and which is the first.
std::string wrong_output(const WorkloadData& data, std::size_t item_bytes, std::int64_t items, const void* output);

inline constexpr int kMaxInputs = 2;

/// Device memory of one chunk, aligned to 256 bytes as cudaMalloc aligns it.
struct ChunkMemory {
  std::array<void*, kMaxInputs> inputs{};
  void* output = nullptr;
  void* carry_in = nullptr;   ///< of an ordered workload: one item, which the chunk before left
  void* carry_out = nullptr;  ///< likewise, for the chunk behind
  void* workspace = nullptr;  ///< BoundKernel::workspace_bytes, prepared
};

/// A workload's kernel, or kernels, for chunks of one size. `launch` only enqueues: it allocates nothing, never
/// synchronises, and can be captured.
struct BoundKernel {
  std::size_t workspace_bytes = 0;
  std::function<void(void* workspace, StreamHandle)> prepare;  ///< once, before any number of runs; empty: not needed
  /// Kernels that share a workspace must not run at once.
  std::function<void(const ChunkMemory&, StreamHandle)> launch;
};

struct Workload {
  static constexpr const char* kNoun = "workload";

  WorkloadDescription about;
  WorkloadData (*data)(std::uint64_t seed, int work) = nullptr;
  /// For `items` (>= 1) a chunk; `blocks` and `work` as in Job. Null in a build without CUDA. Throws
  /// std::invalid_argument for what it cannot take.
  BoundKernel (*bind)(std::int64_t items, int blocks, int work) = nullptr;
};

using WorkloadRegistry = RegistryOf<Workload>;

/// Static object that registers a workload before main: the last line of a workload's file.
struct WorkloadRegistration {
  explicit WorkloadRegistration(Workload workload) { WorkloadRegistry::instance().add(std::move(workload)); }
};

}  // namespace scanlab::streams
