// scanlab::DeviceAxisScan: prefix scans along an axis of a tensor in device memory, called as cub::DeviceScan is.
//
//     std::size_t bytes = 0;
//     scanlab::DeviceAxisScan::InclusiveSum(nullptr, bytes, in, out, rows, axis, inner);          // how much storage
//     cudaMalloc(&storage, bytes);
//     scanlab::DeviceAxisScan::InclusiveSum(storage, bytes, in, out, rows, axis, inner, stream);  // only enqueues
//
// Takes    pointers to device memory, aligned to their items only, to rows * axis * inner items each: tensors in C
//          order, scanned along the middle axis. out[r][a][i] folds in[r][0][i] to in[r][a][i], in an exclusive scan
//          without the last of these. Input and output may be one array. For one axis of a tensor of many, rows is the
//          product of the extents before it, and inner of those after it.
// Types    integers and floating-point numbers of 1 to 8 bytes, and no bool. Sums, and results of a function, have the
//          same type: integers wrap. Functions are associative, commutative or not, with or without an identity.
//          Anything else is refused by a static assertion.
// Storage  needs no initialisation. Its size holds for that shape, type and function on that device. Concurrent calls
//          need separate storage. A call can be captured in a CUDA graph and replayed.
// Errors   cudaErrorInvalidValue for negative extents, for more than 2^50 items, for too little storage, and for
//          pointers that are null or not aligned to their items; cudaErrorNotSupported where the device lacks what
//          the axis needs; otherwise the error of a launch. The results are then undefined. A tensor without items
//          is no error, and nothing is enqueued.
// Order    operands keep their order. Floating-point results of rows (inner = 1) are bitwise reproducible on one device
//          from compute capability 9.0 on. Results along other axes are not: they depend on time.
// Needs    what device_scan.cuh needs. Axes with inner > 1, and before 9.0 all of them, need compute capability 8.0 and
//          96 KiB of shared memory a block. A T4 has neither.
// Cost     two launches: the first one initialises the storage. Items are read once and written once, whatever the
//          shape. Columns are fastest from 9.0 on, where arrays begin at multiples of 16 bytes, and lines of `inner`
//          items do.
//
// The kernels are those of variants/scan_axis, which say how they work: axis_look_ahead for rows, axis_columns.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "include/scanlab/device_scan.cuh"
#include "variants/scan_axis/axis_launch.cuh"

namespace scanlab {

namespace scan_axis {

/// An array of a call, and the alignment that it needs.
struct Given {
  const void* array;
  std::size_t alignment;
  bool usable() const { return array != nullptr && simt::CudaMachine::aligned(array, alignment); }
};

/// Both phases of a call, also of those of device_segmented_scan.cuh. Scan: for example RowScan. items: whether there
/// are any. make(device): returns the Scan. enqueue(scan, workspace): what follows the initialisation.
template <class Scan, class Make, class Enqueue>
cudaError_t scan_with(void* storage, std::size_t& storage_bytes, bool items, std::initializer_list<Given> arrays,
                      cudaStream_t stream, const Make& make, const Enqueue& enqueue) {
  const scan::ScanDevice device = cuda::once_per_context([] {
    scan::ScanDevice facts = scan::scan_device();
    if (!facts.error) facts.error = Scan::try_allow(facts.shared_bytes);
    return facts;
  });
  if (device.error) return device.error;
  const Scan scan = make(device);
  const std::size_t needed = scan.workspace_bytes() + scan::kStorageAlignment - 1;
  if (storage == nullptr) {
    storage_bytes = needed;
    return cudaSuccess;
  }
  if (storage_bytes < needed) return cudaErrorInvalidValue;
  if (!items) return cudaSuccess;
  for (const Given& given : arrays) {
    if (!given.usable()) return cudaErrorInvalidValue;
  }
  void* const workspace = scan::aligned_storage(storage);
  if (const cudaError_t error = scan.try_prepare(workspace, stream)) return error;
  return enqueue(scan, workspace);
}

template <class T, Associative Op>
cudaError_t scan_tensor(void* storage, std::size_t& storage_bytes, const T* in, T* out, Extents tensor, Mode mode,
                        const Op& op, cudaStream_t stream) {
  if (!tensor.exist()) return cudaErrorInvalidValue;
  if (tensor.empty()) tensor = {0, 1, 1};  // others may overflow a product
  const auto with = [&]<class Scan>(std::type_identity<Scan>) {
    return scan_with<Scan>(
        storage, storage_bytes, !tensor.empty(), {{in, alignof(T)}, {out, alignof(T)}}, stream,
        [&](const scan::ScanDevice& device) { return Scan(tensor, device.multiprocessors, device.shared_bytes); },
        [&](const Scan& scan, void* workspace) { return scan.try_run(workspace, in, out, mode, op, stream); });
  };
  const bool by_rows = tensor.inner == 1 && cuda::device_code().version >= 90;
  return by_rows ? with(std::type_identity<RowScan<Op>>{}) : with(std::type_identity<ColumnScan<Op>>{});
}

template <class T, class Function, class... Initial>
cudaError_t scan_by(void* storage, std::size_t& storage_bytes, const T* in, T* out, const Extents& tensor, Mode mode,
                    cudaStream_t stream, const Function& function, Initial... initial) {
  if constexpr (scan::taken_along_axis<T>()) {
    if constexpr (scan::callable_along_axis<T, Function>()) {
      const scan::FunctionOf<T, T, Function, Initial...> op(function, initial...);
      return scan_tensor(storage, storage_bytes, in, out, tensor, mode, op, stream);
    }
  }
  return cudaErrorInvalidValue;
}

template <class T>
cudaError_t sum(void* storage, std::size_t& storage_bytes, const T* in, T* out, const Extents& tensor, Mode mode,
                cudaStream_t stream) {
  if constexpr (scan::taken_along_axis<T>()) {
    return scan_tensor(storage, storage_bytes, in, out, tensor, mode, scan::SumOfNumbers<T, T>{}, stream);
  }
  return cudaErrorInvalidValue;
}

}  // namespace scan_axis

/// storage: if null, the call only sets storage_bytes to the bytes that the scan needs. in, out: rows * axis * inner
/// items. Every call returns a cudaError_t; see Errors above.
struct DeviceAxisScan {
  template <class T>
  static cudaError_t InclusiveSum(void* storage, std::size_t& storage_bytes, const T* in, T* out, std::int64_t rows,
                                  std::int64_t axis, std::int64_t inner, cudaStream_t stream = nullptr) {
    return scan_axis::sum(storage, storage_bytes, in, out, {rows, axis, inner}, Mode::inclusive, stream);
  }
  template <class T>
  static cudaError_t ExclusiveSum(void* storage, std::size_t& storage_bytes, const T* in, T* out, std::int64_t rows,
                                  std::int64_t axis, std::int64_t inner, cudaStream_t stream = nullptr) {
    return scan_axis::sum(storage, storage_bytes, in, out, {rows, axis, inner}, Mode::exclusive, stream);
  }
  template <class T, class Function>
  static cudaError_t InclusiveScan(void* storage, std::size_t& storage_bytes, const T* in, T* out, Function function,
                                   std::int64_t rows, std::int64_t axis, std::int64_t inner,
                                   cudaStream_t stream = nullptr) {
    return scan_axis::scan_by(storage, storage_bytes, in, out, {rows, axis, inner}, Mode::inclusive, stream, function);
  }
  /// `initial` is the first result of every line along the axis.
  template <class T, class Function>
  static cudaError_t ExclusiveScan(void* storage, std::size_t& storage_bytes, const T* in, T* out, Function function,
                                   std::type_identity_t<T> initial, std::int64_t rows, std::int64_t axis,
                                   std::int64_t inner, cudaStream_t stream = nullptr) {
    return scan_axis::scan_by(storage, storage_bytes, in, out, {rows, axis, inner}, Mode::exclusive, stream, function,
                              initial);
  }
};

}  // namespace scanlab
