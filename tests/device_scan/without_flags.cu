// Code of the headers that nothing vectorises, compiled as docs/USE_IT.md says: with no flag but those for C++20 and
// the architecture. A host function that device code calls would be a warning then, and no code.
#include <array>
#include <cstdint>
#include <cuda/std/complex>

#include "include/scanlab/device_axis_scan.cuh"
#include "include/scanlab/device_scan.cuh"

namespace {

struct Rgb {  // 12 bytes: no vector holds a whole number
  int red, green, blue;
};

struct Blend {
  __host__ __device__ Rgb operator()(const Rgb& a, const Rgb& b) const {
    return {a.red + b.red, a.green + b.green, a.blue + b.blue};
  }
};

struct Larger {
  __host__ __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};

struct First {  // of items whose namespaces have a bit_cast of their own
  template <class T>
  __host__ __device__ T operator()(const T& a, const T&) const {
    return a;
  }
};

struct Heavy {
  __host__ __device__ double operator()(double a, double b) const { return a > b ? a : b; }
};

}  // namespace

template <>
inline constexpr bool scanlab::kIsHeavy<Heavy> = true;

void scan_all(std::size_t& bytes, void* items) {
  using scanlab::DeviceAxisScan;
  using scanlab::DeviceScan;
  auto* const colours = static_cast<Rgb*>(items);
  auto* const reals = static_cast<float*>(items);
  auto* const wide = static_cast<double*>(items);
  auto* const complex = static_cast<cuda::std::complex<float>*>(items);
  auto* const pairs = static_cast<std::array<float, 2>*>(items);
  auto* const words = static_cast<std::int16_t*>(items);
  DeviceScan::InclusiveScan(nullptr, bytes, colours, colours, Blend{}, 1);
  DeviceScan::InclusiveScan(nullptr, bytes, reals, reals, Larger{}, 1);
  DeviceScan::ExclusiveScan(nullptr, bytes, wide, wide, Heavy{}, 0.0, 1);
  DeviceScan::InclusiveScan(nullptr, bytes, complex, complex, First{}, 1);
  DeviceScan::InclusiveScan(nullptr, bytes, pairs, pairs, First{}, 1);
  DeviceScan::InclusiveSum(nullptr, bytes, words, reals, 1);
  DeviceScan::ExclusiveSum(nullptr, bytes, reals, reals, 1);
  DeviceAxisScan::InclusiveSum(nullptr, bytes, words, words, 1, 1, 1);
  DeviceAxisScan::ExclusiveScan(nullptr, bytes, reals, reals, Larger{}, 0, 1, 1, 1);
}
