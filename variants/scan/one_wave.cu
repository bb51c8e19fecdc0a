// one_wave: a few blocks a multiprocessor scan a tile each, which their registers hold. one_wave.cuh has the kernel,
// and says how it works.
#include "variants/scan/one_wave.cuh"

#include "variants/scan/tile_plan.hpp"
#if defined(__CUDACC__)
#include "harness/cuda/registration.cuh"

namespace scanlab::scan {
namespace {

class OneWave {
 public:
  static Description describe() {
    Description about;
    about.id = "one_wave";
    about.title = "A few tiles a multiprocessor, in registers";
    about.source = "Merrill and Garland 2016; CUB's look-ahead scan";
    about.family = "one launch, one tile";
    about.overview = false;
    about.parameters = {{.name = "rows",
                         .values = {"4", "1", "2", "8"},
                         .meaning = "vectors a thread; 8 of items of 4 and 8 bytes only"}};
    about.limits = "16 KiB a multiprocessor, times rows; of 2-byte elements 12, of 1-byte ones 8";
    about.in_place = true;
    about.cost = {.work = "about 4n, and 4 a vector", .span = "40 steps", .traffic = "2n"};
    return about;
  }

  explicit OneWave(const Problem& problem)
      : problem_(problem),
        rows_(std::stoi(setting(describe(), problem.settings, "rows"))),
        multiprocessors_(cuda::multiprocessors()),
        wave_(vectors_of(problem), rows_, multiprocessors_) {}

  Plan plan() const {
    if (multiprocessors_ == 0) return Plan::refuse("one_wave asks how many multiprocessors there are: it needs a GPU");
    if (!fits(rows_, element_bytes(problem_.type), item_bytes(problem_.type, problem_.op)))
      return Plan::refuse("one_wave takes 8 vectors a thread of items of 4 and 8 bytes only");
    if (const int most = Wave::most(element_bytes(problem_.type), multiprocessors_); wave_.blocks > most) {
      return Plan::refuse("one_wave holds " + std::to_string(most * kWaveWarps * kLanes * rows_ / 64) +
                          " KiB at most with " + std::to_string(rows_) + " vectors a thread");
    }
    simt::Workspace workspace;
    const AggregateMemory parts(workspace, wave_.blocks);
    return {.workspace_bytes = workspace.bytes(), .chain = tile_chain(problem_, rows_, kWaveWarps) + wave_.blocks};
  }

  template <class Op>
  void prepare(cudaStream_t stream, Op, void* memory, std::size_t) const {
    simt::Workspace workspace(memory);
    AggregateMemory(workspace, wave_.blocks).prepare<typename Op::Item>(stream, TileCounter::kFirstRun);
  }

  template <class Op>
  void run(cudaStream_t stream, Op op, const typename Op::Item* in, typename Op::Item* out, void* memory,
           std::size_t) const {
    using Item = typename Op::Item;
    if (problem_.items == 0) return;
    simt::Workspace workspace(memory);
    const AggregateMemory parts(workspace, wave_.blocks);
    const simt::Arrays<simt::CudaMachine, Item> arrays{in, out};
    const auto kernel = [&] {
      // With 8 vectors a thread, what waits is memory; the shorter code for whole arrays gains nothing there.
      if constexpr (fits(8, sizeof(typename Op::Element), sizeof(Item))) {
        if (rows_ == 8) return one_wave<Op, 8, false, CountedRuns>;
      }
      return by_whole(arrays, problem_.items, [&]<bool kWhole>(std::bool_constant<kWhole>) {
        using R = CountedRuns;
        return rows_ == 1   ? one_wave<Op, 1, kWhole, R>
               : rows_ == 2 ? one_wave<Op, 2, kWhole, R>
                            : one_wave<Op, 4, kWhole, R>;
      });
    }();
    cuda::launch(kernel, {.blocks = wave_.blocks, .threads = wave_.warps * kLanes, .pdl = true}, stream, in, out,
                 problem_.items, aligned(arrays), problem_.mode, multiprocessors_,
                 CountedRuns{parts.number<std::uint32_t>()}, parts.states<Item>(), op);
  }

 private:
  /// Whether a thread's registers hold so many vectors, and all else: of 8-byte elements a few of them spill. Small
  /// elements and large items need more besides.
  static constexpr bool fits(int rows, std::size_t element_bytes, std::size_t item_bytes) {
    return rows < 8 || (element_bytes >= 4 && item_bytes <= 8);
  }

  Problem problem_;
  int rows_;
  int multiprocessors_;
  Wave wave_;
};

const Registration kOneWave{cuda::cuda_scan<OneWave>()};

}  // namespace
}  // namespace scanlab::scan
#endif
