// cub::BlockScan in the kernel of our own block scans, so that all are timed alike: of the toolkit's CCCL and of the
// newest, compiled apart.
#pragma once

#include <cub/block/block_exchange.cuh>
#include <cub/block/block_scan.cuh>

#include "baselines/cub_scan.cuh"
#include "variants/block_scan/block_scan.cuh"

namespace scanlab::block_scan {
namespace {

template <cub::BlockScanAlgorithm kAlgorithm, int kBlockThreads>
struct CubBlock {
  static constexpr bool kWarp = false;
  static constexpr int kThreads = kBlockThreads;
  static constexpr bool kExact = true;
  static constexpr CubBlock for_problem(const Description&, const Problem&) { return {}; }
  int chain(int threads, int k) const { return 2 * (threads / kLanes + k) + 12; }

  template <class Item>
  using Scan = cub::BlockScan<Item, kThreads, kAlgorithm>;
  template <class Item, int K>
  using Exchange = cub::BlockExchange<Item, kThreads, K>;

  template <class Item, int K, bool kStriped>
  SCANLAB_HD int shared_bytes(int) const {
    if constexpr (kStriped) {
      return std::max(sizeof(typename Scan<Item>::TempStorage), sizeof(typename Exchange<Item, K>::TempStorage));
    } else {
      return sizeof(typename Scan<Item>::TempStorage);
    }
  }

  template <int K, bool kStriped, class Group, class Item, class Op>
  __device__ void scan(const Group& group, Item* shared, Item (&items)[K], Op) const {
    Scan<Item> scan(*reinterpret_cast<typename Scan<Item>::TempStorage*>(shared));
    if constexpr (kStriped) {
      Exchange<Item, K>(*reinterpret_cast<typename Exchange<Item, K>::TempStorage*>(shared)).StripedToBlocked(items);
      group.sync();
    }
    if constexpr (Op::kOperator == Operator::plus) {
      scan.InclusiveSum(items, items);
    } else {
      scan.InclusiveScan(items, items, Op());
    }
    if constexpr (kStriped) {
      group.sync();
      Exchange<Item, K>(*reinterpret_cast<typename Exchange<Item, K>::TempStorage*>(shared)).BlockedToStriped(items);
    }
  }
};

/// A variant of an `Id` that has `static Description describe()`. Striped items are compiled for i32 sums alone.
template <class Id>
class CubBlockScan {
 public:
  template <class Op>
  static constexpr bool kTakes = kStudied<Op>;

  explicit CubBlockScan(const Problem& problem)
      : problem_(problem),
        shape_(describe(), problem),
        algorithm_(setting(describe(), problem.settings, "algorithm")) {}

  static Description describe() {
    Description about = Id::describe();
    about.family = "CUB";
    about.parameters = {{"algorithm",
                         {"raking", "raking_memoize", "warp_scans"},
                         "CUB's algorithm: the second template argument of cub::BlockScan"},
                        registers_parameter()};
    return describe_group(std::move(about), false, true);
  }

  Plan plan() const {
    if (std::string reason = shape_.refusal(describe(), problem_.mode); !reason.empty())
      return Plan::refuse(std::move(reason));
    bool compiled = false;
    int chain = 0;
    with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) {
      if constexpr (kStudied<Op>) {
        with_compiled<Op>([&]<int K, bool kStriped>(auto scan) {
          compiled = true;
          chain = scan.chain(shape_.threads(), K);
        });
      }
    });
    if (compiled) return {.workspace_bytes = times_bytes(), .chain = chain};
    return Plan::refuse(
        describe().id +
        " is compiled for blocks of 32 to 1024 threads by powers of two with 1, 4 or 16 items each; sums "
        "of i32 also for 33, 96, 160 and 992 threads, and for striped items");
  }

  template <class Op>
  void run(cudaStream_t stream, Op op, const typename Op::Item* in, typename Op::Item* out, void*, std::size_t) const {
    launch_on(stream, op, in, out, nullptr);
  }
  template <class Op>
  std::vector<RoleCycles> watch(cudaStream_t stream, Op op, const typename Op::Item* in, typename Op::Item* out,
                                void* workspace) const {
    const auto times = static_cast<Times*>(workspace);
    launch_on(stream, op, in, out, times);
    return read_cycles(times, shape_, false, stream);
  }

 private:
  template <class Op>
  void launch_on(cudaStream_t stream, Op op, const typename Op::Item* in, typename Op::Item* out, Times* times) const {
    simt::CudaMachine machine(stream);
    with_compiled<Op>([&]<int K, bool kStriped>(auto scan) {
      launch_compiled<K, kStriped>(machine, scan, shape_, simt::Arrays<simt::CudaMachine, typename Op::Item>{in, out},
                                   times, op);
    });
  }

  /// Calls `f` with CUB's scan of the shape, if it is compiled.
  template <class Op, class F>
  void with_compiled(F f) const {
    with_shape<1, 4, 16>(shape_, [&]<int K, bool kStriped>() {
      if constexpr (!kStriped || kIsI32Sum<Op>) {
        with_threads<K, kStriped, 32, 64, 128, 256, 512, 1024>(f);
        if constexpr (kIsI32Sum<Op>) with_threads<K, kStriped, 33, 96, 160, 992>(f);
      }
    });
  }
  template <int K, bool kStriped, int... kThreads, class F>
  void with_threads(F f) const {
    ((shape_.threads() == kThreads ? with_algorithm<K, kStriped, kThreads>(f) : void()), ...);
  }
  template <int K, bool kStriped, int kThreads, class F>
  void with_algorithm(F f) const {
    if (algorithm_ == "warp_scans") {
      f.template operator()<K, kStriped>(CubBlock<cub::BLOCK_SCAN_WARP_SCANS, kThreads>());
    } else if (algorithm_ == "raking_memoize") {
      f.template operator()<K, kStriped>(CubBlock<cub::BLOCK_SCAN_RAKING_MEMOIZE, kThreads>());
    } else {
      f.template operator()<K, kStriped>(CubBlock<cub::BLOCK_SCAN_RAKING, kThreads>());
    }
  }

  Problem problem_;
  Shape shape_;
  std::string algorithm_;
};

}  // namespace
}  // namespace scanlab::block_scan
