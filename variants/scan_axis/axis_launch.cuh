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
    if (cuda::device_code().version < 90) return cudaErrorNotSupported;
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

/// The launch of axis_columns.
template <Associative Op, bool kAligned, class Form>
struct ColumnKernel {
  using Block = ColumnBlock<Op, kAligned, Form>;

  /// Bytes of a tile and its folds at most. shared_bytes: that a block may ask for.
  static int stage_bytes(std::size_t shared_bytes) {
    constexpr int kStage = sizeof(typename Block::Stage), kPadding = 144;
    return static_cast<int>(shared_bytes) / kColumnStages - kStage - kPadding;
  }
  /// Before the first run in a context: raises the kernel's limit on shared memory.
  static cudaError_t try_allow(std::size_t shared_bytes) {
    constexpr int kLeast = (8 << 10) + ColumnTiles::kMostFolds * sizeof(typename Block::Items);
    if (cuda::device_code().version < 80 || stage_bytes(shared_bytes) < kLeast) return cudaErrorNotSupported;
    return cuda::try_allow(axis_columns<Op, kAligned, Form>, {.shared_bytes = shared_bytes});
  }

  /// Describes the input to copies of boxes, if it can be.
  static bool describe_boxes(ColumnArguments<Op, Form>& arguments) {
    constexpr std::int64_t kMost = std::int64_t{1} << 31;
    const ColumnTiles& cut = arguments.cut;
    const std::int64_t words = (arguments.inner * static_cast<std::int64_t>(sizeof(InOf<Op>)) << cut.together_bits) / 4;
    const std::int64_t lines = arguments.lines >> cut.together_bits;
    const bool begins =
        kAligned || (cut.together_bits > 0 && simt::CudaMachine::aligned(arguments.in, cuda::kBulkBytes));
    if (cut.contiguous() || !begins || lines == 0 || words >= kMost || lines >= kMost ||
        cuda::device_code().version < 90) {
      return false;
    }
    static auto* const encode = cuda::driver_function<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
    if (encode == nullptr) return false;
    const cuuint64_t extents[] = {static_cast<cuuint64_t>(words), static_cast<cuuint64_t>(lines)};
    const cuuint64_t strides[] = {static_cast<cuuint64_t>(words * 4)};
    const cuuint32_t box[] = {static_cast<cuuint32_t>(cut.pitch / 4),
                              static_cast<cuuint32_t>(kAligned ? cut.part_lines() : cut.box_lines())};
    const cuuint32_t steps[] = {1, 1};
    return encode(&arguments.boxes, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, const_cast<InOf<Op>*>(arguments.in), extents,
                  strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                  CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
  }

  /// blocks: at a time.
  static cudaError_t try_launch(ColumnArguments<Op, Form> arguments, int blocks, bool pdl, cudaStream_t stream) {
    arguments.has_boxes = describe_boxes(arguments);
    const ColumnTiles& cut = arguments.cut;
    const auto stage = sizeof(typename Block::Stage) + cut.folds() * sizeof(typename Block::Items) +
                       static_cast<std::size_t>(cut.tile_bytes());
    return cuda::try_launch(axis_columns<Op, kAligned, Form>,
                            {.blocks = static_cast<int>(cut.blocks(blocks)),
                             .threads = cut.threads(),
                             .shared_bytes = kColumnStages * stage,
                             .pdl = pdl},
                            stream, arguments);
  }
};

/// A tensor of any shape, by tiles of columns.
template <Associative GivenOp, class Form = UsualColumns>
class ColumnScan {
 public:
  using Op = WithIdentity<GivenOp>;
  using In = InOf<Op>;

  /// shared_bytes: that a block may ask for.
  ColumnScan(const Extents& tensor, int multiprocessors, std::size_t shared_bytes)
      : lines_(tensor.rows * tensor.axis),
        axis_(tensor.axis),
        inner_(tensor.inner),
        blocks_(std::max(multiprocessors, 1)),
        items_(cut<false>(tensor, shared_bytes)),
        vectors_(cut<true>(has_vectors() ? tensor : Extents{0, 1, 1}, shared_bytes)) {}

  /// Before the first run in a context: raises the kernels' limits on shared memory.
  static cudaError_t try_allow(std::size_t shared_bytes) {
    const cudaError_t error = Kernel<false>::try_allow(shared_bytes);
    return error != cudaSuccess ? error : Kernel<true>::try_allow(shared_bytes);
  }

  /// The longest chain of operations.
  std::int64_t chain() const { return std::max(items_.chain(), vectors_.chain()); }
  std::size_t workspace_bytes() const {
    simt::Workspace workspace;
    const Memory parts(*this, workspace);
    return workspace.bytes();
  }

  /// Once for a workspace, whose runs count themselves.
  cudaError_t try_prepare(void* workspace, cudaStream_t stream) const {
    const std::size_t bytes = workspace_bytes();
    return bytes == 0 ? cudaSuccess : cudaMemsetAsync(workspace, 0, bytes, stream);
  }

  /// Enqueues the scan, if there are items.
  cudaError_t try_run(void* workspace, const In* in, OutOf<Op>* out, Mode mode, const GivenOp& op, cudaStream_t stream,
                      const Form& form = {}, bool pdl = true) const {
    if (lines_ == 0 || inner_ == 0) return cudaSuccess;
    simt::Workspace pieces(workspace);
    const Memory parts(*this, pieces);
    const auto aligned = [](const void* array) { return simt::CudaMachine::aligned(array, cuda::kBulkBytes); };
    const bool by_vectors = has_vectors() && aligned(in) && aligned(out);
    const Team& team = by_vectors ? parts.vectors : parts.items;
    const ColumnArguments<Op, Form> arguments{.boxes = {},
                                              .in = in,
                                              .out = out,
                                              .lines = lines_,
                                              .inner = inner_,
                                              .rows = Rows(axis_),
                                              .counters = team.counters,
                                              .begun = team.begun,
                                              .flags = team.flags,
                                              .states = team.states,
                                              .cut = by_vectors ? vectors_ : items_,
                                              .mode = mode,
                                              .has_boxes = false,
                                              .op = Op{op},
                                              .form = form};
    return by_vectors ? Kernel<true>::try_launch(arguments, blocks_, pdl, stream)
                      : Kernel<false>::try_launch(arguments, blocks_, pdl, stream);
  }

 private:
  template <bool kAligned>
  using Kernel = ColumnKernel<Op, kAligned, Form>;
  /// Memory through which the blocks of a strip tell each other.
  struct Team {
    std::uint64_t* counters;
    std::uint32_t* begun;
    std::uint32_t* flags;
    void* states;
    Team(const ColumnTiles& cut, std::size_t state_bytes, simt::Workspace& workspace)
        : counters(workspace.take<std::uint64_t>(cut.draws() ? cut.strips : 0)),
          begun(workspace.take<std::uint32_t>(cut.steps())),
          flags(workspace.take<std::uint32_t>(cut.published())),
          states(workspace.take<scan::LongWord>(ceil_div(
              cut.published() * cut.width * static_cast<std::int64_t>(state_bytes), sizeof(scan::LongWord)))) {}
  };
  /// Apart for items and vectors: arrays of any alignment may follow each other.
  struct Memory {
    Team items;
    Team vectors;
    Memory(const ColumnScan& scan, simt::Workspace& workspace)
        : items(scan.items_, sizeof(typename Kernel<false>::Block::State), workspace),
          vectors(scan.vectors_, sizeof(typename Kernel<true>::Block::State), workspace) {}
  };

  /// Whether lines can be cut into vectors of 16 bytes, or items into several.
  bool has_vectors() const {
    constexpr bool kFit = 16 % sizeof(In) == 0 || sizeof(In) % 16 == 0;
    return kFit && inner_ * static_cast<std::int64_t>(sizeof(In)) % cuda::kBulkBytes == 0;
  }
  template <bool kAligned>
  ColumnTiles cut(const Extents& tensor, std::size_t shared_bytes) const {
    using Block = typename Kernel<kAligned>::Block;
    return {tensor.rows,
            tensor.axis,
            tensor.inner / Block::kVector,
            Block::kUnit,
            kAligned,
            blocks_,
            Kernel<kAligned>::stage_bytes(shared_bytes),
            sizeof(typename Block::Items)};
  }
  std::int64_t lines_;
  std::int64_t axis_;
  std::int64_t inner_;
  int blocks_;  ///< at a time
  ColumnTiles items_;
  ColumnTiles vectors_;
};

}  // namespace scanlab::scan_axis
#endif
