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
    about.parameters = {
        {.name = "rows",
         .values = {"4", "1", "2", "8", "16", "24"},
         .meaning = "vectors a thread; 8 of f16, 8 and 24 of items of 4 and 8 bytes, 8 and 16 of sums of i8 and i16"}};
    about.limits = "16 KiB a multiprocessor, times rows; of 2-byte elements 12, of 1-byte ones and of 24 rows 8";
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
    if (!with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) { return takes<Op>(rows_); })) {
      return Plan::refuse("one_wave takes " + std::to_string(rows_) + " vectors a thread of " +
                          (rows_ == 24  ? "items of 4 and 8 bytes and operators that are not heavy"
                           : rows_ == 8 ? "f16, of items of 4 and 8 bytes and of sums of i8 and i16"
                                        : "sums of i8 and i16") +
                          " only");
    }
    if (const int most = Wave::most(element_bytes(problem_.type), multiprocessors_, rows_); wave_.blocks > most) {
      return Plan::refuse("one_wave holds " + std::to_string(most * kWaveWarps * kLanes * rows_ / 64) +
                          " KiB at most with " + std::to_string(rows_) + " vectors a thread");
    }
    simt::Workspace workspace;
    const Memory parts(workspace, wave_.blocks);
    return {.workspace_bytes = workspace.bytes(), .chain = tile_chain(problem_, rows_, kWaveWarps) + wave_.blocks};
  }

  template <class Op>
  void prepare(cudaStream_t stream, Op, void* memory, std::size_t) const {
    simt::Workspace workspace(memory);
    Memory(workspace, wave_.blocks).replayed.prepare<typename Op::Item>(stream, TileCounter::kFirstRun);
  }

  template <class Op>
  void run(cudaStream_t stream, Op op, const typename Op::Item* in, typename Op::Item* out, void* memory,
           std::size_t) const {
    using Item = typename Op::Item;
    if (problem_.items == 0) return;
    simt::Workspace workspace(memory);
    const Memory parts(workspace, wave_.blocks);
    if (may_be_replayed(stream)) {
      const CountedRuns runs{parts.replayed.number<std::uint32_t>()};
      launch<cuda::NoWatch>(stream, op, in, out, runs, parts.replayed.states<Item>());
    } else {  // reads one word less
      launch<cuda::NoWatch>(stream, op, in, out, NumberedRun::next(), parts.once.words());
    }
  }

  /// As `run`; see BoundScan. Sums of items of 4 bytes, and of integers of 1 and 2, which speak for all.
  template <class Op>
  requires(Op::kOperator == Operator::plus && (sizeof(typename Op::Item) == 4 || kPacksOnDevice<Op>)) int timeline(
      cudaStream_t stream, Op op, const typename Op::Item* in, typename Op::Item* out, void* memory, void* ns) const {
    simt::Workspace workspace(memory);
    const Memory parts(workspace, wave_.blocks);
    launch<cuda::PointWatch>(stream, op, in, out, NumberedRun::next(), parts.once.words(), ns);
    return wave_.blocks;
  }

 private:
  /// States of both kinds apart, so that none is taken for one of the other.
  struct Memory {
    AggregateMemory replayed;
    AggregateMemory once;
    Memory(simt::Workspace& workspace, int blocks) : replayed(workspace, blocks), once(workspace, blocks) {}
  };

  template <class Watch, class Op, class Runs>
  void launch(cudaStream_t stream, Op op, const typename Op::Item* in, typename Op::Item* out, Runs runs,
              typename Runs::template Word<typename Op::Item>* states, void* watched = nullptr) const {
    using Item = typename Op::Item;
    const simt::Arrays<simt::CudaMachine, Item> arrays{in, out};
    const auto kernel = [&] {
      return by_aligned(arrays, [&]<bool kAligned>(std::bool_constant<kAligned>) {
        // With 8 vectors a thread, what waits is memory; the shorter code for aligned arrays gains small items alone.
        [[maybe_unused]] constexpr bool kShort = kAligned && sizeof(typename Op::Element) <= 2;
        if constexpr (takes<Op>(8)) {
          if (rows_ == 8) return one_wave<Op, 8, kShort, Runs, Watch>;
        }
        if constexpr (takes<Op>(16)) {
          if (rows_ == 16) return one_wave<Op, 16, kShort, Runs, Watch>;
        }
        if constexpr (takes<Op>(24)) {
          if (rows_ == 24) return one_wave<Op, 24, false, Runs, Watch>;
        }
        return rows_ == 1   ? one_wave<Op, 1, kAligned, Runs, Watch>
               : rows_ == 2 ? one_wave<Op, 2, kAligned, Runs, Watch>
                            : one_wave<Op, 4, kAligned, Runs, Watch>;
      });
    }();
    cuda::launch(kernel, {.blocks = wave_.blocks, .threads = wave_.warps * kLanes, .pdl = true}, stream, in, out,
                 problem_.items, aligned(arrays), problem_.mode, multiprocessors_, runs, states, watched, op);
  }

  /// Whether a thread's registers hold so many vectors, and all else: of 8-byte elements a few of them spill. Bytes and
  /// large items need more besides, but not what is added a word at a time.
  template <class Op>
  static constexpr bool takes(int rows) {
    constexpr std::size_t kElement = sizeof(typename Op::Element), kItem = sizeof(typename Op::Item);
    constexpr bool kHalf = kItem == 2 && !std::is_integral_v<typename Op::Item>;
    constexpr bool kWide = kElement >= 4 && kItem <= 8;
    if (rows == 24) return kWide && !Op::kHeavy;
    if (rows == 16) return kPacksOnDevice<Op>;
    return rows <= 4 || kWide || kHalf || kPacksOnDevice<Op>;
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
