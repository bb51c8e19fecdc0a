// Tests the promises of the page of scanlab::DeviceScan on a device, as CUB tests its own: every size at which
// something changes, every type that it takes, functions of every kind, and storage that holds anything.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <scanlab/device_scan.cuh>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/device_scan/item_range.hpp"

namespace scanlab {
namespace {

void check(cudaError_t error) { ASSERT_EQ(error, cudaSuccess) << cudaGetErrorString(error); }

/// Memory of the device, filled with `byte`.
class Memory {
 public:
  explicit Memory(std::size_t bytes, int byte = 0xA5) {
    check(cudaMalloc(&data_, bytes == 0 ? 1 : bytes));
    check(cudaMemset(data_, byte, bytes));
  }
  ~Memory() { cudaFree(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  template <class T>
  T* as(std::size_t byte = 0) const {
    return reinterpret_cast<T*>(static_cast<unsigned char*>(data_) + byte);
  }

 private:
  void* data_ = nullptr;
};

/// Where items lie.
struct Places {
  std::size_t in = 0;   ///< items before the first, so that arrays are aligned to their items and to no more
  std::size_t out = 0;  ///< likewise
  bool in_place = false;
  bool captured = false;       ///< in a graph, which is then launched
  int storage_byte = 0xFF;     ///< what the storage is full of
  std::size_t storage_at = 0;  ///< bytes
};

constexpr auto kInclusiveSum = [](auto&&... words) { return DeviceScan::InclusiveSum(words...); };
constexpr auto kExclusiveSum = [](auto&&... words) { return DeviceScan::ExclusiveSum(words...); };
constexpr auto kInclusiveScan = [](auto&&... words) { return DeviceScan::InclusiveScan(words...); };
constexpr auto kExclusiveScan = [](auto&&... words) { return DeviceScan::ExclusiveScan(words...); };
constexpr auto kInclusiveScanInit = [](auto&&... words) { return DeviceScan::InclusiveScanInit(words...); };

/// The results of `scan(storage, bytes, in, out, words…, n, stream)` on `items`.
template <class Out, class In, class Scan, class... Words>
std::vector<Out> scanned(const std::vector<In>& items, const Places& places, Scan scan, const Words&... words) {
  const auto n = static_cast<std::int64_t>(items.size());
  const auto call = [&](void* storage, std::size_t& bytes, In* from, Out* to, cudaStream_t stream) {
    return scan(storage, bytes, from, to, words..., n, stream);
  };
  const Memory in((n + places.in) * sizeof(In));
  const Memory separate(places.in_place ? 0 : (n + places.out + 1) * sizeof(Out));
  In* const from = in.as<In>() + places.in;
  Out* const to = places.in_place ? reinterpret_cast<Out*>(from) : separate.as<Out>() + places.out;
  check(cudaMemcpy(from, items.data(), n * sizeof(In), cudaMemcpyHostToDevice));
  std::size_t bytes = 0;
  check(call(nullptr, bytes, from, to, cudaStream_t{}));
  EXPECT_GT(bytes, 0u);
  const Memory storage(bytes + places.storage_at, places.storage_byte);
  if (places.captured) {
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t replay = nullptr;
    check(cudaStreamCreate(&stream));
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    check(call(storage.as<void>(places.storage_at), bytes, from, to, stream));
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiate(&replay, graph, 0));
    check(cudaGraphLaunch(replay, stream));
    check(cudaStreamSynchronize(stream));
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
  } else {
    check(call(storage.as<void>(places.storage_at), bytes, from, to, cudaStream_t{}));
  }
  std::vector<Out> results(n);
  check(cudaMemcpy(results.data(), to, n * sizeof(Out), cudaMemcpyDeviceToHost));
  if (!places.in_place) {  // nothing is written behind the last
    unsigned char behind[sizeof(Out)];
    check(cudaMemcpy(behind, to + n, sizeof(Out), cudaMemcpyDeviceToHost));
    for (const unsigned char byte : behind) EXPECT_EQ(byte, 0xA5);
  }
  return results;
}

template <class T>
bool same(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}
template <class T>
void expect_same(const std::vector<T>& results, const std::vector<T>& expected, const std::string& what) {
  ASSERT_EQ(results.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(same(results[i], expected[i])) << what << ", n = " << expected.size() << ": item " << i << " is wrong";
  }
}

/// Items at which something changes, for items of so many bytes: one, a vector, a row, a warp, a block's tile, what one
/// block, redundant_reduce and one cluster hold, rows of one_wave, what it holds, a tile of look_ahead and of
/// look-back, a wave of those, and many waves.
std::vector<std::int64_t> sizes(std::size_t bytes) {
  std::vector<std::int64_t> all{0, 1, 2, 3};
  for (const std::int64_t edge : {std::int64_t{16},
                                  std::int64_t{512},
                                  std::int64_t{16} << 10,
                                  std::int64_t{26} << 10,
                                  std::int64_t{57344},
                                  std::int64_t{64} << 10,
                                  std::int64_t{256} << 10,
                                  std::int64_t{512} << 10,
                                  std::int64_t{1} << 20,
                                  std::int64_t{132} * (10 << 10),
                                  std::int64_t{2} << 20,
                                  std::int64_t{4} << 20,
                                  std::int64_t{132} * (26 << 10),
                                  std::int64_t{132} * (32 << 10),
                                  std::int64_t{132} * (64 << 10),
                                  std::int64_t{132} * (96 << 10),
                                  std::int64_t{132} * (128 << 10),
                                  std::int64_t{24} << 20,
                                  std::int64_t{132} * (192 << 10),
                                  std::int64_t{132} * 7 * (36 << 10)}) {
    const std::int64_t n = edge / static_cast<std::int64_t>(bytes);
    for (const std::int64_t each : {n - 1, n, n + 1}) {
      if (each > 3) all.push_back(each);
    }
  }
  return all;
}

__global__ void fill_ones(std::uint8_t* items, std::int64_t n) {
  for (std::int64_t i = blockIdx.x * 1024 + threadIdx.x; i < n; i += gridDim.x * 1024) items[i] = 1;
}

// ---- sums

/// Integers of all bits, so that sums of every type overflow, and wrap; floats small and whole, so that sums are exact.
template <class T>
T number(std::int64_t i) {
  if constexpr (std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>) {
    return T(static_cast<float>(i % 2 == 0 ? 1 : -1));  // sums stay 0 or 1
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>((static_cast<std::uint64_t>(i) + 1) * 0x9E3779B97F4A7C15u >> (64 - 8 * sizeof(T)));
  } else {
    return static_cast<T>(static_cast<int>(i * 7 % 5) - 2);
  }
}

template <class T>
T add(T a, T b) {
  if constexpr (std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>) {
    return T(static_cast<float>(a) + static_cast<float>(b));
  } else {
    return wrapping_add(a, b);
  }
}

template <class T>
class Sums : public testing::Test {};
using SummedTypes = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                                   std::int64_t, std::uint64_t, __half, __nv_bfloat16, float, double>;
TYPED_TEST_SUITE(Sums, SummedTypes);
static_assert(kIsNumber<__half> && kIsNumber<__nv_bfloat16>, "sums without identity are slower");

TYPED_TEST(Sums, AreRightAtEverySizeInAnyPlaceWithStorageOfAnyContent) {
  using T = TypeParam;
  const Places all_places[] = {{},
                               {.in_place = true, .storage_byte = 0},
                               {.in = 1, .out = 1, .storage_byte = 0x55, .storage_at = 1},
                               {.in = 3, .out = 0, .storage_byte = 1}};
  for (const std::int64_t n : sizes(sizeof(T))) {
    std::vector<T> items;
    std::vector<T> inclusive;
    std::vector<T> exclusive;
    T sum = number<T>(0);
    for (std::int64_t i = 0; i < n; ++i) {
      items.push_back(number<T>(i));
      exclusive.push_back(i == 0 ? T(0) : sum);
      sum = i == 0 ? items.back() : add(sum, items.back());
      inclusive.push_back(sum);
    }
    for (const Places& places : all_places) {
      expect_same(scanned<T>(items, places, kInclusiveSum), inclusive, "InclusiveSum");
      expect_same(scanned<T>(items, places, kExclusiveSum), exclusive, "ExclusiveSum");
    }
  }
}

/// Results wider, narrower and of another kind than items: what is added up is what C++ adds up.
template <class In, class Out>
void expect_converted() {
  for (const std::int64_t n : sizes(std::max(sizeof(In), sizeof(Out)))) {
    std::vector<In> items;
    std::vector<Out> expected;
    decltype(In{} + In{}) sum{};
    for (std::int64_t i = 0; i < n; ++i) {
      items.push_back(static_cast<In>(i % 3 + 1));
      sum += items.back();
      expected.push_back(static_cast<Out>(sum));
    }
    expect_same(scanned<Out>(items, {}, kInclusiveSum), expected, "InclusiveSum of two types");
  }
}
TEST(SumsOfTwoTypes, AreAddedUpAsCppAddsThem) {
  expect_converted<std::int8_t, std::int32_t>();
  expect_converted<std::uint8_t, std::uint64_t>();
  expect_converted<std::int32_t, std::int64_t>();
  expect_converted<std::int64_t, std::int32_t>();
  expect_converted<std::int32_t, float>();
  expect_converted<float, double>();
}

// ---- functions

/// Neighbours join; anything else is no range.
struct Join {
  template <class R>
  __host__ __device__ R operator()(const R& a, const R& b) const {
    const bool neighbours = static_cast<decltype(a.last)>(a.last + 1) == b.first;
    R joined = a;
    joined.last = neighbours ? b.last : b.first;
    joined.first = neighbours ? a.first : b.last;
    return joined;
  }
};

/// The same, said to compute more than it moves.
struct JoinAtLength : Join {};

}  // namespace
template <>
inline constexpr bool kIsHeavy<JoinAtLength> = true;
namespace {

template <class R, class Function>
void expect_joined() {
  using Bound = decltype(R::first);
  const auto range = [](std::int64_t first, std::int64_t last) {
    R made{};
    made.first = static_cast<Bound>(first);
    made.last = static_cast<Bound>(last);
    return made;
  };
  for (const std::int64_t n : sizes(sizeof(R))) {
    std::vector<R> items;
    std::vector<R> inclusive;
    std::vector<R> exclusive;
    std::vector<R> with_initial;
    for (std::int64_t i = 0; i < n; ++i) {
      items.push_back(range(i, i));
      inclusive.push_back(range(0, i));
      exclusive.push_back(range(-1, i - 1));
      with_initial.push_back(range(-1, i));
    }
    for (const Places& places : {Places{}, Places{.in_place = true}, Places{.in = 1, .out = 1}}) {
      expect_same(scanned<R>(items, places, kInclusiveScan, Function{}), inclusive, "InclusiveScan");
      expect_same(scanned<R>(items, places, kExclusiveScan, Function{}, range(-1, -1)), exclusive, "ExclusiveScan");
      expect_same(scanned<R>(items, places, kInclusiveScanInit, Function{}, range(-1, -1)), with_initial,
                  "InclusiveScanInit");
    }
  }
}

template <class T>
class Functions : public testing::Test {};
using JoinedTypes = testing::Types<Range<std::uint8_t, 0>, Range<std::uint8_t, 1>, Range<std::uint32_t, 0>,
                                   Range<std::uint32_t, 4>, Range<std::uint64_t, 0>>;
TYPED_TEST_SUITE(Functions, JoinedTypes);

TYPED_TEST(Functions, NeedNoIdentityAndNeverHaveTheirOperandsExchanged) { expect_joined<TypeParam, Join>(); }

TEST(HeavyFunctions, AreScannedAsOthersAre) {
  static_assert(scan::FunctionOf<Range<std::uint32_t, 0>, Range<std::uint32_t, 0>, JoinAtLength>::kHeavy);
  expect_joined<Range<std::uint32_t, 0>, JoinAtLength>();
  expect_joined<Range<std::uint64_t, 0>, JoinAtLength>();
}

__device__ unsigned long long calls_without_mark = 0;

/// Marked values are closed under addition: an operand without the mark is no item, no initial value and no result.
struct Marked {
  std::uint32_t sum;
  std::uint32_t mark;
};
constexpr std::uint32_t kMark = 0xC0FFEE;
struct AddMarked {
  __host__ __device__ Marked operator()(const Marked& a, const Marked& b) const {
#if defined(__CUDA_ARCH__)
    if (a.mark != kMark || b.mark != kMark) atomicAdd(&calls_without_mark, 1ull);
#endif
    return {a.sum + b.sum, kMark};
  }
};
bool operator==(const Marked& a, const Marked& b) { return a.sum == b.sum && a.mark == b.mark; }

TEST(CalledFunctions, GetItemsInitialValuesAndResultsAlone) {
  for (const std::int64_t n : sizes(sizeof(Marked))) {
    const std::vector<Marked> ones(n, Marked{1, kMark});
    std::vector<Marked> expected;
    for (std::int64_t i = 0; i < n; ++i) expected.push_back({static_cast<std::uint32_t>(i + 1), kMark});
    for (const Places& places : {Places{.storage_byte = 0}, Places{.in = 1, .out = 1, .storage_byte = 0}}) {
      expect_same(scanned<Marked>(ones, places, kExclusiveScan, AddMarked{}, Marked{1, kMark}), expected,
                  "ExclusiveScan");
    }
  }
  unsigned long long calls = 1;
  check(cudaMemcpyFromSymbol(&calls, calls_without_mark, sizeof calls));
  EXPECT_EQ(calls, 0u) << "calls of the function for what is no value of it";
}

/// A call operator that is not const, and a copy constructor of the user's.
struct Counted {
  int calls = 0;
  Counted() = default;
  __host__ __device__ Counted(const Counted&) {}
  __host__ __device__ float operator()(float a, float b) {
    ++calls;
    return a + b;
  }
};

TEST(CalledFunctions, MayHaveStateAndInitialValuesConvert) {
  for (const std::int64_t n : sizes(sizeof(float))) {
    const std::vector<float> ones(n, 1.0f);
    std::vector<float> expected;
    for (std::int64_t i = 0; i < n; ++i) expected.push_back(std::min(static_cast<float>(i + 2), 16777216.0f));
    expect_same(scanned<float>(ones, {}, kExclusiveScan, Counted{}, __half(2.0f)), expected,
                "ExclusiveScan of float from a __half");
  }
}

/// Random sizes, places and storage. Any seed must pass; SCANLAB_SEED names another.
TEST(AtRandom, ScansAreRight) {
  const char* const given = std::getenv("SCANLAB_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 20261128;
  std::mt19937_64 random(seed);
  using R = Range<std::uint32_t, 0>;
  for (int round = 0; round < 100; ++round) {
    const auto below = [&](std::int64_t end) { return static_cast<std::int64_t>(random() % end); };
    const auto octave = std::int64_t{1} << below(24);
    const std::int64_t n = octave + below(octave);
    const Places places{.in = static_cast<std::size_t>(below(4)),
                        .out = static_cast<std::size_t>(below(4)),
                        .in_place = below(4) == 0,
                        .captured = below(2) == 0,
                        .storage_byte = static_cast<int>(below(256)),
                        .storage_at = static_cast<std::size_t>(below(300))};
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", round " << round << ": " << n << " items from item "
                                    << places.in << " to " << places.out << (places.in_place ? ", in place" : "")
                                    << (places.captured ? ", captured" : ""));
    std::vector<R> ranges;
    std::vector<R> joined;
    std::vector<std::int16_t> numbers;
    std::vector<std::int16_t> sums;
    std::int16_t sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto index = static_cast<std::uint32_t>(i);
      ranges.push_back({index, index});
      joined.push_back({0, index});
      numbers.push_back(number<std::int16_t>(i));
      sums.push_back(sum);
      sum = add(sum, numbers.back());
    }
    expect_same(scanned<R>(ranges, places, kInclusiveScan, Join{}), joined, "InclusiveScan");
    expect_same(scanned<std::int16_t>(numbers, places, kExclusiveSum), sums, "ExclusiveSum");
  }
}

// ---- counts, captures, streams, errors

TEST(DeviceScan, KeepsTheCallersError) {
  const Memory items(1000 * sizeof(int));
  std::size_t bytes = 0;
  check(DeviceScan::InclusiveSum(nullptr, bytes, items.as<int>(), 1000));
  const Memory storage(bytes);
  fill_ones<<<1, 4096>>>(items.as<std::uint8_t>(), 0);  // too many threads
  const cudaError_t pending = cudaPeekAtLastError();
  EXPECT_NE(pending, cudaSuccess);
  EXPECT_EQ(DeviceScan::InclusiveSum(storage.as<void>(), bytes, items.as<int>(), 1000), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), pending);
}

__global__ void count_wrong(const std::uint8_t* results, std::int64_t n, unsigned long long* wrong) {
  for (std::int64_t i = blockIdx.x * 1024 + threadIdx.x; i < n; i += gridDim.x * 1024) {
    if (results[i] != static_cast<std::uint8_t>(i + 1)) atomicAdd(wrong, 1);
  }
}

TEST(DeviceScan, CountsMoreThan32BitsOfItems) {
  const std::int64_t n = (std::int64_t{1} << 32) + 12345;
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total));
  if (free < static_cast<std::size_t>(n) + (std::size_t{1} << 30)) GTEST_SKIP() << "too little memory for 2^32 bytes";
  const Memory items(n);
  const Memory wrong(sizeof(unsigned long long), 0);
  fill_ones<<<1024, 1024>>>(items.as<std::uint8_t>(), n);
  std::size_t bytes = 0;
  check(DeviceScan::InclusiveSum(nullptr, bytes, items.as<std::uint8_t>(), n));
  const Memory storage(bytes);
  check(DeviceScan::InclusiveSum(storage.as<void>(), bytes, items.as<std::uint8_t>(), n));
  count_wrong<<<1024, 1024>>>(items.as<std::uint8_t>(), n, wrong.as<unsigned long long>());
  unsigned long long wrong_items = 1;
  check(cudaMemcpy(&wrong_items, wrong.as<void>(), sizeof wrong_items, cudaMemcpyDeviceToHost));
  EXPECT_EQ(wrong_items, 0u);
}

/// The same storage for a captured call that is replayed, and for a call of another size in between. Each replay has
/// other items, so that states of the one before would show.
TEST(DeviceScan, IsCapturedAndReplayed) {
  for (const std::int64_t n : {1000, 60000, 3000000}) {
    const Memory items(n * sizeof(int), 0);
    const Memory results(n * sizeof(int));
    std::size_t bytes = 0;
    const auto sum = [&](void* storage, std::int64_t count, cudaStream_t stream) {
      return DeviceScan::InclusiveSum(storage, bytes, items.as<int>(), results.as<int>(), count, stream);
    };
    check(sum(nullptr, n, nullptr));
    const Memory storage(bytes);
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t replay = nullptr;
    check(cudaStreamCreate(&stream));
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    check(sum(storage.as<void>(), n, stream));
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiate(&replay, graph, 0));
    for (int i = 0; i < 5; ++i) {
      const std::vector<int> all(n, i + 1);
      check(cudaMemcpy(items.as<int>(), all.data(), n * sizeof(int), cudaMemcpyHostToDevice));
      check(cudaMemsetAsync(results.as<int>(), 0, n * sizeof(int), stream));
      if (i == 2) check(cudaMemsetAsync(storage.as<void>(), 0x7F, bytes, stream));
      if (i == 3) check(sum(storage.as<void>(), n - n / 3, stream));
      check(cudaGraphLaunch(replay, stream));
      check(cudaStreamSynchronize(stream));
      int last = 0;
      check(cudaMemcpy(&last, results.as<int>() + n - 1, sizeof last, cudaMemcpyDeviceToHost));
      EXPECT_EQ(last, (i + 1) * n) << "replay " << i;
    }
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
  }
}

TEST(DeviceScan, RunsOnSeveralStreamsAtATime) {
  constexpr int kStreams = 4;
  constexpr std::int64_t kItems = 5000000;
  std::vector<cudaStream_t> streams(kStreams);
  std::vector<std::unique_ptr<Memory>> arrays;
  std::vector<std::unique_ptr<Memory>> storages;
  std::vector<std::int64_t> ones(kItems, 1);
  std::size_t bytes = 0;
  for (int s = 0; s < kStreams; ++s) {
    check(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
    arrays.push_back(std::make_unique<Memory>(kItems * sizeof(std::int64_t)));
    check(cudaMemcpy(arrays[s]->as<void>(), ones.data(), kItems * sizeof(std::int64_t), cudaMemcpyHostToDevice));
    check(DeviceScan::InclusiveSum(nullptr, bytes, arrays[s]->as<std::int64_t>(), kItems));
    storages.push_back(std::make_unique<Memory>(bytes));
  }
  for (int round = 0; round < 2; ++round) {  // the second scans the first one's results
    for (int s = 0; s < kStreams; ++s) {
      check(
          DeviceScan::InclusiveSum(storages[s]->as<void>(), bytes, arrays[s]->as<std::int64_t>(), kItems, streams[s]));
    }
  }
  for (int s = 0; s < kStreams; ++s) {
    check(cudaStreamSynchronize(streams[s]));
    std::int64_t last = 0;
    check(cudaMemcpy(&last, arrays[s]->as<std::int64_t>() + kItems - 1, sizeof last, cudaMemcpyDeviceToHost));
    EXPECT_EQ(last, kItems * (kItems + 1) / 2);
    cudaStreamDestroy(streams[s]);
  }
}

TEST(DeviceScan, SaysWhatItCannotDo) {
  const Memory items(1 << 20);
  std::size_t bytes = 0;
  EXPECT_EQ(DeviceScan::InclusiveSum(nullptr, bytes, items.as<int>(), -1), cudaErrorInvalidValue);
  check(DeviceScan::InclusiveSum(nullptr, bytes, items.as<int>(), 200000));
  const Memory storage(bytes);
  std::size_t too_few = bytes - 1;
  EXPECT_EQ(DeviceScan::InclusiveSum(storage.as<void>(), too_few, items.as<int>(), 200000), cudaErrorInvalidValue);
  EXPECT_EQ(DeviceScan::InclusiveSum(storage.as<void>(), bytes, items.as<int>(), -1), cudaErrorInvalidValue);
  EXPECT_EQ(DeviceScan::InclusiveSum(storage.as<void>(), bytes, items.as<int>(1), 1000), cudaErrorInvalidValue);
  EXPECT_EQ(DeviceScan::InclusiveSum(storage.as<void>(), bytes, items.as<int>(), 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  unsigned char first = 0;
  check(cudaMemcpy(&first, items.as<void>(), 1, cudaMemcpyDeviceToHost));
  EXPECT_EQ(first, 0xA5) << "a call that was refused has written";
}

}  // namespace
}  // namespace scanlab
