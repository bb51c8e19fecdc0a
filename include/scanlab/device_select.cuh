// scanlab::DeviceSelect keeps some items of an array in device memory, in order, and scanlab::DevicePartition stores
// the others behind them, in reverse order. They are called as cub::DeviceSelect and cub::DevicePartition are.
//
//     std::size_t bytes = 0;
//     scanlab::DeviceSelect::If(nullptr, bytes, in, out, count, n, predicate);          // how much storage
//     cudaMalloc(&storage, bytes);
//     scanlab::DeviceSelect::If(storage, bytes, in, out, count, n, predicate, stream);  // only enqueues
//
// Takes    pointers to device memory, aligned to their items only. `out` has room for what is kept, or of a
//          partition for all, and does not overlap `in`; nothing behind is written. `count` is one integer of 4 or 8
//          bytes, for how many there are. Flags: n of 1 byte, of which any but 0 keeps its item. A predicate is called
//          on the device, twice for each item, and must say the same both times. Unique compares neighbours by
//          operator==.
// Types    trivially copyable, of 1, 2, 4, 8 or 16 bytes; of Unique, of 8 at most. Anything else is refused by a
//          static assertion.
// Storage  needs no initialisation. Its size holds for that n, type and predicate on that device. Concurrent calls need
//          separate storage. A call can be captured in a CUDA graph and replayed.
// Errors   cudaErrorInvalidValue for a negative n, for 2^32 - 1 items or more, for too little storage, and for pointers
//          that are null or not aligned to their items; cudaErrorNotSupported below compute capability 9.0; otherwise
//          the error of a launch. The results are then undefined.
// Needs    what device_scan.cuh needs, and compute capability 9.0.
// Cost     two launches, of which the first initialises the storage; items and flags are read once, kept items, or of
//          a partition all, are written once.
//
// The kernels are those of variants/select and variants/runs, which say how they work: select_look_ahead, and
// runs_look_ahead for Unique.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "include/scanlab/device_runs.cuh"
#include "variants/select/select_look_ahead.cuh"

namespace scanlab {

namespace select {

template <bool kOthers, class T, class Keeps, class Number>
cudaError_t select_with(void* storage, std::size_t& storage_bytes, const T* in, T* out, Number* count, std::int64_t n,
                        const Keeps& keeps, const scan_axis::Given& flags, cudaStream_t stream) {
  static_assert(
      std::is_trivially_copyable_v<T> && std::has_single_bit(sizeof(T)) && sizeof(T) <= 16,
      "scanlab::DeviceSelect and DevicePartition take items of 1, 2, 4, 8 or 16 bytes that are trivially copyable");
  static_assert(std::is_integral_v<Number> && sizeof(Number) >= 4,
                "scanlab::DeviceSelect and DevicePartition count in an integer of 4 or 8 bytes");
  if (n < 0 || n >= std::int64_t{UINT32_MAX}) return cudaErrorInvalidValue;
  if (storage != nullptr && !scan_axis::Given{count, alignof(Number)}.usable()) return cudaErrorInvalidValue;
  using Selection = Select<T, Keeps, Number, kOthers>;
  const bool none = n == 0;  // nobody reads or writes an array then
  const std::size_t alignment = none ? 1 : alignof(T);
  return scan_axis::scan_with<Selection>(
      storage, storage_bytes, true,
      {{none ? static_cast<const void*>(count) : in, alignment},
       {none ? count : static_cast<const void*>(out), alignment},
       flags},
      stream, [&](const scan::ScanDevice& device) { return Selection(n, device.multiprocessors, device.shared_bytes); },
      [&](const Selection& selection, void* workspace) {
        return selection.try_run(workspace, in, out, count, keeps, stream);
      });
}

/// The calls that selections and partitions share. kOthers: whether the other items follow.
template <bool kOthers>
struct Calls {
  /// Keeps in[i] if flags[i] is not 0.
  template <class T, class Flag, class Number>
  static cudaError_t Flagged(void* storage, std::size_t& storage_bytes, const T* in, const Flag* flags, T* out,
                             Number* count, std::int64_t n, cudaStream_t stream = nullptr) {
    static_assert(std::is_integral_v<Flag> && sizeof(Flag) == 1, "flags have 1 byte");
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(flags);
    return select_with<kOthers>(storage, storage_bytes, in, out, count, n, Flags<T>{bytes},
                                {n == 0 ? static_cast<const void*>(count) : flags, 1}, stream);
  }
  /// Keeps in[i] if predicate(in[i]).
  template <class T, class Number, class Predicate>
  static cudaError_t If(void* storage, std::size_t& storage_bytes, const T* in, T* out, Number* count, std::int64_t n,
                        Predicate predicate, cudaStream_t stream = nullptr) {
    return select_with<kOthers>(storage, storage_bytes, in, out, count, n, select::If<T, Predicate>{predicate},
                                {count, 1}, stream);
  }
};

}  // namespace select

/// storage: if null, the call only sets storage_bytes to the bytes that it needs. Every call returns a cudaError_t; see
/// Errors above.
struct DeviceSelect : select::Calls<false> {
  /// Keeps the first item of each run of equal ones.
  template <class T, class Number>
  static cudaError_t Unique(void* storage, std::size_t& storage_bytes, const T* in, T* out, Number* count,
                            std::int64_t n, cudaStream_t stream = nullptr) {
    using Source = runs::KeysAlone<T, segmented::Equal>;
    return runs::fold_runs<Source>(storage, storage_bytes, in, out, in, static_cast<runs::NoFold*>(nullptr), count, {},
                                   n, stream);
  }
};

/// As DeviceSelect, and the other items follow; `count` is of those that come first.
struct DevicePartition : select::Calls<true> {};

}  // namespace scanlab
