// runs_passes, lengths_passes and unique_passes: find where runs begin, as select_passes finds flagged items; then a
// thread folds each run, or subtracts where two begin. For keys alone the first part is all.
//
// Idea    A run begins where a key differs from the one before. Once these places are listed, runs are independent. A
//         thread for each is the simplest way to share them out, and a poor one: neighbouring threads read far from
//         each other, and all wait for the longest run.
// Work    2n comparisons, n - runs applications of the operator; a scan of n / 2048 counts by one block.
// Span    The longest run.
// Traffic 2n keys, the places of runs, written once and read twice, n items, and a key and a fold a run.
// Bits    Fixed: a thread adds from left to right.
// Source  Horn, "Stream reduction operations for GPGPU applications", GPU Gems 2, 2005, for the places.
#include "variants/runs/runs.hpp"
#include "variants/select/select_passes.cuh"

namespace scanlab::runs {
namespace {

template <class Block, class Key>
SCANLAB_HD bool begins_run(simt::Global<Block, const Key> keys, std::int64_t i) {
  if (i == 0) return true;
  const Key before = keys[i - 1], own = keys[i];
  return before != own;
}

template <class Key>
struct CountRuns {
  static constexpr const char* kName = "count_runs";
  static constexpr int kMaxThreads = select::kThreads;

  template <simt::ThreadBlock Block>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const Key> keys,
                             simt::Global<Block, std::int64_t> counts, std::int64_t n) const {
    select::count_kept(block, counts, n, [&](std::int64_t i) { return begins_run<Block>(keys, i); });
  }
};

/// kPlaces: whether more than the keys is wanted.
template <class Key, bool kPlaces>
struct ListRuns {
  static constexpr const char* kName = "list_runs";
  static constexpr int kMaxThreads = select::kThreads;

  /// begins: where each run begins. unique: its key.
  template <simt::ThreadBlock Block>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const Key> keys,
                             simt::Global<Block, const std::int64_t> before, simt::Global<Block, std::int64_t> begins,
                             simt::Global<Block, Key> unique, std::int64_t n) const {
    select::visit_items(
        block, before, n, [&](std::int64_t i) { return begins_run<Block>(keys, i); },
        [&](std::int64_t i, bool begins_here, std::int64_t run) {
          if (!begins_here) return;
          if constexpr (kPlaces) begins[run] = i;
          unique[run] = keys[i];
        });
  }
};

struct FoldRunByRun {
  static constexpr const char* kName = "fold_run_by_run";
  static constexpr int kMaxThreads = select::kThreads;

  /// A thread a run, as far as there are runs.
  template <simt::ThreadBlock Block, class Op>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const typename Op::Item> in,
                             simt::Global<Block, typename Op::Item> out, simt::Global<Block, const std::int64_t> begins,
                             simt::Global<Block, const std::uint64_t> count, std::int64_t n, bool lengths,
                             Op op) const {
    using Item = typename Op::Item;
    const auto runs = static_cast<std::int64_t>(std::uint64_t{count[0]});
    const std::int64_t run = block.group_index() * block.num_threads() + block.thread_rank();
    if (run >= runs) return;
    const std::int64_t first = begins[run];
    std::int64_t end = n;
    if (run + 1 < runs) end = begins[run + 1];
    if (lengths) {
      if constexpr (std::is_integral_v<Item>) out[run] = static_cast<Item>(end - first);
      return;
    }
    Item folded = in[first];
    for (std::int64_t i = first + 1; i < end; ++i) {
      const Item own = in[i];
      folded = op(folded, own);
    }
    out[run] = folded;
  }
};

template <Primitive kPrimitive>
class RunsPasses {
  static constexpr bool kLengths = kPrimitive == Primitive::run_length_encode;
  static constexpr bool kUnique = kPrimitive == Primitive::unique;

 public:
  template <class Op>
  static constexpr bool kTakes = kFolded<kPrimitive, Op>;

  static Description describe() {
    Description about = describe_runs(kPrimitive, false);
    about.id = std::string(prefix(kPrimitive)) + "_passes";
    about.title = kUnique    ? "Count where runs begin, scan the counts, store the keys"
                  : kLengths ? "List where runs begin, and subtract"
                             : "List where runs begin, and fold each by a thread";
    about.source = "Horn 2005";
    about.family = kUnique ? "three launches" : "four launches";
    about.cost.work = kUnique ? "2n comparisons" : "2n comparisons, and n additions";
    about.cost.span = kUnique ? "a tile twice, and the counts" : "the longest run";
    about.cost.traffic = kUnique ? "2n keys, and a key a run"
                                 : "2n keys, the places of runs three times, the items, and a key and a fold a run";
    return about;
  }

  explicit RunsPasses(const Problem& problem) : problem_(problem) {}

  Plan plan() const {
    simt::Workspace workspace;
    workspace.take<std::int64_t>(blocks());
    workspace.take<std::int64_t>(places());
    return {.workspace_bytes = workspace.bytes(), .chain = problem_.items};
  }

  template <class Machine, Monoid Op>
  void run(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays, simt::Workspace workspace) const {
    segmented::with_key(problem_, [&]<class Key>(Key) { run_on<Key>(machine, op, arrays, workspace); });
  }

 private:
  template <class Key, class Machine, Monoid Op>
  void run_on(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays,
              simt::Workspace workspace) const {
    using Places = typename Machine::template Global<const std::int64_t>;
    using Number = typename Machine::template Global<const std::uint64_t>;
    const std::int64_t n = problem_.items;
    const auto keys = machine.global(static_cast<const Key*>(arrays.entries), n, "keys");
    const auto unique = machine.global(static_cast<Key*>(arrays.unique), problem_.counted(), "unique");
    const auto counts = machine.global(workspace.take<std::int64_t>(blocks()), blocks(), "counts");
    const auto begins = machine.global(workspace.take<std::int64_t>(places()), places(), "begins");
    const auto count = machine.global(arrays.count, 1, "count");
    if (n > 0) machine.launch(select::tiles_of(n), CountRuns<Key>{}, keys, counts, n);
    machine.launch(select::kOneBlock, select::ScanCounts{}, counts, blocks(), count);
    if (n == 0) return;
    machine.launch(select::tiles_of(n), ListRuns<Key, !kUnique>{}, keys, Places(counts), begins, unique, n);
    if constexpr (!kUnique)
      machine.launch({.blocks = ceil_div(n, select::kThreads), .threads = select::kThreads}, FoldRunByRun{}, arrays.in,
                     arrays.out, Places(begins), Number(count), n, kLengths, op);
  }

  std::int64_t blocks() const { return ceil_div(problem_.items, select::kTile); }
  /// Where runs begin, at most.
  std::int64_t places() const { return kUnique ? 0 : problem_.items; }

  Problem problem_;
};

const Registration kRunsPasses{simt::portable_scan<RunsPasses<Primitive::reduce_by_key>>()};
const Registration kLengthsPasses{simt::portable_scan<RunsPasses<Primitive::run_length_encode>>()};
const Registration kUniquePasses{simt::portable_scan<RunsPasses<Primitive::unique>>()};

}  // namespace
}  // namespace scanlab::runs
