// The fold of each row and column of a tensor (rows, axis, inner) along its axis: (rows, inner) items.
#pragma once

#include <algorithm>
#include <cstdint>

#include "harness/core/monoid.hpp"
#include "variants/scan_axis/axis_launch.cuh"
#if defined(__CUDACC__)

namespace scanlab::scan_axis {

inline constexpr int kFoldThreads = 256;

/// Folds the lines of a tensor, row by row: out (rows, parts, inner) gets the fold of each part of a row. A block folds
/// one part of a row in `width` neighbouring units of kVector items, and each group of its threads a few of these
/// lines.
template <Monoid Op, int kVector>
__global__ void __launch_bounds__(kFoldThreads, 4)
    fold_lines(const typename Op::Item* in, Extents tensor, std::int64_t parts, int width, typename Op::Item* out) {
  using Item = typename Op::Item;
  constexpr int kAtOnce = 8;
  using Unit = simt::Vector<Item, kVector>;
  __shared__ Unit folds[kFoldThreads];
  const std::int64_t units = tensor.inner / kVector, strips = ceil_div(units, std::int64_t{width});
  const std::int64_t strip = blockIdx.x % strips, part = blockIdx.x / strips % parts, row = blockIdx.x / strips / parts;
  const int groups = kFoldThreads / width, group = threadIdx.x / width;
  const std::int64_t unit = strip * width + threadIdx.x % width;
  const bool has_unit = unit < units && group < groups;
  const std::int64_t first = tensor.axis * part / parts, count = tensor.axis * (part + 1) / parts - first;
  std::int64_t line = first + count * group / groups;
  const std::int64_t end = first + count * (group + 1) / groups;
  simt::GpuBlock block;
  const Op op;
  Unit fold;
  for (int v = 0; v < kVector; ++v) fold[v] = Op::identity();
  const auto take = [&](const Unit& next) {
#pragma unroll
    for (int v = 0; v < kVector; ++v) fold[v] = op(fold[v], next[v]);
  };
  if (has_unit) {
    const Item* at = in + (row * tensor.axis + line) * tensor.inner + unit * kVector;
    for (; line + kAtOnce <= end; line += kAtOnce) {
      Unit next[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) next[i] = block.template load<kVector>(at + i * tensor.inner, 0);
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) take(next[i]);
      at += kAtOnce * tensor.inner;
    }
    for (; line < end; ++line, at += tensor.inner) take(block.template load<kVector>(at, 0));
  }
  folds[threadIdx.x] = fold;
  __syncthreads();
  if (group != 0 || !has_unit) return;
  for (int g = 1; g < groups; ++g) take(folds[g * width + threadIdx.x]);
  block.template store<kVector>(out + (row * parts + part) * tensor.inner + unit * kVector, 0, fold);
}

/// The fold of each row and column of a tensor.
template <Monoid Op>
class LineFold {
 public:
  using Item = typename Op::Item;

  LineFold(const Extents& tensor, int multiprocessors)
      : tensor_(tensor),
        vectors_(tensor.inner % kVector == 0),
        units_(tensor.inner / (vectors_ ? kVector : 1)),
        width_(static_cast<int>(std::clamp<std::int64_t>(units_, 1, 32))),
        strips_(ceil_div(units_, std::int64_t{width_})) {
    constexpr int kBlocks = 4, kLines = 64;  // resident on a multiprocessor; that a part has at least
    const std::int64_t most = std::max<std::int64_t>(tensor.axis / kLines, 1);
    parts_ = std::clamp<std::int64_t>(
        std::int64_t{kBlocks} * multiprocessors / std::max<std::int64_t>(tensor.rows * strips_, 1), 1, most);
  }

  /// The longest chain of operations.
  std::int64_t chain() const {
    const std::int64_t groups = kFoldThreads / width_;
    return tensor_.axis / parts_ / groups + 2 * groups + parts_ / groups + 2;
  }
  std::size_t workspace_bytes() const {
    return parts_ > 1 ? static_cast<std::size_t>(tensor_.rows * parts_ * tensor_.inner) * sizeof(Item) : 0;
  }

  /// Enqueues. in, workspace: aligned to 16 bytes. out: (rows, inner) items.
  cudaError_t try_run(void* workspace, const Item* in, Item* out, cudaStream_t stream) const {
    if (tensor_.rows == 0 || tensor_.inner == 0) return cudaSuccess;
    if (parts_ == 1) return launch(in, tensor_, 1, out, stream);
    auto* const partial = static_cast<Item*>(workspace);
    if (const cudaError_t error = launch(in, tensor_, parts_, partial, stream)) return error;
    return launch(partial, {tensor_.rows, parts_, tensor_.inner}, 1, out, stream);
  }

 private:
  static constexpr int kVector = std::max<int>(16 / sizeof(Item), 1);

  cudaError_t launch(const Item* in, const Extents& tensor, std::int64_t parts, Item* out, cudaStream_t stream) const {
    const auto kernel = vectors_ ? fold_lines<Op, kVector> : fold_lines<Op, 1>;
    return cuda::try_launch(kernel,
                            {.blocks = static_cast<int>(tensor.rows * parts * strips_), .threads = kFoldThreads},
                            stream, in, tensor, parts, width_, out);
  }

  Extents tensor_;
  bool vectors_;  ///< of 16 bytes are the units, else items
  std::int64_t units_;
  int width_;  ///< units of a block
  std::int64_t strips_;
  std::int64_t parts_;  ///< of a row
};

}  // namespace scanlab::scan_axis
#endif
