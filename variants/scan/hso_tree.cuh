// Harris, Sengupta and Owens's balanced tree over one tile in shared memory, and where the tile's items lie there.
//
// The tree is in place: a node's value lives where its rightmost leaf does. Item counts need not be powers of two: a
// node whose right child would begin past the last item is that left child, and a node cut short by the end of the
// tile lives at the last item. So `count` leaves always cost count - 1 additions up and count - 1 additions and swaps
// down, and nothing is padded with identities.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/monoid.hpp"
#include "harness/simt/registration.hpp"

namespace scanlab::scan {

constexpr int kHsoTile = 2048;  // two items a thread, 1024 threads

/// The parameters of the HSO variants. Default first.
inline Parameter padding_parameter() {
  return {"padding",
          {"two_level", "row", "two_level_16", "one_in_16"},
          "two_level: i/B + i/B^2, row: i/B, with B items in a row of 32 banks; two_level_16: with B items in a row of "
          "the 16 banks of 2007; one_in_16: i/16, as in the source"};
}
inline Parameter load_parameter() {
  return {"load", {"halves", "neighbours"}, "whether a thread moves items t and t + n/2, or 2t and 2t + 1"};
}

/// Item i at address i.
struct Unpadded {
  SCANLAB_HD int operator()(int i) const { return i; }
  /// Items of shared memory that `count` items take.
  SCANLAB_HD int extent(int count) const { return count; }

  static constexpr bool kPads = false;
  static std::vector<Parameter> parameters() { return {load_parameter()}; }
  static Unpadded for_problem(const Description&, const Problem&) { return {}; }
};

/// Item i at address i + i / 2^first + i / 2^second: one item is left free after every 2^first, and another after
/// every 2^second, so that strides that are powers of two visit different banks.
struct Padded {
  static constexpr int kNever = 31;
  int first = 5;    ///< as the parameter has it if it is not set, for items of 4 bytes
  int second = 10;  ///< likewise
  SCANLAB_HD int operator()(int i) const { return i + (i >> first) + (i >> second); }
  SCANLAB_HD int extent(int count) const { return count == 0 ? 0 : (*this)(count - 1) + 1; }

  static constexpr bool kPads = true;
  static std::vector<Parameter> parameters() { return {padding_parameter(), load_parameter()}; }
  /// The padding that the settings name, for the size of the problem's items.
  static Padded for_problem(const Description& about, const Problem& problem) {
    const std::string chosen = setting(about, problem.settings, "padding");
    if (chosen == "one_in_16") return {.first = 4, .second = kNever};
    const std::size_t row_bytes = (chosen == "two_level_16" ? 16 : 32) * 4;  // a row of banks, each 4 bytes wide
    const int row = ceil_log2(static_cast<std::int64_t>(row_bytes / item_bytes(problem.type, problem.op)));
    if (chosen == "row") return {.first = row, .second = kNever};
    return {.first = row, .second = 2 * row};
  }
};

/// Gives the variant its id, and says of a padded one what it is without.
template <class Padding>
void name_by_padding(Description& about, const std::string& unpadded) {
  about.id = Padding::kPads ? unpadded + "_padded" : unpadded;
  if (Padding::kPads) about.unpadded = unpadded;
}

/// Which two items of a tile a thread moves between global and shared memory.
struct Loading {
  bool halves = true;  ///< one from each half of the tile (no conflict); else two neighbours (two-way conflict)
  SCANLAB_HD int first(int t) const { return halves ? t : 2 * t; }
  SCANLAB_HD int second(int t, int threads) const { return halves ? t + threads : 2 * t + 1; }

  static Loading for_problem(const Description& about, const Problem& problem) {
    return {.halves = setting(about, problem.settings, "load") == "halves"};
  }
};

/// 2 (n - 1) additions: one at each inner node on the way up, one on the way down.
constexpr std::int64_t hso_additions(std::int64_t n) { return n == 0 ? 0 : 2 * (n - 1); }
constexpr std::int64_t hso_swaps(std::int64_t n) { return n == 0 ? 0 : n - 1; }

/// Applications of the operator in one tree of n leaves: an inclusive scan adds each item to its prefix at the end.
constexpr std::int64_t hso_operations(std::int64_t n, Mode mode) {
  return hso_additions(n) + (mode == Mode::inclusive ? n : 0);
}

/// Longest chain of additions in one tree of n leaves: up, down, and the item itself if inclusive.
constexpr std::int64_t hso_chain(std::int64_t n) { return 2 * ceil_log2(n) + 1; }

/// The cost of one HSO tree over all n items.
inline Cost hso_cost(std::string traffic) {
  return {
      .work = "2(n - 1), and n if inclusive",
      .span = "2 ceil(log2 n)",
      .traffic = std::move(traffic),
      .operations = [](const Problem& problem) { return std::optional(hso_operations(problem.items, problem.mode)); },
      .swaps = [](const Problem& problem) { return std::optional(hso_swaps(problem.items)); }};
}

/// Up-sweep (reduction): `levels` levels of the tree over `count` items of `tile`, from the leaves on.
///
///   tile    shared memory; item i at tile[at(i)]
///   cost    count - 1 additions in all if levels = ceil(log2 count); a barrier a level
/// Ends without a barrier.
template <simt::ThreadBlock Block, class SharedItems, class Padding, Monoid Op>
SCANLAB_HD void up_sweep(Block& block, SharedItems tile, Padding at, int count, int levels, Op op) {
  using Item = typename Op::Item;
  const int t = block.thread_rank();
  for (int level = 0; level < levels; ++level) {
    block.sync();  // the children's values, written by other threads, are in place
    const int stride = 1 << level;
    block.step("up-sweep", stride);
    const int mate = stride * (2 * t + 1) - 1;  // the left child: its rightmost leaf
    if (mate + 1 < count) {                     // there is a right child
      const int lead = mate + stride < count ? mate + stride : count - 1;
      const Item left = tile[at(mate)];
      const Item right = tile[at(lead)];
      tile[at(lead)] = op(left, right);
    }
  }
}

/// Down-sweep: turns the prefix of each subtree of `levels` levels into the prefixes of its leaves. The prefix of a
/// subtree is what all items before it add up to; it lies at the subtree's root, and a left child still holds its sum.
///
///   cost    count - 1 additions and swaps in all if levels = ceil(log2 count); a barrier a level
/// Ends without a barrier.
template <simt::ThreadBlock Block, class SharedItems, class Padding, Monoid Op>
SCANLAB_HD void down_sweep(Block& block, SharedItems tile, Padding at, int count, int levels, Op op) {
  using Item = typename Op::Item;
  const int t = block.thread_rank();
  for (int level = levels - 1; level >= 0; --level) {
    block.sync();  // the prefix at this subtree's root, written by another thread, is in place
    const int stride = 1 << level;
    block.step("down-sweep", stride);
    const int mate = stride * (2 * t + 1) - 1;
    if (mate + 1 < count) {
      const int lead = mate + stride < count ? mate + stride : count - 1;
      const Item left_sum = tile[at(mate)];
      const Item prefix = tile[at(lead)];
      tile[at(mate)] = prefix;
      tile[at(lead)] = op(prefix, left_sum);
      block.tally_swap();
    }
  }
}

}  // namespace scanlab::scan
