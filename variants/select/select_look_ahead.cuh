// select_look_ahead: keeps flagged items, or those of which a predicate is true, in one pass. partition_look_ahead
// stores the others behind them, in reverse order. This is the kernel; select_look_ahead.cu launches it.
//
// Idea    A kept item's place is the number of kept ones before it: a scan of counts. look_ahead makes it in one pass.
//         Its reduce warps count what each thread keeps. Its scan warps then know where their part begins in the
//         output; each puts its kept items together in shared memory, at the place that they have within 16 bytes of
//         the output, so that one bulk store moves all but the ends. A partition does so twice.
// Work    Two looks at each item or flag.
// Traffic n items, the flags, and the kept items or all, once each.
// Bits    Fixed: items keep their order.
// Safe    As look_ahead.
// Needs   Compute capability 9.0.
// Source  Billeter, Olsson and Assarsson, "Efficient stream compaction on wide SIMD many-core architectures", HPG 2009,
//         for counts by parts; look_ahead.
#pragma once

#include "variants/select/compacting_pass.cuh"
#if defined(__CUDACC__)

namespace scanlab::select {

/// Counts kept items: the operator of the scan. Up to 2^32 - 1 of them.
template <class T>
struct Count {
  using Item = std::uint32_t;
  using In = T;
  using Out = T;
  using Element = T;
  static constexpr bool kCommutative = true;
  static constexpr bool kHeavy = false;
  SCANLAB_HD static constexpr Item identity() { return 0; }
  SCANLAB_HD constexpr Item operator()(Item a, Item b) const { return a + b; }
};

/// Items of a vector.
template <class T>
inline constexpr int kPerVector = cuda::kBulkBytes / sizeof(T);

/// Keeps items whose flag, a byte, is not 0.
template <class T>
struct Flags {
  using Key = std::uint8_t;
  struct alignas(kPerVector<T>) Vector {
    Key flags[kPerVector<T>];
  };
  const Key* flags;  ///< n

  /// The flags of a lane, vector by vector.
  struct Own {
    const Vector* vectors;
    Vector now;
    __device__ void begin_vector(int v) { now = vectors[v]; }
    __device__ bool keeps(int i, const T&) const { return now.flags[i] != 0; }
  };
  template <class Ring>
  __device__ Own of_lane(const Ring& ring, int slot, int warp, int lane) const {
    return {reinterpret_cast<const Vector*>(ring.keys(slot) + ring.place_in_tile(warp, lane)), {}};
  }
};

/// Keeps items of which a function is true.
template <class T, class Predicate>
struct If {
  using Key = void;
  Predicate predicate;

  struct Own {
    const Predicate& predicate;
    __device__ void begin_vector(int) const {}
    __device__ bool keeps(int, const T& item) const { return predicate(item); }
  };
  template <class Ring>
  __device__ Own of_lane(const Ring&, int, int, int) const {
    return {predicate};
  }
};

/// Results of a warp, put together in its shared memory at the place that they have within 16 bytes of the output.
template <class T>
class Piece {
 public:
  Piece() = default;
  /// memory: aligned to 16 bytes. to: in the output.
  __device__ Piece(T* memory, T* to, int count)
      : memory_(memory),
        begin_(static_cast<int>(reinterpret_cast<std::uintptr_t>(to) % cuda::kBulkBytes / sizeof(T))),
        end_(begin_ + count),
        to_(to - begin_) {}

  __device__ T* items() const { return memory_ + begin_; }
  /// The memory behind it, aligned to 16 bytes.
  __device__ T* behind() const { return memory_ + (end_ + kPerVector<T> - 1) / kPerVector<T> * kPerVector<T>; }

  __device__ void store(int lane) const {
    // Items that are aligned to less than their size may all lie across multiples of 16 bytes.
    if (alignof(T) < kAlignment && reinterpret_cast<std::uintptr_t>(to_) % cuda::kBulkBytes != 0) {
      for (int i = begin_ + lane; i < end_; i += scan::kLanes) to_[i] = memory_[i];
      return;
    }
    const int low = min((begin_ + kPerVector<T> - 1) / kPerVector<T> * kPerVector<T>, end_),
              high = max(end_ / kPerVector<T> * kPerVector<T>, low);
    if (lane == 0 && high > low) {
      cuda::bulk_store(to_ + low, memory_ + low, (high - low) * static_cast<int>(sizeof(T)));
    }
    if (begin_ + lane < low) to_[begin_ + lane] = memory_[begin_ + lane];
    if (high + lane < end_) to_[high + lane] = memory_[high + lane];
  }

 private:
  static constexpr std::size_t kAlignment = std::min<std::size_t>(sizeof(T), cuda::kBulkBytes);

  T* memory_ = nullptr;
  int begin_ = 0;
  int end_ = 0;
  T* to_ = nullptr;
};

/// Number: of the count, an integer. kOthers: whether the other items follow, in reverse order.
template <class T, class KeepsType, class Number, bool kOthers>
struct SelectArguments {
  using Keeps = KeepsType;
  using Op = Count<T>;
  struct Form : scan::UsualForm {
    using Key = typename Keeps::Key;
  };
  using Ring = scan::Ring<Op, Form>;

  scan::Arguments<Op> scan;
  Keeps keeps;
  Number* count;  ///< of kept items

  __device__ const scan::Arguments<Op>& of_scan() const { return scan; }
  __device__ auto aggregates() const { return scan.aggregates(); }

  /// Calls f with each item of a lane, and whether it is kept.
  template <class F>
  __device__ void for_each(const Ring& ring, int slot, std::int64_t tile, int warp, int lane, F f) const {
    auto own = keeps.of_lane(ring, slot, warp, lane);
    const auto* const vectors = ring.vectors(slot, warp, lane);
    const std::int64_t left = scan.n - ring.place(tile, warp, lane);
    if (left >= scan.shape.vectors * kPerVector<T>) {  // as in all tiles but the last
#pragma unroll 7
      for (int v = 0; v < scan.shape.vectors; ++v) {
        own.begin_vector(v);
        const auto vector = vectors[v];
#pragma unroll
        for (int i = 0; i < kPerVector<T>; ++i) f(vector.items[i], own.keeps(i, vector.items[i]));
      }
      return;
    }
    for (int v = 0; v * kPerVector<T> < left; ++v) {
      own.begin_vector(v);
      for (int i = 0; i < kPerVector<T> && v * kPerVector<T> + i < left; ++i) {
        f(vectors[v].items[i], own.keeps(i, vectors[v].items[i]));
      }
    }
  }

  __device__ std::uint32_t fold(const Ring& ring, int slot, std::int64_t tile, int warp, int lane) const {
    std::uint32_t kept = 0;
    for_each(ring, slot, tile, warp, lane, [&](const T&, bool keep) { kept += keep ? 1 : 0; });
    return kept;
  }

  /// The kept items of one scan warp, a tile after another, in shared memory of its own, and the others behind them.
  class Compactor {
    static_assert(sizeof(scan::Stage<Op>) % cuda::kBulkBytes == 0, "bulk stores read from behind the stages");

   public:
    static SCANLAB_HD int bytes(const scan::Shape& shape) {
      return shape.part_bytes() + (kOthers ? 3 : 1) * cuda::kBulkBytes;
    }

    __device__ Compactor(const SelectArguments& given, const Ring& ring, int warp, int lane)
        : given_(given),
          ring_(ring),
          warp_(warp),
          lane_(lane),
          memory_(reinterpret_cast<T*>(ring.behind() + warp * bytes(given.scan.shape))) {}

    /// before: kept items of earlier tiles; in_tile: of the warps before; in_part: of the lanes before; kept: of the
    /// warp.
    __device__ void take(int slot, std::int64_t tile, std::uint32_t before, std::uint32_t in_tile,
                         std::uint32_t in_part, std::uint32_t kept) {
      const scan::Arguments<Op>& scan = given_.scan;
      const std::int64_t first = std::int64_t{before} + in_tile;
      if (tile == scan.tiles - 1 && warp_ == scan.shape.warps - 1 && lane_ == 0)
        *given_.count = static_cast<Number>(first + kept);
      kept_ = Piece<T>(memory_, scan.out + first, static_cast<int>(kept));
      T* other = nullptr;  // behind the next one
      if constexpr (kOthers) {
        const std::int64_t others_before = ring_.place(tile, warp_, 0) - first;
        const int others = ring_.items_of_part(tile, warp_) - static_cast<int>(kept);
        others_ = Piece<T>(kept_.behind(), scan.out + (scan.n - others_before - others), others);
        const int of_lanes_before = ring_.place_in_tile(0, lane_) - static_cast<int>(in_part);
        other = others_.items() + (others - of_lanes_before);
      }
      if (lane_ == 0) cuda::wait_until_stores_have_read<0>();
      __syncwarp();  // the memory is free again
      if (kept == 0 && !kOthers) return;
      T* at = kept_.items() + in_part;
      given_.for_each(ring_, slot, tile, warp_, lane_, [&](const T& item, bool keep) {
        if (keep) {
          *at++ = item;
        } else if (kOthers) {
          *--other = item;
        }
      });
      cuda::show_to_bulk_copies();
    }

    /// After a __syncwarp().
    __device__ void store() const {
      kept_.store(lane_);
      if constexpr (kOthers) others_.store(lane_);
    }

   private:
    const SelectArguments& given_;
    const Ring& ring_;
    const int warp_;
    const int lane_;
    T* const memory_;
    Piece<T> kept_;
    Piece<T> others_;
  };
};

template <class T, class Keeps, class Number, bool kOthers>
__global__ void __launch_bounds__(scan::Shape{.warps = scan::kMaxReduceWarps<Count<T>>}.threads(), 1)
    select_look_ahead(const __grid_constant__ SelectArguments<T, Keeps, Number, kOthers> arguments) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) unsigned char shared[];
  scan::LookAheadBlock<Count<T>, cuda::NoWatch, SelectArguments<T, Keeps, Number, kOthers>>(arguments, shared).run();
#else
  __trap();  // rather than leave the output unwritten
#endif
}

/// A selection of n items, or a partition. Keeps: Flags, or If.
template <class T, class Keeps, class Number = std::uint64_t, bool kOthers = false>
class Select : public CompactingPass<SelectArguments<T, Keeps, Number, kOthers>> {
 public:
  using Given = SelectArguments<T, Keeps, Number, kOthers>;
  using CompactingPass<Given>::CompactingPass;

  /// Before the first run in a context: raises the kernel's limit on shared memory.
  static cudaError_t try_allow(std::size_t shared_bytes) {
    if (cuda::device_code().version < 90) return cudaErrorNotSupported;
    return cuda::try_allow(select_look_ahead<T, Keeps, Number, kOthers>, {.shared_bytes = shared_bytes});
  }

  /// out: room for the items that are kept, or for all, apart from `in`. count: on the device, how many are kept.
  cudaError_t try_run(void* workspace, const T* in, T* out, Number* count, const Keeps& keeps,
                      cudaStream_t stream) const {
    if (this->items() == 0) return cudaMemsetAsync(count, 0, sizeof *count, stream);
    const void* keys = nullptr;
    if constexpr (!std::is_void_v<typename Keeps::Key>) keys = keeps.flags;
    const Given given{.scan = this->arguments(workspace, in, out, keys, {}), .keeps = keeps, .count = count};
    return this->try_launch(select_look_ahead<T, Keeps, Number, kOthers>, given, stream);
  }
};

}  // namespace scanlab::select
#endif
