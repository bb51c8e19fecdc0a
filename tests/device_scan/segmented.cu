// Tests scanlab::DeviceScanByKey and scanlab::DeviceSegmentedScan on a device, against a loop on the host: segments
// around the kernels' tiles, types, functions, keys, arrays in any place, and captured calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <scanlab/device_segmented_scan.cuh>
#include <vector>

#include "tests/device_scan/on_device.cuh"

namespace scanlab {
namespace {

struct Larger {
  __host__ __device__ auto operator()(auto a, auto b) const { return a > b ? a : b; }
};
/// Always the right operand: results show operands that changed places.
struct Right {
  __host__ __device__ auto operator()(auto, auto b) const { return b; }
};
/// Keys are equal up to their lowest bit.
struct EqualHalves {
  template <class Key>
  __host__ __device__ bool operator()(Key a, Key b) const {
    return a / 2 == b / 2;
  }
};

/// Where each segment begins, then n; about `mean` items each, some empty.
std::vector<std::int64_t> random_offsets(std::int64_t n, std::int64_t mean) {
  std::mt19937_64 random(static_cast<std::uint64_t>(n * 31 + mean));
  std::vector<std::int64_t> offsets{0};
  while (offsets.back() < n) {
    const auto length = random() % 8 == 0 ? 0 : static_cast<std::int64_t>(random() % (2 * mean)) + 1;
    offsets.push_back(std::min(n, offsets.back() + length));
  }
  offsets.push_back(n);  // an empty one
  return offsets;
}

template <class T>
std::vector<T> numbers(std::int64_t n) {
  std::vector<T> items(static_cast<std::size_t>(n));
  std::uint64_t i = 0;
  for (T& item : items) item = static_cast<T>(static_cast<int>(i++ * 2654435761 % 211 % 61) - 28);
  return items;
}

template <class T, class Function>
std::vector<T> by_loop(const std::vector<T>& items, const std::vector<bool>& heads, Mode mode, Function function,
                       T initial) {
  std::vector<T> results(items.size());
  T before = initial;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (heads[i]) before = initial;
    const T with = heads[i] && mode == Mode::inclusive ? items[i] : static_cast<T>(function(before, items[i]));
    results[i] = mode == Mode::inclusive ? with : before;
    before = with;
  }
  return results;
}

class SegmentedScans : public OnDevice {
 protected:
  SegmentedScans() : OnDevice(4, kArray) {}

  /// entries: keys or offsets. call(storage, bytes, entries, in, out): the call.
  template <class T, class Entry, class Call>
  void expect_results(const std::vector<T>& items, const std::vector<Entry>& entries, const std::vector<T>& expected,
                      int shift, bool captured, Call call) {
    T* const in = reinterpret_cast<T*>(memory_) + shift;
    T* const out = reinterpret_cast<T*>(memory_ + kArray) + shift;
    Entry* const given = reinterpret_cast<Entry*>(memory_ + 2 * kArray) + shift;
    unsigned char* const storage = memory_ + 3 * kArray + shift;
    std::size_t bytes = 0;
    check(call(nullptr, bytes, given, in, out));
    ASSERT_LE(bytes + 64, kArray);
    clear();
    check(cudaMemcpy(in, items.data(), items.size() * sizeof(T), cudaMemcpyHostToDevice));
    check(cudaMemcpy(given, entries.data(), entries.size() * sizeof(Entry), cudaMemcpyHostToDevice));
    run_twice(
        captured, [&] { check(cudaMemset(out, kUntouched, items.size() * sizeof(T))); },
        [&] { return call(storage, bytes, given, in, out); },
        [&] {
          std::vector<T> results(items.size());
          check(cudaMemcpy(results.data(), out, results.size() * sizeof(T), cudaMemcpyDeviceToHost));
          const auto wrong = std::mismatch(results.begin(), results.end(), expected.begin()).first - results.begin();
          ASSERT_EQ(wrong, std::ssize(results)) << "the first wrong item";
        });
  }

  template <class T, class Key, class Offset, class Function, class Equal = segmented::Equal>
  void expect_right(Function function, T initial, Equal equal = {}) {
    for (const std::int64_t n : {0, 1, 33, 1000, 7169, 400'003}) {
      for (const std::int64_t mean : {1, 9, 700, 10'000}) {
        const std::vector<std::int64_t> begins = random_offsets(n, mean);
        std::vector<bool> heads(static_cast<std::size_t>(n));
        for (const std::int64_t begin : begins) {
          if (begin < n) heads[static_cast<std::size_t>(begin)] = true;
        }
        std::vector<Key> keys(static_cast<std::size_t>(n));
        int runs = 0;
        for (std::size_t i = 0; i < keys.size(); ++i) {
          runs += heads[i] ? 1 : 0;
          keys[i] = static_cast<Key>(2 * (runs % 50) + (std::is_same_v<Equal, EqualHalves> ? i % 2 : 0));
        }
        const std::vector<Offset> offsets(begins.begin(), begins.end());
        const auto segments = std::ssize(offsets) - 1;
        const std::vector<T> items = numbers<T>(n);
        for (const Mode mode : {Mode::inclusive, Mode::exclusive}) {
          const std::vector<T> expected = by_loop(items, heads, mode, function, initial);
          const bool inclusive = mode == Mode::inclusive;
          for (const int shift : {0, 3}) {
            SCOPED_TRACE(testing::Message()
                         << n << " items, " << mean << " a segment, inclusive " << inclusive << ", shift " << shift);
            const bool captured = mean == 9;
            expect_results(items, keys, expected, shift, captured,
                           [&](void* storage, std::size_t& bytes, const Key* by, const T* in, T* out) {
                             using Scan = DeviceScanByKey;
                             if constexpr (std::is_same_v<Function, std::plus<T>>) {
                               return inclusive
                                          ? Scan::InclusiveSumByKey(storage, bytes, by, in, out, n, equal, stream_)
                                          : Scan::ExclusiveSumByKey(storage, bytes, by, in, out, n, equal, stream_);
                             } else {
                               return inclusive ? Scan::InclusiveScanByKey(storage, bytes, by, in, out, function, n,
                                                                           equal, stream_)
                                                : Scan::ExclusiveScanByKey(storage, bytes, by, in, out, function,
                                                                           initial, n, equal, stream_);
                             }
                           });
            expect_results(
                items, offsets, expected, shift, captured,
                [&](void* storage, std::size_t& bytes, const Offset* by, const T* in, T* out) {
                  using Scan = DeviceSegmentedScan;
                  if constexpr (std::is_same_v<Function, std::plus<T>>) {
                    return inclusive ? Scan::InclusiveSegmentedSum(storage, bytes, in, out, n, by, segments, stream_)
                                     : Scan::ExclusiveSegmentedSum(storage, bytes, in, out, n, by, segments, stream_);
                  } else {
                    return inclusive ? Scan::InclusiveSegmentedScan(storage, bytes, in, out, n, by, segments, function,
                                                                    stream_)
                                     : Scan::ExclusiveSegmentedScan(storage, bytes, in, out, n, by, segments, function,
                                                                    initial, stream_);
                  }
                });
          }
        }
      }
    }
  }

  static constexpr std::size_t kArray = std::size_t{16} << 20;
};

TEST_F(SegmentedScans, AreThoseOfALoop) {
  expect_right<int, std::uint32_t, std::int32_t>(std::plus<int>(), 0);
  expect_right<float, std::int64_t, std::int64_t>(std::plus<float>(), 0);
  expect_right<std::int8_t, std::uint8_t, std::uint32_t>(std::plus<std::int8_t>(), 0);
  expect_right<double, std::int16_t, std::int32_t>(Larger(), -100.0);
  expect_right<std::int16_t, std::uint32_t, std::int64_t>(Right(), 5);
  expect_right<int, int, std::int32_t>(std::plus<int>(), 0, EqualHalves());
}

TEST_F(SegmentedScans, RefuseWhatTheyCannotTake) {
  int* const array = reinterpret_cast<int*>(memory_);
  std::size_t bytes = 0;
  using ByKey = DeviceScanByKey;
  check(ByKey::InclusiveSumByKey(nullptr, bytes, array, array, array, 1000));
  EXPECT_EQ(ByKey::InclusiveSumByKey(nullptr, bytes, array, array, array, -1), cudaErrorInvalidValue);
  std::size_t little = bytes - 1;
  EXPECT_EQ(ByKey::InclusiveSumByKey(memory_ + kArray, little, array, array, array, 1000), cudaErrorInvalidValue);
  EXPECT_EQ(ByKey::InclusiveSumByKey(memory_ + kArray, bytes, static_cast<int*>(nullptr), array, array, 1000),
            cudaErrorInvalidValue);
  const int* const odd = reinterpret_cast<const int*>(memory_ + 1);
  EXPECT_EQ(ByKey::InclusiveSumByKey(memory_ + kArray, bytes, array, odd, array, 1000), cudaErrorInvalidValue);
  check(DeviceSegmentedScan::InclusiveSegmentedSum(nullptr, bytes, array, array, 1000, array, 10));
  EXPECT_EQ(DeviceSegmentedScan::InclusiveSegmentedSum(memory_ + kArray, bytes, array, array, 1000, array, -1),
            cudaErrorInvalidValue);
  EXPECT_EQ(DeviceSegmentedScan::InclusiveSegmentedSum(memory_ + kArray, bytes, array, array, 1000,
                                                       static_cast<int*>(nullptr), 10),
            cudaErrorInvalidValue);
}

TEST_F(SegmentedScans, FindOffsetsThatFallOrLeaveTheArray) {
  const auto found = [&](const std::vector<int>& offsets) {
    check(cudaMemcpy(memory_, offsets.data(), offsets.size() * sizeof(int), cudaMemcpyHostToDevice));
    return segmented::check_offsets(reinterpret_cast<const int*>(memory_), std::ssize(offsets), 10, stream_);
  };
  EXPECT_EQ(found({0, 3, 3, 10}), cudaSuccess);
  EXPECT_EQ(found({}), cudaSuccess);
  EXPECT_EQ(found({0, 5, 4}), cudaErrorInvalidValue);
  EXPECT_EQ(found({0, 11}), cudaErrorInvalidValue);
  EXPECT_EQ(found({-1, 4}), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace scanlab
