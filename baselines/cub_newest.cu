// CUB's device-wide scan, of the newest CCCL that the Python package index carries (tools/cccl.in), with its
// defaults: what a user who upgrades gets. Look-back on compute capability 9.0, look-ahead from 10.0 on.
#include "baselines/cub_newest.cuh"

namespace scanlab {
namespace {

struct CubNewest : CubScan<CubNewest> {
  using CubScan::CubScan;

  static Description describe() {
    return {
        .id = "cub_newest",
        .title = "CUB DeviceScan of CCCL " + newest_cccl(),
        .source = "NVIDIA CCCL " + newest_cccl() + ", cub/device/device_scan.cuh, with its defaults",
        .family = "CUB",
        .label = "CUB, newest",
        .limits = "any n with plus, up to 2^31 - 1 items with the other operators",
        .in_place = true,               // "Our algorithm supports inplace operations", says its documentation
        .bitwise_reproducible = false,  // "run-to-run determinism is not guaranteed"
        .cost = {.work = "O(n)", .span = "O(log n) a tile, then a chain of tiles", .traffic = "2n"},
    };
  }
};

const Registration registration{cuda::cuda_scan<CubNewest>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
