// CUB's device-wide scan, of the toolkit's CCCL: what the hand-written scans are measured against.
//
// One pass with decoupled look-back (Merrill & Garland 2016): every item is read once and written once, and a tile
// learns what is before it from its predecessors' published aggregates and prefixes.
#include "baselines/cub_scan.cuh"

namespace scanlab {
namespace {

struct CubDeviceScan : CubScan<CubDeviceScan> {
  using CubScan::CubScan;

  static Description describe() {
    return {
        .id = "cub_device_scan",
        .title = "CUB DeviceScan",
        .source =
            "NVIDIA CCCL, cub/device/device_scan.cuh; decoupled look-back: D. Merrill and M. Garland, "
            "Single-pass Parallel Prefix Scan with Decoupled Look-back, NVR-2016-002, 2016",
        .family = "CUB",
        .label = "CUB",
        .limits = "any n with plus, up to 2^31 - 1 items with the other operators",
        .in_place = true,               // "Our algorithm supports inplace operations", says its documentation
        .bitwise_reproducible = false,  // "run-to-run determinism is not guaranteed"
        .cost = {.work = "O(n)", .span = "O(log n) a tile, then a chain of tiles", .traffic = "2n"},
    };
  }
};

const Registration registration{cuda::cuda_scan<CubDeviceScan>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
