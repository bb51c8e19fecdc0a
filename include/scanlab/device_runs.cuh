// scanlab::DeviceReduce and scanlab::DeviceRunLengthEncode: a result for each run of equal keys of an array in device
// memory, called as cub::DeviceReduce::ReduceByKey is.
//
//     using scanlab::DeviceReduce;
//     std::size_t bytes = 0;
//     DeviceReduce::ReduceByKey(nullptr, bytes, keys, unique, in, out, count, function, n);  // how much storage
//     cudaMalloc(&storage, bytes);
//     DeviceReduce::ReduceByKey(storage, bytes, keys, unique, in, out, count, function, n, stream);
//
// Takes    pointers to device memory, aligned to their items only. `unique` and `out` have room for a result of each
//          run, and do not overlap the input; nothing behind these is written. `count` is one integer of 4 or 8 bytes,
//          for how many there are. Neighbours are of one run if they are equal, as operator== says,
//          which is also called on bytes that are no keys, where its answer is not used.
// Types    keys of 1, 2, 4 or 8 bytes that are trivially copyable. Values are numbers of 1 to 8 bytes, and no bool;
//          lengths are integers of 4 or 8 bytes. Functions are associative, commutative or not, with or without an
//          identity. Anything else is refused by a static assertion.
// Storage  needs no initialisation. Its size holds for that n, types and function on that device. Concurrent calls need
//          separate storage. A call can be captured in a CUDA graph and replayed.
// Errors   cudaErrorInvalidValue for a negative n, for 2^32 - 1 items or more, for too little storage, and for pointers
//          that are null or not aligned to their items; cudaErrorNotSupported below compute capability 9.0; otherwise
//          the error of a launch. The results are then undefined.
// Order    operands keep their order. Floating-point results are bitwise reproducible on one device.
// Needs    what device_scan.cuh needs, and compute capability 9.0.
// Cost     two launches, of which the first initialises the storage; the input is read once, results are written once.
//
// The kernel is that of variants/runs, which says how it works: runs_look_ahead.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "include/scanlab/device_segmented_scan.cuh"
#include "variants/runs/runs_look_ahead.cuh"

namespace scanlab {

namespace runs {

/// in: of KeysAlone, the keys.
template <class Source, class Fold, class Key, class In, class Number>
cudaError_t fold_runs(void* storage, std::size_t& storage_bytes, const Key* keys, Key* unique, const In* in,
                      Fold* folds, Number* count, const Runs<typename Source::Op>& op, std::int64_t n,
                      cudaStream_t stream) {
  static_assert(std::is_trivially_copyable_v<Key> && std::has_single_bit(sizeof(Key)) && sizeof(Key) <= 8,
                "keys have 1, 2, 4 or 8 bytes and are trivially copyable");
  static_assert(std::is_integral_v<Number> && sizeof(Number) >= 4, "runs are counted in an integer of 4 or 8 bytes");
  if (n < 0 || n >= std::int64_t{UINT32_MAX}) return cudaErrorInvalidValue;
  if (storage != nullptr && !scan_axis::Given{count, alignof(Number)}.usable()) return cudaErrorInvalidValue;
  using Pass = FoldRuns<Source, Fold, Number>;
  const auto given = [&](const void* array, std::size_t alignment, bool wanted = true) {
    const bool used = n != 0 && wanted;
    const void* const checked = used ? array : count;  // nobody reads or writes the others
    return scan_axis::Given{checked, used ? alignment : 1};
  };
  constexpr bool kFolds = !std::is_same_v<Fold, NoFold>;
  const scan_axis::Given keys_given = given(keys, alignof(Key)), unique_given = given(unique, alignof(Key));
  const scan_axis::Given in_given = given(in, alignof(In)), folds_given = given(folds, alignof(Fold), kFolds);
  return scan_axis::scan_with<Pass>(
      storage, storage_bytes, true, {keys_given, unique_given, in_given, folds_given}, stream,
      [&](const scan::ScanDevice& device) { return Pass(n, device.multiprocessors, device.shared_bytes); },
      [&](const Pass& pass, void* workspace) {
        return pass.try_run(workspace, keys, in, unique, folds, count, {}, op, stream);
      });
}

}  // namespace runs

/// storage: if null, the call only sets storage_bytes to the bytes that it needs. Every call returns a cudaError_t; see
/// Errors above.
struct DeviceReduce {
  /// out[j]: the fold of the values in[i] of run j by `function`; unique[j]: its key.
  template <class Key, class T, class Number, class Function>
  static cudaError_t ReduceByKey(void* storage, std::size_t& storage_bytes, const Key* keys, Key* unique, const T* in,
                                 T* out, Number* count, Function function, std::int64_t n,
                                 cudaStream_t stream = nullptr) {
    return segmented::with_function<T>(
        [&]<Associative Op>(const Op& op) {
          using Source = runs::KeyedValues<Op, Key, segmented::Equal>;
          return runs::fold_runs<Source>(storage, storage_bytes, keys, unique, in, out, count, {op}, n, stream);
        },
        function);
  }
};
struct DeviceRunLengthEncode {
  /// lengths[j]: of run j; unique[j]: its key.
  template <class Key, class Length, class Number>
  static cudaError_t Encode(void* storage, std::size_t& storage_bytes, const Key* keys, Key* unique, Length* lengths,
                            Number* count, std::int64_t n, cudaStream_t stream = nullptr) {
    static_assert(std::is_integral_v<Length> && sizeof(Length) >= 4, "lengths are integers of 4 or 8 bytes");
    using Source = runs::KeysAlone<Key, segmented::Equal>;
    return runs::fold_runs<Source>(storage, storage_bytes, keys, unique, keys, lengths, count, {}, n, stream);
  }
};

}  // namespace scanlab
