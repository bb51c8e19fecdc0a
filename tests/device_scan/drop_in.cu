// A program against cub::DeviceScan; with USE_SCANLAB against scanlab::DeviceScan, and nothing else is different.
#include <cstdio>
#include <vector>

#if defined(USE_SCANLAB)
#include <scanlab/device_scan.cuh>
using scanlab::DeviceScan;
#else
#include <cub/device/device_scan.cuh>
using cub::DeviceScan;
#endif

struct Maximum {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};

struct Complex {
  int real = 0;
  int imaginary = 0;
  Complex() = default;
  __host__ __device__ explicit Complex(int value) : real(value), imaginary(-value) {}
  __host__ __device__ Complex operator+(const Complex& right) const {
    Complex sum(real + right.real);
    sum.imaginary = imaginary + right.imaginary;
    return sum;
  }
  bool operator==(const Complex& right) const { return real == right.real && imaginary == right.imaginary; }
};

int wrong = 0;

/// Scans n items, 1, 2, 3, 1, 2, 3, … by `call`, and compares the last result.
template <class In, class Out, class Call>
void expect_last(const char* what, Out expected, int n, Call call) {
  std::vector<In> items;
  for (int i = 0; i < n; ++i) items.push_back(static_cast<In>(1 + i % 3));
  In* in = nullptr;
  Out* out = nullptr;
  void* storage = nullptr;
  std::size_t bytes = 0;
  Out last{};
  cudaError_t error = call(storage, bytes, in, out, n);
  if (error == cudaSuccess) error = cudaMalloc(&storage, bytes);
  if (error == cudaSuccess) error = cudaMalloc(&in, n * sizeof(In));
  if (error == cudaSuccess) error = cudaMalloc(&out, n * sizeof(Out));
  if (error == cudaSuccess) error = cudaMemcpy(in, items.data(), n * sizeof(In), cudaMemcpyHostToDevice);
  if (error == cudaSuccess) error = call(storage, bytes, in, out, n);
  if (error == cudaSuccess) error = cudaMemcpy(&last, out + n - 1, sizeof last, cudaMemcpyDeviceToHost);
  cudaFree(out);
  cudaFree(in);
  cudaFree(storage);
  const bool right = error == cudaSuccess && last == expected;
  wrong += right ? 0 : 1;
  std::printf("%s of %d: %s\n", what, n, error != cudaSuccess ? cudaGetErrorString(error) : right ? "right" : "wrong");
}

int main() {
  cudaStream_t stream = nullptr;
  for (const int n : {3000, 30000000}) {
    expect_last<int, int>("InclusiveSum", 2 * n, n,
                          [&](void* storage, std::size_t& bytes, int* in, int* out, int count) {
                            return DeviceScan::InclusiveSum(storage, bytes, in, out, count, stream);
                          });
    expect_last<signed char, int>("ExclusiveSum", 2 * n - 3, n,
                                  [&](void* storage, std::size_t& bytes, signed char* in, int* out, int count) {
                                    return DeviceScan::ExclusiveSum(storage, bytes, in, out, count);
                                  });
    expect_last<Complex, Complex>("InclusiveSum of structs", Complex(2 * n), n,
                                  [&](void* storage, std::size_t& bytes, Complex* in, Complex* out, int count) {
                                    return DeviceScan::InclusiveSum(storage, bytes, in, out, count);
                                  });
    expect_last<float, float>("InclusiveScan", 3.0f, n,
                              [&](void* storage, std::size_t& bytes, float* in, float* out, int count) {
                                return DeviceScan::InclusiveScan(storage, bytes, in, out, Maximum{}, count, stream);
                              });
    expect_last<int, int>("ExclusiveScan", 7, n, [&](void* storage, std::size_t& bytes, int* in, int* out, int count) {
      return DeviceScan::ExclusiveScan(storage, bytes, in, out, Maximum{}, 7, static_cast<std::size_t>(count), stream);
    });
  }
  return wrong == 0 ? 0 : 1;
}
