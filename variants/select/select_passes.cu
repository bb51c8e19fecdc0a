// select_passes: counts what each block keeps, scans the counts, and lets each block store what it keeps.
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
#include <bit>

#include "harness/simt/registration.hpp"
#include "variants/operators/plus.hpp"
#include "variants/scan/register_tile.cuh"
#include "variants/select/select.hpp"

namespace scanlab::select {
namespace {

constexpr int kLanes = simt::kWarpLanes;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kLanes;
constexpr int kRows = 8;  ///< flags of a lane, a warp apart
constexpr std::int64_t kTile = std::int64_t{kThreads} * kRows;

/// What a warp keeps of its part of a tile: a word of lanes for each row.
struct Ballots {
  std::uint32_t rows[kRows];
  int kept;

  template <simt::ThreadBlock Block>
  SCANLAB_HD Ballots(Block& block, simt::Global<Block, const std::uint8_t> flags, std::int64_t n) : rows{}, kept(0) {
    const std::int64_t first = place(block, 0);
    for (int r = 0; r < kRows; ++r) {
      const std::int64_t i = first + r * kLanes;
      bool keep = false;
      if (i < n) keep = flags[i] != 0;
      rows[r] = block.ballot(keep);
      kept += std::popcount(rows[r]);
    }
  }
  template <simt::ThreadBlock Block>
  SCANLAB_HD static std::int64_t place(Block& block, int row) {
    return block.group_index() * kTile + (block.warp() * kRows + row) * kLanes + block.lane();
  }
};

struct CountKept {
  static constexpr const char* kName = "count_kept";
  static constexpr int kMaxThreads = kThreads;

  /// counts: one a block. Shared memory: a number a warp.
  template <simt::ThreadBlock Block>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const std::uint8_t> flags,
                             simt::Global<Block, std::int64_t> counts, std::int64_t n) const {
    auto totals = block.template shared<std::int64_t>(kWarps);
    const Ballots own(block, flags, n);
    if (block.lane() == 0) totals[block.warp()] = own.kept;
    block.sync();  // the warps' totals are there
    if (block.thread_rank() != 0) return;
    std::int64_t all = 0;
    for (int w = 0; w < kWarps; ++w) all += totals[w];
    counts[block.group_index()] = all;
  }
};

/// One block.
struct ScanCounts {
  static constexpr const char* kName = "scan_counts";
  static constexpr int kMaxThreads = kThreads;

  /// counts: `blocks` of them, replaced by what comes before each. count: all. Shared memory: a number a warp, twice.
  template <simt::ThreadBlock Block>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, std::int64_t> counts, std::int64_t blocks,
                             simt::Global<Block, std::uint64_t> count) const {
    const Plus<std::int64_t> op;
    std::int64_t running = 0;
    for (std::int64_t first = 0; first < blocks; first += kThreads) {
      const std::int64_t i = first + block.thread_rank();
      std::int64_t own = 0;
      if (i < blocks) own = counts[i];
      const std::int64_t scanned = scan::scan_warp(block, own, op);
      auto totals = block.template shared<std::int64_t>(
          kWarps, static_cast<int>(first / kThreads % 2 * kWarps * static_cast<std::int64_t>(sizeof(std::int64_t))));
      if (block.lane() == kLanes - 1) totals[block.warp()] = scanned;
      block.sync();  // the warps' totals are there; those of the round before have been read
      std::int64_t all = 0;
      const std::int64_t before = running + scan::before_warp(block, totals, op, all) + scanned - own;
      if (i < blocks) counts[i] = before;
      running += all;
    }
    if (block.thread_rank() == 0) count[0] = static_cast<std::uint64_t>(running);
  }
};

struct StoreKept {
  static constexpr const char* kName = "store_kept";
  static constexpr int kMaxThreads = kThreads;

  /// before: kept items before each block's. Shared memory: a number a warp.
  template <simt::ThreadBlock Block, class Item>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const Item> in, simt::Global<Block, Item> out,
                             simt::Global<Block, const std::uint8_t> flags,
                             simt::Global<Block, const std::int64_t> before, std::int64_t n, Item) const {
    auto totals = block.template shared<std::int64_t>(kWarps);
    const Ballots own(block, flags, n);
    if (block.lane() == 0) totals[block.warp()] = own.kept;
    block.sync();  // the warps' totals are there
    std::int64_t place = before[block.group_index()];
    for (int w = 0; w < kWarps; ++w) {
      if (w < block.warp()) place += totals[w];
    }
    const std::uint32_t below = (1u << block.lane()) - 1;
    for (int r = 0; r < kRows; ++r) {
      if ((own.rows[r] >> block.lane() & 1) != 0) {
        out[place + std::popcount(own.rows[r] & below)] = in[Ballots::place(block, r)];
      }
      place += std::popcount(own.rows[r]);
    }
  }
};

class SelectPasses {
 public:
  template <class Op>
  static constexpr bool kTakes = kSelected<Op>;

  static Description describe() {
    Description about = describe_select(false);
    about.id = "select_passes";
    about.title = "Count what blocks keep, scan the counts, store what is kept";
    about.source = "Horn 2005; Billeter, Olsson and Assarsson 2009";
    about.family = "three launches";
    about.cost.work = "2n looks";
    about.cost.span = "a tile twice, and the counts";
    about.cost.traffic = "n items, the flags twice, and the kept items";
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
    const simt::Grid grid{.blocks = blocks(), .threads = kThreads, .shared_bytes = kWarps * sizeof(std::int64_t)};
    if (n > 0) machine.launch(grid, CountKept{}, flags, counts, n);
    machine.launch({.blocks = 1, .threads = kThreads, .shared_bytes = 2 * kWarps * sizeof(std::int64_t)}, ScanCounts{},
                   counts, blocks(), count);
    if (n > 0) machine.launch(grid, StoreKept{}, arrays.in, arrays.out, flags, Counts(counts), n, Item{});
  }

 private:
  std::int64_t blocks() const { return ceil_div(problem_.items, kTile); }

  Problem problem_;
};

const Registration kSelectPasses{simt::portable_scan<SelectPasses>()};

}  // namespace
}  // namespace scanlab::select
