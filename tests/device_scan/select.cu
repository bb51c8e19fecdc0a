// Tests scanlab::DeviceSelect and scanlab::DevicePartition on a device, against a loop on the host: sizes around the
// kernel's tiles, shares that are kept, types, arrays in any place, and captured calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <scanlab/device_select.cuh>
#include <vector>

#include "tests/device_scan/on_device.cuh"

namespace scanlab {
namespace {

/// Keeps numbers from 0 to 127 that are below a limit.
template <class T>
struct Below {
  int limit;
  __host__ __device__ bool operator()(const T& item) const { return static_cast<int>(item) < limit; }
};

/// Two numbers, aligned as one of them or to more.
template <class Part, std::size_t kAlignment = alignof(Part)>
struct alignas(kAlignment) Pair {
  Pair() = default;
  explicit Pair(std::uint64_t number) : first(static_cast<Part>(number)), second(-first) {}
  __host__ __device__ explicit operator int() const { return static_cast<int>(first); }
  bool operator==(const Pair&) const = default;

  Part first;
  Part second;
};

template <class T>
std::vector<T> numbers(std::int64_t n) {
  std::vector<T> items(static_cast<std::size_t>(n));
  std::uint64_t i = 0;
  for (T& item : items) item = static_cast<T>(i++ * 2654435761 >> 7 & 127);
  return items;
}

class Selections : public OnDevice {
 protected:
  Selections() : OnDevice(4, kArray) {}

  /// call(storage, bytes, in, flags, out): a selection, or a partition if `all`.
  template <class T, class Call>
  void expect_kept(const std::vector<T>& items, int limit, int shift, int out_shift, bool captured, bool all,
                   Call call) {
    SCOPED_TRACE(testing::Message() << items.size() << " items of " << sizeof(T) << " bytes, below " << limit
                                    << ", from item " << shift << " to " << out_shift << (captured ? ", captured" : "")
                                    << (all ? ", all" : ""));
    std::vector<std::uint8_t> flags(items.size());
    std::vector<T> expected, others;
    for (std::size_t i = 0; i < items.size(); ++i) {
      flags[i] = Below<T>{limit}(items[i]) ? static_cast<std::uint8_t>(1 + i % 200) : 0;
      (flags[i] != 0 ? expected : others).push_back(items[i]);
    }
    const std::size_t kept = expected.size();
    if (all) expected.insert(expected.end(), others.rbegin(), others.rend());
    const auto place = [](unsigned char* from, int by) { return reinterpret_cast<T*>(from + by * alignof(T)); };
    T* const in = place(memory_, shift);
    T* const out = place(memory_ + kArray, out_shift);
    auto* const given = memory_ + 2 * kArray + shift;
    unsigned char* const storage = memory_ + 3 * kArray + shift;
    std::size_t bytes = 0;
    check(call(nullptr, bytes, in, given, out));
    ASSERT_LE(bytes + 64, kArray);
    clear();
    check(cudaMemcpy(in, items.data(), items.size() * sizeof(T), cudaMemcpyHostToDevice));
    check(cudaMemcpy(given, flags.data(), flags.size(), cudaMemcpyHostToDevice));
    run_twice(
        captured,
        [&] {
          check(cudaMemset(out, kUntouched, (items.size() + 1) * sizeof(T)));
          *count_ = ~std::uint64_t{0};
        },
        [&] { return call(storage, bytes, in, given, out); },
        [&] {
          ASSERT_EQ(*count_, kept);
          std::vector<T> results(items.size() + 1);
          check(cudaMemcpy(results.data(), out, results.size() * sizeof(T), cudaMemcpyDeviceToHost));
          ASSERT_TRUE(std::equal(expected.begin(), expected.end(), results.begin()));
          const auto* const behind = reinterpret_cast<const unsigned char*>(results.data() + expected.size());
          const auto* const end = reinterpret_cast<const unsigned char*>(results.data() + results.size());
          ASSERT_TRUE(std::all_of(behind, end, [](unsigned char byte) { return byte == kUntouched; }))
              << "writes behind";
        });
  }

  template <class T>
  void expect_right() {
    int turn = 0;
    for (const std::int64_t n : {0, 1, 31, 1000, 7169, 400'003, 1'300'001}) {
      const std::vector<T> items = numbers<T>(n);
      for (const int limit : {0, 1, 64, 127, 128}) {
        const int shift = ++turn % 5, out_shift = turn % 7;
        expect_kept(items, limit, shift, out_shift, turn % 4 == 0, false,
                    [&](void* storage, std::size_t& bytes, const T* in, const std::uint8_t* flags, T* out) {
                      return DeviceSelect::Flagged(storage, bytes, in, flags, out, count_, n, stream_);
                    });
        expect_kept(items, limit, out_shift, shift, turn % 4 == 1, false,
                    [&](void* storage, std::size_t& bytes, const T* in, const std::uint8_t*, T* out) {
                      return DeviceSelect::If(storage, bytes, in, out, count_, n, Below<T>{limit}, stream_);
                    });
        expect_kept(items, limit, shift, out_shift, turn % 4 == 2, true,
                    [&](void* storage, std::size_t& bytes, const T* in, const std::uint8_t* flags, T* out) {
                      return DevicePartition::Flagged(storage, bytes, in, flags, out, count_, n, stream_);
                    });
        expect_kept(items, limit, out_shift, shift, turn % 4 == 3, true,
                    [&](void* storage, std::size_t& bytes, const T* in, const std::uint8_t*, T* out) {
                      return DevicePartition::If(storage, bytes, in, out, count_, n, Below<T>{limit}, stream_);
                    });
      }
    }
  }

  static constexpr std::size_t kArray = 24 << 20;
};

TEST_F(Selections, AreThoseOfALoop) {
  expect_right<std::int8_t>();
  expect_right<std::uint16_t>();
  expect_right<std::int32_t>();
  expect_right<double>();
  expect_right<Pair<float>>();
  expect_right<Pair<double>>();
  expect_right<Pair<double, 16>>();
}

TEST_F(Selections, RefuseWhatTheyCannotTake) {
  auto* const items = reinterpret_cast<int*>(memory_);
  std::size_t bytes = 0;
  const Below<int> below{3};
  const auto select = [&](const int* in, int* out, std::uint64_t* count, std::int64_t n) {
    return DeviceSelect::If(memory_ + kArray, bytes, in, out, count, n, below, stream_);
  };
  check(DeviceSelect::If(nullptr, bytes, items, items, count_, 1000, below));
  EXPECT_EQ(select(items, items + 1000, count_, -1), cudaErrorInvalidValue);
  EXPECT_EQ(select(items, items + 1000, count_, std::int64_t{1} << 32), cudaErrorInvalidValue);
  EXPECT_EQ(select(nullptr, items + 1000, count_, 1000), cudaErrorInvalidValue);
  EXPECT_EQ(select(items, nullptr, count_, 1000), cudaErrorInvalidValue);
  EXPECT_EQ(select(items, items + 1000, nullptr, 1000), cudaErrorInvalidValue);
  --bytes;
  EXPECT_EQ(select(items, items + 1000, count_, 1000), cudaErrorInvalidValue);
  check(cudaStreamSynchronize(stream_));
}

}  // namespace
}  // namespace scanlab
