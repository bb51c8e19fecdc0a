// How the kernels of axis_look_ahead.cuh and axis_columns.cuh are launched, and the memory that they take: for the
// variants of these names, and for scanlab::DeviceAxisScan.
#pragma once

#include "variants/scan_axis/axis_columns.cuh"
#include "variants/scan_axis/axis_look_ahead.cuh"
#if defined(__CUDACC__)
#include <algorithm>

#include "harness/simt/workspace.hpp"
#include "variants/scan/prepare_storage.cuh"

namespace scanlab::scan_axis {

/// The shape of a tensor in C order, which is scanned along the middle axis.
struct Extents {
  std::int64_t rows;
  std::int64_t axis;
  std::int64_t inner;
  std::int64_t items() const { return rows * axis * inner; }

  bool empty() const { return rows == 0 || axis == 0 || inner == 0; }
  /// Whether there are such tensors.
  bool exist() const {
    constexpr std::int64_t kMostItems = std::int64_t{1} << 50;
    if (rows < 0 || axis < 0 || inner < 0) return false;
    return empty() || (axis <= kMostItems / rows && inner <= kMostItems / (rows * axis));
  }
};

/// Rows of neighbours (inner = 1), by look_ahead.
template <Associative Op>
class RowScan {
 public:
  using Item = Headed<typename Op::Item>;

  /// shared_bytes: that a block may ask for.
  RowScan(const Extents& tensor, int multiprocessors, std::size_t shared_bytes)
      : items_(tensor.items()), axis_(tensor.axis), multiprocessors_(std::max(multiprocessors, 1)) {
    const std::int64_t bytes = items_ * static_cast<std::int64_t>(sizeof(InOf<Op>));
    shape_ = scan::shape_for<Segmented<Op>>(bytes, multiprocessors_, shared_bytes);
    tiles_ = ceil_div(bytes, shape_.tile_bytes());
    shape_ = scan::with_stages<Segmented<Op>>(shape_, ceil_div(tiles_, multiprocessors_), shared_bytes);
  }

  /// Before the first run in a context: raises the kernel's limit on shared memory.
  static cudaError_t try_allow(std::size_t shared_bytes) {
    return cuda::try_allow(axis_look_ahead<Op>, {.shared_bytes = shared_bytes});
  }

  const scan::Shape& shape() const { return shape_; }
  std::int64_t tiles() const { return tiles_; }
  std::size_t workspace_bytes() const {
    simt::Workspace workspace;
    memory(workspace);
    return workspace.bytes();
  }

  /// Once for a workspace, whose runs count themselves.
  cudaError_t try_prepare(void* workspace, cudaStream_t stream) const {
    simt::Workspace pieces(workspace);
    const auto parts = memory(pieces);
    return scan::try_prepare(parts.template number<std::uint64_t>(), scan::TileCounter::first(),
                             parts.template states<Item>(), parts.places() * scan::TileState<Item>::kWords, stream);
  }

  /// Enqueues the scan, if there are items.
  cudaError_t try_run(void* workspace, const InOf<Op>* in, OutOf<Op>* out, Mode mode, const Op& op,
                      cudaStream_t stream) const {
    if (items_ == 0) return cudaSuccess;
    simt::Workspace pieces(workspace);
    const auto parts = memory(pieces);
    const bool in_bulk =
        simt::CudaMachine::aligned(in, cuda::kBulkBytes) && simt::CudaMachine::aligned(out, cuda::kBulkBytes);
    return cuda::try_launch(axis_look_ahead<Op>,
                            {.blocks = static_cast<int>(std::min<std::int64_t>(tiles_, multiprocessors_)),
                             .threads = shape_.threads(),
                             .shared_bytes = scan::shared_bytes<Segmented<Op>>(shape_),
                             .pdl = true},
                            stream,
                            AxisArguments<Op>{.scan = {.in = in,
                                                       .out = out,
                                                       .n = items_,
                                                       .tiles = tiles_,
                                                       .mode = mode,
                                                       .shape = shape_,
                                                       .in_bulk = in_bulk,
                                                       .counter = parts.template number<std::uint64_t>(),
                                                       .states = parts.template states<Item>(),
                                                       .op = {op}},
                                              .rows = Rows(axis_)});
  }

 private:
  scan::AggregateMemory memory(simt::Workspace& workspace) const { return {workspace, tiles_}; }

  std::int64_t items_;
  std::int64_t axis_;
  int multiprocessors_;
  scan::Shape shape_;
  std::int64_t tiles_;
};

/// A tensor of any shape, by tiles of columns.
template <Associative GivenOp>
class ColumnScan {
 public:
  using Op = WithIdentity<GivenOp>;
  using State = scan::TileState<typename Op::Item>;
  using Word = typename State::Word;
  static constexpr int kVector = 16 / sizeof(typename Op::Item);  ///< items of a vector

  /// shared_bytes: that a block may ask for.
  ColumnScan(const Extents& tensor, int multiprocessors, std::size_t shared_bytes)
      : lines_(tensor.rows * tensor.axis),
        axis_(tensor.axis),
        inner_(tensor.inner),
        multiprocessors_(std::max(multiprocessors, 1)),
        has_vectors_(tensor.inner % kVector == 0 && block_bytes<kVector>() <= shared_bytes) {}

  /// Before the first run in a context: raises the kernels' limits on shared memory.
  static cudaError_t try_allow(std::size_t shared_bytes) {
    if (block_bytes<1>() > shared_bytes) return cudaErrorNotSupported;
    const cudaError_t error = cuda::try_allow(axis_columns<Op, 1>, {.shared_bytes = shared_bytes});
    return error != cudaSuccess ? error : cuda::try_allow(axis_columns<Op, kVector>, {.shared_bytes = shared_bytes});
  }

  /// items: of a vector.
  ColumnTiles tiles(int items) const {
    return {lines_, std::max(inner_ / items, std::int64_t{1}), items * static_cast<int>(sizeof(InOf<Op>))};
  }
  /// Tiles one below the other, at most.
  std::int64_t most_bands() const { return std::max(tiles(1).bands(), tiles(has_vectors_ ? kVector : 1).bands()); }
  std::size_t workspace_bytes() const {
    simt::Workspace workspace;
    const Memory parts(*this, workspace);
    return workspace.bytes();
  }

  /// Once for a workspace, whose runs count themselves.
  cudaError_t try_prepare(void* workspace, cudaStream_t stream) const {
    simt::Workspace pieces(workspace);
    const Memory parts(*this, pieces);
    // A state that no earlier run of these arrays' alignment has written must not be that of any run.
    constexpr Word kNone{static_cast<decltype(Word::tag)>(std::uint32_t{scan::TileCounter::kFirstRun - 1} << 1), {}};
    return scan::try_prepare(parts.counter, scan::TileCounter::first(), parts.words, words(), stream, kNone);
  }

  /// Enqueues the scan, if there are items.
  cudaError_t try_run(void* workspace, const InOf<Op>* in, OutOf<Op>* out, Mode mode, const GivenOp& op,
                      cudaStream_t stream) const {
    const auto aligned = [](const void* array) {
      return simt::CudaMachine::aligned(array, kVector * sizeof(InOf<Op>));
    };
    return has_vectors_ && aligned(in) && aligned(out) ? try_launch<kVector>(workspace, in, out, mode, op, stream)
                                                       : try_launch<1>(workspace, in, out, mode, op, stream);
  }

 private:
  struct Memory {
    std::uint64_t* counter;
    Word* words;
    Memory(const ColumnScan& scan, simt::Workspace& workspace)
        : counter(workspace.take<std::uint64_t>(1)), words(workspace.take<Word>(scan.words())) {}
  };

  template <int kItems>
  static constexpr std::size_t block_bytes() {
    return sizeof(typename ColumnBlock<Op, kItems>::Shared);
  }

  template <int kItems>
  cudaError_t try_launch(void* workspace, const InOf<Op>* in, OutOf<Op>* out, Mode mode, const GivenOp& op,
                         cudaStream_t stream) const {
    if (lines_ == 0 || inner_ == 0) return cudaSuccess;
    simt::Workspace pieces(workspace);
    const Memory parts(*this, pieces);
    const ColumnTiles cut = tiles(kItems);
    const std::int64_t room = std::int64_t{kColumnBlocks} * multiprocessors_;
    return cuda::try_launch(axis_columns<Op, kItems>,
                            {.blocks = static_cast<int>(std::min(cut.tiles, room)),
                             .threads = kColumnThreads,
                             .shared_bytes = block_bytes<kItems>(),
                             .pdl = true},
                            stream,
                            ColumnArguments<Op>{.in = in,
                                                .out = out,
                                                .lines = lines_,
                                                .inner = inner_,
                                                .rows = Rows(axis_),
                                                .mode = mode,
                                                .cut = cut,
                                                .counter = parts.counter,
                                                .states = parts.words,
                                                .op = Op{op}});
  }

  /// As many as tiles of single items or of vectors need, whatever the arrays' alignment.
  std::int64_t words() const {
    const auto states = [&](int items) {
      const ColumnTiles cut = tiles(items);
      return cut.bands() > 1 ? cut.tiles * cut.across * items : 0;
    };
    return std::max(states(1), states(has_vectors_ ? kVector : 1)) * State::kWords;
  }

  std::int64_t lines_;
  std::int64_t axis_;
  std::int64_t inner_;
  int multiprocessors_;
  bool has_vectors_;
};

}  // namespace scanlab::scan_axis
#endif
