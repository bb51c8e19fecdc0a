// cub_block_scan: cub::BlockScan of the toolkit's CCCL.
#include "baselines/cub_block_scan.cuh"

namespace scanlab::block_scan {
namespace {

struct Id {
  static Description describe() { return describe_cub("cub_block_scan", "CUB BlockScan"); }
};

const Registration registration{cuda::cuda_scan<Variant<Id, CubBlocks>>(Origin::baseline)};

}  // namespace
}  // namespace scanlab::block_scan
