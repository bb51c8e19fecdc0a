// The tiles of a kernel that is made of LookAheadBlock and compacts, and the memory that it takes: shared by selections
// and the folds of runs.
#pragma once

#include "harness/simt/workspace.hpp"
#include "variants/scan/look_ahead.cuh"
#if defined(__CUDACC__)
#include "variants/scan/prepare_storage.cuh"

namespace scanlab::select {

/// Given: the arguments of the kernel, with Op, Form and a Compactor, whose bytes(shape) a scan warp has for itself.
template <class Given>
class CompactingPass {
 public:
  using Op = typename Given::Op;
  using State = typename Op::Item;

  /// shared_bytes: that a block may ask for.
  CompactingPass(std::int64_t items, int multiprocessors, std::size_t shared_bytes)
      : items_(items), multiprocessors_(std::max(multiprocessors, 1)) {
    const std::int64_t bytes = items_ * kItemBytes;
    shape_ = scan::shape_for<Op>(bytes, multiprocessors_, shared_bytes);
    if (Form::kItemBefore && shape_.tile_bytes() == 28 * 1024) shape_.vectors += 2;  // little is written: larger tiles
    add_keys();
    while (shape_.vectors > 3 && stages_take(enough_stages()) > shared_bytes) {
      shape_.vectors -= 2;
      add_keys();
    }
    while (shape_.warps > 1 && stages_take(std::min(kLeastStages, enough_stages())) > shared_bytes) {
      shape_.warps /= 2;
      add_keys();
    }
    tiles_ = ceil_div(bytes, shape_.tile_bytes());
    shape_ = scan::with_stages<Op>(shape_, ceil_div(tiles_, multiprocessors_), shared_bytes - compactors());
  }

  std::int64_t items() const { return items_; }
  /// The longest chain of operations, in runs of any length.
  std::int64_t chain() const { return shape_.chain(kItemBytes, tiles_); }
  std::size_t workspace_bytes() const {
    simt::Workspace workspace;
    const scan::AggregateMemory parts(workspace, tiles_);
    return workspace.bytes();
  }

  /// Once for a workspace, whose runs count themselves.
  cudaError_t try_prepare(void* workspace, cudaStream_t stream) const {
    simt::Workspace pieces(workspace);
    const scan::AggregateMemory parts(pieces, tiles_);
    return scan::try_prepare(parts.template number<std::uint64_t>(), scan::TileCounter::first(),
                             parts.template states<State>(), parts.places() * scan::TileState<State>::kWords, stream);
  }

 protected:
  /// keys: beside the items; null for a form that has none.
  scan::Arguments<Op> arguments(void* workspace, const InOf<Op>* in, OutOf<Op>* out, const void* keys,
                                const Op& op) const {
    simt::Workspace pieces(workspace);
    const scan::AggregateMemory parts(pieces, tiles_);
    return {.in = in,
            .out = out,
            .n = items_,
            .tiles = tiles_,
            .mode = Mode::exclusive,
            .shape = shape_,
            .in_bulk = simt::CudaMachine::aligned(in, cuda::kBulkBytes),
            .counter = parts.template number<std::uint64_t>(),
            .states = parts.template states<State>(),
            .keys = keys,
            .keys_in_bulk = simt::CudaMachine::aligned(keys, cuda::kBulkBytes),
            .op = op};
  }
  cudaError_t try_launch(void (*kernel)(Given), const Given& given, cudaStream_t stream) const {
    return cuda::try_launch(kernel,
                            {.blocks = static_cast<int>(std::min<std::int64_t>(tiles_, multiprocessors_)),
                             .threads = shape_.threads(),
                             .shared_bytes = scan::shared_bytes<Op>(shape_) + compactors(),
                             .pdl = true},
                            stream, given);
  }

 private:
  using Form = typename Given::Form;
  static constexpr int kItemBytes = sizeof(InOf<Op>);
  static constexpr int kStages = 5;
  static constexpr int kLeastStages = 3;

  /// For tiles under way, and fewer where a block has few.
  int enough_stages() const {
    const std::int64_t tiles = ceil_div(items_ * kItemBytes, shape_.tile_bytes());
    return static_cast<int>(std::min<std::int64_t>(ceil_div(tiles, multiprocessors_) + 1, kStages));
  }
  std::size_t compactors() const { return static_cast<std::size_t>(shape_.warps) * Given::Compactor::bytes(shape_); }
  std::size_t stages_take(int stages) const { return stages * scan::stage_bytes<Op>(shape_) + compactors(); }
  /// Sets the bytes of a tile's keys, or of the item before it and the bits.
  void add_keys() {
    if constexpr (!std::is_void_v<typename Form::Key>) {
      const int items = shape_.tile_bytes() / kItemBytes;
      shape_.key_bytes = cuda::kBulkBytes + items * static_cast<int>(sizeof(typename Form::Key));
    }
    if constexpr (Form::kItemBefore) shape_.head_bytes = Given::head_bytes(shape_);
  }

  std::int64_t items_;
  int multiprocessors_;
  scan::Shape shape_;
  std::int64_t tiles_;
};

}  // namespace scanlab::select
#endif
