// key_pairs and segment_pairs: a segmented scan by any scan, of pairs of a flag and a value.
//
// Idea    Blelloch's reduction: an item gets a flag that says whether a segment begins there. Pairs are added so that a
//         flag on the right forgets what is on the left: an associative operator, which any scan takes. Here a kernel
//         writes the flags, a second the pairs, decoupled look-back scans these, and a last one takes the results out.
// Work    about 6 n.
// Span    as decoupled look-back.
// Traffic 2 n, the keys or offsets, and of 4-byte items 32 n bytes and more: pairs are written and read twice. The
//         faster scans keep them in registers.
// Bits    Not fixed, as of decoupled look-back.
// Source  Blelloch, "Prefix sums and their applications", 1990.
#pragma once

#include "harness/simt/registration.hpp"
#include "variants/scan/decoupled_lookback.cuh"
#include "variants/scan_axis/segments.cuh"
#include "variants/segmented_scan/segmented.hpp"

namespace scanlab::segmented {

inline constexpr int kThreads = 256;

/// The operator on pairs, which are read and written as such.
template <class Op>
struct Pairs : scan_axis::Segmented<Op> {
  using Item = typename scan_axis::Segmented<Op>::Item;
  using In = Item;
  using Out = Item;
};

/// Flags the items whose keys differ from those before.
template <class Key>
struct FlagKeys {
  static constexpr const char* kName = "flag_keys";
  static constexpr int kMaxThreads = kThreads;
  template <simt::ThreadBlock Block>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const Key> keys, simt::Global<Block, std::uint8_t> flags,
                             std::int64_t n) const {
    const std::int64_t i = block.group_index() * kThreads + block.thread_rank();
    if (i >= n) return;
    const Key key = keys[i];
    bool head = i == 0;
    if (!head) head = key != keys[i - 1];
    flags[i] = static_cast<std::uint8_t>(head);
  }
};

struct ClearFlags {
  static constexpr const char* kName = "clear_flags";
  static constexpr int kMaxThreads = kThreads;
  template <simt::ThreadBlock Block>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, std::uint8_t> flags, std::int64_t n) const {
    const std::int64_t i = block.group_index() * kThreads + block.thread_rank();
    if (i < n) flags[i] = 0;
  }
};

/// Flags the items at which segments begin: the first of an empty one is the first of the next.
template <class Offset>
struct FlagBegins {
  static constexpr const char* kName = "flag_begins";
  static constexpr int kMaxThreads = kThreads;
  template <simt::ThreadBlock Block>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const Offset> offsets,
                             simt::Global<Block, std::uint8_t> flags, std::int64_t segments) const {
    const std::int64_t i = block.group_index() * kThreads + block.thread_rank();
    if (i >= segments) return;
    const Offset begin = offsets[i];
    if (begin < offsets[i + 1]) flags[static_cast<std::int64_t>(begin)] = 1;
  }
};

template <class Item>
struct MakePairs {
  static constexpr const char* kName = "make_pairs";
  static constexpr int kMaxThreads = kThreads;
  template <simt::ThreadBlock Block>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const Item> in,
                             simt::Global<Block, const std::uint8_t> flags,
                             simt::Global<Block, scan_axis::Headed<Item>> pairs, std::int64_t n) const {
    const std::int64_t i = block.group_index() * kThreads + block.thread_rank();
    if (i < n) pairs[i] = scan_axis::Headed<Item>{in[i], flags[i]};
  }
};

struct TakeResults {
  static constexpr const char* kName = "take_results";
  static constexpr int kMaxThreads = kThreads;
  template <simt::ThreadBlock Block, Monoid Op>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const scan_axis::Headed<typename Op::Item>> scanned,
                             simt::Global<Block, const std::uint8_t> flags, simt::Global<Block, typename Op::Item> out,
                             std::int64_t n, Mode mode, Op) const {
    const std::int64_t i = block.group_index() * kThreads + block.thread_rank();
    if (i >= n) return;
    if (mode == Mode::inclusive) {
      out[i] = scan_axis::Headed<typename Op::Item>(scanned[i]).item;
    } else if (flags[i] != 0) {
      out[i] = Op::identity();
    } else {
      out[i] = scan_axis::Headed<typename Op::Item>(scanned[i - 1]).item;
    }
  }
};

template <Primitive kPrimitive>
class PairsScan {
 public:
  template <class Op>
  static constexpr bool kTakes = kSegmented<Op>;

  static Description describe() {
    Description about = describe_segmented(kPrimitive, false);
    about.id = kPrimitive == Primitive::scan_by_key ? "key_pairs" : "segment_pairs";
    about.title = "Pairs of a flag and a value, scanned by decoupled look-back";
    about.source = "Blelloch 1990";
    about.family = "pairs";
    about.in_place = true;
    about.bitwise_reproducible = false;
    about.cost.work = "about 6n";
    about.cost.span = "a tile, and a chain of tiles";
    return about;
  }

  explicit PairsScan(const Problem& problem) : problem_(problem) {}

  Plan plan() const {
    simt::Workspace workspace;
    const std::size_t item = item_bytes(problem_.type, problem_.op);
    workspace.take<std::uint8_t>(problem_.items);
    workspace.take<std::uint8_t>(problem_.items * static_cast<std::int64_t>(pair_bytes(item)));
    workspace.take<std::uint64_t>(1);
    workspace.take<scan::LongWord>(2 * tiles(pair_bytes(item)));
    Plan plan;
    plan.workspace_bytes = workspace.bytes();
    plan.chain = 2 * tiles(pair_bytes(item)) + 2 * kScanThreads;
    return plan;
  }

  template <class Machine, Monoid Op>
  void prepare(Machine& machine, Op, simt::Workspace workspace) const {
    const auto parts = take<Op>(machine, workspace);
    scan::prepare_tiles<typename State<Op>::Word>(machine, parts.counter, scan::TileCounter::first(), parts.states,
                                                  tiles(sizeof(Pair<Op>)) * State<Op>::kWords);
  }

  template <class Machine, Monoid Op>
  void run(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays, simt::Workspace workspace) const {
    const std::int64_t n = problem_.items;
    if (n == 0) return;
    const auto parts = take<Op>(machine, workspace);
    const auto grid = [](std::int64_t items) {
      return simt::Grid{.blocks = ceil_div(items, kThreads), .threads = kThreads};
    };
    switch (problem_.segments.width) {
      case 1:
        flag<std::uint8_t>(machine, arrays.entries, parts.flags);
        break;
      case 2:
        flag<std::uint16_t>(machine, arrays.entries, parts.flags);
        break;
      case 4:
        flag<std::uint32_t>(machine, arrays.entries, parts.flags);
        break;
      default:
        flag<std::uint64_t>(machine, arrays.entries, parts.flags);
    }
    machine.launch(grid(n), MakePairs<typename Op::Item>{}, arrays.in, parts.flags, parts.pairs, n);
    using Kernel = scan::LookBackKernel<kRows, 1>;
    const auto count = static_cast<std::uint32_t>(tiles(sizeof(Pair<Op>)));
    machine.launch({.blocks = count,
                    .threads = kScanThreads,
                    .shared_bytes = Kernel::shared_bytes(kScanThreads, sizeof(Pair<Op>))},
                   Kernel{}, parts.pairs, parts.pairs, n, true, Mode::inclusive, parts.counter,
                   scan::TileCounter{count}, parts.states, Pairs<Op>{{op}});
    machine.launch(grid(n), TakeResults{}, parts.pairs, parts.flags, arrays.out, n, problem_.mode, op);
  }

 private:
  static constexpr int kRows = 4;
  static constexpr int kScanThreads = 256;
  template <class Op>
  using Pair = scan_axis::Headed<typename Op::Item>;
  template <class Op>
  using State = scan::TileState<Pair<Op>>;

  static constexpr std::size_t pair_bytes(std::size_t item) { return item <= 4 ? 8 : 16; }
  std::int64_t tiles(std::size_t pair) const {
    return ceil_div(problem_.items * static_cast<std::int64_t>(pair), kScanThreads * kRows * 16);
  }

  template <class Op, class Machine>
  auto take(Machine& machine, simt::Workspace& workspace) const {
    const std::int64_t n = problem_.items, words = tiles(sizeof(Pair<Op>)) * State<Op>::kWords;
    struct Parts {
      decltype(machine.global(static_cast<std::uint8_t*>(nullptr), n, "")) flags;
      decltype(machine.global(static_cast<Pair<Op>*>(nullptr), n, "")) pairs;
      decltype(machine.global(static_cast<std::uint64_t*>(nullptr), n, "")) counter;
      decltype(machine.global(static_cast<typename State<Op>::Word*>(nullptr), n, "")) states;
    };
    auto* const flags = workspace.take<std::uint8_t>(n);
    auto* const pairs = workspace.take<Pair<Op>>(n);
    auto* const counter = workspace.take<std::uint64_t>(1);
    auto* const states = workspace.take<typename State<Op>::Word>(words);
    return Parts{machine.global(flags, n, "flags"), machine.global(pairs, n, "pairs"),
                 machine.global(counter, 1, "counter"), machine.global(states, words, "states")};
  }

  template <class Entry, class Machine>
  void flag(Machine& machine, const void* entries, const auto& flags) const {
    const std::int64_t n = problem_.items, count = problem_.segments.entries(n);
    const auto all = machine.global(static_cast<const Entry*>(entries), count, "entries");
    const auto grid = [](std::int64_t items) {
      return simt::Grid{.blocks = ceil_div(items, kThreads), .threads = kThreads};
    };
    if constexpr (kPrimitive == Primitive::scan_by_key) {
      machine.launch(grid(n), FlagKeys<Entry>{}, all, flags, n);
    } else if constexpr (sizeof(Entry) >= 4) {
      machine.launch(grid(n), ClearFlags{}, flags, n);
      machine.launch(grid(count - 1), FlagBegins<Entry>{}, all, flags, count - 1);
    }
  }

  Problem problem_;
};

}  // namespace scanlab::segmented
