// decoupled_lookback: one pass; a tile finds its prefix by looking back at the tiles before it. The kernel;
// decoupled_lookback.cu launches it.
//
// Idea    A block publishes its tile's aggregate at once, and its prefix as soon as it knows it. To learn what comes
//         before, a warp looks at the 32 tiles to its left: aggregates are added up until a prefix is met. So a tile
//         need not wait for its neighbour's prefix, only for aggregates back to the nearest prefix there is.
// Work    3 n, 5 shuffles a vector, and the looking back.
// Span    a tile, and a chain of hand-overs from tile to tile, many tiles at a time.
// Traffic 2 n, and 8 or 16 bytes a tile. Its time is bound by waiting: for the ticket, the memory and the look-back,
//         one after another, with as many bytes under way as registers hold. So the tile is asked into the cache first.
// Bits    Not fixed: how far a tile looks back, and so how sums are grouped, depends on who was faster.
// Safe    Tiles are assigned dynamically, so that a block waits only for blocks that have started: the scan cannot
//         deadlock, whatever else the device runs.
// Source  Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVR-2016-002, 2016.
#pragma once

#include "variants/scan/register_tile.cuh"
#include "variants/scan/tile_state.cuh"

namespace scanlab::scan {

inline constexpr int kLookBackThreads = 512;  // of a block, at most

/// A run's two tags. Two to a run, they tell runs apart modulo 2^31; no state is older than one run.
struct LookBackTags {
  std::uint32_t aggregate;
  std::uint32_t prefix;
  SCANLAB_HD explicit LookBackTags(std::uint32_t run) : aggregate(2 * run), prefix(2 * run + 1) {}
};

/// The prefix of `tile`, computed by a whole warp. Lane 0 gets it.
template <Associative Op, simt::ThreadBlock Block>
SCANLAB_HD Before<Op> look_back(Block& block, const TileStates<Block, typename Op::Item>& states, std::int64_t tile,
                                LookBackTags tags, Op op) {
  using Item = typename Op::Item;
  Before<Op> before = nothing<Op>();
  for (std::int64_t window = tile - kLanes;; window -= kLanes) {
    const std::int64_t mine = window + block.lane();
    TileState<Item> state{};
    bool is_prefix = mine < 0;  // there is nothing left of the first tile
    bool is_known = is_prefix;
    while (!block.all(is_known)) {
      if (!is_known) {
        state = load_state<Item>(block, states, mine);
        is_prefix = state.is(tags.prefix);
        is_known = is_prefix || state.is(tags.aggregate);
        if (!is_known) block.pause();
      }
    }
    const std::uint32_t prefixes = block.ballot(is_prefix);
    // The nearest prefix counts, and the aggregates to its right.
    const bool counts = mine >= 0 && (prefixes >> block.lane()) <= 1;
    const Before<Op> item = if_any<Op>(counts, state.item());
    before = op(fold_warp(block, item, op), before);
    if (prefixes != 0) return before;
  }
}

/// kResident: blocks that a multiprocessor shall hold at least.
template <int kRows, int kResident>
struct LookBackKernel {
  static constexpr const char* kName = "decoupled_lookback";
  static constexpr int kMaxThreads = kLookBackThreads;
  static constexpr int kBlocksPerMultiprocessor = kResident;

  /// in, out: n items in global memory, may be the same array. counter: of `tickets`. states: one a tile. One block a
  /// tile. Shared memory: a TileMemory.
  template <simt::ThreadBlock Block, Associative Op>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const InOf<Op>> in, simt::Global<Block, OutOf<Op>> out,
                             std::int64_t n, bool aligned, Mode mode, simt::Global<Block, std::uint64_t> counter,
                             TileCounter tickets, TileStates<Block, typename Op::Item> states, Op op) const {
    using Item = typename Op::Item;
    auto shared_drawn = block.template shared<TileCounter::Drawn>(1);
    auto shared_prefix = block.template shared<Item>(1, kPrefixOffset);
    auto totals = block.template shared<Item>(block.num_threads() / kLanes, kTotalsOffset);

    block.step("draw", 0);
    const int tile_items = RegisterTile<Op, kRows>::items(block.num_threads());
    // The ticket will be near the block's number: that tile is wanted from memory by somebody, and soon.
    if (block.thread_rank() == kLanes) block.prefetch(in, block.group_index() * tile_items, tile_items, n);
    if (block.thread_rank() == 0) shared_drawn[0] = TileCounter::draw(block, counter);
    block.sync();  // the ticket is there
    const TileCounter::Drawn drawn = shared_drawn[0];
    if (block.thread_rank() == 0) tickets.reset_if_last(block, counter, drawn);
    const LookBackTags tags(drawn.run());
    const std::int64_t number = drawn.tile();

    block.step("scan", 0);
    RegisterTile<Op, kRows> tile;
    const std::int64_t base = number * tile_items;
    tile.load(block, in, base, n, aligned);
    const Item aggregate = tile.scan(block, totals, op);

    block.step("look back", 0);
    if (block.warp() == 0) {
      if (block.lane() == 0 && number > 0) store_state<Item>(block, states, number, aggregate, tags.aggregate);
      Before<Op> before = look_back<Op>(block, states, number, tags, op);
      if constexpr (kHasInitialValue<Op>) {
        if (number == 0) before = before_all(op);
      }
      if (block.lane() == 0) {
        store_state<Item>(block, states, number, op(before, aggregate), tags.prefix);
        shared_prefix[0] = item_of(before);
      }
    }
    block.sync();  // the prefix is there
    block.step("store", 0);
    const Item known = shared_prefix[0];
    const Before<Op> prefix = read_back<Op>(kHasInitialValue<Op> || number != 0, known);
    tile.store(block, out, base, n, aligned, mode, prefix, op);
  }

  static constexpr std::size_t kPrefixOffset = 16;
  static constexpr std::size_t kTotalsOffset = 32;
  static constexpr std::size_t shared_bytes(int threads, std::size_t item_bytes) {
    return kTotalsOffset + threads / kLanes * item_bytes;
  }
};

}  // namespace scanlab::scan
