// The candidates that are compiled in: each part adds its own, and the variants of variants.cu look theirs up.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <vector>

#include "harness/core/variant.hpp"

namespace scanlab {

/// One candidate for one type and operator.
struct CompiledCubCandidate {
  ElementType type;
  Operator op;
  Choice shape;
  /// An inclusive scan. Without storage it enqueues nothing, writes to `asked` how many bytes CUB wants, and returns an
  /// error; `asked` may be null otherwise.
  cudaError_t (*enqueue)(void* storage, std::size_t bytes, std::size_t* asked, const void* in, void* out, int items,
                         cudaStream_t stream);
};

inline std::vector<CompiledCubCandidate>& compiled_cub_candidates() {
  static std::vector<CompiledCubCandidate> all;
  return all;
}

}  // namespace scanlab
