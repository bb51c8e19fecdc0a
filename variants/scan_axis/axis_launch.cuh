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

/// The segments of an array, by look_ahead. Heads: Rows, or HeadBits.
template <Associative Op, class Heads>
class SegmentedLookAhead {
 public:
  using Item = Headed<typename Op::Item>;
  using Form = typename SegmentedArguments<Op, Heads>::Form;
  static constexpr bool kHeadBits = Form::kHeadBits;

  /// shared_bytes: that a block may ask for.
  SegmentedLookAhead(std::int64_t items, int multiprocessors, std::size_t shared_bytes)
      : items_(items), multiprocessors_(std::max(multiprocessors, 1)) {
    const std::int64_t bytes = items_ * static_cast<std::int64_t>(sizeof(InOf<Op>));
    shape_ = scan::shape_for<Segmented<Op>>(bytes, multiprocessors_, shared_bytes);
    add_heads(shape_);
    if (!std::is_void_v<typename Form::Key>) {
      // Smaller tiles, so that enough of them are under way.
      while (shape_.vectors > 3 && kKeyStages * scan::stage_bytes<Segmented<Op>>(shape_) > shared_bytes) {
        shape_.vectors -= 2;
        add_heads(shape_);
      }
    }
    tiles_ = ceil_div(bytes, shape_.tile_bytes());
    shape_ = scan::with_stages<Segmented<Op>>(shape_, ceil_div(tiles_, multiprocessors_), shared_bytes);
  }

  /// Before the first run in a context: raises the kernel's limit on shared memory.
  static cudaError_t try_allow(std::size_t shared_bytes) {
    return cuda::try_allow(segmented_look_ahead<Op, Heads>, {.shared_bytes = shared_bytes});
  }

  const scan::Shape& shape() const { return shape_; }
  std::int64_t items() const { return items_; }
  std::int64_t tiles() const { return tiles_; }
  /// Words of head bits, in whole tiles.
  std::int64_t head_words() const { return tiles_ * shape_.head_bytes / 4; }
  /// The longest chain of operations, in segments of any length.
  std::int64_t chain() const { return shape_.chain(sizeof(InOf<Op>), tiles_); }
  std::size_t workspace_bytes() const {
    simt::Workspace workspace;
    take(workspace);
    return workspace.bytes();
  }
  /// The head bits in a workspace.
  std::uint32_t* head_bits(void* workspace) const {
    simt::Workspace pieces(workspace);
    return take(pieces).head_bits;
  }

  /// Once for a workspace, whose runs count themselves, and leave no bit set.
  cudaError_t try_prepare(void* workspace, cudaStream_t stream) const {
    simt::Workspace pieces(workspace);
    const Memory memory = take(pieces);
    if (kHeadBits && tiles_ > 0) {
      const auto bytes = static_cast<std::size_t>(head_words()) * sizeof(std::uint32_t);
      if (const cudaError_t error = cudaMemsetAsync(memory.head_bits, 0, bytes, stream)) return error;
    }
    const scan::AggregateMemory& parts = memory.tiles;
    return scan::try_prepare(parts.template number<std::uint64_t>(), scan::TileCounter::first(),
                             parts.template states<Item>(), parts.places() * scan::TileState<Item>::kWords, stream);
  }

  /// Enqueues the scan, if there are items.
  cudaError_t try_run(void* workspace, const InOf<Op>* in, OutOf<Op>* out, Mode mode, const Op& op, const Heads& heads,
                      cudaStream_t stream) const {
    if (items_ == 0) return cudaSuccess;
    simt::Workspace pieces(workspace);
    const Memory memory = take(pieces);
    const bool in_bulk =
        simt::CudaMachine::aligned(in, cuda::kBulkBytes) && simt::CudaMachine::aligned(out, cuda::kBulkBytes);
    const void* keys = nullptr;
    if constexpr (!std::is_void_v<typename Form::Key>) keys = heads.keys;
    return cuda::try_launch(
        segmented_look_ahead<Op, Heads>,
        {.blocks = static_cast<int>(std::min<std::int64_t>(tiles_, multiprocessors_)),
         .threads = shape_.threads(),
         .shared_bytes = scan::shared_bytes<Segmented<Op>>(shape_),
         .pdl = true},
        stream,
        SegmentedArguments<Op, Heads>{.scan = {.in = in,
                                               .out = out,
                                               .n = items_,
                                               .tiles = tiles_,
                                               .mode = mode,
                                               .shape = shape_,
                                               .in_bulk = in_bulk,
                                               .counter = memory.tiles.template number<std::uint64_t>(),
                                               .states = memory.tiles.template states<Item>(),
                                               .head_bits = memory.head_bits,
                                               .keys = keys,
                                               .keys_in_bulk = simt::CudaMachine::aligned(keys, cuda::kBulkBytes),
                                               .op = {op}},
                                      .heads = heads});
  }

 private:
  struct Memory {
    scan::AggregateMemory tiles;
    std::uint32_t* head_bits;
  };
  Memory take(simt::Workspace& workspace) const {
    const scan::AggregateMemory tiles(workspace, tiles_);
    return {tiles, kHeadBits ? workspace.take<std::uint32_t>(head_words()) : nullptr};
  }

  static constexpr int kKeyStages = sizeof(InOf<Op>) == 8 ? 4 : 5;

  /// Sets the bytes of a tile's heads and keys.
  static constexpr void add_heads(scan::Shape& shape) {
    const int items = shape.tile_bytes() / static_cast<int>(sizeof(InOf<Op>));
    if constexpr (kHeadBits) {
      shape.head_bytes = items / 8;
    } else if constexpr (!std::is_void_v<typename Form::Key>) {
      shape.head_bytes = shape.tile_bytes() / cuda::kBulkBytes * static_cast<int>(sizeof(VectorBits<Op>));
      shape.key_bytes = cuda::kBulkBytes + items * static_cast<int>(sizeof(typename Form::Key));
    }
  }

  std::int64_t items_;
  int multiprocessors_;
  scan::Shape shape_;
  std::int64_t tiles_;
};

/// Rows of neighbours (inner = 1).
template <Associative Op>
class RowScan : public SegmentedLookAhead<Op, Rows> {
 public:
  using Base = SegmentedLookAhead<Op, Rows>;
  RowScan(const Extents& tensor, int multiprocessors, std::size_t shared_bytes)
      : Base(tensor.items(), multiprocessors, shared_bytes), rows_(tensor.axis) {}

  cudaError_t try_run(void* workspace, const InOf<Op>* in, OutOf<Op>* out, Mode mode, const Op& op,
                      cudaStream_t stream) const {
    return Base::try_run(workspace, in, out, mode, op, rows_, stream);
  }

 private:
  Rows rows_;
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
