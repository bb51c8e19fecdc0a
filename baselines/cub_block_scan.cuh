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
  static constexpr int kBlocks = 1;
  static constexpr bool kExact = true;
  int chain(int threads, int k) const { return 2 * (threads / kLanes + k) + 12; }

  template <class Item>
  using Scan = cub::BlockScan<Item, kThreads, kAlgorithm>;
  template <class Item, int K>
  using Exchange = cub::BlockExchange<Item, kThreads, K>;

  /// Where the memory of the exchange begins, behind that of the scan, so that no barrier is needed between them.
  template <class Item>
  static constexpr int kExchange = (sizeof(typename Scan<Item>::TempStorage) + 15) / 16 * 16;

  template <class Item, int K, bool kStriped>
  SCANLAB_HD int shared_bytes(int) const {
    return kExchange<Item> + (kStriped ? sizeof(typename Exchange<Item, K>::TempStorage) : 0);
  }

  template <int K, bool kStriped, class Group, class Item, class Op>
  __device__ void scan(const Group& group, Item* shared, Item (&items)[K], Op) const {
    using Exchanges = typename Exchange<Item, K>::TempStorage;
    [[maybe_unused]] auto& exchanges = *reinterpret_cast<Exchanges*>(reinterpret_cast<char*>(shared) + kExchange<Item>);
    Scan<Item> scan(*reinterpret_cast<typename Scan<Item>::TempStorage*>(shared));
    if constexpr (kStriped) Exchange<Item, K>(exchanges).StripedToBlocked(items);
    if constexpr (Op::kOperator == Operator::plus) {
      scan.InclusiveSum(items, items);
    } else {
      scan.InclusiveScan(items, items, Op());
    }
    if constexpr (kStriped) {
      if (kThreads <= kLanes) group.sync();  // else its scan has a barrier
      Exchange<Item, K>(exchanges).BlockedToStriped(items);
    }
  }
};

/// CUB's scans of the shapes that they are compiled for.
struct CubBlocks {
  static constexpr bool kWarp = false;
  static constexpr const char* kShapes =
      "blocks of 32 to 1024 threads by powers of two with 1, 4 or 16 items each; sums of i32 also for 33, 96, 160 and "
      "992 threads, and for striped items";
  std::string algorithm;
  static CubBlocks for_problem(const Description& about, const Problem& problem) {
    return {setting(about, problem.settings, "algorithm")};
  }

  template <class Op, class F>
  void with(int threads, F f) const {
    with_threads<32, 64, 128, 256, 512, 1024>(threads, f);
    if constexpr (kIsI32Sum<Op>) with_threads<33, 96, 160, 992>(threads, f);
  }

 private:
  template <int... kThreads, class F>
  void with_threads(int threads, F f) const {
    ((threads == kThreads ? with_algorithm<kThreads>(f) : void()), ...);
  }
  template <int kThreads, class F>
  void with_algorithm(F f) const {
    if (algorithm == "warp_scans") {
      f(CubBlock<cub::BLOCK_SCAN_WARP_SCANS, kThreads>());
    } else if (algorithm == "raking_memoize") {
      f(CubBlock<cub::BLOCK_SCAN_RAKING_MEMOIZE, kThreads>());
    } else {
      f(CubBlock<cub::BLOCK_SCAN_RAKING, kThreads>());
    }
  }
};

inline Description describe_cub(std::string id, std::string title) {
  return {.id = std::move(id),
          .title = std::move(title),
          .source = "NVIDIA CCCL, cub/block/block_scan.cuh",
          .family = "CUB",
          .parameters = {{"algorithm",
                          {"raking", "raking_memoize", "warp_scans"},
                          "CUB's algorithm: the second template argument of cub::BlockScan"},
                         registers_parameter()}};
}

}  // namespace
}  // namespace scanlab::block_scan
