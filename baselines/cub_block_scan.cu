// cub_block_scan: cub::BlockScan of the toolkit's CCCL.
#include "baselines/cub_block_scan.cuh"

namespace scanlab::block_scan {
namespace {

struct Id {
  static Description describe() {
    return {.id = "cub_block_scan", .title = "CUB BlockScan", .source = "NVIDIA CCCL, cub/block/block_scan.cuh"};
  }
};

const Registration registration{cuda::cuda_scan<CubBlockScan<Id>>(Origin::baseline)};

}  // namespace
}  // namespace scanlab::block_scan
