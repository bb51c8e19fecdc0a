// scanlab::DeviceScan: prefix scans of arrays in device memory, called as cub::DeviceScan is.
//
//     std::size_t bytes = 0;
//     scanlab::DeviceScan::InclusiveSum(nullptr, bytes, in, out, n);             // how much temporary storage
//     cudaMalloc(&storage, bytes);
//     scanlab::DeviceScan::InclusiveSum(storage, bytes, in, out, n, stream);     // the scan; only enqueues
//
// Takes    pointers to device memory, aligned to their items only; input and output may be one array; any number of
//          items; items and results of 1 to 16 bytes, trivially copyable and with a default constructor; any
//          associative function object of two items, commutative or not, with or without an identity. Anything else is
//          refused by a static assertion, which names cub::DeviceScan.
// Types    as in CUB since 3.0: the accumulator has the type of function(initial value or item, item). Items are
//          converted to it when they are read, and it is converted to results when they are written.
// Storage  needs no initialisation by the caller: a call of two launches initialises it, and a call of one knows its
//          states by a number of 64 bits, which other content equals with a probability of 2^-63. Concurrent calls need
//          separate storage. A call can be captured in a CUDA graph and replayed.
// Errors   cudaErrorInvalidValue for a negative number of items, for too little storage, and for pointers that are not
//          aligned to their items; otherwise the error of a launch. The results are then undefined.
// Order    operands keep their order. Floating-point results are bitwise reproducible for one n on one device
//          from compute capability 9.0 on, if items and results have one size, which divides 16, and both arrays begin
//          at multiples of 16 bytes; up to about 256 KiB, and for items of 8 bytes above 96 KiB a multiprocessor, if
//          calls are captured alike, and write in place alike.
// Needs    nvcc 12.4 with GCC 11, C++20, Linux, compute capability 7.5. From 9.0 on large arrays are scanned by
//          look_ahead, before that by look-back; so are those that do not begin at multiples of 16 bytes.
// Cost     from 9.0 on one launch up to about 192 KiB of items a multiprocessor, of 4 and 8 bytes each; for sums of
//          smaller integers and heavy functions of 4 bytes 128 KiB; half of that for items of 16 bytes, of two types
//          and for heavy functions of 8-byte items, and less for functions of items of 1 and 2 bytes. Larger arrays,
//          and captured calls above about 256 KiB, half of that for a heavy function, take two, as in CUB: the first
//          one has a few blocks and initialises the storage. Below 9.0 one launch up to 16 KiB, for sums of 2-byte
//          items 24 and for a heavy function 8.
//
// The kernels are those of variants/scan, which say how they work: one_block, redundant_reduce, one_cluster, one_wave,
// look_ahead, decoupled_lookback.
#pragma once

#if !defined(__CUDACC__)
#error "scanlab/device_scan.cuh contains kernels: compile the file that includes it with nvcc"
#elif defined(_MSC_VER) || !defined(__NVCC__)
#error "scanlab/device_scan.cuh is written for nvcc with GCC or Clang as the host's compiler"
#elif __cplusplus < 202002L
#error "scanlab/device_scan.cuh is C++20: give nvcc -std=c++20"
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 750
#error "scanlab/device_scan.cuh needs compute capability 7.5: give nvcc an -arch, such as sm_90"
#endif

#include <cuda_runtime.h>

#include <concepts>
#include <cstddef>

#include "variants/scan/device_scan_launch.cuh"
#include "variants/scan/scan_function.hpp"

namespace scanlab {

namespace scan {

/// Scans with a function, and optionally an initial value. taken() and callable() refuse unsupported arguments.
template <class In, class Out, class N, class Function, class... Initial>
cudaError_t scan_by(void* storage, std::size_t& storage_bytes, In in, Out out, N n, Mode mode, cudaStream_t stream,
                    const Function& function, const Initial&... initial) {
  if constexpr (taken<In, Out>()) {
    if constexpr (callable<Pointed<In>, Pointed<Out>, Function, Initial...>()) {
      using Op = FunctionOf<Pointed<In>, Pointed<Out>, Function, Initial...>;
      return scan_array(storage, storage_bytes, in, out, n, mode, Op(function, initial...), stream);
    }
  }
  return cudaErrorInvalidValue;
}

/// Sums: numbers start from their identity; other types are added by their operator+.
template <Mode kMode, class In, class Out, class N>
cudaError_t sum(void* storage, std::size_t& storage_bytes, In in, Out out, N n, cudaStream_t stream) {
  if constexpr (!taken<In, Out>()) {
    return cudaErrorInvalidValue;
  } else if constexpr (kIsNumber<Pointed<In>> && kIsNumber<Pointed<Out>>) {
    using Op = SumOfNumbers<Pointed<In>, Pointed<Out>>;
    return scan_array(storage, storage_bytes, in, out, n, kMode, Op{}, stream);
  } else if constexpr (kMode == Mode::exclusive) {
    return scan_by(storage, storage_bytes, in, out, n, kMode, stream, Add{}, Pointed<In>{});
  } else {
    return scan_by(storage, storage_bytes, in, out, n, kMode, stream, Add{});
  }
}

}  // namespace scan

/// Signatures and semantics of cub::DeviceScan. storage: if null, the call only sets storage_bytes to the bytes that
/// the scan needs. in, out: num_items each. Every call returns a cudaError_t; see Errors above.
struct DeviceScan {
  template <class In, class Out, std::integral N>
  static cudaError_t InclusiveSum(void* storage, std::size_t& storage_bytes, In in, Out out, N num_items,
                                  cudaStream_t stream = nullptr) {
    return scan::sum<Mode::inclusive>(storage, storage_bytes, in, out, num_items, stream);
  }
  template <class Data, std::integral N>
  static cudaError_t InclusiveSum(void* storage, std::size_t& storage_bytes, Data data, N num_items,
                                  cudaStream_t stream = nullptr) {
    return InclusiveSum(storage, storage_bytes, data, data, num_items, stream);
  }

  template <class In, class Out, std::integral N>
  static cudaError_t ExclusiveSum(void* storage, std::size_t& storage_bytes, In in, Out out, N num_items,
                                  cudaStream_t stream = nullptr) {
    return scan::sum<Mode::exclusive>(storage, storage_bytes, in, out, num_items, stream);
  }
  template <class Data, std::integral N>
  static cudaError_t ExclusiveSum(void* storage, std::size_t& storage_bytes, Data data, N num_items,
                                  cudaStream_t stream = nullptr) {
    return ExclusiveSum(storage, storage_bytes, data, data, num_items, stream);
  }

  template <class In, class Out, class Function, std::integral N>
  static cudaError_t InclusiveScan(void* storage, std::size_t& storage_bytes, In in, Out out, Function function,
                                   N num_items, cudaStream_t stream = nullptr) {
    return scan::scan_by(storage, storage_bytes, in, out, num_items, Mode::inclusive, stream, function);
  }
  template <class Data, class Function, std::integral N>
  static cudaError_t InclusiveScan(void* storage, std::size_t& storage_bytes, Data data, Function function, N num_items,
                                   cudaStream_t stream = nullptr) {
    return InclusiveScan(storage, storage_bytes, data, data, function, num_items, stream);
  }

  /// `initial` comes before the first item.
  template <class In, class Out, class Function, class Initial, std::integral N>
  static cudaError_t InclusiveScanInit(void* storage, std::size_t& storage_bytes, In in, Out out, Function function,
                                       Initial initial, N num_items, cudaStream_t stream = nullptr) {
    return scan::scan_by(storage, storage_bytes, in, out, num_items, Mode::inclusive, stream, function, initial);
  }

  /// `initial` is the first result.
  template <class In, class Out, class Function, class Initial, std::integral N>
  static cudaError_t ExclusiveScan(void* storage, std::size_t& storage_bytes, In in, Out out, Function function,
                                   Initial initial, N num_items, cudaStream_t stream = nullptr) {
    return scan::scan_by(storage, storage_bytes, in, out, num_items, Mode::exclusive, stream, function, initial);
  }
  template <class Data, class Function, class Initial, std::integral N>
  static cudaError_t ExclusiveScan(void* storage, std::size_t& storage_bytes, Data data, Function function,
                                   Initial initial, N num_items, cudaStream_t stream = nullptr) {
    return ExclusiveScan(storage, storage_bytes, data, data, function, initial, num_items, stream);
  }
};

}  // namespace scanlab
