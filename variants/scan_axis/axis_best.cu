// axis_best: the fastest of the others for the shape and the device.
//
// Idea    Items that lie side by side are one array, which axis_look_ahead scans whatever the length of a row; columns
//         need axis_columns. Few items do not fill the device: there a single launch that prepares nothing is the
//         fastest, a warp or a block for each row.
// Safe    thread_per_row runs anywhere.
// Source  the harness's own measurements.
#include "harness/core/registry.hpp"
#include "harness/core/scan_variant.hpp"
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
  constexpr std::int64_t kFewBytes = 1 << 20;
  const bool few = static_cast<std::int64_t>(problem.ideal_bytes() / 2) <= kFewBytes;
  if (few && problem.axis() <= 256) return {"warp_per_row"};
  if (few && problem.axis() <= 8192) return {"block_per_row"};
  return {"axis_look_ahead", "axis_columns", "thread_per_row"};
}

Variant axis_best() {
  Variant variant;
  variant.about = AxisBest::describe();
  describe_monoids<AxisBest>(variant.about);
  variant.backends.simt = true;
#if defined(__CUDACC__)
  variant.backends.cuda = true;
#endif
  variant.bind = [about = variant.about](const Problem& problem) {
    BoundScan bound;
    bound.plan = Plan::refuse(unsupported(about, problem));
    if (!bound.plan.possible()) return bound;
    for (const char* id : choices(problem)) {
      const Variant* const known = Registry::instance().find(id);
      if (known == nullptr) continue;
      BoundScan scan = known->bind(problem);
      if (!scan.plan.possible()) continue;
      if (!bound.plan.choice) {
        bound = std::move(scan);
        bound.plan.choice = Choice{id};
      } else if (!bound.simt) {  // the emulator has no form of the fastest
        bound.simt = std::move(scan.simt);
        bound.plan.chain = std::max(bound.plan.chain, scan.plan.chain);
      }
    }
    return bound;
  };
  return variant;
}

const Registration kAxisBest{axis_best()};

}  // namespace
}  // namespace scanlab::scan_axis
