// Tests scanlab::DeviceAxisScan on a device, against a loop on the host: shapes around the kernels' tiles, types,
// functions, arrays in any place, storage of any content, and captured calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <scanlab/device_axis_scan.cuh>
#include <vector>

#include "tests/device_scan/on_device.cuh"

namespace scanlab {
namespace {

struct Shape {
  std::int64_t rows, axis, inner;
};
/// Where arrays lie, and how a call is made.
struct Way {
  int shift = 0;  ///< items from a multiple of 256 bytes to the first one
  bool in_place = false;
  bool captured = false;  ///< in a graph, which is replayed
};

/// Items whose sums are exact, and wrap if they are small integers.
template <class T>
std::vector<T> numbers(const Shape& shape) {
  std::vector<T> items(shape.rows * shape.axis * shape.inner);
  std::uint64_t i = 0;
  for (T& item : items) item = static_cast<T>(static_cast<int>(i++ * 2654435761 % 211 % 61) - 28);
  return items;
}

template <class T, class Function>
std::vector<T> by_loop(const std::vector<T>& items, const Shape& shape, Mode mode, Function function, T initial) {
  std::vector<T> results(items.size());
  for (std::int64_t i = 0; i < std::ssize(items); ++i) {
    const T own = mode == Mode::inclusive ? items[i] : initial;
    const std::int64_t folded = mode == Mode::inclusive ? i : i - shape.inner;
    results[i] = i / shape.inner % shape.axis == 0 ? own : function(results[i - shape.inner], items[folded]);
  }
  return results;
}

/// Calls the function of this mode: that of sums, if it is std::plus.
template <class T, class Function>
cudaError_t call(void* storage, std::size_t& bytes, const T* in, T* out, const Shape& shape, Mode mode,
                 Function function, T initial, cudaStream_t stream) {
  const auto [rows, axis, inner] = shape;
  using Axis = DeviceAxisScan;
  const bool inclusive = mode == Mode::inclusive;
  if constexpr (std::is_same_v<Function, std::plus<T>>) {
    return inclusive ? Axis::InclusiveSum(storage, bytes, in, out, rows, axis, inner, stream)
                     : Axis::ExclusiveSum(storage, bytes, in, out, rows, axis, inner, stream);
  } else {
    return inclusive ? Axis::InclusiveScan(storage, bytes, in, out, function, rows, axis, inner, stream)
                     : Axis::ExclusiveScan(storage, bytes, in, out, function, initial, rows, axis, inner, stream);
  }
}

class AxisScans : public OnDevice {
 protected:
  AxisScans() : OnDevice(3, kArray, 0) {}

  /// Scans twice, on storage that nobody prepares.
  template <class T, class Function>
  void expect_right(const Shape& shape, const Way& way, Mode mode, Function function, T initial) {
    SCOPED_TRACE(testing::Message() << shape.rows << " * " << shape.axis << " * " << shape.inner << ", mode "
                                    << static_cast<int>(mode) << ", shift " << way.shift << ", in place "
                                    << way.in_place << ", captured " << way.captured);
    const std::vector<T> items = numbers<T>(shape);
    std::vector<T> expected = by_loop(items, shape, mode, function, initial);
    std::memset(&expected.emplace_back(), kUntouched, sizeof(T));
    T* const in = reinterpret_cast<T*>(memory_) + way.shift;
    T* const out = way.in_place ? in : reinterpret_cast<T*>(memory_ + kArray) + way.shift;
    unsigned char* const storage = memory_ + 2 * kArray + way.shift;
    std::size_t bytes = 0;
    const auto scan = [&](void* given) { return call(given, bytes, in, out, shape, mode, function, initial, stream_); };
    check(scan(nullptr));
    ASSERT_LE(std::max(expected.size() * sizeof(T), bytes) + 64, kArray);
    clear();
    run_twice(
        way.captured,
        [&] {
          check(cudaMemset(out, kUntouched, expected.size() * sizeof(T)));
          check(cudaMemcpy(in, items.data(), items.size() * sizeof(T), cudaMemcpyHostToDevice));
        },
        [&] { return scan(storage); },
        [&] {
          std::vector<T> results(expected.size());
          check(cudaMemcpy(results.data(), out, results.size() * sizeof(T), cudaMemcpyDeviceToHost));
          const auto wrong = std::mismatch(results.begin(), results.end(), expected.begin()).first - results.begin();
          ASSERT_EQ(wrong, std::ssize(results)) << "the first wrong item";
        });
  }
  void expect_all_right(std::initializer_list<Way> ways, auto function, auto initial) {
    constexpr Shape kShapes[] = {{1, 1, 1},         {1, 1000, 1},   {33, 65, 1},       {1001, 3, 1},    {70'001, 1, 1},
                                 {1, 6'000'001, 1}, {4097, 513, 1}, {2, 1'000'000, 1}, {2, 3, 5},       {1, 700, 3},
                                 {3, 2049, 7},      {3, 33, 100},   {257, 1, 64},      {1, 1, 4097},    {5, 2, 10'001},
                                 {3, 300'000, 2},   {2, 5000, 257}, {30, 400, 64},     {100'003, 1, 4}, {2, 33, 40'000},
                                 {1, 9, 262'144}};
    for (const Shape& shape : kShapes)
      for (const Way& way : ways)
        for (const Mode mode : {Mode::inclusive, Mode::exclusive}) expect_right(shape, way, mode, function, initial);
  }

  static constexpr std::size_t kArray = std::size_t{128} << 20;
};

struct Larger {
  __host__ __device__ auto operator()(auto a, auto b) const { return a > b ? a : b; }
};
/// Always the left operand, or always the right one: results show operands that changed places.
struct Choose {
  bool left;
  __host__ __device__ auto operator()(auto a, auto b) const { return left ? a : b; }
};

TEST_F(AxisScans, AreRightForEveryShapeInAnyPlaceAndNeedNoIdentity) {
  const std::initializer_list<Way> ways{
      {}, {.shift = 1}, {.in_place = true}, {.shift = 3, .in_place = true, .captured = true}, {.captured = true}};
  expect_all_right(ways, std::plus<std::int8_t>(), std::int8_t{0});
  expect_all_right(ways, std::plus<int>(), 0);
  expect_all_right(ways, std::plus<float>(), 0.0f);
  expect_all_right(ways, std::plus<double>(), 0.0);
  expect_all_right({Way{}, {.shift = 1}}, Larger{}, std::int8_t{-5});
  expect_all_right({Way{}, {.captured = true}}, Larger{}, -1e300);
  for (const bool left : {true, false}) expect_all_right({Way{}, {.in_place = true}}, Choose{left}, -1);
}

TEST_F(AxisScans, AreRightForRandomShapes) {
  std::mt19937_64 random(20261129);  // any seed must pass
  const auto below = [&](std::uint64_t end) { return static_cast<int>(random() % end); };
  for (int round = 0; round < 200; ++round) {
    const int axis_bits = below(21), inner_bits = below(21 - axis_bits), row_bits = 20 - axis_bits - inner_bits;
    const Shape shape{1 + below(2u << row_bits), 1 + below(2u << axis_bits), 1 + below(1u << inner_bits)};
    const Way way{below(4), below(2) == 0, below(2) == 0};
    expect_right(shape, way, below(2) == 0 ? Mode::inclusive : Mode::exclusive, std::plus<int>(), 0);
    expect_right(shape, way, below(2) == 0 ? Mode::inclusive : Mode::exclusive, Larger{}, 3.0f);
  }
}

/// Tensors so large that strips keep in step: of a block each, of several in a row, and of teams.
TEST_F(AxisScans, AreRightWhereStripsKeepInStep) {
  for (const Shape& shape : {Shape{3, 2400, 4096}, {1, 400, 65'536}, {2, 14'000, 1024}}) {
    expect_right(shape, {}, Mode::inclusive, std::plus<int>(), 0);
    expect_right(shape, {.in_place = true, .captured = true}, Mode::exclusive, Larger{}, -5);
  }
}

TEST_F(AxisScans, RefuseWrongArgumentsAndEnqueueNothingWithoutItems) {
  int* const array = reinterpret_cast<int*>(memory_);
  int* const between = reinterpret_cast<int*>(memory_ + 2);
  std::size_t bytes = 0;
  void* const storage = memory_ + kArray;
  const auto sum = [&](void* given, const int* in, int* out, const Shape& shape) {
    return call(given, bytes, in, out, shape, Mode::inclusive, std::plus<int>(), 0, stream_);
  };
  constexpr std::int64_t kHuge = 1l << 40;
  for (const Shape& shape : {Shape{-1, 2, 3}, {1, -2, 3}, {1, 0, -3}, {kHuge, kHuge, 1}, {kHuge, 1, kHuge}})
    EXPECT_EQ(sum(nullptr, array, array, shape), cudaErrorInvalidValue);
  for (const Shape& shape : {Shape{10, 100, 1}, {10, 100, 3}}) {
    check(sum(nullptr, nullptr, nullptr, shape));
    for (int* const wrong : {static_cast<int*>(nullptr), between}) {
      EXPECT_EQ(sum(storage, wrong, array, shape), cudaErrorInvalidValue);
      EXPECT_EQ(sum(storage, array, wrong, shape), cudaErrorInvalidValue);
    }
    --bytes;
    EXPECT_EQ(sum(storage, array, array, shape), cudaErrorInvalidValue);
  }
  cudaGraph_t graph{};
  std::size_t nodes = 1;
  check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
  for (const Shape& shape : {Shape{0, 2, 3}, {1, 0, 1}, {kHuge, kHuge, 0}}) {
    check(sum(nullptr, nullptr, nullptr, shape));
    check(sum(storage, nullptr, nullptr, shape));
  }
  check(cudaStreamEndCapture(stream_, &graph));
  check(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 0u);
  check(cudaGraphDestroy(graph));
}

}  // namespace
}  // namespace scanlab
