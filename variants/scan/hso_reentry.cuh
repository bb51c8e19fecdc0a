// hso_reentry and hso_reentry_padded: one HSO tree over all n items, in as many launches as it takes.
#pragma once

#include <cstdint>
#include <string>

#include "variants/scan/hso_tree.cuh"

namespace scanlab::scan {

/// The nodes of a tree over n items after `depth` levels, as an array: node j covers the 2^depth items from
/// j * 2^depth on, and its value lies where its rightmost item does. A lead element and its mate are 2^depth apart.
struct Nodes {
  std::int64_t n;
  int depth;
  SCANLAB_HD std::int64_t count() const { return (n + (std::int64_t{1} << depth) - 1) >> depth; }
  SCANLAB_HD std::int64_t position(std::int64_t j) const {
    const std::int64_t end = (j + 1) << depth;
    return (end < n ? end : n) - 1;  // the last node may be cut short by the end of the array
  }
};

enum class Sweep { up, down };

/// One launch of the tree. Each block brings 2048 nodes into shared memory at the stride it finds, does `levels`
/// levels of the tree, and writes them back where they came from, so that the next launch continues there.
///
///   in      n items; read by the first up-sweep (depth 0) and, if inclusive, by the last down-sweep (depth 0)
///   data    n items: the tree; holds the result after the last launch
///   shared  at.extent(min(nodes, 2048)) items
///   first_down  this launch begins the down-sweep: clear the root (one block only)
template <class Padding>
struct HsoReentryKernel {
  static constexpr const char* kName = "hso_reentry";
  static constexpr int kMaxThreads = kHsoTile / 2;
  Padding at;
  Loading load;
  Sweep sweep;
  Nodes nodes;
  int levels;
  bool first_down;

  template <simt::ThreadBlock Block, Monoid Op>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const typename Op::Item> in,
                             simt::Global<Block, typename Op::Item> data, Mode mode, Op op) const {
    using Item = typename Op::Item;
    const int t = block.thread_rank();
    const std::int64_t base = block.group_index() * kHsoTile;
    const std::int64_t left = nodes.count() - base;
    const int count = static_cast<int>(left < kHsoTile ? left : kHsoTile);
    const int a = load.first(t);
    const int b = load.second(t, block.num_threads());
    auto tile = block.template shared<Item>(at.extent(count));
    const bool from_input = sweep == Sweep::up && nodes.depth == 0;

    block.step("load", 0);
    for (int i : {a, b}) {
      if (i >= count) continue;
      const std::int64_t place = nodes.position(base + i);
      tile[at(i)] = from_input ? Item(in[place]) : Item(data[place]);
    }
    if (sweep == Sweep::up) {
      up_sweep(block, tile, at, count, levels, op);
    } else {
      if (first_down) {
        block.sync();  // the root has been loaded, perhaps by another thread
        block.step("clear the root", 0);
        if (t == 0) tile[at(count - 1)] = Op::identity();
      }
      down_sweep(block, tile, at, count, levels, op);
    }
    block.sync();  // the last level's values are in place
    block.step("store", 0);
    const bool finish = sweep == Sweep::down && nodes.depth == 0 && mode == Mode::inclusive;
    for (int i : {a, b}) {
      if (i >= count) continue;
      const std::int64_t place = nodes.position(base + i);
      const Item value = tile[at(i)];
      data[place] = finish ? op(value, in[place]) : value;
    }
  }
};

/// `Padding` is Unpadded or Padded; the padding itself is an argument of the kernel.
template <class Padding>
struct HsoReentry {
  explicit HsoReentry(const Problem& problem)
      : problem_(problem),
        load_(Loading::for_problem(describe(), problem)),
        at_(Padding::for_problem(describe(), problem)),
        levels_a_launch_(std::stoi(setting(describe(), problem.settings, "levels"))) {}

  template <class Op>
  static constexpr bool kTakes = kClassic<Op>;

  static Description describe() {
    Description about;
    name_by_padding<Padding>(about, "hso_reentry");
    about.title = Padding::kPads ? "One HSO tree over all items in several launches, padded"
                                 : "One HSO tree over all items in several launches";
    about.source = "ME759 (2013), after Harris, Sengupta and Owens 2007";
    about.family = "Harris–Sengupta–Owens";
    about.overview = Padding::kPads;
    about.parameters = Padding::parameters();
    about.natural_mode = Mode::exclusive;
    about.parameters.push_back({.name = "levels",
                                .values = {"11", "10", "9", "8", "7", "6", "5", "4", "3", "2", "1"},
                                .meaning = "levels of the tree a launch does before it hands over",
                                .small = "3"});
    about.cost = hso_cost("about 4n, and n if inclusive");
    return about;
  }

  Plan plan() const { return {.chain = hso_chain(problem_.items)}; }

  template <class Machine, Monoid Op>
  void run(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays, simt::Workspace) const {
    const std::int64_t n = problem_.items;
    if (n == 0) return;
    const int height = ceil_log2(n);
    const auto launch = [&](Sweep sweep, int depth, bool first_down) {
      const Nodes nodes{n, depth};
      const int widest = static_cast<int>(nodes.count() < kHsoTile ? nodes.count() : kHsoTile);
      const int levels = height - depth < levels_a_launch_ ? height - depth : levels_a_launch_;
      machine.launch({.blocks = ceil_div(nodes.count(), kHsoTile),
                      .threads = (widest + 1) / 2,
                      .shared_bytes = static_cast<std::size_t>(at_.extent(widest)) * sizeof(typename Op::Item)},
                     HsoReentryKernel<Padding>{at_, load_, sweep, nodes, levels, first_down}, arrays.in, arrays.out,
                     problem_.mode, op);
    };
    int depth = 0;
    for (; depth == 0 || depth < height; depth += levels_a_launch_) launch(Sweep::up, depth, false);
    for (depth -= levels_a_launch_; depth >= 0; depth -= levels_a_launch_) {
      launch(Sweep::down, depth, depth + levels_a_launch_ >= height);
    }
  }

 private:
  Problem problem_;
  Loading load_;
  Padding at_;
  int levels_a_launch_;
};

}  // namespace scanlab::scan
