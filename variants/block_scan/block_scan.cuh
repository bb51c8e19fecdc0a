// The kernel that all block and warp scans share: it brings a row into the registers of a group of threads, has an
// algorithm scan it there, as often as is asked, and stores it. The algorithms differ in how the threads of a group
// learn what comes before their own items.
//
// Measuring. Nothing in a scan of registers keeps a compiler from hoisting it out of a loop or past a clock. So every
// scan takes its items through a word of zero bits that it cannot know to be zero, and that depends on the clock and
// on all results of the scan before. That costs an instruction an item and half of one a result, the same for all;
// `block_copy` shows what the kernel takes without any scan.
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

/// Threads that scan a row together: a block, or a warp of a block.
template <bool kWarp, simt::ThreadBlock Block>
struct Group {
  Block& block;
  int threads;  ///< that hold items: the first of them
  SCANLAB_HD int rank() const { return kWarp ? block.lane() : block.thread_rank(); }
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

/// The scan over a warp, one value a lane: inclusive, five steps. Where the compiler would select the sum or the item,
/// an addition that only lanes with a left neighbour execute saves an instruction a step.
template <simt::ThreadBlock Block, Monoid Op>
SCANLAB_HD typename Op::Item scan_warp(Block& block, typename Op::Item item, Op op) {
  [[maybe_unused]] constexpr bool kSum = Op::kOperator == Operator::plus;
  using Item = typename Op::Item;
  const int lane = block.lane();
#pragma unroll
  for (int distance = 1; distance < kLanes; distance *= 2) {
#if defined(__CUDA_ARCH__)
    if constexpr (kSum && std::is_same_v<Item, std::int32_t>) {
      asm("{ .reg .s32 left; .reg .pred p; setp.ge.s32 p, %1, %2; shfl.sync.up.b32 left, %0, %2, 0, 0xffffffff;"
          "  @p add.s32 %0, left, %0; }"
          : "+r"(item)
          : "r"(lane), "r"(distance));
      continue;
    } else if constexpr (kSum && std::is_same_v<Item, float>) {
      asm("{ .reg .f32 left; .reg .pred p; setp.ge.s32 p, %1, %2; shfl.sync.up.b32 left, %0, %2, 0, 0xffffffff;"
          "  @p add.f32 %0, left, %0; }"
          : "+f"(item)
          : "r"(lane), "r"(distance));
      continue;
    }
#endif
    const Item left = block.shuffle_up(item, distance);
    if (lane >= distance) item = op(left, item);
  }
  return item;
}

/// Turns striped items into blocked ones, or back, through shared memory that is free; an item is left free after every
/// 32.
template <int K, bool kToBlocked, class Group, class SharedItems, class Item>
SCANLAB_HD void exchange(const Group& group, SharedItems shared, Item (&items)[K]) {
  const auto at = [](int i) { return i + (i >> 5); };
  const int t = group.rank();
#pragma unroll
  for (int j = 0; j < K; ++j) {
    if (t < group.threads) shared[at(place<K, kToBlocked>(t, j, group.threads))] = items[j];
  }
  group.sync();
#pragma unroll
  for (int j = 0; j < K; ++j) {
    if (t < group.threads) items[j] = shared[at(place<K, !kToBlocked>(t, j, group.threads))];
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
///     int shared_items(int threads) const;          // of shared memory, by a group
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
  Algorithm algorithm;

  template <class Item, int K, bool kStriped>
  SCANLAB_HD int shared_bytes(int threads) const {
    const int exchanged = kStriped ? threads * K + threads * K / kLanes : 0;
    const int scanned = algorithm.shared_items(threads);
    return (exchanged > scanned ? exchanged : scanned) * static_cast<int>(sizeof(Item));
  }
  int chain(int threads, int k) const { return algorithm.chain(threads) + 2 * k; }
  static OfThreads for_problem(const Description& about, const Problem& problem) {
    if constexpr (requires { Algorithm::for_problem(about, problem); }) {
      return {Algorithm::for_problem(about, problem)};
    } else {
      return {};
    }
  }

  template <int K, bool kStriped, class Group, class SharedItems, Monoid Op>
  SCANLAB_HD void scan(const Group& group, SharedItems shared, typename Op::Item (&items)[K], Op op) const {
    if constexpr (kStriped) {
      exchange<K, true>(group, shared, items);
      group.sync();
    }
    scan_blocked(algorithm, group, shared, items, op);
    if constexpr (kStriped) {
      group.sync();
      exchange<K, false>(group, shared, items);
    }
  }
};

/// kThreads: most threads of a block. kFull: a multiprocessor holds 2048 threads, which leaves 32 registers to each.
template <class Scan, int K, bool kStriped, int kThreads = kMaxThreads, bool kFull = false>
struct Kernel {
  static constexpr const char* kName = "block_scan";
  static constexpr int kMaxThreads = kThreads;
  static constexpr int kBlocksPerMultiprocessor = kFull ? std::min(2048 / kThreads, 32) : 1;
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
    const Group<Scan::kWarp, Block> group{block, row / K};
    const int warps = (block.num_threads() + kLanes - 1) / kLanes, groups = Scan::kWarp ? warps : 1;
    const int own = Scan::kWarp ? block.warp() : 0;
    const std::int64_t base = (block.group_index() * groups + own) * row;
    const int t = group.rank();
    const bool holds = t < group.threads && base < rows * row;
    const int bytes = scan.template shared_bytes<Item, K, kStriped>(group.threads);
    auto shared = block.template shared<Item>(bytes / static_cast<int>(sizeof(Item)), own * bytes);

    block.step("load", 0);
    Item items[K], results[K] = {};
    for (int j = 0; j < K; ++j) {
      items[j] = Op::identity();
      if (holds) items[j] = in[base + place<K, kStriped>(t, j, group.threads)];
    }
    if ((fold_bits(items) & never) != 0) return;  // the items are here
    std::int64_t begin = 0;
    std::uint32_t zero = 0;
#pragma unroll 1
    for (int left = scans; left > 0; --left) {
      group.sync();              // the shared memory is free again
      if (times && left == 1) {  // the scans before brought the code into the caches
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

inline constexpr int kWarpsPerBlock = 8;   // of warp scans
inline constexpr int kWatchedScans = 4;    // of which the last is timed
inline constexpr int kWatchedBlocks = 32;  // fewer than a device has multiprocessors: each is alone on its own

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

/// The parameter of scans that are compiled for their threads.
inline Parameter registers_parameter() {
  return {"registers", {"free", "32"}, "of a thread: as the compiler likes, or 32, so that 2048 threads fit"};
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

/// Whether a scan is compiled for its number of threads, and so for fewer shapes: 1, 4 or 16 items a thread, which are
/// striped for sums of i32 alone.
template <class Scan>
inline constexpr bool kFewShapes = requires(const Scan& scan) {
  scan.with(1, [](auto) {});
};
template <class Op>
inline constexpr bool kIsI32Sum = Op::kOperator == Operator::plus&& std::is_same_v<typename Op::Item, std::int32_t>;

/// Why a scan of few shapes is not compiled for one; empty if it is.
inline std::string few_shapes_refusal(const Description& about, const Shape& shape, const Problem& problem) {
  const bool is_i32_sum = problem.type == ElementType::i32 && problem.op == Operator::plus;
  if (!shape.striped || is_i32_sum) return {};
  return about.id + " takes striped items for sums of i32 alone: leave out --set arrangement";
}

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
  Algorithm<1> algorithm;
  int chain(int threads, int k) const { return OfThreads<Algorithm<1>>{algorithm}.chain(threads, k); }
  static OfWarps for_problem(const Description& about, const Problem& problem) {
    return {OfThreads<Algorithm<1>>::for_problem(about, problem).algorithm};
  }

  template <class F>
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

/// Calls `f` with the scan, or with that which it has compiled for so many threads.
template <class Scan, class F>
void with_compiled(const Scan& scan, int threads, F f) {
  if constexpr (requires { scan.with(threads, f); }) {
    scan.with(threads, f);
  } else {
    f(scan);
  }
}

/// Whether a scan takes the threads that hold items and no more; else blocks are of whole warps.
template <class Scan>
inline constexpr bool kIsExact = requires {
  Scan::kExact;
};

/// Whether a form of the kernel with at most 32 registers a thread is compiled: where the items leave room for others.
template <class Scan, int K, class Op>
inline constexpr bool kHasFull = Scan::kThreads != 0 && K * sizeof(typename Op::Item) <= 16;

/// Launches the kernel on rows of a shape; with `times`, on a few of them, once.
template <int K, bool kStriped, int kThreads, bool kFull = false, class Scan, class Machine, Monoid Op>
void launch(Machine& machine, const Scan& scan, const Shape& shape, simt::Arrays<Machine, typename Op::Item> arrays,
            typename Machine::template Global<Times> times, Op op) {
  const int groups = Scan::kWarp ? kWarpsPerBlock : 1;
  const int warps = Scan::kWarp ? groups : ceil_div(shape.threads(), kLanes);
  const std::int64_t blocks = ceil_div(shape.rows, groups);
  const int shared = scan.template shared_bytes<typename Op::Item, K, kStriped>(shape.threads());
  machine.launch({.blocks = times ? std::min<std::int64_t>(blocks, kWatchedBlocks) : blocks,
                  .threads = kIsExact<Scan> ? shape.threads() : warps * kLanes,
                  .shared_bytes = static_cast<std::size_t>(groups) * shared},
                 Kernel<Scan, K, kStriped, kThreads, kFull>{scan}, arrays.in, arrays.out, static_cast<int>(shape.row),
                 shape.rows, times ? kWatchedScans : shape.scans, 0U, times, op);
}

/// The same for a scan that is compiled for its threads, with the registers that the shape names.
template <int K, bool kStriped, class Scan, class Machine, Monoid Op>
void launch_compiled(Machine& machine, const Scan& scan, const Shape& shape,
                     simt::Arrays<Machine, typename Op::Item> arrays, typename Machine::template Global<Times> times,
                     Op op) {
  if constexpr (kHasFull<Scan, K, Op> && !std::is_same_v<Machine, simt::Emulator>) {
    if (shape.full) return launch<K, kStriped, Scan::kThreads, true>(machine, scan, shape, arrays, times, op);
  }
  launch<K, kStriped, Scan::kThreads>(machine, scan, shape, arrays, times, op);
}

#if defined(__CUDACC__)
/// The fewest cycles that a block took, from when its first warp began until its last had its results.
inline std::vector<RoleCycles> read_cycles(const Times* times, const Shape& shape, bool warp, cudaStream_t stream) {
  const std::int64_t groups = warp ? kWarpsPerBlock : 1;
  const std::int64_t warps = warp ? groups : ceil_div(shape.threads(), kLanes);
  const std::int64_t blocks = std::min<std::int64_t>(ceil_div(shape.rows, groups), kWatchedBlocks);
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
    if (std::string reason = few_shapes_refusal(describe(), shape_, problem_); kFewShapes<Scan> && !reason.empty())
      return Plan::refuse(std::move(reason));
    return {.workspace_bytes = times_bytes(), .chain = scan_.chain(shape_.threads(), shape_.k)};
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
    return read_cycles(times, shape_, Scan::kWarp, stream);
  }
#endif

 private:
  template <class Machine, Monoid Op>
  void launch_on(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays,
                 typename Machine::template Global<Times> times) const {
    with_compiled(scan_, shape_.threads(), [&](auto scan) { launch_by(machine, scan, op, arrays, times); });
  }

  template <class Machine, class Compiled, Monoid Op>
  void launch_by(Machine& machine, const Compiled& scan, Op op, simt::Arrays<Machine, typename Op::Item> arrays,
                 typename Machine::template Global<Times> times) const {
    if constexpr (Compiled::kThreads != 0) {
      with_shape<1, 4, 16>(shape_, [&]<int K, bool kStriped>() {
        if constexpr (!kStriped || kIsI32Sum<Op>) {
          launch_compiled<K, kStriped>(machine, scan, shape_, arrays, times, op);
        }
      });
    } else {
      with_shape<1, 2, 4, 8, 16>(shape_, [&]<int K, bool kStriped>() {
        constexpr int kSmall = K < 16 ? kMaxThreads : 256;  // more registers for a thread, where it needs them
        if (shape_.threads() <= kSmall) {
          launch<K, kStriped, kSmall>(machine, scan, shape_, arrays, times, op);
        } else {
          launch<K, kStriped, kMaxThreads>(machine, scan, shape_, arrays, times, op);
        }
      });
    }
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
    shape.rows = Scan::kWarp ? kWatchedBlocks * kWarpsPerBlock : kWatchedBlocks;
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
    with_compiled(Scan{}, threads, [&](auto scan) {
      launch<4, false, kMaxThreads>(machine, scan, shape, arrays, times, Plus<int>{});
      cycles = read_cycles(times, shape, Scan::kWarp, nullptr).front().total;
      launch<4, false, kMaxThreads>(machine, scan, shape, arrays, static_cast<Times*>(nullptr), Plus<int>{});
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
    using namespace scanlab::block_scan;                      \
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
