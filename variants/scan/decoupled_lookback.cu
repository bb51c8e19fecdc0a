// decoupled_lookback: launches the kernel of decoupled_lookback.cuh, which says how it works.
#include "variants/scan/decoupled_lookback.cuh"

#include "variants/scan/tile_plan.hpp"

namespace scanlab::scan {
namespace {

struct DecoupledLookback {
  explicit DecoupledLookback(const Problem& problem)
      : problem_(problem), threads_(std::stoi(setting(describe(), problem.settings, "threads"))) {}

  static Description describe() {
    Description about;
    about.id = "decoupled_lookback";
    about.title = "Single pass, decoupled look-back";
    about.source = "Merrill and Garland 2016, NVR-2016-002";
    about.family = "single pass";
    about.parameters = {{.name = "threads",
                         .values = {"512", "384", "256", "128"},
                         .meaning = "threads a block, each with 64 bytes, or 112 of 4-byte items",
                         .small = "32"}};
    about.in_place = true;
    about.bitwise_reproducible = false;
    about.cost = {.work = "about 3n, and 4 a vector", .span = "a tile, and a chain of tiles", .traffic = "2n"};
    return about;
  }

  Plan plan() const {
    simt::Workspace workspace;
    workspace.take<std::uint64_t>(1);
    workspace.take<LongWord>(tiles() * 2);  // as many words as the largest item takes
    // At worst every tile adds its aggregate to its neighbour's prefix.
    const int tile_rows = rows(item_bytes(problem_.type, problem_.op));
    return {.workspace_bytes = workspace.bytes(),
            .chain = tiles() + tile_chain(problem_, tile_rows, threads_ / kLanes)};
  }

  template <class Machine, Monoid Op>
  void prepare(Machine& machine, Op, simt::Workspace workspace) const {
    const auto counter = machine.global(workspace.take<std::uint64_t>(1), 1, "counter");
    const auto states = take_states<typename Op::Item>(machine, workspace);
    using State = TileState<typename Op::Item>;
    prepare_tiles<typename State::Word>(machine, counter, TileCounter::first(), states, tiles() * State::kWords);
  }

  template <class Machine, Monoid Op>
  void run(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays, simt::Workspace workspace) const {
    using Item = typename Op::Item;
    // Two, where registers allow: one waits while the other moves data.
    constexpr int kResident = sizeof(typename Op::Element) == 4 ? 2 : 1;
    using Kernel = LookBackKernel<rows(sizeof(Item)), kResident>;
    if (problem_.items == 0) return;
    const auto counter = machine.global(workspace.take<std::uint64_t>(1), 1, "counter");
    const auto states = take_states<Item>(machine, workspace);
    machine.launch(
        {.blocks = tiles(), .threads = threads_, .shared_bytes = Kernel::shared_bytes(threads_, sizeof(Item))},
        Kernel{}, arrays.in, arrays.out, problem_.items, aligned(arrays), problem_.mode, counter, tickets(), states,
        op);
  }

 private:
  template <class Item, class Machine>
  auto take_states(Machine& machine, simt::Workspace& workspace) const {
    using State = TileState<Item>;
    const std::int64_t words = tiles() * State::kWords;
    return machine.global(workspace.take<typename State::Word>(words), words, "states");
  }
  /// The rows that a thread's registers have room for: the more, the more memory accesses are under way.
  static constexpr int rows(std::size_t item_bytes) { return item_bytes == 4 ? 7 : 4; }
  std::int64_t tiles() const {
    return ceil_div(problem_.items * static_cast<std::int64_t>(item_bytes(problem_.type, problem_.op)),
                    threads_ * rows(item_bytes(problem_.type, problem_.op)) * 16);
  }
  TileCounter tickets() const { return {static_cast<std::uint32_t>(tiles())}; }

  Problem problem_;
  int threads_;
};

const Registration kDecoupledLookback{simt::portable_scan<DecoupledLookback>()};

}  // namespace
}  // namespace scanlab::scan
