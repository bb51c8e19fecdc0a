// select_passes: counts what each block keeps, scans the counts, and lets each block store what it keeps.
// partition_passes stores the others behind them, in reverse order.
//
// Idea    A kept item's place is the number of kept ones before it. A ballot tells each lane of a warp what the others
//         keep, so that 32 flags are counted by one instruction. Places of blocks come from a scan of their counts, as
//         in reduce_then_scan.
// Work    n looks, twice; a scan of n / 2048 counts by one block.
// Span    a tile, twice, and the counts 256 at a time.
// Traffic n items, the flags twice, and the kept items; neighbours store next to each other, but not by vectors.
// Bits    Fixed: items keep their order.
// Source  Horn, "Stream reduction operations for GPGPU applications", GPU Gems 2, 2005; Billeter, Olsson and Assarsson,
//         "Efficient stream compaction on wide SIMD many-core architectures", HPG 2009.
#include "variants/select/select_passes.cuh"

#include "variants/select/select.hpp"

namespace scanlab::select {
namespace {

struct CountFlagged {
  static constexpr const char* kName = "count_flagged";
  static constexpr int kMaxThreads = kThreads;

  template <simt::ThreadBlock Block>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const std::uint8_t> flags,
                             simt::Global<Block, std::int64_t> counts, std::int64_t n) const {
    count_kept(block, counts, n, [&](std::int64_t i) { return flags[i] != 0; });
  }
};

/// kOthers: whether the other items follow.
template <bool kOthers>
struct StoreFlagged {
  static constexpr const char* kName = "store_flagged";
  static constexpr int kMaxThreads = kThreads;

  template <simt::ThreadBlock Block, class Item>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const Item> in, simt::Global<Block, Item> out,
                             simt::Global<Block, const std::uint8_t> flags,
                             simt::Global<Block, const std::int64_t> before, std::int64_t n, Item) const {
    visit_items(
        block, before, n, [&](std::int64_t i) { return flags[i] != 0; },
        [&](std::int64_t i, bool kept, std::int64_t kept_before) {
          if (kept) {
            out[kept_before] = in[i];
          } else if (kOthers) {
            out[n - 1 - (i - kept_before)] = in[i];
          }
        });
  }
};

template <Primitive kPrimitive>
class SelectPasses {
 public:
  template <class Op>
  static constexpr bool kTakes = kSelected<Op>;

  static Description describe() {
    Description about = describe_select(kPrimitive, false);
    about.id = std::string(name(kPrimitive)) + "_passes";
    about.title = kOthers ? "Count what blocks keep, scan the counts, store both sides"
                          : "Count what blocks keep, scan the counts, store what is kept";
    about.source = "Horn 2005; Billeter, Olsson and Assarsson 2009";
    about.family = "three launches";
    about.cost.work = "2n looks";
    about.cost.span = "a tile twice, and the counts";
    about.cost.traffic = kOthers ? "2n items, and the flags twice" : "n items, the flags twice, and the kept items";
    return about;
  }

  explicit SelectPasses(const Problem& problem) : problem_(problem) {}

  Plan plan() const {
    simt::Workspace workspace;
    workspace.take<std::int64_t>(blocks());
    Plan plan;
    plan.workspace_bytes = workspace.bytes();
    return plan;
  }

  template <class Machine, Monoid Op>
  void run(Machine& machine, Op, simt::Arrays<Machine, typename Op::Item> arrays, simt::Workspace workspace) const {
    using Item = typename Op::Item;
    using Counts = typename Machine::template Global<const std::int64_t>;
    const std::int64_t n = problem_.items;
    const auto flags = machine.global(static_cast<const std::uint8_t*>(arrays.entries), n, "flags");
    const auto counts = machine.global(workspace.take<std::int64_t>(blocks()), blocks(), "counts");
    const auto count = machine.global(arrays.count, 1, "count");
    if (n > 0) machine.launch(tiles_of(n), CountFlagged{}, flags, counts, n);
    machine.launch(kOneBlock, ScanCounts{}, counts, blocks(), count);
    if (n > 0)
      machine.launch(tiles_of(n), StoreFlagged<kOthers>{}, arrays.in, arrays.out, flags, Counts(counts), n, Item{});
  }

 private:
  static constexpr bool kOthers = kPrimitive == Primitive::partition;

  std::int64_t blocks() const { return ceil_div(problem_.items, kTile); }

  Problem problem_;
};

const Registration kSelectPasses{simt::portable_scan<SelectPasses<Primitive::select>>()};
const Registration kPartitionPasses{simt::portable_scan<SelectPasses<Primitive::partition>>()};

}  // namespace
}  // namespace scanlab::select
