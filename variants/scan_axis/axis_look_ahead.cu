// axis_look_ahead: launches the kernel of axis_look_ahead.cuh, which says how it works.
#include "variants/scan_axis/axis_pass.cuh"
#if defined(__CUDACC__)

namespace scanlab::scan_axis {
namespace {

struct AxisLookAhead : AxisPass<AxisLookAhead> {
  using AxisPass::AxisPass;
  template <Associative Op>
  using Scan = RowScan<Op>;
  static constexpr const char* kNeeds = "axis_look_ahead needs compute capability 9.0: it copies in bulk";

  static Description describe() {
    Description about = describe_pass();
    about.id = "axis_look_ahead";
    about.title = "One pass over all rows, heads by arithmetic";
    about.source = "Blelloch 1990; Scanlab";
    about.limits = "rows of any length, items side by side (inner 1); compute capability 9.0 and later";
    return about;
  }
  static std::string refusal(const Problem& problem) {
    return problem.inner == 1 ? "" : "axis_look_ahead scans items that lie side by side: leave out --inner";
  }
};

const Registration kAxisLookAhead{cuda::cuda_scan<AxisLookAhead>()};

}  // namespace
}  // namespace scanlab::scan_axis
#endif
