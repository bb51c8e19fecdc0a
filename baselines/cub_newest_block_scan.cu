// cub_newest_block_scan: cub::BlockScan of the newest CCCL.
#include "baselines/cub_block_scan.cuh"

namespace scanlab::block_scan {
namespace {

struct Id {
  static Description describe() {
    return {.id = "cub_newest_block_scan",
            .title = "CUB BlockScan of CCCL " + std::to_string(CCCL_MAJOR_VERSION) + "." +
                     std::to_string(CCCL_MINOR_VERSION) + "." + std::to_string(CCCL_PATCH_VERSION),
            .source = "NVIDIA CCCL, cub/block/block_scan.cuh"};
  }
};

const Registration registration{cuda::cuda_scan<CubBlockScan<Id>>(Origin::baseline)};

}  // namespace
}  // namespace scanlab::block_scan
