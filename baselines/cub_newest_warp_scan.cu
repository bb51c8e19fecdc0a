// cub_newest_warp_scan: cub::WarpScan of the newest CCCL.
#include "baselines/cub_warp_scan.cuh"

namespace scanlab::block_scan {
namespace {

struct Id {
  static Description describe() {
    return describe_cub_warp("cub_newest_warp_scan", "CUB WarpScan of CCCL " + std::to_string(CCCL_MAJOR_VERSION) +
                                                         "." + std::to_string(CCCL_MINOR_VERSION) + "." +
                                                         std::to_string(CCCL_PATCH_VERSION));
  }
};

const Registration registration{cuda::cuda_scan<Variant<Id, OfThreads<CubWarp>>>(Origin::baseline)};

}  // namespace
}  // namespace scanlab::block_scan
