// axis_best: the fastest of the others for the shape and the device.
//
// Idea    Items that lie side by side are one array, which axis_look_ahead scans whatever the length of a row; columns
//         need axis_columns. Blocks whose registers a row just fills need not wait for each other: there block_per_row
//         is faster, and a few megabytes are scanned before tiles have told each other anything: there a warp or a
//         block for each row is.
// Safe    thread_per_row runs anywhere.
// Source  the harness's own measurements.
#include "harness/core/first_possible.hpp"
#include "variants/scan_axis/axis.hpp"

namespace scanlab::scan_axis {
namespace {

struct AxisBest {
  template <class Op>
  static constexpr bool kTakes = kAxis<Op>;

  static Description describe() {
    Description about = describe_axis(false);
    about.id = "axis_best";
    about.title = "The fastest scan along an axis for the shape";
    about.source = "Scanlab";
    about.family = "tuned choice";
    about.limits = "any shape";
    about.bitwise_reproducible = false;
    about.cost.work = "of the chosen";
    about.cost.span = "of the chosen";
    return about;
  }
};

/// The scans of a shape, the fastest first.
std::vector<const char*> choices(const Problem& problem) {
  if (problem.inner != 1) return {"axis_columns", "thread_per_row"};
  const auto bytes = static_cast<std::int64_t>(item_bytes(problem.type, problem.op));
  const std::int64_t row = problem.axis() * bytes;
  const bool few = problem.items * bytes <= 8 << 20;
  if (row % 16 == 0 && row > 8 << 10 && row <= 16 << 10) return {"block_per_row"};
  if (few && row >= 64 && row <= 2 << 10) return {"warp_per_row"};
  if (few && row > 2 << 10 && row <= 16 << 10) return {"block_per_row"};
  return {"axis_look_ahead", "axis_columns", "thread_per_row"};
}

const Registration kAxisBest{first_possible<AxisBest>(choices)};

}  // namespace
}  // namespace scanlab::scan_axis
