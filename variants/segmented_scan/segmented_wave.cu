// key_wave and segment_wave: launch the kernel of segmented_wave.cuh, which says how it works.
#include "variants/segmented_scan/segmented_wave.cuh"

#include "variants/scan/tile_plan.hpp"
#include "variants/segmented_scan/segmented_look_ahead.cuh"
#if defined(__CUDACC__)

namespace scanlab::segmented {
namespace {

template <Primitive kPrimitive>
class Wave {
  static constexpr bool kByKey = kPrimitive == Primitive::scan_by_key;

 public:
  template <class Op>
  static constexpr bool kTakes = kSegmented<Op> && sizeof(typename Op::Item) >= 4;

  static Description describe() {
    Description about = describe_segmented(kPrimitive, true);
    about.id = kByKey ? "key_wave" : "segment_wave";
    about.title = std::string(kByKey ? "By key" : "By offsets") + ", a few tiles a multiprocessor, in registers";
    about.source = "Blelloch 1990; Scanlab";
    about.family = "one launch, one tile";
    about.limits = std::string(kByKey ? "keys no wider than items; " : "offsets of 4 or 8 bytes; ") +
                   "64 KiB of items a multiprocessor";
    about.cost.work = std::string("about 4n, and ") + (kByKey ? "n comparisons" : "an operation an offset");
    about.cost.span = "40 steps";
    return about;
  }

  explicit Wave(const Problem& problem) : problem_(problem) {}

  Plan plan() const {
    const std::string id = describe().id;
    if (multiprocessors_ == 0) return Plan::refuse(id + " asks how many multiprocessors there are: it needs a GPU");
    const std::size_t item = item_bytes(problem_.type, problem_.op);
    if (kByKey && problem_.segments.width > static_cast<int>(item))
      return Plan::refuse(id + " takes keys no wider than items");
    const scan::Wave wave = wave_of(item);
    if (wave.blocks > scan::Wave::most(item, multiprocessors_)) {
      return Plan::refuse(id + " holds " + std::to_string(64 * multiprocessors_) + " KiB of items at most");
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
    if (problem_.items == 0) return;
    with_key(problem_, [&]<class Key>(Key) {
      const auto* const own = static_cast<const Key*>(entries);
      const bool in_vectors = aligned(in) && aligned(out);
      if constexpr (!kByKey && sizeof(Key) >= 4) {
        launch(stream, op, OffsetHeads<Key>{own, problem_.segments.entries(problem_.items) - 1}, in, out, in_vectors,
               memory);
      } else if constexpr (kByKey && sizeof(Key) <= sizeof(typename Op::Item)) {
        launch(stream, op, KeyHeads<Key, Equal>{own, Equal{}}, in, out, in_vectors && aligned(own), memory);
      }
    });
  }

 private:
  static constexpr int kMostRows = 4;

  template <class Op, class Heads>
  void launch(cudaStream_t stream, Op op, const Heads& heads, const typename Op::Item* in, typename Op::Item* out,
              bool in_vectors, void* memory) const {
    using Item = typename Op::Item;
    const scan::Wave wave = wave_of(sizeof(Item));
    simt::Workspace workspace(memory);
    const scan::AggregateMemory parts(workspace, wave.blocks);
    const int rows = rows_of(sizeof(Item));
    const auto kernel = rows == 1   ? segmented_wave<Op, Heads, 1>
                        : rows == 2 ? segmented_wave<Op, Heads, 2>
                                    : segmented_wave<Op, Heads, kMostRows>;
    cuda::launch(kernel, {.blocks = wave.blocks, .threads = wave.warps * scan::kLanes, .pdl = true}, stream, in, out,
                 heads, problem_.items, in_vectors, problem_.mode, multiprocessors_, parts.number<std::uint32_t>(),
                 parts.states<scan_axis::Headed<Item>>(), op);
  }
  static bool aligned(const void* array) { return simt::CudaMachine::aligned(array, 16); }
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

const Registration kKeyWave{cuda::cuda_scan<Wave<Primitive::scan_by_key>>()};
const Registration kSegmentWave{cuda::cuda_scan<Wave<Primitive::segmented_scan>>()};

}  // namespace
}  // namespace scanlab::segmented
#endif
