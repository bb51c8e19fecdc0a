// hso_block and hso_block_padded: one tile, one block.
#pragma once

#include "variants/scan/hso_tiles.cuh"

namespace scanlab::scan {

/// `Padding` is Unpadded or Padded; the padding itself is an argument of the kernel.
template <class Padding>
struct HsoBlock {
  explicit HsoBlock(const Problem& problem)
      : problem_(problem),
        load_(Loading::for_problem(describe(), problem)),
        at_(Padding::for_problem(describe(), problem)) {}

  template <class Op>
  static constexpr bool kTakes = kClassic<Op>;

  static Description describe() {
    Description about;
    name_by_padding<Padding>(about, "hso_block");
    about.title = Padding::kPads ? "HSO tree in one block, padded against bank conflicts" : "HSO tree in one block";
    about.source = "Harris, Sengupta and Owens 2007, GPU Gems 3, ch. 39";
    about.family = "Harris–Sengupta–Owens";
    about.overview = false;
    about.parameters = Padding::parameters();
    about.natural_mode = Mode::exclusive;
    about.limits = "n <= 2048";
    about.cost = hso_cost("2n");
    return about;
  }

  Plan plan() const {
    if (problem_.items > kHsoTile) return Plan::refuse(describe().id + " scans within one block: n <= 2048");
    return {.chain = hso_chain(problem_.items)};
  }

  template <class Machine, Monoid Op>
  void run(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays, simt::Workspace) const {
    if (problem_.items == 0) return;
    launch_hso_tiles(machine, at_, load_, arrays.in, arrays.out, problem_.items, problem_.mode, decltype(arrays.out){},
                     op);
  }

 private:
  Problem problem_;
  Loading load_;
  Padding at_;
};

}  // namespace scanlab::scan
