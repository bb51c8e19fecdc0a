// scanlab::DeviceScanByKey and scanlab::DeviceSegmentedScan: scans of the segments of an array in device memory, called
// as cub::DeviceScan is.
//
//     std::size_t bytes = 0;
//     scanlab::DeviceScanByKey::InclusiveSumByKey(nullptr, bytes, keys, in, out, n);          // how much storage
//     cudaMalloc(&storage, bytes);
//     scanlab::DeviceScanByKey::InclusiveSumByKey(storage, bytes, keys, in, out, n, equal, stream);  // only enqueues
//
// Takes    pointers to device memory, aligned to their items only. Input and output may be one array.
//          Keys: n beside n items; neighbours whose keys are equal are one segment. `equal` compares two keys, on the
//          device. They are trivially copyable and have 1, 2, 4 or 8 bytes.
//          Offsets: where each segment begins, in ascending order, as integers of 4 or 8 bytes, and no more than n. A
//          segment ends where the next one begins, and the last one at n. Segments may be empty. Items before the first
//          offset are scanned as a segment. Unlike cub::DeviceSegmentedScan, a call says the number of items.
// Types    integers and floating-point numbers of 1 to 8 bytes, and no bool. Sums, and results of a function, have the
//          same type: integers wrap. Functions are associative, commutative or not, with or without an identity.
//          Anything else is refused by a static assertion.
// Storage  needs no initialisation. Its size holds for that n, type, key and function on that device. Concurrent calls
//          need separate storage. A call can be captured in a CUDA graph and replayed.
// Errors   cudaErrorInvalidValue for a negative n, for more than 2^50 items, for too little storage, and for pointers
//          that are null or not aligned to their items; cudaErrorNotSupported below compute capability 9.0; otherwise
//          the error of a launch. The results are then undefined. No items are no error, and nothing is enqueued.
//          Offsets that fall, are negative or exceed n are not checked: results are undefined, and no memory is
//          overrun. With SCANLAB_CHECK_OFFSETS defined, in all files of a program, a call first waits for a check
//          of them, and returns cudaErrorInvalidValue; such a call cannot be captured.
// Order    operands keep their order. Floating-point results are bitwise reproducible on one device.
// Needs    what device_scan.cuh needs, and compute capability 9.0.
// Cost     by key: two launches, of which the first initialises the storage; items and keys are read once, items
//          written once. By offsets: four, one of them a memset, and a bit an item in the storage.
//
// The kernels are those of variants/segmented_scan, which say how they work: key_look_ahead and segment_look_ahead.
#pragma once

#include <cstdint>
#include <type_traits>

#include "include/scanlab/device_axis_scan.cuh"
#include "variants/segmented_scan/heads.cuh"

namespace scanlab {

namespace segmented {

/// Both phases of a call. entries: keys or offsets.
template <class Scan, class T, class Enqueue>
cudaError_t scan_with(void* storage, std::size_t& storage_bytes, const T* in, T* out, std::int64_t n,
                      const scan_axis::Given& entries, cudaStream_t stream, const Enqueue& enqueue) {
  constexpr std::int64_t kMostItems = std::int64_t{1} << 50;
  if (n < 0 || n > kMostItems) return cudaErrorInvalidValue;
  return scan_axis::scan_with<Scan>(
      storage, storage_bytes, n != 0, {{in, alignof(T)}, {out, alignof(T)}, entries}, stream,
      [&](const scan::ScanDevice& device) { return Scan(n, device.multiprocessors, device.shared_bytes); }, enqueue);
}

template <class Key, class T, class Equal, Associative Op>
cudaError_t scan_by_key(void* storage, std::size_t& storage_bytes, const Key* keys, const T* in, T* out, Mode mode,
                        const Op& op, std::int64_t n, const Equal& equal, cudaStream_t stream) {
  static_assert(std::is_trivially_copyable_v<Key> &&
                    (sizeof(Key) == 1 || sizeof(Key) == 2 || sizeof(Key) == 4 || sizeof(Key) == 8),
                "scanlab::DeviceScanByKey takes keys of 1, 2, 4 or 8 bytes that are trivially copyable");
  using Heads = scan_axis::Keys<Key, Equal>;
  using Scan = scan_axis::SegmentedLookAhead<Op, Heads>;
  return scan_with<Scan>(storage, storage_bytes, in, out, n, {keys, alignof(Key)}, stream,
                         [&](const Scan& scan, void* workspace) {
                           return scan.try_run(workspace, in, out, mode, op, Heads{keys, equal}, stream);
                         });
}

template <class Offset, class T, Associative Op>
cudaError_t scan_segments(void* storage, std::size_t& storage_bytes, const T* in, T* out, Mode mode, const Op& op,
                          std::int64_t n, const Offset* begins, std::int64_t segments, cudaStream_t stream) {
  static_assert(std::is_integral_v<Offset> && sizeof(Offset) >= 4,
                "scanlab::DeviceSegmentedScan takes offsets that are integers of 4 or 8 bytes");
  if (segments < 0) return cudaErrorInvalidValue;
  using Scan = scan_axis::SegmentedLookAhead<Op, scan_axis::HeadBits>;
  const scan_axis::Given given{segments == 0 ? static_cast<const void*>(in) : begins,  // nobody reads none
                               segments == 0 ? 1 : alignof(Offset)};
  return scan_with<Scan>(storage, storage_bytes, in, out, n, given, stream, [&](const Scan& scan, void* workspace) {
#if defined(SCANLAB_CHECK_OFFSETS)
    if (const cudaError_t error = check_offsets(begins, segments, n, stream)) return error;
#endif
    std::uint32_t* const bits = scan.head_bits(workspace);
    if (const cudaError_t error = try_mark_offsets(begins, segments, n, bits, stream)) return error;
    return scan.try_run(workspace, in, out, mode, op, {bits}, stream);
  });
}

/// Calls f with the operator of a sum, or of a function, if the type is taken.
template <class T, class F>
cudaError_t with_sum(F f) {
  if constexpr (scan::taken_along_axis<T>()) return f(scan::SumOfNumbers<T, T>{});
  return cudaErrorInvalidValue;
}
template <class T, class F, class Function, class... Initial>
cudaError_t with_function(F f, const Function& function, Initial... initial) {
  if constexpr (scan::taken_along_axis<T>()) {
    if constexpr (scan::callable_along_axis<T, Function>())
      return f(scan::FunctionOf<T, T, Function, Initial...>(function, initial...));
  }
  return cudaErrorInvalidValue;
}

}  // namespace segmented

/// storage: if null, the call only sets storage_bytes to the bytes that the scan needs. keys, in, out: n each. Every
/// call returns a cudaError_t; see Errors above.
struct DeviceScanByKey {
  template <class Key, class T, class Equal = segmented::Equal>
  static cudaError_t InclusiveSumByKey(void* storage, std::size_t& storage_bytes, const Key* keys, const T* in, T* out,
                                       std::int64_t n, Equal equal = {}, cudaStream_t stream = nullptr) {
    return segmented::with_sum<T>([&](const auto& op) {
      return segmented::scan_by_key(storage, storage_bytes, keys, in, out, Mode::inclusive, op, n, equal, stream);
    });
  }
  template <class Key, class T, class Equal = segmented::Equal>
  static cudaError_t ExclusiveSumByKey(void* storage, std::size_t& storage_bytes, const Key* keys, const T* in, T* out,
                                       std::int64_t n, Equal equal = {}, cudaStream_t stream = nullptr) {
    return segmented::with_sum<T>([&](const auto& op) {
      return segmented::scan_by_key(storage, storage_bytes, keys, in, out, Mode::exclusive, op, n, equal, stream);
    });
  }
  template <class Key, class T, class Function, class Equal = segmented::Equal>
  static cudaError_t InclusiveScanByKey(void* storage, std::size_t& storage_bytes, const Key* keys, const T* in, T* out,
                                        Function function, std::int64_t n, Equal equal = {},
                                        cudaStream_t stream = nullptr) {
    return segmented::with_function<T>(
        [&](const auto& op) {
          return segmented::scan_by_key(storage, storage_bytes, keys, in, out, Mode::inclusive, op, n, equal, stream);
        },
        function);
  }
  /// `initial` is the first result of every segment.
  template <class Key, class T, class Function, class Equal = segmented::Equal>
  static cudaError_t ExclusiveScanByKey(void* storage, std::size_t& storage_bytes, const Key* keys, const T* in, T* out,
                                        Function function, std::type_identity_t<T> initial, std::int64_t n,
                                        Equal equal = {}, cudaStream_t stream = nullptr) {
    return segmented::with_function<T>(
        [&](const auto& op) {
          return segmented::scan_by_key(storage, storage_bytes, keys, in, out, Mode::exclusive, op, n, equal, stream);
        },
        function, initial);
  }
};

/// offsets: where each of the segments begins; a further one, n, may follow, and is not read.
struct DeviceSegmentedScan {
  template <class T, class Offset>
  static cudaError_t InclusiveSegmentedSum(void* storage, std::size_t& storage_bytes, const T* in, T* out,
                                           std::int64_t n, const Offset* offsets, std::int64_t segments,
                                           cudaStream_t stream = nullptr) {
    return segmented::with_sum<T>([&](const auto& op) {
      return segmented::scan_segments(storage, storage_bytes, in, out, Mode::inclusive, op, n, offsets, segments,
                                      stream);
    });
  }
  template <class T, class Offset>
  static cudaError_t ExclusiveSegmentedSum(void* storage, std::size_t& storage_bytes, const T* in, T* out,
                                           std::int64_t n, const Offset* offsets, std::int64_t segments,
                                           cudaStream_t stream = nullptr) {
    return segmented::with_sum<T>([&](const auto& op) {
      return segmented::scan_segments(storage, storage_bytes, in, out, Mode::exclusive, op, n, offsets, segments,
                                      stream);
    });
  }
  template <class T, class Offset, class Function>
  static cudaError_t InclusiveSegmentedScan(void* storage, std::size_t& storage_bytes, const T* in, T* out,
                                            std::int64_t n, const Offset* offsets, std::int64_t segments,
                                            Function function, cudaStream_t stream = nullptr) {
    return segmented::with_function<T>(
        [&](const auto& op) {
          return segmented::scan_segments(storage, storage_bytes, in, out, Mode::inclusive, op, n, offsets, segments,
                                          stream);
        },
        function);
  }
  /// `initial` is the first result of every segment.
  template <class T, class Offset, class Function>
  static cudaError_t ExclusiveSegmentedScan(void* storage, std::size_t& storage_bytes, const T* in, T* out,
                                            std::int64_t n, const Offset* offsets, std::int64_t segments,
                                            Function function, std::type_identity_t<T> initial,
                                            cudaStream_t stream = nullptr) {
    return segmented::with_function<T>(
        [&](const auto& op) {
          return segmented::scan_segments(storage, storage_bytes, in, out, Mode::exclusive, op, n, offsets, segments,
                                          stream);
        },
        function, initial);
  }
};

}  // namespace scanlab
