// How scanlab::DeviceScan launches: which kernel, for every size and type within what the kernel holds. No device is
// needed.
#if defined(__CUDACC__)
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "variants/scan/device_scan_launch.cuh"

namespace scanlab::scan {
namespace {

constexpr ScanDevice kHopper{
    .multiprocessors = 132, .shared_bytes = 227 * 1024, .copies_in_bulk = true, .large_clusters = true};
constexpr ScanDevice kWorkstation{.multiprocessors = 188, .shared_bytes = 99 * 1024, .copies_in_bulk = true};
constexpr ScanDevice kAmpere{.multiprocessors = 108, .shared_bytes = 163 * 1024, .copies_in_bulk = false};
constexpr std::int64_t kMax = std::int64_t{1} << 33;

template <std::size_t kBytes>
struct Item {
  std::array<unsigned char, kBytes> bytes;
};
struct First {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T&) const {
    return a;
  }
};

/// Sizes around all powers of 2, and around those times three.
std::vector<std::int64_t> sizes() {
  std::vector<std::int64_t> all{1};
  for (std::int64_t n = 2; n <= kMax; n *= 2) all.insert(all.end(), {n - 1, n, n + 1, n + n / 2});
  return all;
}

struct Costly : First {};

}  // namespace
}  // namespace scanlab::scan

template <>
inline constexpr bool scanlab::kIsHeavy<scanlab::scan::Costly> = true;

namespace scanlab::scan {
namespace {

template <class Op>
constexpr int most_wave_rows() {
  constexpr std::size_t kItem = sizeof(InOf<Op>);
  if (!kSameTypes<Op>) return 4;
  if (kPacksOnDevice<Op>) return 16;
  if (kItem == 2 && HasIdentity<Op> && !std::is_integral_v<InOf<Op>>) return 8;
  if (kItem != 4 && kItem != 8) return 4;
  if (!Op::kHeavy) return 24;
  return kItem == 8 && !HasIdentity<Op> ? 4 : 8;
}

template <class Op>
void expect_to_fit(const ScanDevice& device) {
  using In = InOf<Op>;
  constexpr std::int64_t kVector = RegisterTile<Op, 1>::kVector;
  for (const std::int64_t n : sizes()) {
    for (const int way : {0, 1, 2, 3, 4, 5}) {
      const bool aligned = way % 3 > 0, apart = way % 3 == 2, captured = way >= 3;
      const Scan<Op> scan(n, aligned, device, apart, captured);
      const cuda::LaunchShape shape = scan.launch_shape();
      SCOPED_TRACE(testing::Message() << sizeof(In) << " bytes, n = " << n << ", aligned: " << aligned
                                      << ", apart: " << apart << ", captured: " << captured);
      EXPECT_GE(shape.blocks, 1);
      EXPECT_EQ(shape.threads % kLanes, 0);
      EXPECT_LE(shape.shared_bytes, device.shared_bytes);
      const std::size_t storage = Scan<Op>(n, true, device).storage_bytes();  // for every way
      EXPECT_GE(storage, std::max<std::size_t>(scan.used_bytes(), 1));
      const std::int64_t held = std::int64_t{shape.blocks} * shape.threads * kVector;  // by one row
      switch (scan.kernel()) {
        case ScanKernel::one_block:
          EXPECT_LE(shape.threads, kOneBlockThreads);
          EXPECT_LE(n, (Op::kHeavy ? 1 : HasIdentity<Op> && sizeof(In) == 2 ? 4 : 2) * held);
          break;
        case ScanKernel::redundant_reduce:
          EXPECT_TRUE(aligned && apart && Op::kCommutative);
          EXPECT_LE(shape.blocks, kMostRedundantBlocks);
          EXPECT_LE(n, held);
          break;
        case ScanKernel::one_cluster:
          EXPECT_TRUE(device.large_clusters && (captured || Op::kHeavy));
          EXPECT_LE(shape.threads, kClusterThreads);
          EXPECT_LE(n, kClusterRows<Op> * held);
          break;
        case ScanKernel::one_wave:
          EXPECT_TRUE(device.copies_in_bulk);
          EXPECT_LE(shape.threads, kWaveWarps * kLanes);
          EXPECT_LE(shape.blocks, kMaxWaveBlocks);
          EXPECT_LE(n, most_wave_rows<Op>() * held);
          EXPECT_GE(storage, shape.blocks * sizeof(TileState<typename Op::Item, LongWord>));
          break;
        case ScanKernel::look_back:
          EXPECT_LE(shape.threads, kLookBackThreads);
          EXPECT_LE(n, 7 * held);
          EXPECT_TRUE(!device.copies_in_bulk || !aligned || sizeof(In) != sizeof(OutOf<Op>) || 16 % sizeof(In) != 0);
          EXPECT_GE(storage, ceil_div(n, 7 * held / shape.blocks) * sizeof(TileState<typename Op::Item>));
          break;
        case ScanKernel::look_ahead:
          EXPECT_TRUE(device.copies_in_bulk && aligned);
          EXPECT_LE(shape.blocks, device.multiprocessors);
          EXPECT_LE(shape.threads, (Shape{.warps = kMaxReduceWarps<Op>}.threads()));
          break;
      }
    }
  }
}

template <class Op>
void expect_to_fit() {
  expect_to_fit<Op>(kHopper);
  expect_to_fit<Op>(kWorkstation);
  expect_to_fit<Op>(kAmpere);
}

TEST(DeviceScanLaunch, TakesTheKernelOfTheWayOfTheCall) {
  using Sums = Scan<SumOfNumbers<float, float>>;
  const auto kernel = [](std::int64_t n, bool apart, bool captured) {
    return Sums(n, true, kHopper, apart, captured).kernel();
  };
  EXPECT_EQ(kernel(1024, true, false), ScanKernel::one_block);
  EXPECT_EQ(kernel(1025, true, false), ScanKernel::redundant_reduce);
  EXPECT_EQ(kernel(16384, true, true), ScanKernel::redundant_reduce);
  EXPECT_EQ(kernel(4096, false, false), ScanKernel::one_block);
  EXPECT_EQ(kernel(4097, false, false), ScanKernel::one_wave);
  EXPECT_EQ(kernel(16385, true, false), ScanKernel::one_wave);
  EXPECT_EQ(kernel(65536, true, true), ScanKernel::one_cluster);
  EXPECT_EQ(kernel(65537, true, true), ScanKernel::one_wave);
  EXPECT_EQ(kernel(1 << 24, true, false), ScanKernel::look_ahead);
}

TEST(DeviceScanLaunch, FitsWhatTheKernelHolds) {
  expect_to_fit<SumOfNumbers<std::int8_t, std::int8_t>>();
  expect_to_fit<SumOfNumbers<std::int16_t, std::int16_t>>();
  expect_to_fit<SumOfNumbers<std::int32_t, std::int32_t>>();
  expect_to_fit<SumOfNumbers<double, double>>();
  expect_to_fit<SumOfNumbers<std::int8_t, std::int64_t>>();
  expect_to_fit<SumOfNumbers<std::int64_t, std::int8_t>>();
  expect_to_fit<FunctionOf<Item<1>, Item<1>, First>>();
  expect_to_fit<FunctionOf<Item<3>, Item<3>, First>>();
  expect_to_fit<FunctionOf<Item<5>, Item<5>, First>>();
  expect_to_fit<FunctionOf<Item<7>, Item<7>, First, Item<7>>>();
  expect_to_fit<FunctionOf<Item<8>, Item<8>, First>>();
  expect_to_fit<FunctionOf<Item<9>, Item<9>, First>>();
  expect_to_fit<FunctionOf<Item<12>, Item<12>, First>>();
  expect_to_fit<FunctionOf<float, float, Costly>>();
  expect_to_fit<FunctionOf<double, double, Costly, double>>();
  expect_to_fit<FunctionOf<Item<16>, Item<16>, First, Item<16>>>();
}

/// Storage for a large array is enough for every smaller one.
template <class Op>
void expect_to_grow(const ScanDevice& device) {
  std::size_t before = 0;
  for (std::int64_t n = 1; n < 12'000'000; n += n / 300 + 1) {
    const std::size_t bytes = Scan<Op>(n, true, device).storage_bytes();
    ASSERT_EQ(bytes, Scan<Op>(n, false, device).storage_bytes()) << n;
    ASSERT_GE(bytes, before) << sizeof(InOf<Op>) << " bytes, n = " << n;
    before = bytes;
    for (const bool aligned : {true, false}) {
      ASSERT_GE(bytes, Scan<Op>(n, aligned, device).used_bytes()) << sizeof(InOf<Op>) << " bytes, n = " << n;
    }
  }
}

TEST(DeviceScanLaunch, StorageDoesNotShrinkAsArraysGrow) {
  for (const ScanDevice& device : {kHopper, kWorkstation, kAmpere}) {
    expect_to_grow<SumOfNumbers<std::int16_t, std::int16_t>>(device);
    expect_to_grow<SumOfNumbers<std::int32_t, std::int32_t>>(device);
    expect_to_grow<SumOfNumbers<double, double>>(device);
    expect_to_grow<FunctionOf<Item<12>, Item<12>, First>>(device);
    expect_to_grow<FunctionOf<Item<16>, Item<16>, First>>(device);
    expect_to_grow<FunctionOf<double, double, Costly, double>>(device);
  }
}

/// 8 rows of what may be none, in three blocks per multiprocessor, then 24 in two.
TEST(DeviceScanLaunch, TurnsToMoreRowsWhereFewerAreFull) {
  struct Edge {
    std::int64_t n;
    bool aligned;
    ScanKernel kernel;
    int blocks;
  };
  using Op = FunctionOf<Item<8>, Item<8>, First>;
  for (const auto& [n, aligned, kernel, blocks] :
       {Edge{1'622'016, true, ScanKernel::one_wave, 3 * 132}, Edge{1'622'017, true, ScanKernel::one_wave, 212},
        Edge{3'244'032, true, ScanKernel::one_wave, 2 * 132}, Edge{3'244'033, true, ScanKernel::look_ahead, 132},
        Edge{3'244'033, false, ScanKernel::look_back, 793}}) {
    const Scan<Op> scan(n, aligned, kHopper);
    EXPECT_EQ(scan.kernel(), kernel) << n;
    EXPECT_EQ(scan.launch_shape().blocks, blocks) << n;
  }
}

/// Captured, 24 rows of 8-byte items are slower than look_ahead, which needs aligned arrays.
TEST(DeviceScanLaunch, TakesLookAheadForCapturedItemsOf8Bytes) {
  using Op = SumOfNumbers<double, double>;
  const auto kernel = [](bool aligned, bool captured) {
    return Scan<Op>(2'500'000, aligned, kHopper, /*apart=*/true, captured).kernel();
  };
  EXPECT_EQ(kernel(true, false), ScanKernel::one_wave);
  EXPECT_EQ(kernel(true, true), ScanKernel::look_ahead);
  EXPECT_EQ(kernel(false, true), ScanKernel::one_wave);
}

}  // namespace
}  // namespace scanlab::scan
#endif
