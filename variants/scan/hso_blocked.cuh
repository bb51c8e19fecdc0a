// hso_blocked and hso_blocked_padded: scan-then-propagate over HSO tiles.
#pragma once

#include "variants/scan/hso_tiles.cuh"
#include "variants/scan/scan_then_propagate.cuh"

namespace scanlab::scan {

/// `Padding` is Unpadded or Padded; the padding itself is an argument of the kernel.
template <class Padding>
struct HsoBlocked {
  explicit HsoBlocked(const Problem& problem)
      : problem_(problem),
        load_(Loading::for_problem(describe(), problem)),
        at_(Padding::for_problem(describe(), problem)) {}

  template <class Op>
  static constexpr bool kTakes = kClassic<Op>;

  static Description describe() {
    Description about;
    name_by_padding<Padding>(about, "hso_blocked");
    about.title = Padding::kPads ? "HSO trees by blocks, padded, sums scanned and added"
                                 : "HSO trees by blocks, sums scanned and added";
    about.source = "Harris, Sengupta and Owens 2007, GPU Gems 3, ch. 39";
    about.family = "Harris–Sengupta–Owens";
    about.overview = Padding::kPads;
    about.parameters = Padding::parameters();
    about.natural_mode = Mode::exclusive;
    about.cost = {.work = "about 3n, and n if inclusive",
                  .span = "22 steps a level, ceil(log2 n / 11) levels",
                  .traffic = "4n",
                  .operations =
                      [](const Problem& problem) {
                        // The inclusive n is paid at the first level only: aggregates are scanned exclusively.
                        return std::optional(propagate_operations(problem.items, kHsoTile, hso_additions) +
                                             (problem.mode == Mode::inclusive ? problem.items : 0));
                      },
                  .swaps =
                      [](const Problem& problem) {
                        const Levels levels(problem.items, kHsoTile);
                        std::int64_t sum = 0;
                        for (int level = 0; level < levels.count; ++level) {
                          const std::int64_t items = levels.items[level];
                          sum += items / kHsoTile * hso_swaps(kHsoTile) + hso_swaps(items % kHsoTile);
                        }
                        return std::optional(sum);
                      }};
    return about;
  }

  Plan plan() const {
    return {.workspace_bytes = propagate_workspace_bytes(problem_, kHsoTile),
            .chain = propagate_chain(problem_.items, kHsoTile, hso_chain(kHsoTile))};
  }

  template <class Machine, Monoid Op>
  void run(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays, simt::Workspace workspace) const {
    if (problem_.items == 0) return;
    const auto scan_tiles = [&](auto in, auto out, std::int64_t n, Mode mode, auto aggregates) {
      launch_hso_tiles(machine, at_, load_, in, out, n, mode, aggregates, op);
    };
    scan_then_propagate(machine, op, arrays.in, arrays.out, problem_.items, problem_.mode, kHsoTile, workspace,
                        scan_tiles);
  }

 private:
  Problem problem_;
  Loading load_;
  Padding at_;
};

}  // namespace scanlab::scan
