// runs_look_ahead, lengths_look_ahead and unique_look_ahead: the folds, or the lengths, of the runs of equal keys in
// one pass, with the key of each; or the keys alone. This is the kernel; runs_look_ahead.cu launches it.
//
// Idea    look_ahead scans pairs of a fold and a number of heads: the number is the place of the next run's results,
//         and says whether the fold began anew. At a head the run before is complete. Its fold goes to the place before
//         that of the head's key, so that no thread looks past its last item. A scan warp leaves each fold in the place
//         of the item that begins the next run, and lists these places, so that it stores keys and folds side by side.
//         Lengths are differences of the places, for which nothing is read but the keys.
// Work    2 n, and 2 n comparisons; without folds n comparisons.
// Traffic n keys, and n items for folds; a key a run, and its fold or length where it is wanted.
// Bits    Bitwise reproducible.
// Safe    As look_ahead.
// Needs   Compute capability 9.0.
// Source  Blelloch 1990 for the pairs; look_ahead; key_look_ahead.
#pragma once

#include "variants/scan_axis/segments.cuh"
#include "variants/select/compacting_pass.cuh"
#if defined(__CUDACC__)

namespace scanlab::runs {

/// The operator: `head` is how many runs begin among the items, up to 2^32 - 2, and `item` the fold since the last one.
template <Associative Op>
struct Runs {
  using Item = scan_axis::Headed<typename Op::Item>;
  using In = InOf<Op>;
  using Out = OutOf<Op>;
  static constexpr bool kCommutative = false;
  static constexpr bool kHeavy = false;
  Op op{};

  static constexpr std::uint32_t kNoItem = 0xFFFFFFFF;  ///< in place of a number, if Op has no identity

  /// How many runs begin.
  SCANLAB_HD static constexpr std::uint32_t heads(const Item& item) {
    return !HasIdentity<Op> && item.head == kNoItem ? 0 : item.head;
  }
  SCANLAB_HD static constexpr Item identity() {
    if constexpr (HasIdentity<Op>) {
      return {Op::identity(), 0};
    } else {
      return {{}, kNoItem};
    }
  }
  SCANLAB_HD Item operator()(const Item& a, const Item& b) const {
    if constexpr (!HasIdentity<Op>) {
      // Copies: references that a condition chooses would lie in local memory.
      const bool no_a = a.head == kNoItem, no_b = b.head == kNoItem;
      const auto first = a.item, second = b.item;
      auto folded = no_b ? first : second;
      if (!no_a && b.head == 0) folded = op(first, second);
      return {folded, no_b ? a.head : no_a ? b.head : a.head + b.head};
    }
    return append(a, b);
  }
  /// The same of neighbours that are items, or of anything before a head.
  SCANLAB_HD Item append(const Item& a, const Item& b) const {
    return {b.head != 0 ? b.item : op(a.item, b.item), a.head + b.head};
  }
};

/// Counts items, which are keys.
template <class KeyType>
struct CountItems {
  using Item = std::uint32_t;
  using In = KeyType;
  using Out = KeyType;
  static constexpr bool kCommutative = true;
  static constexpr bool kHeavy = false;
  SCANLAB_HD static constexpr Item identity() { return 0; }
  SCANLAB_HD constexpr Item operator()(Item a, Item b) const { return a + b; }
};

/// In place of folds that nobody wants.
struct NoFold {
  NoFold() = default;
  template <class T>
  __device__ explicit NoFold(const T&) {}
};

/// Values with a key each.
template <Associative OpType, class KeyType, class Equal>
struct KeyedValues {
  using Op = OpType;
  using Key = KeyType;
  struct Form : scan::UsualForm {
    using Key = KeyType;
  };
  using Ring = scan::Ring<Runs<Op>, Form>;
  Equal equal;

  /// The keys of a warp's part, and the one before them.
  __device__ static const Key* keys(const Ring& ring, int slot, int warp) {
    return ring.keys(slot) + ring.place_in_tile(warp, 0);
  }
  __device__ static Key key_before(const Ring& ring, int slot, int warp) { return keys(ring, slot, warp)[-1]; }
  __device__ static typename Op::Item item(const InOf<Op>& value) { return static_cast<typename Op::Item>(value); }
};

/// Keys alone, which count as one each. Lengths are differences of places, so that nobody looks at each item twice: the
/// reduce warps leave a bit an item, which says where runs begin, for the scan warps.
template <class KeyType, class Equal>
struct KeysAlone {
  using Op = CountItems<KeyType>;
  using Key = KeyType;
  struct Form : scan::UsualForm {
    static constexpr bool kItemBefore = true;
  };
  using Ring = scan::Ring<Runs<Op>, Form>;
  static constexpr int kWordVectors = 32 * static_cast<int>(sizeof(Key)) / cuda::kBulkBytes;
  Equal equal;

  __device__ static const Key* keys(const Ring& ring, int slot, int warp) { return ring.vectors(slot, warp, 0)->items; }
  __device__ static Key key_before(const Ring& ring, int slot, int warp) {
    return warp == 0 ? ring.item_before(slot) : keys(ring, slot, warp)[-1];
  }

  static SCANLAB_HD int words(const scan::Shape& shape) { return (shape.vectors + kWordVectors - 1) / kWordVectors; }
  /// Bytes of a tile: an item before it, and the bits, in words of a lane.
  static SCANLAB_HD int head_bytes(const scan::Shape& shape) {
    return cuda::kBulkBytes + shape.warps * scan::kLanes * words(shape) * static_cast<int>(sizeof(std::uint32_t));
  }
  /// Word w of the bits of a lane.
  __device__ static std::uint32_t& bits(const Ring& ring, const scan::Shape& shape, int slot, int warp, int lane,
                                        int w) {
    auto* const all = reinterpret_cast<std::uint32_t*>(ring.heads(slot) + cuda::kBulkBytes);
    return all[(w * shape.warps + warp) * scan::kLanes + lane];
  }
};

/// Source: KeyedValues or KeysAlone. Fold: what a run's fold is written as, or NoFold. Number: of the count, an
/// integer.
template <class SourceType, class FoldType, class Number>
struct RunsArguments {
  using Source = SourceType;
  using Fold = FoldType;
  using Op = Runs<typename Source::Op>;
  using Item = typename Op::Item;
  using Key = typename Source::Key;
  using Form = typename Source::Form;
  using Ring = typename Source::Ring;
  static constexpr bool kFolds = !std::is_same_v<Fold, NoFold>;
  static constexpr bool kBits = Form::kItemBefore;
  static constexpr int kItems = cuda::kBulkBytes / static_cast<int>(sizeof(InOf<Op>));
  struct alignas(std::min<int>(cuda::kBulkBytes, kItems * sizeof(Key))) KeyVector {
    Key keys[kItems];
    /// Whether neighbours differ, a bit each from bit 0 on.
    template <class Equal>
    __device__ std::uint32_t changes(const Key& before, const Equal& equal) const {
      std::uint32_t found = equal(before, keys[0]) ? 0 : 1;
#pragma unroll
      for (int i = 1; i < kItems; ++i) found |= equal(keys[i - 1], keys[i]) ? 0 : 1u << i;
      return found;
    }
  };

  scan::Arguments<Op> scan;
  Source source;
  Key* unique;    ///< the key of each run
  Fold* folds;    ///< of each run
  Number* count;  ///< of runs

  __device__ const scan::Arguments<Op>& of_scan() const { return scan; }
  __device__ auto aggregates() const { return scan.aggregates(); }
  static SCANLAB_HD int head_bytes(const scan::Shape& shape) { return Source::head_bytes(shape); }

  /// Calls f with each item of a lane, whose head is 1 where a run begins, and whether it is the first of these.
  template <class F>
  __device__ void for_each(const Ring& ring, int slot, std::int64_t tile, int warp, int lane, F f) const {
    const std::int64_t left = scan.n - ring.place(tile, warp, lane);
    if (left <= 0) return;
    const int vectors = scan.shape.vectors, begin = lane * vectors;
    const bool first = tile == 0 && warp == 0 && lane == 0;
    const auto* const values = ring.vectors(slot, warp, lane);
    const Key* const keys = source.keys(ring, slot, warp) + begin * kItems;
    Key before = first ? keys[0] : lane == 0 ? source.key_before(ring, slot, warp) : keys[-1];
    const auto vector = [&](int v, int items) {
      const auto own = values[v];
      const KeyVector its = reinterpret_cast<const KeyVector*>(keys)[v];
#pragma unroll
      for (int i = 0; i < kItems; ++i) {
        if (i >= items) break;
        const bool head = !source.equal(i == 0 ? before : its.keys[i > 0 ? i - 1 : 0], its.keys[i]);
        const std::uint32_t counted = head || (first && v == 0 && i == 0) ? 1 : 0;
        f(Item{source.item(own.items[i]), counted}, v == 0 && i == 0);
      }
      before = its.keys[kItems - 1];
    };
    if (left >= vectors * kItems) {  // as in all tiles but the last
#pragma unroll 3
      for (int v = 0; v < vectors; ++v) vector(v, kItems);
    } else {
      for (int v = 0; v * kItems < left; ++v) vector(v, static_cast<int>(min(left - v * kItems, std::int64_t{kItems})));
    }
  }
  /// Calls f with the place in the part of each head of a lane, and the fold of the run before. before: of all items
  /// before.
  template <class F>
  __device__ void for_each_head(const Ring& ring, int slot, std::int64_t tile, int warp, int lane, const Item& before,
                                F f) const {
    Item running = before;
    running.head = Op::heads(before);  // before the first item of all, which is a head
    int place = lane * scan.shape.vectors * kItems;
    for_each(ring, slot, tile, warp, lane, [&](const Item& own, bool) {
      if (own.head != 0) f(place, running.item);
      running = scan.op.append(running, own);
      ++place;
    });
  }

  /// The fold of a lane's items, for a reduce warp.
  __device__ Item fold(const Ring& ring, int slot, std::int64_t tile, int warp, int lane) const {
    if constexpr (kBits) {
      return find_bits(ring, slot, tile, warp, lane);
    } else {
      Item folded = Op::identity();
      for_each(ring, slot, tile, warp, lane,
               [&](const Item& own, bool first) { folded = first ? own : scan.op.append(folded, own); });
      return folded;
    }
  }
  /// Leaves the bits of a lane. Returns its fold.
  __device__ Item find_bits(const Ring& ring, int slot, std::int64_t tile, int warp, int lane) const {
    const int begin = lane * scan.shape.vectors;
    const bool first = tile == 0 && warp == 0 && lane == 0;
    const std::int64_t left = scan.n - ring.place(tile, warp, lane), most = scan.shape.vectors * kItems;
    const auto items = static_cast<int>(max(min(left, most), std::int64_t{0}));
    const Key* const keys = source.keys(ring, slot, warp) + begin * kItems;
    Key before = first ? keys[0] : lane == 0 ? source.key_before(ring, slot, warp) : keys[-1];
    std::uint32_t heads = 0;
    int last = 0;
    for (int w = 0; w < source.words(scan.shape); ++w) {
      std::uint32_t word = first && w == 0 ? 1 : 0;
#pragma unroll
      for (int g = 0; g < Source::kWordVectors; ++g) {
        if (w * Source::kWordVectors + g >= scan.shape.vectors) break;
        const KeyVector own = reinterpret_cast<const KeyVector*>(keys)[w * Source::kWordVectors + g];
        word |= own.changes(before, source.equal) << (g * kItems);
        before = own.keys[kItems - 1];
      }
      const int here = items - 32 * w;  // fewer than 32 at the end of the array
      if (here < 32) word &= here <= 0 ? 0 : (1u << here) - 1;
      source.bits(ring, scan.shape, slot, warp, lane, w) = word;
      heads += __popc(word);
      if (word != 0) last = 32 * w + 31 - __clz(word);
    }
    return {static_cast<std::uint32_t>(items - last), heads};
  }

  /// Behind the last part of the last tile: stores the number of runs, and the fold of the last one. all: of all items.
  __device__ void end(std::int64_t tile, int warp, const Item& all) const {
    if (tile != scan.tiles - 1 || warp != scan.shape.warps - 1) return;
    *count = static_cast<Number>(all.head);
    if constexpr (kFolds) folds[all.head - 1] = static_cast<Fold>(all.item);
  }

  /// Lists where runs begin in one scan warp's part, in 2 bytes each, and stores the keys there, and the folds or the
  /// differences. A fold waits in the place of the item that begins the next run.
  class Compactor {
    static_assert(kBits || sizeof(Fold) == sizeof(InOf<Op>));

   public:
    static SCANLAB_HD int bytes(const scan::Shape& shape) {
      return shape.part_bytes() / static_cast<int>(sizeof(InOf<Op>)) * static_cast<int>(sizeof(std::uint16_t));
    }

    __device__ Compactor(const RunsArguments& given, const Ring& ring, int warp, int lane)
        : given_(given),
          ring_(ring),
          warp_(warp),
          lane_(lane),
          begins_(reinterpret_cast<std::uint16_t*>(ring.behind() + warp * bytes(given.scan.shape))) {}

    /// before: of earlier tiles; in_tile: of the warps before; in_part: of the lanes before; of_part: of the warp.
    __device__ void take(int slot, std::int64_t tile, const Item& before, const Item& in_tile, const Item& in_part,
                         const Item& of_part) const {
      const scan::Arguments<Op>& scan = given_.scan;
      const Item before_part = scan.op(before, in_tile);
      auto* const items = ring_.vectors(slot, warp_, 0)->items;
      std::uint32_t at = Op::heads(in_part);
      const std::uint32_t heads = Op::heads(of_part);
      if constexpr (kBits) {
        for (int w = 0; w < Source::words(scan.shape); ++w) {
          const int first = lane_ * scan.shape.vectors * kItems + 32 * w;
          for (std::uint32_t word = Source::bits(ring_, scan.shape, slot, warp_, lane_, w); word != 0;
               word &= word - 1) {
            begins_[at++] = static_cast<std::uint16_t>(first + __ffs(word) - 1);
          }
        }
      } else if (heads != 0) {
        given_.for_each_head(ring_, slot, tile, warp_, lane_, scan.op(before_part, in_part),
                             [&](int place, const auto& fold) {
                               items[place] = scanlab::bit_cast<InOf<Op>>(static_cast<Fold>(fold));
                               begins_[at++] = static_cast<std::uint16_t>(place);
                             });
        cuda::show_to_bulk_copies();  // of items that come in place of these
      }
      __syncwarp();  // the list is complete
      const Key* const keys = Source::keys(ring_, slot, warp_);
      const std::int64_t first = Op::heads(before_part);
      Key* const unique = given_.unique + first;
#pragma unroll 4
      for (std::uint32_t run = lane_; run < heads; run += scan::kLanes) {
        const std::uint32_t begin = begins_[run];
        unique[run] = keys[begin];
        if constexpr (kFolds) {
          Fold fold;
          if constexpr (kBits) {
            const std::uint32_t last = run == 0 ? -before_part.item : begins_[run - 1];  // modulo 2^32
            fold = static_cast<Fold>(begin - last);
          } else {
            fold = scanlab::bit_cast<Fold>(items[begin]);
          }
          if (first + run > 0) (given_.folds + first)[std::int64_t{run} - 1] = fold;
        }
      }
      if (lane_ == 0) given_.end(tile, warp_, scan.op(before_part, of_part));
    }
    __device__ void store() const {}

   private:
    const RunsArguments& given_;
    const Ring& ring_;
    const int warp_;
    const int lane_;
    std::uint16_t* const begins_;
  };
};

template <class Source, class Fold, class Number>
__global__ void __launch_bounds__(scan::Shape{.warps = scan::kMaxReduceWarps<Runs<typename Source::Op>>}.threads(), 1)
    runs_look_ahead(const __grid_constant__ RunsArguments<Source, Fold, Number> arguments) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) unsigned char shared[];
  using Given = RunsArguments<Source, Fold, Number>;
  scan::LookAheadBlock<typename Given::Op, cuda::NoWatch, Given>(arguments, shared).run();
#else
  __trap();  // rather than leave the output unwritten
#endif
}

/// The folds of the runs of n keys.
template <class Source, class FoldType, class Number = std::uint64_t>
class FoldRuns : public select::CompactingPass<RunsArguments<Source, FoldType, Number>> {
 public:
  using Given = RunsArguments<Source, FoldType, Number>;
  using Op = typename Given::Op;
  using Key = typename Given::Key;
  using Fold = FoldType;
  using select::CompactingPass<Given>::CompactingPass;

  /// Before the first run in a context: raises the kernel's limit on shared memory.
  static cudaError_t try_allow(std::size_t shared_bytes) {
    if (cuda::device_code().version < 90) return cudaErrorNotSupported;
    return cuda::try_allow(runs_look_ahead<Source, Fold, Number>, {.shared_bytes = shared_bytes});
  }

  /// in: the values; of KeysAlone, the keys. unique, folds: room for those of all runs, apart from the input. count: on
  /// the device, how many.
  cudaError_t try_run(void* workspace, const Key* keys, const InOf<Op>* in, Key* unique, Fold* folds, Number* count,
                      const Source& source, const Op& op, cudaStream_t stream) const {
    if (this->items() == 0) return cudaMemsetAsync(count, 0, sizeof *count, stream);
    const Given given{.scan = this->arguments(workspace, in, nullptr, keys, op),
                      .source = source,
                      .unique = unique,
                      .folds = folds,
                      .count = count};
    return this->try_launch(runs_look_ahead<Source, Fold, Number>, given, stream);
  }
};

}  // namespace scanlab::runs
#endif
