// axis_columns: launches the kernel of axis_columns.cuh, which says how it works.
#include "variants/scan_axis/axis_columns.cuh"

#include "variants/scan_axis/axis.hpp"
#if defined(__CUDACC__)
#include "harness/cuda/registration.cuh"
#include "harness/simt/workspace.hpp"

namespace scanlab::scan_axis {
namespace {

/// Items of a vector of 16 bytes.
template <class Op>
inline constexpr int kVector = 16 / sizeof(typename Op::Item);

class AxisColumns {
 public:
  template <class Op>
  static constexpr bool kTakes = kAxis<Op>;

  static Description describe() {
    Description about = describe_axis(true);
    about.id = "axis_columns";
    about.title = "One pass over tiles of columns";
    about.source = "Merrill and Garland 2016; Scanlab";
    about.family = "single pass";
    about.limits = "any shape";
    about.bitwise_reproducible = false;
    about.cost.work = "about 2n";
    about.cost.span = "the tiles of a block";
    return about;
  }

  explicit AxisColumns(const Problem& problem) : problem_(problem) {}

  Plan plan() const {
    with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) {
      if constexpr (kAxis<Op>) {
        cuda::allow(axis_columns<Op, kVector<Op>>, launch_shape<Op, kVector<Op>>());
        cuda::allow(axis_columns<Op, 1>, launch_shape<Op, 1>());
      }
    });
    simt::Workspace workspace;
    const Memory memory(*this, workspace);
    // A thread's lines, the groups of a warp, the warps; and the tiles that it looks back over.
    const std::int64_t most = 2 * 31 + 2 * (kLanes + kColumnWarps) + tiles(1).tiles;
    return {.workspace_bytes = workspace.bytes(), .chain = std::min(most, problem_.axis())};
  }

  template <class Op>
  void prepare(cudaStream_t stream, Op, void* workspace, std::size_t) const {
    simt::Workspace pieces(workspace);
    const Memory memory(*this, pieces);
    using State = scan::TileState<typename Op::Item>;
    simt::CudaMachine machine(stream);
    scan::prepare_tiles<typename State::Word>(machine, memory.counter, scan::TileCounter::first(),
                                              reinterpret_cast<typename State::Word*>(memory.words),
                                              states() * State::kWords);
  }

  template <class Op>
  void run(cudaStream_t stream, Op, const typename Op::Item* in, typename Op::Item* out, void* workspace,
           std::size_t) const {
    const auto aligned = [](const void* array) { return simt::CudaMachine::aligned(array, 16); };
    if (problem_.inner % kVector<Op> == 0 && aligned(in) && aligned(out)) {
      launch<Op, kVector<Op>>(stream, in, out, workspace);
    } else {
      launch<Op, 1>(stream, in, out, workspace);
    }
  }

 private:
  struct Memory {
    std::uint64_t* counter;
    scan::LongWord* words;
    Memory(const AxisColumns& scan, simt::Workspace& workspace)
        : counter(workspace.take<std::uint64_t>(1)), words(workspace.take<scan::LongWord>(scan.states())) {}
  };

  template <class Op, int kItems>
  void launch(cudaStream_t stream, const typename Op::Item* in, typename Op::Item* out, void* workspace) const {
    if (problem_.items == 0) return;
    using Word = typename scan::TileState<typename Op::Item>::Word;
    simt::Workspace pieces(workspace);
    const Memory memory(*this, pieces);
    cuda::launch(axis_columns<Op, kItems>, launch_shape<Op, kItems>(), stream,
                 ColumnArguments<Op>{.in = in,
                                     .out = out,
                                     .lines = lines(),
                                     .inner = problem_.inner,
                                     .rows = Rows(problem_.axis()),
                                     .mode = problem_.mode,
                                     .cut = tiles(kItems),
                                     .counter = memory.counter,
                                     .states = reinterpret_cast<Word*>(memory.words)});
  }

  std::int64_t lines() const { return problem_.rows * problem_.axis(); }
  /// items: of a vector.
  ColumnTiles tiles(int items) const {
    const auto bytes = static_cast<int>(item_bytes(problem_.type, problem_.op));
    return {lines(), std::max(problem_.inner / items, std::int64_t{1}), items * bytes};
  }
  /// As many as tiles of single items or of vectors need, whatever the arrays' alignment.
  std::int64_t states() const {
    const int vector = 16 / static_cast<int>(item_bytes(problem_.type, problem_.op));
    const ColumnTiles narrow = tiles(1), wide = tiles(problem_.inner % vector == 0 ? vector : 1);
    return std::max(narrow.tiles * narrow.across, wide.tiles * wide.across * vector);
  }
  template <class Op, int kItems>
  cuda::LaunchShape launch_shape() const {
    const std::int64_t room = kColumnBlocks * std::max(cuda::multiprocessors(), 1);
    return {.blocks = static_cast<int>(std::min(tiles(kItems).tiles, room)),
            .threads = kColumnThreads,
            .shared_bytes = sizeof(typename ColumnBlock<Op, kItems>::Shared),
            .pdl = true};
  }

  Problem problem_;
};

const Registration kAxisColumns{cuda::cuda_scan<AxisColumns>()};

}  // namespace
}  // namespace scanlab::scan_axis
#endif
