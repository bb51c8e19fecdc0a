// axis_columns: launches the kernel of axis_columns.cuh, which says how it works.
#include "variants/scan_axis/axis_pass.cuh"
#if defined(__CUDACC__)

namespace scanlab::scan_axis {
namespace {

struct AxisColumns : AxisPass<AxisColumns> {
  using AxisPass::AxisPass;
  template <Associative Op>
  using Scan = ColumnScan<Op>;
  static constexpr const char* kNeeds = "axis_columns needs compute capability 8.0 and 96 KiB of shared memory a block";

  static Description describe() {
    Description about = describe_pass();
    about.id = "axis_columns";
    about.title = "One pass over tiles of columns";
    about.source = "Scanlab";
    about.limits = "any shape";
    about.bitwise_reproducible = false;
    return about;
  }
  static std::string refusal(const Problem&) { return {}; }
};

const Registration kAxisColumns{cuda::cuda_scan<AxisColumns>()};

}  // namespace
}  // namespace scanlab::scan_axis
#endif
