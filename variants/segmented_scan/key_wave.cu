// key_wave: launches the kernel of key_wave.cuh, which says how it works.
#include "variants/segmented_scan/key_wave.cuh"

#include "variants/scan/tile_plan.hpp"
#include "variants/segmented_scan/segmented_look_ahead.cuh"
#if defined(__CUDACC__)

namespace scanlab::segmented {
namespace {

class KeyWave {
 public:
  template <class Op>
  static constexpr bool kTakes = kSegmented<Op> && sizeof(typename Op::Item) >= 4;

  static Description describe() {
    Description about = describe_segmented(Primitive::scan_by_key, true);
    about.id = "key_wave";
    about.title = "By key, a few tiles a multiprocessor, in registers";
    about.source = "Blelloch 1990; Scanlab";
    about.family = "one launch, one tile";
    about.limits = "keys no wider than items; 64 KiB of items a multiprocessor";
    about.cost.work = "about 4n, and n comparisons";
    about.cost.span = "40 steps";
    return about;
  }

  explicit KeyWave(const Problem& problem) : problem_(problem) {}

  Plan plan() const {
    if (multiprocessors_ == 0) return Plan::refuse("key_wave asks how many multiprocessors there are: it needs a GPU");
    const std::size_t item = item_bytes(problem_.type, problem_.op);
    if (problem_.segments.width > static_cast<int>(item))
      return Plan::refuse("key_wave takes keys no wider than items");
    const scan::Wave wave = wave_of(item);
    if (wave.blocks > scan::Wave::most(item, multiprocessors_)) {
      return Plan::refuse("key_wave holds " + std::to_string(64 * multiprocessors_) + " KiB of items at most");
    }
    simt::Workspace workspace;
    const scan::AggregateMemory parts(workspace, wave.blocks);
    return {.workspace_bytes = workspace.bytes(),
            .chain = scan::tile_chain(problem_, kMostRows, scan::kWaveWarps) + wave.blocks};
  }

  template <class Op>
  void prepare(cudaStream_t stream, Op, void* memory, std::size_t) const {
    simt::Workspace workspace(memory);
    scan::AggregateMemory(workspace, wave_of(sizeof(typename Op::Item)).blocks)
        .prepare<scan_axis::Headed<typename Op::Item>>(stream, scan::TileCounter::kFirstRun);
  }

  template <class Op>
  void run(cudaStream_t stream, Op op, const void* entries, const typename Op::Item* in, typename Op::Item* out,
           void* memory, std::size_t) const {
    using Item = typename Op::Item;
    if (problem_.items == 0) return;
    with_key(problem_, [&]<class Key>(Key) {
      if constexpr (sizeof(Key) <= sizeof(Item)) {
        const auto* keys = static_cast<const Key*>(entries);
        const auto aligned = [](const void* array) { return simt::CudaMachine::aligned(array, 16); };
        const scan::Wave wave = wave_of(sizeof(Item));
        simt::Workspace workspace(memory);
        const scan::AggregateMemory parts(workspace, wave.blocks);
        const int rows = rows_of(sizeof(Item));
        const auto kernel = rows == 1   ? key_wave<Op, Key, Equal, 1>
                            : rows == 2 ? key_wave<Op, Key, Equal, 2>
                                        : key_wave<Op, Key, Equal, kMostRows>;
        cuda::launch(kernel, {.blocks = wave.blocks, .threads = wave.warps * scan::kLanes, .pdl = true}, stream, in,
                     out, keys, problem_.items, aligned(in) && aligned(out) && aligned(keys), problem_.mode,
                     multiprocessors_, parts.number<std::uint32_t>(), parts.states<scan_axis::Headed<Item>>(), op,
                     Equal{});
      }
    });
  }

 private:
  static constexpr int kMostRows = 4;

  std::int64_t vectors(std::size_t item) const {
    return ceil_div(problem_.items * static_cast<std::int64_t>(item), std::int64_t{16});
  }
  /// The fewest vectors a thread by which one wave holds the items, or kMostRows.
  int rows_of(std::size_t item) const {
    int rows = 1;
    while (rows < kMostRows &&
           scan::Wave(vectors(item), rows, multiprocessors_).blocks > scan::Wave::most(item, multiprocessors_)) {
      rows *= 2;
    }
    return rows;
  }
  scan::Wave wave_of(std::size_t item) const { return {vectors(item), rows_of(item), multiprocessors_}; }

  Problem problem_;
  int multiprocessors_ = cuda::multiprocessors();
};

const Registration kKeyWave{cuda::cuda_scan<KeyWave>()};

}  // namespace
}  // namespace scanlab::segmented
#endif
