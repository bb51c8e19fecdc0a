// The kernel that all block and warp scans share: it brings a row into the registers of a group of threads, has an
// algorithm scan it there, as often as is asked, and stores it. The algorithms differ in how the threads of a group
// learn what comes before their own items.
//
// Measuring. Nothing in a scan of registers keeps a compiler from hoisting it out of a loop or past a clock. So every
// scan takes its items through a word of zero bits that it cannot know to be zero, and that depends on the clock and
// on all results of the scan before. That costs an instruction a word of an item and half of one a result, the same for
// all; `block_copy` shows what the kernel takes without any scan.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "harness/core/ceil.hpp"
#include "harness/simt/registration.hpp"

namespace scanlab::block_scan {

/// When a warp began to scan, and when it had all results, by the clock of its multiprocessor.
struct Times {
  std::int64_t begin;
  std::int64_t end;
};

inline constexpr int kMaxThreads = 1024;
inline constexpr int kLanes = simt::kWarpLanes;

/// Sums of three types, exact and rounded, and an operator that does not commute.
template <class Op>
inline constexpr bool kStudied = (Op::kOperator == Operator::plus && sizeof(typename Op::Element) >= 4 &&
                                  !std::is_same_v<typename Op::Element, std::int64_t>) ||
                                 (Op::kOperator == Operator::affine &&
                                  std::is_same_v<typename Op::Element, std::int32_t>);

/// ceil(log2 n), by one instruction on a GPU.
SCANLAB_HD constexpr int steps(int n) { return std::bit_width(static_cast<unsigned>(n - 1)); }

SCANLAB_HD inline std::int64_t read_clock() {
#if defined(__CUDA_ARCH__)
  return clock64();
#else
  return 0;
#endif
}

/// The item with every word's bits flipped where those of `zero` are set: none are. The emulator leaves it alone.
template <class Item>
SCANLAB_HD Item disguise(const Item& item, [[maybe_unused]] std::uint32_t zero) {
#if defined(__CUDA_ARCH__)
  return simt::change_words(item, [=](std::uint32_t word) { return word ^ zero; });
#else
  return item;
#endif
}

/// The bits of all items folded into one word.
template <class Item, int K>
SCANLAB_HD std::uint32_t fold_bits([[maybe_unused]] const Item (&items)[K]) {
  std::uint32_t bits = 0;
#if defined(__CUDA_ARCH__)
#pragma unroll
  for (int j = 0; j < K; ++j) simt::change_words(items[j], [&](std::uint32_t word) { return bits ^= word; });
#endif
  return bits;
}

/// Threads that scan a row together: a block, or a warp of a block. kThreads: how many hold items, if that is known
/// when the kernel is compiled; else 0.
template <bool kWarp, simt::ThreadBlock Block, int kThreads>
struct Group {
  Block& block;
  int threads;  ///< the first so many hold items
  SCANLAB_HD int rank() const { return kWarp ? block.lane() : block.thread_rank(); }
  SCANLAB_HD bool holds() const { return kThreads != 0 || rank() < threads; }
  /// Whether warps are whole, if it is known.
  SCANLAB_HD static constexpr bool whole() { return kThreads != 0 && kThreads % kLanes == 0; }
  SCANLAB_HD void sync() const {
    if constexpr (kWarp) {
      block.sync_warp();
    } else {
      block.sync();
    }
  }
};

/// Item j of thread t of a group, in its row.
template <int K, bool kStriped>
SCANLAB_HD int place(int t, int j, int threads) {
  return kStriped ? j * threads + t : t * K + j;
}

/// The scan over a warp, one value a lane: inclusive, five steps. Only lanes that have a lane to take from execute the
/// operator. The shuffle says which do, by the fewest instructions; or, kByLane, their numbers are compared, in the
/// fewest cycles, though compilers add selects.
template <bool kByLane = false, simt::ThreadBlock Block, Monoid Op>
SCANLAB_HD typename Op::Item scan_warp([[maybe_unused]] Block& block, typename Op::Item item, Op op) {
#pragma unroll
  for (int distance = 1; distance < kLanes; distance *= 2) {
#if defined(__CUDA_ARCH__)
    int any = 0;
    auto next = item;  // of the lane on the left, else its own
    if constexpr (kByLane) {
      next = block.shuffle_up(item, distance);
      any = block.lane() >= distance;
    } else {
      next = simt::change_words(item, [&](std::uint32_t word) {
        asm volatile("{ .reg .pred p; shfl.sync.up.b32 %0|p, %0, %2, 0, 0xffffffff; selp.b32 %1, 1, 0, p; }"
                     : "+r"(word), "=r"(any)
                     : "r"(distance));
        return word;
      });
    }
    if (any != 0) {
      next = op(next, item);
      asm volatile("");  // keeps compilers from a select
    }
    item = next;
#else
    const auto left = block.shuffle_up(item, distance);
    if (block.lane() >= distance) item = op(left, item);
#endif
  }
  return item;
}

/// Whether a sum can be taken back exactly.
template <class Op>
inline constexpr bool kInvertible = Op::kOperator == Operator::plus&& std::is_integral_v<typename Op::Item>;

/// Returns what comes before a lane's item in its warp: `scanned` is the inclusive result of scan_warp().
template <simt::ThreadBlock Block, Monoid Op>
SCANLAB_HD typename Op::Item before_lane(Block& block, typename Op::Item scanned, typename Op::Item item, Op) {
  using Item = typename Op::Item;
  if constexpr (kInvertible<Op>) {
    return static_cast<Item>(static_cast<std::uint32_t>(scanned) - static_cast<std::uint32_t>(item));
  } else {
    const Item left = block.shuffle_up(scanned, 1);
    return block.lane() == 0 ? Op::identity() : left;
  }
}

/// How K items of each thread lie in shared memory while they are exchanged: a thread has vectors of 16 bytes, if it
/// has so much, and a vector is left free after every row of banks, if it has more.
template <class Item, int K>
struct Exchanged {
  static constexpr int kVector = std::min<int>(K, 16 / sizeof(Item));
  SCANLAB_HD static constexpr int at(int i) {
    constexpr unsigned kRow = 128 / sizeof(Item);
    return K > kVector ? i + static_cast<int>(static_cast<unsigned>(i) / kRow * kVector) : i;
  }
};

/// Turns striped items into blocked ones, or back, through shared memory from item `begin` on.
template <int K, bool kToBlocked, class Group, class SharedItems, class Item>
SCANLAB_HD void exchange(const Group& group, SharedItems shared, int begin, Item (&items)[K]) {
  using Places = Exchanged<Item, K>;
  constexpr int kVector = Places::kVector;
  const int t = group.rank(), own = begin + Places::at(t * K);
  const auto striped = [&](int j) {
    const int stripe = j * group.threads;  // a constant, where warps are whole; then t is all to be computed
    return begin + (group.whole() ? Places::at(stripe) + Places::at(t) : Places::at(stripe + t));
  };
  simt::Vector<Item, kVector> vector;
#pragma unroll
  for (int j = 0; j < K && group.holds(); ++j) {
    if constexpr (kToBlocked) {
      shared[striped(j)] = items[j];
    } else {
      vector[j % kVector] = items[j];
      if ((j + 1) % kVector == 0) group.block.template store<kVector>(shared, own + j + 1 - kVector, vector);
    }
  }
  group.sync();
#pragma unroll
  for (int j = 0; j < K && group.holds(); ++j) {
    if constexpr (kToBlocked) {
      if (j % kVector == 0) vector = group.block.template load<kVector>(shared, own + j);
      items[j] = vector[j % kVector];
    } else {
      items[j] = shared[striped(j)];
    }
  }
}

/// Scans the items of a group's threads inclusively: each folds its own, the algorithm scans the folds, and each adds
/// its items to what comes before them.
template <class Algorithm, int K, class Group, class SharedItems, Monoid Op>
SCANLAB_HD void scan_blocked(const Algorithm& algorithm, const Group& group, SharedItems shared,
                             typename Op::Item (&items)[K], Op op) {
  if constexpr (K == 1) {
    items[0] = algorithm.inclusive(group, shared, items[0], op);
  } else {
    group.block.step("fold", 0);
    typename Op::Item running = items[0];
#pragma unroll
    for (int j = 1; j < K; ++j) running = op(running, items[j]);
    running = algorithm.exclusive(group, shared, running, op);
    group.block.step("add", 0);
#pragma unroll
    for (int j = 0; j < K; ++j) {
      running = op(running, items[j]);
      items[j] = running;
    }
  }
}

/// A scan of a group's items, from what an algorithm does with one item a thread.
///   struct Algorithm {
///     static constexpr bool kWarp;                  // whether a group is a warp, else a block
///     static constexpr int kThreads;                // optional: it is compiled for at most so many
///     static constexpr int kBlocks;                 // optional: blocks that a multiprocessor must hold
///     int shared_items(int threads) const;          // items of shared memory a group
///     int chain(int threads) const;                 // most applications of the operator behind a result
///     // The scan over the first group.threads threads; the others' items are identities, their results unused.
///     Item inclusive(group, shared, Item item, Op op) const;
///     Item exclusive(group, shared, Item item, Op op) const;
///     static Algorithm for_problem(const Description&, const Problem&);   // optional, if it has parameters
///   };
template <class Algorithm>
struct OfThreads {
  static constexpr bool kWarp = Algorithm::kWarp;
  static constexpr int kThreads = [] {
    if constexpr (requires { Algorithm::kThreads; }) {
      return Algorithm::kThreads;
    } else {
      return 0;
    }
  }();
  static constexpr int kBlocks = [] {
    if constexpr (requires { Algorithm::kBlocks; }) {
      return Algorithm::kBlocks;
    } else {
      return 1;
    }
  }();
  Algorithm algorithm;

  template <class Item, int K, bool kStriped>
  SCANLAB_HD int shared_bytes(int threads) const {
    const int exchanged = kStriped ? Exchanged<Item, K>::at(threads * K) : 0;
    return (scanned(threads) + exchanged) * static_cast<int>(sizeof(Item));
  }
  int chain(int threads, int k) const { return algorithm.chain(threads) + 2 * k; }
  static OfThreads for_problem(const Description& about, const Problem& problem) {
    if constexpr (requires { Algorithm::for_problem(about, problem); }) {
      return {Algorithm::for_problem(about, problem)};
    } else {
      return {};
    }
  }

  template <class Op, class F>
  void with(int, F f) const {
    f(*this);
  }

  template <int K, bool kStriped, class Group, class SharedItems, Monoid Op>
  SCANLAB_HD void scan(const Group& group, SharedItems shared, typename Op::Item (&items)[K], Op op) const {
    const int begin = scanned(group.threads);
    if constexpr (kStriped) exchange<K, true>(group, shared, begin, items);
    scan_blocked(algorithm, group, shared, items, op);
    if constexpr (kStriped) {
      if (kWarp || begin == 0) group.sync();  // else the algorithm has a barrier
      exchange<K, false>(group, shared, begin, items);
    }
  }

 private:
  /// Items of the algorithm in shared memory, a multiple of 16 bytes.
  SCANLAB_HD int scanned(int threads) const { return (algorithm.shared_items(threads) + 3) / 4 * 4; }
};

/// kThreads: most threads of a block. kBlocks: a multiprocessor holds so many at least, which limits their registers.
template <class Scan, int K, bool kStriped, int kThreads = kMaxThreads, int kBlocks = 1>
struct Kernel {
  static constexpr const char* kName = "block_scan";
  static constexpr int kMaxThreads = kThreads;
  static constexpr int kBlocksPerMultiprocessor = kBlocks;
  Scan scan;

  /// in, out     `rows` rows of `row` items, may be the same array; group g scans row g
  /// scans       how often, one at least; the last is timed
  /// never       0
  /// times       of every warp of the grid, or null
  /// shared      Scan::shared_bytes a group
  template <simt::ThreadBlock Block, Monoid Op>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const typename Op::Item> in,
                             simt::Global<Block, typename Op::Item> out, int row, std::int64_t rows, int scans,
                             std::uint32_t never, simt::Global<Block, Times> times, Op op) const {
    using Item = typename Op::Item;
    constexpr int kHold = Scan::kWarp ? kLanes : kStriped ? Scan::kThreads : 0;  // threads with items, if it is known
    const Group<Scan::kWarp, Block, kHold> group{block, kHold != 0 ? kHold : row / K};
    const int warps = (block.num_threads() + kLanes - 1) / kLanes, groups = Scan::kWarp ? warps : 1;
    const int own = Scan::kWarp ? block.warp() : 0;
    const std::int64_t base = (block.group_index() * groups + own) * row;
    const int t = group.rank();
    const bool holds = group.holds() && base < rows * row;
    const int bytes = scan.template shared_bytes<Item, K, kStriped>(group.threads);
    auto shared = block.template shared<Item>(bytes / static_cast<int>(sizeof(Item)), own * bytes);

    block.step("load", 0);
    Item items[K], results[K] = {};
    for (int j = 0; j < K; ++j) {
      items[j] = Op::identity();
      if (holds) items[j] = in[base + place<K, kStriped>(t, j, group.threads)];
    }
    if ((fold_bits(items) & never) != 0) return;  // the items are here
    const int timed = times ? 1 : 0;              // scans left when one is timed; 0: none is
    std::int64_t begin = 0;
    std::uint32_t zero = 0;
#pragma unroll 1
    for (int left = scans; left > 0; --left) {
      group.sync();         // the shared memory is free again
      if (left == timed) {  // the scans before brought the code into the caches
        block.sync();
        begin = read_clock();
        zero |= static_cast<std::uint32_t>(begin) & never;
      }
#pragma unroll
      for (int j = 0; j < K; ++j) results[j] = disguise(items[j], zero);
      scan.template scan<K, kStriped>(group, shared, results, op);
      zero = fold_bits(results) & never;
    }
    if (zero != 0) return;  // the results are here
    const std::int64_t end = read_clock();
    block.step("store", 0);
    if (times) {
      if (block.lane() == 0) times[block.group_index() * warps + block.warp()] = {begin, end};
      return;
    }
    for (int j = 0; j < K; ++j) {
      if (holds) out[base + place<K, kStriped>(t, j, group.threads)] = results[j];
    }
  }
};

inline constexpr int kWarpsPerBlock = 8;   // in a block of warp scans; 1 in a watched run
inline constexpr int kWatchedScans = 4;    // of a watched run; the last is timed
inline constexpr int kWatchedBlocks = 32;  // each alone on its multiprocessor, where a device has so many

/// The place of items_per_thread among the parameters.
inline std::size_t items_parameter(const Description& about) {
  return static_cast<std::size_t>(std::ranges::find(about.parameters, "items_per_thread", &Parameter::name) -
                                  about.parameters.begin());
}

/// Adds to a description what all block scans have in common.
inline Description describe_group(Description about, bool warp, bool compiled = false) {
  about.primitive = warp ? Primitive::warp_scan : Primitive::block_scan;
  about.limits = warp ? "rows of 32 threads" : "rows of 1 to 1024 threads";
  about.in_place = true;
  const std::vector<std::string> most{"4", "1", "2", "8", "16"}, few{"4", "1", "16"};  // see kFewShapes
  about.parameters.push_back({"items_per_thread", compiled ? few : most, "items of a row that a thread holds"});
  about.parameters.push_back({"arrangement",
                              {"blocked", "striped"},
                              "blocked: a thread holds neighbours; striped: items t, t + threads, t + 2 threads, …"});
  about.parameters.push_back({"scans",
                              {"1", "256", "64", "2"},
                              "times that a row is scanned between its load and its store: memory counts ever less"});
  const std::vector<int> any{1, 32, 33, 96, 160, 992, 1024};
  const std::vector<int> each{1, 32, 33, 96, 128, 160, 192, 224, 256, 288, 512, 992, 1024};  // every number of warps
  for (const int threads : compiled ? each : any) {
    if (warp && threads != kLanes) continue;
    for (const std::string& k : about.parameters[items_parameter(about)].values) {
      const std::int64_t row = std::int64_t{threads} * std::stoi(k);
      if (row > 4096) continue;  // slow on the emulator
      about.checked.push_back({{row}, {{"items_per_thread", k}}});
      if (k != "4" || (compiled && threads != 96)) continue;
      about.checked.push_back({{row}, {{"items_per_thread", k}, {"arrangement", "striped"}, {"scans", "2"}}});
    }
  }
  return about;
}

/// The closed form of a count: scan(threads, items of each) a scan.
template <class F>
auto closed_form(F scan) {
  return [=](const Problem& problem) -> std::optional<std::int64_t> {
    const auto given = [&](const char* name, std::int64_t usual) {
      const auto found = problem.settings.find(name);
      return found == problem.settings.end() ? usual : std::stoll(found->second);
    };
    const std::int64_t k = given("items_per_thread", 4);
    return problem.rows * given("scans", 1) * scan(problem.axis() / k, k);
  };
}
/// The same of additions, of which the threads of whole warps make some of their own: they fold their items, and add
/// what comes before them; or `for_one`, with one item each.
template <class F>
auto closed_form_of_additions(F scan, std::int64_t for_one) {
  return closed_form([=](std::int64_t threads, std::int64_t k) {
    return scan(threads) + (k == 1 ? for_one : 2 * k - 1) * ceil_div(threads, std::int64_t{kLanes}) * kLanes;
  });
}

/// The parameter of scans that are compiled for their threads.
inline Parameter registers_parameter() {
  return {
      "registers",
      {"free", "32"},
      "of a thread: as the compiler likes, or 32, so that 2048 threads fit; of blocks of 32 threads 1024 fit, by 64"};
}

/// The parameter of scans ByPredicate.
inline Parameter predicate_parameter() {
  return {
      "predicate",
      {"shuffle", "lane"},
      "how a lane knows, in a step of its warp, whether it has a lane to take from: shuffle: the shuffle says so, by "
      "the fewest instructions; lane: by its number, in the fewest cycles"};
}

/// The settings of a problem that its launch needs.
struct Shape {
  Shape() = default;
  Shape(const Description& about, const Problem& problem)
      : row(problem.axis()),
        rows(problem.rows),
        k(std::stoi(setting(about, problem.settings, "items_per_thread"))),
        scans(std::stoi(setting(about, problem.settings, "scans"))),
        striped(setting(about, problem.settings, "arrangement") == "striped"),
        full(setting(about, problem.settings, "registers") == "32"),
        item_bytes(static_cast<int>(scanlab::item_bytes(problem.type, problem.op))) {}

  /// Whether threads with so many items each hold a row.
  bool fits(const Description& about, int items_per_thread) const {
    if (row % items_per_thread != 0) return false;
    const std::int64_t threads = row / items_per_thread;
    return about.primitive == Primitive::warp_scan ? threads == kLanes : threads >= 1 && threads <= kMaxThreads;
  }
  /// Why there is no such block; empty if there is.
  std::string refusal(const Description& about, Mode mode) const {
    if (mode == Mode::exclusive) return about.id + " scans inclusively: leave out --mode";
    if (!fits(about, k)) {
      const std::string reason = about.id + " scans " + about.limits + ", and not " + std::to_string(row) + " by " +
                                 std::to_string(k) + ": give ";
      for (const std::string& value : about.parameters[items_parameter(about)].values) {
        if (fits(about, std::stoi(value))) return reason + "--set items_per_thread=" + value;
      }
      return reason + "other --items";
    }
    if (full && k * item_bytes > 16) return about.id + " takes registers=32 for at most 16 bytes a thread";
    return {};
  }
  int threads() const { return static_cast<int>(row / k); }

  std::int64_t row = 0;
  std::int64_t rows = 0;
  int k = 1;
  int scans = 1;
  bool striped = false;
  bool full = false;
  int item_bytes = 4;
};

template <class Op>
inline constexpr bool kIsI32Sum = Op::kOperator == Operator::plus&& std::is_same_v<typename Op::Item, std::int32_t>;

/// Calls `f` with the items per thread, one of `Ks`, at compile time, and whether they are striped, which one item a
/// thread need not be.
template <int... Ks, class F>
void with_shape(const Shape& shape, F f) {
  const auto with = [&]<int K>() {
    if constexpr (K > 1) {
      if (shape.striped) return f.template operator()<K, true>();
    }
    f.template operator()<K, false>();
  };
  ((shape.k == Ks ? with.template operator()<Ks>() : void()), ...);
}

/// A scan that is compiled for the number of warps: `Algorithm<kWarps>`, where from 9 on kWarps are at least those.
template <template <int> class Algorithm>
struct OfWarps {
  static constexpr bool kWarp = false;
  static constexpr const char* kShapes =
      "1, 4 or 16 items a thread, which may be striped for sums of i32 by 512, 1024, or up to 256 threads in whole "
      "warps";
  static OfWarps for_problem(const Description&, const Problem&) { return {}; }

  template <class Op, class F>
  void with(int threads, F f) const {
    with_warps<1, 2, 3, 4, 5, 6, 7, 8, 16, 32>(ceil_div(threads, kLanes), f);
  }

 private:
  template <int kWarps, int... kMoreWarps, class F>
  void with_warps(std::int64_t warps, F f) const {
    if constexpr (sizeof...(kMoreWarps) > 0) {
      if (warps > kWarps) return with_warps<kMoreWarps...>(warps, f);
    }
    f(OfThreads<Algorithm<kWarps>>{});
  }
};

/// A scan that is compiled by either predicate of scan_warp(); the settings of a problem name one.
template <class ByShuffle, class ByLane>
struct ByPredicate : ByShuffle {
  bool by_lane = false;
  static ByPredicate for_problem(const Description& about, const Problem& problem) {
    return {{}, setting(about, problem.settings, "predicate") == "lane"};
  }
  template <class Op, class F>
  void with(int threads, F f) const {
    if (by_lane) return ByLane().template with<Op>(threads, f);
    ByShuffle::template with<Op>(threads, f);
  }
};

/// Whether a scan is compiled for its number of threads, and so for few shapes, which it names in kShapes.
template <class Scan>
inline constexpr bool kFewShapes = requires {
  Scan::kShapes;
};

/// Calls `f` with what is compiled for a shape, if it is, and with the items of a thread and whether they are striped.
/// A scan's `with<Op>(threads, f)` calls f with what is compiled for so many.
template <class Op, class Scan, class F>
void with_scan(const Scan& scan, const Shape& shape, F f) {
  if constexpr (kFewShapes<Scan>) {
    with_shape<1, 4, 16>(shape, [&]<int K, bool kStriped>() {
      if constexpr (!kStriped || kIsI32Sum<Op>) {
        scan.template with<Op>(shape.threads(), [&](const auto& compiled) {
          if (!kStriped || compiled.kThreads == shape.threads()) f.template operator()<K, kStriped>(compiled);
        });
      }
    });
  } else {
    with_shape<1, 2, 4, 8, 16>(shape, [&]<int K, bool kStriped>() {
      scan.template with<Op>(shape.threads(), [&](const auto& one) { f.template operator()<K, kStriped>(one); });
    });
  }
}

/// Whether a scan takes the threads that hold items and no more; else blocks are of whole warps.
template <class Scan>
inline constexpr bool kIsExact = requires {
  Scan::kExact;
};

/// Launches the kernel on rows of a shape; with `times`, on a few of them, once.
template <int K, bool kStriped, int kThreads, int kBlocks = 1, class Scan, class Machine, Monoid Op>
void launch(Machine& machine, const Scan& scan, const Shape& shape, simt::Arrays<Machine, typename Op::Item> arrays,
            typename Machine::template Global<Times> times, Op op) {
  const int groups = Scan::kWarp && !times ? kWarpsPerBlock : 1;
  const int warps = groups * ceil_div(shape.threads(), kLanes);
  const std::int64_t blocks = ceil_div(shape.rows, groups);
  const int shared = scan.template shared_bytes<typename Op::Item, K, kStriped>(shape.threads());
  machine.launch({.blocks = times ? std::min<std::int64_t>(blocks, kWatchedBlocks) : blocks,
                  .threads = kIsExact<Scan> ? shape.threads() : warps * kLanes,
                  .shared_bytes = static_cast<std::size_t>(groups) * shared},
                 Kernel<Scan, K, kStriped, kThreads, kBlocks>{scan}, arrays.in, arrays.out, static_cast<int>(shape.row),
                 shape.rows, times ? kWatchedScans : shape.scans, 0U, times, op);
}

/// The same, compiled for as many threads as the scan, and for the registers that the shape names.
template <int K, bool kStriped, class Scan, class Machine, Monoid Op>
void launch_compiled(Machine& machine, const Scan& scan, const Shape& shape,
                     simt::Arrays<Machine, typename Op::Item> arrays, typename Machine::template Global<Times> times,
                     Op op) {
  constexpr int kMost = Scan::kThreads != 0 ? Scan::kThreads : kMaxThreads;
  if constexpr (Scan::kThreads == 0) {
    constexpr int kFew = K < 16 ? kMost : 256;  // more registers for a thread, where it needs them
    if constexpr (!Scan::kWarp) {
      if (shape.threads() > kFew) return launch<K, kStriped, kMost>(machine, scan, shape, arrays, times, op);
    }
    launch<K, kStriped, kFew>(machine, scan, shape, arrays, times, op);
  } else if constexpr (K * sizeof(typename Op::Item) <= 16) {  // leaves room for other registers
    constexpr int kFull = std::is_same_v<Machine, simt::Emulator> ? 1 : std::min(2048 / kMost, 32);
    if (shape.full) return launch<K, kStriped, kMost, kFull>(machine, scan, shape, arrays, times, op);
    // Addresses of striped items take registers, and so do items of 8 bytes.
    constexpr int kBlocks = kStriped || sizeof(typename Op::Item) > 4 ? 1 : Scan::kBlocks;
    launch<K, kStriped, kMost, kBlocks>(machine, scan, shape, arrays, times, op);
  } else {
    launch<K, kStriped, kMost>(machine, scan, shape, arrays, times, op);
  }
}

#if defined(__CUDACC__)
/// The fewest cycles that a block took, from when its first warp began until its last had its results.
inline std::vector<RoleCycles> read_cycles(const Times* times, const Shape& shape, cudaStream_t stream) {
  const std::int64_t warps = ceil_div(shape.threads(), kLanes);
  const std::int64_t blocks = std::min<std::int64_t>(shape.rows, kWatchedBlocks);
  std::vector<Times> all(static_cast<std::size_t>(blocks * warps));
  cuda::check(cudaMemcpyAsync(all.data(), times, all.size() * sizeof(Times), cudaMemcpyDeviceToHost, stream),
              "copying the cycles of blocks");
  cuda::check(cudaStreamSynchronize(stream), "waiting for the cycles of blocks");
  RoleCycles fewest{"scan", INFINITY};
  for (auto first = all.begin(); first != all.end(); first += warps) {
    const auto begin = std::ranges::min_element(first, first + warps, {}, &Times::begin)->begin;
    const auto end = std::ranges::max_element(first, first + warps, {}, &Times::end)->end;
    fewest.total = std::min(fewest.total, static_cast<double>(end - begin));
  }
  return {fewest};
}
#endif

/// The memory that read_cycles() reads.
inline std::size_t times_bytes() { return kWatchedBlocks * (kMaxThreads / kLanes) * sizeof(Times); }

/// A variant of an `Id`, which has `static Description describe()`, by a `Scan` like OfThreads.
template <class Id, class Scan>
class Variant {
 public:
  template <class Op>
  static constexpr bool kTakes = kStudied<Op>;

  explicit Variant(const Problem& problem)
      : problem_(problem), shape_(describe(), problem), scan_(Scan::for_problem(describe(), problem)) {}

  static Description describe() { return describe_group(Id::describe(), Scan::kWarp, kFewShapes<Scan>); }

  Plan plan() const {
    if (std::string reason = shape_.refusal(describe(), problem_.mode); !reason.empty())
      return Plan::refuse(std::move(reason));
    Plan plan = Plan::refuse(describe().id + " is compiled for ");
    if constexpr (kFewShapes<Scan>) plan.refusal += Scan::kShapes;
    with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) {
      if constexpr (kStudied<Op>) {
        with_scan<Op>(scan_, shape_, [&]<int K, bool kStriped>(const auto& scan) {
          plan = {.workspace_bytes = times_bytes(), .chain = scan.chain(shape_.threads(), K)};
        });
      }
    });
    return plan;
  }

  template <class Machine, Monoid Op>
  void run(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays, simt::Workspace) const {
    launch_on(machine, op, arrays, typename Machine::template Global<Times>{});
  }

#if defined(__CUDACC__)
  template <class Op>
  void run(cudaStream_t stream, Op op, const typename Op::Item* in, typename Op::Item* out, void*, std::size_t) const {
    simt::CudaMachine machine(stream);
    launch_on(machine, op, simt::Arrays<simt::CudaMachine, typename Op::Item>{in, out}, static_cast<Times*>(nullptr));
  }
  template <class Op>
  std::vector<RoleCycles> watch(cudaStream_t stream, Op op, const typename Op::Item* in, typename Op::Item* out,
                                void* workspace) const {
    simt::CudaMachine machine(stream);
    const auto times = static_cast<Times*>(workspace);
    launch_on(machine, op, simt::Arrays<simt::CudaMachine, typename Op::Item>{in, out}, times);
    return read_cycles(times, shape_, stream);
  }
#endif

 private:
  template <class Machine, Monoid Op>
  void launch_on(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays,
                 typename Machine::template Global<Times> times) const {
    with_scan<Op>(scan_, shape_, [&]<int K, bool kStriped>(const auto& scan) {
      launch_compiled<K, kStriped>(machine, scan, shape_, arrays, times, op);
    });
  }

  Problem problem_;
  Shape shape_;
  Scan scan_;
};

#if defined(__CUDACC__) && defined(SCANLAB_ALONE)
/// Scans rows of `threads` times 4 integers, as the file that is compiled alone does it, and says whether a loop
/// agrees.
template <class Scan>
int run_alone(const char* id) {
  int wrong = 0;
  for (const int threads : {32, 64, 128, 256, 512, 1024}) {
    Shape shape;
    shape.k = 4;
    shape.row = threads * shape.k;
    shape.rows = kWatchedBlocks;
    if (Scan::kWarp && threads != kLanes) break;
    const auto items = static_cast<std::size_t>(shape.row * shape.rows);
    int *in = nullptr, *out = nullptr;
    Times* times = nullptr;
    cuda::check(cudaMallocManaged(&in, items * sizeof(int)), "allocating the input");
    cuda::check(cudaMallocManaged(&out, items * sizeof(int)), "allocating the output");
    cuda::check(cudaMallocManaged(&times, times_bytes()), "allocating the cycles");
    for (std::size_t i = 0; i < items; ++i) in[i] = static_cast<int>(i * 2654435761U);
    simt::CudaMachine machine(nullptr);
    const simt::Arrays<simt::CudaMachine, int> arrays{in, out};
    double cycles = 0;
    with_scan<Plus<int>>(Scan{}, shape, [&]<int K, bool kStriped>(const auto& scan) {
      if constexpr (K == 4 && !kStriped) {
        launch_compiled<K, kStriped>(machine, scan, shape, arrays, times, Plus<int>{});
        cycles = read_cycles(times, shape, nullptr).front().total;
        launch_compiled<K, kStriped>(machine, scan, shape, arrays, static_cast<Times*>(nullptr), Plus<int>{});
      }
    });
    cuda::check(cudaDeviceSynchronize(), "scanning");
    unsigned sum = 0;
    for (std::size_t i = 0; i < items; ++i) {
      sum = (i % static_cast<std::size_t>(shape.row) == 0 ? 0 : sum) + static_cast<unsigned>(in[i]);
      wrong += static_cast<unsigned>(out[i]) != sum;
    }
    std::printf("%s: %d threads of 4 items: %.0f cycles, %d items wrong\n", id, threads, cycles, wrong);
    cudaFree(in);
    cudaFree(out);
    cudaFree(times);
  }
  return wrong == 0 ? 0 : 1;
}
#endif

}  // namespace scanlab::block_scan

/// Ends the file of a variant: registers it; or makes a program of the file, where it is compiled alone:
///   nvcc -std=c++20 -arch=native --expt-relaxed-constexpr -DSCANLAB_ALONE -I. -Ivariants/block_scan/alone
///   variants/block_scan/block_raking.cu
#if defined(SCANLAB_ALONE)
#define SCANLAB_BLOCK_SCAN(Id, ...)                           \
  int main() {                                                \
    using namespace scanlab;                                  \
    using namespace block_scan;                               \
    return run_alone<__VA_ARGS__>(Id::describe().id.c_str()); \
  }
#else
#define SCANLAB_BLOCK_SCAN(Id, ...)                                                 \
  namespace scanlab::block_scan {                                                   \
  namespace {                                                                       \
  const Registration registration{simt::portable_scan<Variant<Id, __VA_ARGS__>>()}; \
  }                                                                                 \
  }
#endif
