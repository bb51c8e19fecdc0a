// The scan of scanlab::DeviceScan for one operator: which kernel scans an array, how it is launched, and the storage
// that it takes.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "harness/core/ceil.hpp"
#include "harness/cuda/launch.cuh"
#include "harness/simt/gpu_block.cuh"
#include "harness/simt/workspace.hpp"
#include "variants/scan/aggregates.cuh"
#include "variants/scan/decoupled_lookback.cuh"
#include "variants/scan/look_ahead.cuh"
#include "variants/scan/one_block.cuh"
#include "variants/scan/one_cluster.cuh"
#include "variants/scan/one_wave.cuh"
#include "variants/scan/prepare_storage.cuh"
#include "variants/scan/redundant_reduce.cuh"
#include "variants/scan/scan_function.hpp"

namespace scanlab::scan {

/// The facts about the current context's device that the choice of a kernel needs.
struct ScanDevice {
  cudaError_t error = cudaSuccess;  ///< why there are no facts
  int multiprocessors = 0;
  std::size_t shared_bytes = 0;  ///< that a block may ask for
  bool copies_in_bulk = false;   ///< and runs code of compute capability 9.0 or later
  bool large_clusters = false;   ///< has room for a cluster of kClusterBlocks
  explicit operator bool() const { return error == cudaSuccess; }
};

/// The counter and the states of decoupled_lookback.
template <class Item>
struct LookBackMemory {
  using Word = typename TileState<Item>::Word;
  LookBackMemory(simt::Workspace& workspace, std::int64_t tiles)
      : counter(workspace.take<std::uint64_t>(1)),
        words(tiles * TileState<Item>::kWords),
        states(workspace.take<Word>(words)) {}
  std::uint64_t* counter;
  std::int64_t words;
  Word* states;
};

enum class ScanKernel { one_block, redundant_reduce, one_cluster, one_wave, look_back, look_ahead };

/// The facts that hold for every operator.
inline ScanDevice scan_device() {
  ScanDevice device;
  const cuda::DeviceCode code = cuda::device_code();
  device.error = code.error;
  if (device.error) return device;
  device.multiprocessors = cuda::multiprocessors();
  device.shared_bytes = static_cast<std::size_t>(cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  if (device.multiprocessors == 0 || device.shared_bytes == 0) {
    device.error = cudaErrorUnknown;  // the next call queries again
    return device;
  }
  device.copies_in_bulk = code.version >= 90;
  return device;
}

/// A scan of `n` items, n > 0: its kernel, its launch and its temporary storage. aligned: whether both arrays
/// begin at multiples of 16 bytes.
template <Associative Op>
class Scan {
 public:
  using Item = typename Op::Item;
  using In = InOf<Op>;
  using Out = OutOf<Op>;

  /// apart: whether results have an array of their own. captured: whether launches are replayed: then one_cluster is
  /// faster than one_wave and what prepares its storage.
  Scan(std::int64_t n, bool aligned, const ScanDevice& device, bool apart = false, bool captured = false)
      : n_(n), aligned_(aligned), captured_(captured), device_(device) {
    if (kCanReduceAgain && device.copies_in_bulk && aligned && apart && reduces_again()) {
      kernel_ = ScanKernel::redundant_reduce;
    } else if (vectors() <= kOneBlockVectors) {  // several are faster for more
      kernel_ = ScanKernel::one_block;
    } else if ((captured || Op::kHeavy) && device.large_clusters &&
               vectors() <= kClusterBlocks * kClusterThreads * kClusterRows<Op>) {
      kernel_ = ScanKernel::one_cluster;
    } else if (device.copies_in_bulk && wave().blocks <= most_wave_blocks(wave_rows())) {
      kernel_ = ScanKernel::one_wave;
    } else if (device.copies_in_bulk && aligned && kCanLookAhead) {
      kernel_ = ScanKernel::look_ahead;
      shape_ = shape_for<Op>(bytes(), device.multiprocessors, device.shared_bytes, sizeof(In) == 8 ? 7 : 4);
      shape_.looking = looking_beside<Op>(shape_.warps);
      shape_ = with_stages<Op>(shape_, ceil_div(tiles(), std::max(device.multiprocessors, 1)), device.shared_bytes);
    }
  }

  /// Returns the facts about the current device, and prepares the kernels for their launches: their limits on shared
  /// memory and clusters are raised once per context.
  static ScanDevice current_device() {
    return cuda::once_per_context([] {
      ScanDevice device = scan_device();
      if (device.error || !device.copies_in_bulk) return device;
      cudaFuncAttributes loaded{};  // a captured call may be the first that needs it, and may not load it
      device.error = cudaFuncGetAttributes(&loaded, prepare_storage<std::uint64_t, LongWord>);
      if (device.error) return device;
      device.large_clusters = cuda::has_room_for_clusters(
          one_cluster<Op>, {.blocks = kClusterBlocks, .threads = kClusterThreads, .cluster = kClusterBlocks});
      if constexpr (kCanLookAhead)
        device.error = cuda::try_allow(look_ahead<Op, cuda::NoWatch>, {.shared_bytes = device.shared_bytes});
      return device;
    });
  }

  ScanKernel kernel() const { return kernel_; }

  /// Bytes of temporary storage, of any alignment, for this array and any smaller one, so that a caller can size the
  /// storage for the largest array. At least 1, so that an allocation of this size never yields a null pointer.
  std::size_t storage_bytes() const {
    if (kernel_ < ScanKernel::one_wave) return 1;
    simt::Workspace by_tiles;
    LookBackMemory<Item>(by_tiles, look_back_tiles());
    simt::Workspace by_aggregates;
    if (device_.copies_in_bulk) AggregateMemory(by_aggregates, std::max<std::int64_t>(most_tiles(), kMaxWaveBlocks));
    return std::max(by_tiles.bytes(), by_aggregates.bytes()) + kStorageAlignment - 1;
  }
  /// The part of these bytes that the kernel of this array uses.
  std::size_t used_bytes() const {
    simt::Workspace workspace;
    if (kernel_ == ScanKernel::look_ahead) AggregateMemory(workspace, tiles());
    if (kernel_ == ScanKernel::one_wave) AggregateMemory(workspace, wave().blocks);
    if (kernel_ == ScanKernel::look_back) LookBackMemory<Item>(workspace, tiles());
    return workspace.bytes() == 0 ? 0 : workspace.bytes() + kStorageAlignment - 1;
  }

  cuda::LaunchShape launch_shape() const {
    switch (kernel_) {
      case ScanKernel::one_block:
        return {.blocks = 1,
                .threads = threads(vectors(), one_block_rows()),
                .shared_bytes = kOneBlockThreads / kLanes * sizeof(Item),
                .pdl = true};
      case ScanKernel::redundant_reduce:
        return {.blocks = static_cast<int>(redundant_blocks()),
                .threads = kRedundantThreads,
                .shared_bytes = FewBlocks<false>::template shared_bytes<Item>(),
                .pdl = true};
      case ScanKernel::one_cluster:
        return {.blocks = kClusterBlocks,
                .threads = threads(ceil_div(vectors(), kClusterBlocks), kClusterRows<Op>),
                .cluster = kClusterBlocks,
                .pdl = true};
      case ScanKernel::one_wave:
        return {.blocks = wave().blocks, .threads = wave().warps * kLanes, .pdl = true};
      case ScanKernel::look_back:
        return {.blocks = static_cast<int>(tiles()),
                .threads = kLookBackThreads,
                .shared_bytes = LookBack::shared_bytes(kLookBackThreads, sizeof(Item)),
                .pdl = true};
      case ScanKernel::look_ahead:
        break;
    }
    return {.blocks = static_cast<int>(std::min<std::int64_t>(tiles(), device_.multiprocessors)),
            .threads = shape_.threads(),
            .shared_bytes = shared_bytes<Op>(shape_),
            .pdl = true};
  }

  /// Enqueues the scan.
  cudaError_t run(void* storage, const In* in, Out* out, Mode mode, const Op& op, cudaStream_t stream) const {
    simt::Workspace workspace(aligned_storage(storage));
    switch (kernel_) {
      case ScanKernel::one_block:
        return by_aligned([&]<bool kAligned>(std::bool_constant<kAligned>) {
          const auto launch = [&](auto kernel) {
            return launch_kernel(launch_shape(), stream, kernel, in, out, n_, aligned_, mode, op);
          };
          return one_block_rows() == kOneBlockRows<Op> ? launch(OneBlockKernel<kOneBlockRows<Op>, kAligned>{})
                                                       : launch(OneBlockKernel<kMostOneBlockRows, kAligned>{});
        });
      case ScanKernel::redundant_reduce:
        if constexpr (kCanReduceAgain) {
          const auto launch = [&](auto kernel) {
            return launch_kernel(launch_shape(), stream, kernel, in, out, n_, aligned_, mode, op);
          };
          return by_aligned([&]<bool kAligned>(std::bool_constant<kAligned>) {
            return redundant_blocks() <= kFewRedundantBlocks ? launch(FewBlocks<kAligned>{})
                                                             : launch(MoreBlocks<kAligned>{});
          });
        }
        return cudaErrorNotSupported;
      case ScanKernel::one_cluster:
        return cuda::try_launch(one_cluster<Op>, launch_shape(), stream, in, out, n_, aligned_, mode, op);
      case ScanKernel::one_wave:
        return run_one_wave(workspace, in, out, mode, op, stream);
      case ScanKernel::look_back:
        return run_look_back(workspace, in, out, mode, op, stream);
      case ScanKernel::look_ahead:
        break;
    }
    if constexpr (kCanLookAhead) return run_look_ahead(workspace, in, out, mode, op, stream);
    return cudaErrorNotSupported;
  }

 private:
  static constexpr int kVector = RegisterTile<Op, 1>::kVector;
  /// look_ahead writes results over the items in shared memory, so both need one size.
  static constexpr bool kCanLookAhead = sizeof(In) == sizeof(Out) && 16 % sizeof(In) == 0;
  static constexpr bool kCanReduceAgain = kSameTypes<Op> && HasIdentity<Op> && Op::kCommutative;
  template <bool kAligned>
  using FewBlocks = RedundantReduceKernel<kFewRedundantBlocks - 1, kAligned>;
  template <bool kAligned>
  using MoreBlocks = RedundantReduceKernel<kMostRedundantBlocks - 1, kAligned>;
  /// Whether redundant_reduce is faster than its rivals. On an H200 they have the lead where elements are small:
  /// one_block up to 2 tiles, and for 5 and 6 tiles of 2-byte elements; one_wave, whose storage a captured call would
  /// have to prepare, from 6 tiles of 1-byte elements on.
  bool reduces_again() const {
    const std::int64_t tiles = redundant_blocks();
    if (tiles < (kNarrow ? 3 : 2) || tiles > kMostRedundantBlocks) return false;
    if (kElementBytes<Op> == 1) return tiles <= 5 || captured_;
    return kElementBytes<Op> != 2 || tiles <= 4 || tiles > 6;
  }
  /// Sums of 2-byte elements by one_block.
  static constexpr bool kSixTiles = kCanReduceAgain && kElementBytes<Op> == 2;
  static constexpr int kMostOneBlockRows = kSixTiles ? 4 : kOneBlockRows<Op>;
  static constexpr int kOneBlockVectors = kSixTiles ? 6 * kRedundantThreads : kOneBlockThreads * kOneBlockRows<Op>;
  int one_block_rows() const {
    return vectors() <= kOneBlockThreads * kOneBlockRows<Op> ? kOneBlockRows<Op> : kMostOneBlockRows;
  }
  /// Kernels for any alignment have longer code, by which scans of small items take up to a third longer.
  static constexpr bool kMayBeAligned = kElementBytes<Op> <= 2 && kSameTypes<Op>;
  /// Calls f with whether the kernel is for aligned arrays alone.
  template <class F>
  auto by_aligned(F f) const {
    return aligned_ ? f(std::bool_constant<kMayBeAligned>{}) : f(std::false_type{});
  }

  // The most rows for which a thread has registers, with several blocks per multiprocessor. Sums are as in the variant;
  // optional items take additional registers. With four blocks, functions of 8-byte items without an identity spill:
  // three blocks have room for 8 rows. Where 8 are too few, two blocks have room for 24. Heavy functions were not
  // tried.
  static constexpr bool kManyRows = kSameTypes<Op> && HasIdentity<Op> && sizeof(Item) == 4;
  static constexpr int kMaxWaveRows = [] {
    if (!kSameTypes<Op>) return 4;
    if (kPacksOnDevice<Op>) return 16;
    if (sizeof(Item) == 2) return HasIdentity<Op> && !std::is_integral_v<Item> ? 8 : 4;
    if (sizeof(Item) != 4 && sizeof(Item) != 8) return 4;
    if (!Op::kHeavy) return 24;
    return sizeof(Item) == 8 && !HasIdentity<Op> ? 4 : 8;
  }();
  static constexpr int kManyWaveRows = std::min(8, kMaxWaveRows);
  static constexpr int kLookBackRows = kManyRows ? 7 : 4;
  using LookBack = LookBackKernel<kLookBackRows, kManyRows ? 2 : 1>;

  static constexpr bool kNarrow = kElementBytes<Op> <= 2;
  static constexpr int kFewWaveRows = kNarrow ? 1 : 2;
  /// Vectors per thread. Up to 4, and 8 for sums, follow what `scanlab tune` chose on an H200 and an H100; the others
  /// follow times of affine maps.
  int wave_rows() const {
    constexpr bool kWide = HasIdentity<Op> && sizeof(In) == 8;
    constexpr std::int64_t kKiB = 1 << 10, kMiB = 1 << 20;
    constexpr int kFourRowsMiB = kNarrow ? 4 : !kWide ? 2 : std::is_integral_v<In> ? 5 : 8;
    if (bytes() <= (kWide ? 1024 : !kNarrow ? 512 : aligned_ ? 256 : 1024) * kKiB) return kFewWaveRows;
    if (bytes() <= kFourRowsMiB * kMiB) return 4;
    // With 24 rows, items of 8 bytes are scanned a tenth faster than by look_ahead from memory. From L2 they are
    // scanned more slowly, and a captured call would prepare storage besides.
    const bool by_look_ahead = captured_ && aligned_ && sizeof(In) == 8;
    const bool enough = kManyWaveRows == kMaxWaveRows || by_look_ahead || wave_of(8).blocks <= most_wave_blocks(8);
    return enough ? kManyWaveRows : kMaxWaveRows;
  }
  Wave wave() const { return wave_of(wave_rows()); }
  Wave wave_of(int rows) const { return {vectors(), rows, device_.multiprocessors}; }
  /// With many rows, blocks that start late cost more than look_ahead does.
  int most_wave_blocks(int rows) const {
    const int most = Wave::most(kElementBytes<Op>, device_.multiprocessors, rows);
    const int rationed = by_aligned([&]<bool kAligned>(std::bool_constant<kAligned>) {
      return rows > 8 ? kWaveRationedFor<Op, 16, kAligned> : kWaveRationedFor<Op, 8, kAligned>;
    });
    return rows > 4 ? std::min(rationed * device_.multiprocessors, most) : most;
  }

  std::int64_t vectors() const { return ceil_div(n_, kVector); }
  std::int64_t redundant_blocks() const { return ceil_div(vectors(), kRedundantThreads); }
  std::int64_t bytes() const { return n_ * static_cast<std::int64_t>(sizeof(In)); }
  std::int64_t tiles() const {
    return kernel_ == ScanKernel::look_ahead ? ceil_div(bytes(), shape_.tile_bytes()) : look_back_tiles();
  }
  std::int64_t look_back_tiles() const { return ceil_div(vectors(), kLookBackThreads * kLookBackRows); }
  /// The most tiles of look_ahead for an array of this size or smaller. Tiles have at least 28 KiB, or at least 10 KiB
  /// if there are at most four per multiprocessor. See shape_for().
  std::int64_t most_tiles() const {
    const std::int64_t few = 4 * std::int64_t{device_.multiprocessors} + 1;
    return std::max(ceil_div(bytes(), 28 << 10), std::min(few, ceil_div(bytes(), 10 << 10)));
  }
  /// Threads of a block whose tile has `vectors` vectors.
  static int threads(std::int64_t vectors, int rows) {
    return kLanes * static_cast<int>(ceil_div(vectors, kLanes * rows));
  }

  template <class Kernel, class... Arguments>
  static cudaError_t launch_kernel(const cuda::LaunchShape& shape, cudaStream_t stream, const Kernel& kernel,
                                   const Arguments&... arguments) {
    return cuda::try_launch(simt::trampoline<Kernel, Arguments...>, shape, stream, kernel, arguments...);
  }

  cudaError_t run_one_wave(simt::Workspace& workspace, const In* in, Out* out, Mode mode, const Op& op,
                           cudaStream_t stream) const {
    const AggregateMemory memory(workspace, wave().blocks);
    LongWord* const states = memory.words();
    // A replay has the number of the call that was captured.
    if (captured_) {
      const std::int64_t words = memory.places() * TileState<Item, LongWord>::kWords;
      const auto unused = memory.number<std::uint64_t>();
      if (const cudaError_t error = try_prepare(unused, std::uint64_t{0}, states, words, stream)) return error;
    }
    using Run = NumberedRun;
    using Watch = cuda::NoWatch;
    const auto kernel = by_aligned([&]<bool kAligned>(std::bool_constant<kAligned>) {
      constexpr bool kMostAligned = kAligned && kMaxWaveRows <= 16;  // the shorter code spills with more
      const int rows = wave_rows();
      return rows == kFewWaveRows    ? one_wave<Op, kFewWaveRows, kAligned, Run, Watch>
             : rows == 4             ? one_wave<Op, 4, kAligned, Run, Watch>
             : rows == kManyWaveRows ? one_wave<Op, kManyWaveRows, kAligned, Run, Watch>
                                     : one_wave<Op, kMaxWaveRows, kMostAligned, Run, Watch>;
    });
    return cuda::try_launch(kernel, launch_shape(), stream, in, out, n_, aligned_, mode, device_.multiprocessors,
                            Run::next(), states, nullptr, op);
  }

  cudaError_t run_look_back(simt::Workspace& workspace, const In* in, Out* out, Mode mode, const Op& op,
                            cudaStream_t stream) const {
    const LookBackMemory<Item> memory(workspace, tiles());
    if (const cudaError_t error =
            try_prepare(memory.counter, TileCounter::first(), memory.states, memory.words, stream))
      return error;
    return launch_kernel(launch_shape(), stream, LookBack{}, in, out, n_, aligned_, mode, memory.counter,
                         TileCounter{static_cast<std::uint32_t>(tiles())}, memory.states, op);
  }

  // ---- look_ahead

  cudaError_t run_look_ahead(simt::Workspace& workspace, const In* in, Out* out, Mode mode, const Op& op,
                             cudaStream_t stream) const {
    using State = TileState<Item>;
    const AggregateMemory memory(workspace, tiles());
    const auto counter = memory.number<std::uint64_t>();
    const auto states = memory.states<Item>();
    if (const cudaError_t error =
            try_prepare(counter, TileCounter::first(), states, memory.places() * State::kWords, stream))
      return error;
    return cuda::try_launch(look_ahead<Op, cuda::NoWatch>, launch_shape(), stream,
                            Arguments<Op>{.in = in,
                                          .out = out,
                                          .n = n_,
                                          .tiles = tiles(),
                                          .mode = mode,
                                          .shape = shape_,
                                          .in_bulk = true,
                                          .counter = counter,
                                          .states = states,
                                          .op = op});
  }

  std::int64_t n_;
  bool aligned_;
  bool captured_;
  ScanDevice device_;
  ScanKernel kernel_ = ScanKernel::look_back;
  Shape shape_{};
};

/// Both phases of a call of DeviceScan. n: any integer type.
template <Associative Op, class N>
cudaError_t scan_array(void* storage, std::size_t& storage_bytes, const InOf<Op>* in, OutOf<Op>* out, N n, Mode mode,
                       const Op& op, cudaStream_t stream) {
  constexpr std::int64_t kMaxItems = std::numeric_limits<std::int64_t>::max() / 32;
  const auto count = static_cast<std::conditional_t<std::is_signed_v<N>, std::int64_t, std::uint64_t>>(n);
  if (std::cmp_less(count, 0) || std::cmp_greater(count, kMaxItems)) return cudaErrorInvalidValue;
  const ScanDevice device = Scan<Op>::current_device();
  if (device.error) return device.error;
  const std::int64_t items = std::max<std::int64_t>(static_cast<std::int64_t>(count), 1);
  const auto by = [&](bool aligned) { return Scan<Op>(items, aligned, device); };
  const std::size_t needed = by(true).storage_bytes();  // equals by(false): the arrays may not exist yet
  if (storage == nullptr) {
    storage_bytes = needed;
    return cudaSuccess;
  }
  const auto begin_at_multiples = [&](std::size_t of_in, std::size_t of_out) {
    return simt::CudaMachine::aligned(in, of_in) && simt::CudaMachine::aligned(out, of_out);
  };
  const bool captured = needed > 1 && may_be_replayed(stream);  // kernels without storage are the same for both
  const Scan<Op> scan(items, begin_at_multiples(16, 16), device, static_cast<const void*>(in) != out, captured);
  if (storage_bytes < needed) return cudaErrorInvalidValue;
  if (count == 0) return cudaSuccess;
  if (!begin_at_multiples(alignof(InOf<Op>), alignof(OutOf<Op>))) return cudaErrorInvalidValue;
  return scan.run(storage, in, out, mode, op, stream);
}

}  // namespace scanlab::scan
