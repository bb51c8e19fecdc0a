// Scans of CUB that are compiled in parts, an object file each, so that the compiler can work on them side by side:
// each part adds its own scans, and the variants look theirs up. Nothing of CCCL here.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/core/variant.hpp"

namespace scanlab {

/// Enqueues a scan. Without storage it enqueues nothing, writes to `asked` how many bytes CUB wants, and returns an
/// error; `asked` may be null otherwise.
using EnqueueCub = cudaError_t (*)(Mode mode, void* storage, std::size_t bytes, std::size_t* asked, const void* in,
                                   void* out, std::int64_t items, cudaStream_t stream);

/// A variant in one shape, for one type and operator.
struct CompiledCubScan {
  ElementType type;
  Operator op;
  Choice choice;
  EnqueueCub enqueue;
};

inline std::vector<CompiledCubScan>& compiled_cub_scans() {
  static std::vector<CompiledCubScan> all;
  return all;
}

/// Null if no part has it.
inline EnqueueCub find_compiled_cub_scan(const Problem& problem, const Choice& choice) {
  const auto& all = compiled_cub_scans();
  const auto compiled = std::ranges::find_if(all, [&](const CompiledCubScan& each) {
    return each.type == problem.type && each.op == problem.op && each.choice == choice;
  });
  return compiled == all.end() ? nullptr : compiled->enqueue;
}

}  // namespace scanlab
