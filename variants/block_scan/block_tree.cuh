// block_tree and block_tree_padded: the tree of Harris, Sengupta and Owens over a block's threads.
#pragma once

#include "variants/block_scan/block_scan.cuh"
#include "variants/scan/hso_tree.cuh"

namespace scanlab::block_scan {

/// A leaf a thread. `Padding` is scan::Unpadded or scan::Padded.
template <class Padding>
struct Tree {
  static constexpr bool kWarp = false;
  Padding at{};

  SCANLAB_HD int shared_items(int threads) const { return at.extent(threads); }
  int chain(int threads) const { return static_cast<int>(scan::hso_chain(threads)); }
  static Tree for_problem(const Description& about, const Problem& problem) {
    return {Padding::for_problem(about, problem)};
  }

  template <class Group, class SharedItems, Monoid Op>
  SCANLAB_HD typename Op::Item exclusive(const Group& group, SharedItems shared, typename Op::Item item, Op op) const {
    const int t = group.rank(), threads = group.threads, levels = steps(threads);
    if (t < threads) shared[at(t)] = item;
    scan::up_sweep(group.block, shared, at, threads, levels, op);
    group.sync();  // the root is in place
    group.block.step("clear the root", 0);
    if (t == 0) shared[at(threads - 1)] = Op::identity();
    scan::down_sweep(group.block, shared, at, threads, levels, op);
    group.sync();  // the leaves' prefixes are in place
    return t < threads ? shared[at(t)] : Op::identity();
  }
  template <class Group, class SharedItems, Monoid Op>
  SCANLAB_HD typename Op::Item inclusive(const Group& group, SharedItems shared, typename Op::Item item, Op op) const {
    return op(exclusive(group, shared, item, op), item);
  }
};

inline Description describe_tree(std::string id, std::string title) {
  return {.id = std::move(id),
          .title = std::move(title),
          .source = "Harris, Sengupta and Owens 2007, GPU Gems 3, ch. 39; after Blelloch 1990",
          .family = "Harris–Sengupta–Owens",
          .cost = {.work = "2(T - 1), and 2n",
                   .span = "2 ceil(log2 T)",
                   .traffic = "2n",
                   .operations = closed_form_of_additions([](std::int64_t threads) { return 2 * (threads - 1); }, 1),
                   .swaps = closed_form([](std::int64_t threads, std::int64_t) { return threads - 1; })}};
}

}  // namespace scanlab::block_scan
