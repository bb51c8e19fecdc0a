// Tests scanlab::DeviceReduce, DeviceRunLengthEncode and DeviceSelect::Unique on a device, against a loop on the host:
// sizes around the kernel's tiles, lengths of runs, types, functions without identity, arrays in any place, and
// captured calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <scanlab/device_select.cuh>
#include <vector>

#include "tests/device_scan/on_device.cuh"

namespace scanlab {
namespace {

/// Associative, not commutative, and without identity.
struct Last {
  template <class T>
  __host__ __device__ T operator()(const T&, const T& right) const {
    return right;
  }
};
struct Add {
  template <class T>
  __host__ __device__ T operator()(const T& left, const T& right) const {
    return static_cast<T>(left + right);
  }
};
/// Ends the program if it is called with what is no item: none is 0.
struct CommonDivisor {
  template <class T>
  __host__ __device__ T operator()(T left, T right) const {
#if defined(__CUDA_ARCH__)
    if (left == 0 || right == 0) __trap();
#endif
    while (right != 0) {
      const T rest = static_cast<T>(left % right);
      left = right;
      right = rest;
    }
    return left;
  }
};

template <class Key, class Value>
struct Folded {
  std::vector<Key> unique;
  std::vector<Value> folds;
};

class RunsOfKeys : public OnDevice {
 protected:
  RunsOfKeys() : OnDevice(5, kArray) {}

  template <class Key>
  static std::vector<Key> keys(std::int64_t n, int mean) {
    std::mt19937 draw(static_cast<unsigned>(n + mean));
    std::vector<Key> all(static_cast<std::size_t>(n));
    Key now{};
    for (Key& key : all) {
      if (draw() % static_cast<unsigned>(mean) == 0) now = static_cast<Key>(draw() % 100);  // or the same key again
      key = now;
    }
    return all;
  }

  template <class T>
  T* array(int which, int shift) const {
    return reinterpret_cast<T*>(memory_ + which * kArray) + shift;
  }
  template <class T>
  static void expect_written(const T* from, const std::vector<T>& expected, const char* what) {
    std::vector<T> got(expected.size() + 1);
    check(cudaMemcpy(got.data(), from, got.size() * sizeof(T), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(got[i], expected[i]) << what << " of run " << i;
    const auto* const behind = reinterpret_cast<const unsigned char*>(&got.back());
    ASSERT_TRUE(std::all_of(behind, behind + sizeof(T), [](unsigned char byte) { return byte == kUntouched; }))
        << "writes behind the " << what;
  }

  /// call(storage, bytes, keys, unique, in, out): of ReduceByKey, Encode or Unique.
  template <class Key, class Value, class Call>
  void expect_folds(const std::vector<Key>& keys, const std::vector<Value>& values, const Folded<Key, Value>& expected,
                    int shift, bool captured, Call call) {
    Key* const own = array<Key>(0, shift);
    Value* const in = array<Value>(1, shift % 3);
    Key* const unique = array<Key>(2, shift % 5);
    Value* const out = array<Value>(3, shift);
    void* const storage = memory_ + 4 * kArray + shift;
    std::size_t bytes = 0;
    check(call(nullptr, bytes, own, unique, in, out));
    ASSERT_LE(bytes + 64, kArray);
    clear();
    check(cudaMemcpy(own, keys.data(), keys.size() * sizeof(Key), cudaMemcpyHostToDevice));
    check(cudaMemcpy(in, values.data(), values.size() * sizeof(Value), cudaMemcpyHostToDevice));
    run_twice(
        captured,
        [&] {
          *count_ = ~std::uint64_t{0};
          check(cudaMemset(memory_ + 2 * kArray, kUntouched, 2 * kArray));
        },
        [&] { return call(storage, bytes, own, unique, in, out); },
        [&] {
          ASSERT_EQ(*count_, expected.unique.size());
          expect_written(unique, expected.unique, "key");
          expect_written(out, expected.folds, "fold");
        });
  }

  template <class Key, class Value, class Function>
  void expect_right() {
    int turn = 0;
    for (const std::int64_t n : {0, 1, 31, 1000, 7169, 400'003, 4'000'003}) {
      for (const int mean : {1, 2, 5, 200, 100'000'000}) {
        const int shift = ++turn % 4;
        SCOPED_TRACE(testing::Message() << n << " keys of " << sizeof(Key) << " bytes, values of " << sizeof(Value)
                                        << ", runs of about " << mean << ", shifted by " << shift);
        const std::vector<Key> own = keys<Key>(n, mean);
        std::vector<Value> values(own.size());
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Value>((i * 2654435761 >> 7 & 7) + 1);
        Folded<Key, Value> sums, lengths, unique;
        for (std::size_t i = 0; i < own.size(); ++i) {
          if (i == 0 || own[i] != own[i - 1]) {
            sums.unique.push_back(own[i]);
            sums.folds.push_back(values[i]);
            lengths.folds.push_back(0);
          } else {
            sums.folds.back() = Function{}(sums.folds.back(), values[i]);
          }
          lengths.folds.back() = static_cast<Value>(lengths.folds.back() + 1);
        }
        lengths.unique = unique.unique = sums.unique;
        expect_folds(own, values, sums, shift, turn % 4 == 0,
                     [&](void* storage, std::size_t& bytes, const Key* from, Key* to, const Value* in, Value* out) {
                       return DeviceReduce::ReduceByKey(storage, bytes, from, to, in, out, count_, Function{}, n,
                                                        stream_);
                     });
        if constexpr (std::is_integral_v<Value> && sizeof(Value) >= 4) {
          expect_folds(own, values, lengths, shift, turn % 4 == 1,
                       [&](void* storage, std::size_t& bytes, const Key* from, Key* to, const Value*, Value* out) {
                         return DeviceRunLengthEncode::Encode(storage, bytes, from, to, out, count_, n, stream_);
                       });
        }
        expect_folds(own, values, unique, shift, turn % 4 == 2,
                     [&](void* storage, std::size_t& bytes, const Key* from, Key* to, const Value*, Value*) {
                       return DeviceSelect::Unique(storage, bytes, from, to, count_, n, stream_);
                     });
      }
    }
  }

  static constexpr std::size_t kArray = 32 << 20;
};

TEST_F(RunsOfKeys, AreFoldedAsByALoop) {
  expect_right<std::uint32_t, std::int32_t, Add>();
  expect_right<std::int64_t, std::int32_t, Last>();
  expect_right<std::uint32_t, std::int32_t, CommonDivisor>();
  expect_right<std::uint8_t, double, Add>();
  expect_right<std::int16_t, std::int64_t, Add>();
  expect_right<std::uint64_t, std::int8_t, Last>();
}

TEST_F(RunsOfKeys, RefuseWhatTheyCannotTake) {
  auto* const keys = array<int>(0, 0);
  auto* const unique = array<int>(1, 0);
  std::size_t bytes = 0;
  const auto encode = [&](const int* from, int* to, std::uint64_t* count, std::int64_t n) {
    return DeviceRunLengthEncode::Encode(memory_ + 4 * kArray, bytes, from, to, array<int>(2, 0), count, n, stream_);
  };
  check(DeviceRunLengthEncode::Encode(nullptr, bytes, keys, unique, array<int>(2, 0), count_, 1000));
  EXPECT_EQ(encode(keys, unique, count_, -1), cudaErrorInvalidValue);
  EXPECT_EQ(encode(keys, unique, count_, std::int64_t{1} << 32), cudaErrorInvalidValue);
  EXPECT_EQ(encode(nullptr, unique, count_, 1000), cudaErrorInvalidValue);
  EXPECT_EQ(encode(keys, nullptr, count_, 1000), cudaErrorInvalidValue);
  EXPECT_EQ(encode(keys, unique, nullptr, 1000), cudaErrorInvalidValue);
  const auto keep = [&](const int* from, int* to) {
    return DeviceSelect::Unique(memory_ + 4 * kArray, bytes, from, to, count_, 1000, stream_);
  };
  EXPECT_EQ(keep(nullptr, unique), cudaErrorInvalidValue);
  EXPECT_EQ(keep(keys, nullptr), cudaErrorInvalidValue);
  --bytes;
  EXPECT_EQ(encode(keys, unique, count_, 1000), cudaErrorInvalidValue);
  check(cudaStreamSynchronize(stream_));
}

}  // namespace
}  // namespace scanlab
