// reduce_then_scan: every block reduces a share of the input, then scans it with what comes before.
//
// Idea    Scan-then-propagate writes every item twice. If a block only reduces its share first, it needs to write
//         nothing but the aggregate, and writes each item once, when it knows what comes before.
// Work    about 5 n, and 5 shuffles a vector.
// Span    the tiles of a share one after another, twice.
// Traffic 3 n: two reads and a write. If the input fits the cache, the second read comes from there.
// Bits    Fixed.
// Source  Dotsenko, Govindaraju, Sloan, Boyd and Manferdelli, "Fast scan algorithms on graphics processors", ICS 2008.
#include "variants/scan/reduce_shares.cuh"
#include "variants/scan/tile_plan.hpp"

namespace scanlab::scan {
namespace {

constexpr int kThreads = ReduceSharesKernel::kMaxThreads;
constexpr int kRows = ReduceSharesKernel::kRows;
constexpr std::int64_t kMaxShares = 1024;  // blocks: several an SM on every device; one block scans their aggregates

struct ScanAggregatesKernel {
  static constexpr const char* kName = "scan_aggregates";
  static constexpr int kMaxThreads = kMaxShares;

  /// aggregates: one item a thread, replaced by what comes before it. One block. Shared memory: an item a warp.
  template <simt::ThreadBlock Block, Monoid Op>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, typename Op::Item> aggregates, int count, Op op) const {
    using Item = typename Op::Item;
    auto totals = block.template shared<Item>(block.num_threads() / kLanes);
    const int t = block.thread_rank();
    Item mine = Op::identity();
    if (t < count) mine = aggregates[t];
    const Item scanned = scan_warp(block, mine, op);
    if (block.lane() == kLanes - 1) totals[block.warp()] = scanned;
    block.sync();  // the warps' totals are there
    Item all;
    Item before = before_warp(block, totals, op, all);
    const Item left = block.shuffle_up(scanned, 1);
    if (block.lane() > 0) before = op(before, left);
    if (t < count) aggregates[t] = before;
  }
};

struct ScanSharesKernel {
  static constexpr const char* kName = "scan_shares";
  static constexpr int kMaxThreads = kThreads;

  /// in, out: n items in global memory, may be the same array. prefixes: of each block's share. Shared memory: two
  /// items a warp.
  template <simt::ThreadBlock Block, Monoid Op>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const typename Op::Item> in,
                             simt::Global<Block, typename Op::Item> out, std::int64_t n, std::int64_t tiles_a_share,
                             bool aligned, Mode mode, simt::Global<Block, const typename Op::Item> prefixes,
                             Op op) const {
    using Item = typename Op::Item;
    using Tile = RegisterTile<Op, kRows>;
    constexpr int kWarps = kThreads / kLanes;
    const Share share = Share::for_block(block.group_index(), tiles_a_share, ceil_div(n, Tile::items(kThreads)));
    Item running = prefixes[block.group_index()];
    for (std::int64_t t = share.first; t < share.last; ++t) {
      const std::int64_t base = t * Tile::items(kThreads);
      Tile tile;
      tile.load(block, in, base, n, aligned);
      auto totals = block.template shared<Item>(kWarps, t % 2 * kWarps * sizeof(Item));  // as above
      const Item aggregate = tile.scan(block, totals, op);
      tile.store(block, out, base, n, aligned, mode, running, op);
      running = op(running, aggregate);
    }
  }
};

struct ReduceThenScan {
  template <class Op>
  static constexpr bool kTakes = kBasic<Op>;

  explicit ReduceThenScan(const Problem& problem)
      : problem_(problem), most_shares_(std::stoll(setting(describe(), problem.settings, "shares"))) {}

  static Description describe() {
    Description about;
    about.id = "reduce_then_scan";
    about.title = "Reduce shares, scan their sums, scan shares";
    about.source = "Dotsenko et al. 2008, ICS";
    about.family = "three launches";
    about.parameters = {
        {.name = "shares", .values = {std::to_string(kMaxShares)}, .meaning = "blocks at most", .small = "2"}};
    about.in_place = true;
    about.cost = {.work = "about 5n, and 4 a vector", .span = "the tiles of a share, twice", .traffic = "3n"};
    return about;
  }

  Plan plan() const {
    simt::Workspace workspace;
    workspace.take<std::byte>(kMaxShares * static_cast<std::int64_t>(item_bytes(problem_.type, problem_.op)));
    // A share's tiles one after another, twice; between, the shares: lanes, warps, and what comes before a lane.
    return {.workspace_bytes = workspace.bytes(),
            .chain =
                tile_chain(problem_, kRows, kThreads / kLanes) + 2 * (tiles_a_share() - 1) + ceil_log2(kMaxShares) + 1};
  }

  template <class Machine, Monoid Op>
  void run(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays, simt::Workspace workspace) const {
    using Item = typename Op::Item;
    using Items = typename Machine::template Global<Item>;
    const std::int64_t n = problem_.items;
    if (n == 0) return;
    const std::int64_t share = tiles_a_share();
    const std::int64_t shares = ceil_div(tiles(), share);
    const Items aggregates = machine.global(workspace.take<Item>(kMaxShares), kMaxShares, "aggregates");
    const simt::Grid grid{.blocks = shares, .threads = kThreads, .shared_bytes = 2 * kThreads / kLanes * sizeof(Item)};
    machine.launch(grid, ReduceSharesKernel{}, arrays.in, n, share, aligned(arrays), aggregates, op);
    machine.launch({.blocks = 1, .threads = kMaxShares, .shared_bytes = kMaxShares / kLanes * sizeof(Item)},
                   ScanAggregatesKernel{}, aggregates, static_cast<int>(shares), op);
    machine.launch(grid, ScanSharesKernel{}, arrays.in, arrays.out, n, share, aligned(arrays), problem_.mode,
                   typename Machine::template Global<const Item>(aggregates), op);
  }

 private:
  std::int64_t tiles() const {
    return ceil_div(problem_.items * static_cast<std::int64_t>(item_bytes(problem_.type, problem_.op)),
                    kThreads * kRows * 16);
  }
  std::int64_t tiles_a_share() const { return ceil_div(tiles(), most_shares_); }
  Problem problem_;
  std::int64_t most_shares_;
};

const Registration kReduceThenScan{simt::portable_scan<ReduceThenScan>()};

}  // namespace
}  // namespace scanlab::scan
