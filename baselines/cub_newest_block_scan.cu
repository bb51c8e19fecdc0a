// cub_newest_block_scan: cub::BlockScan of the newest CCCL.
#include "baselines/cub_block_scan.cuh"

namespace scanlab::block_scan {
namespace {

struct Id {
  static Description describe() {
    return describe_cub("cub_newest_block_scan", "CUB BlockScan of CCCL " + std::to_string(CCCL_MAJOR_VERSION) + "." +
                                                     std::to_string(CCCL_MINOR_VERSION) + "." +
                                                     std::to_string(CCCL_PATCH_VERSION));
  }
};

const Registration registration{cuda::cuda_scan<Variant<Id, CubBlocks>>(Origin::baseline)};

}  // namespace
}  // namespace scanlab::block_scan
