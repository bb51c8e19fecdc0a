// cub_warp_scan: cub::WarpScan of the toolkit's CCCL.
#include "baselines/cub_warp_scan.cuh"

namespace scanlab::block_scan {
namespace {

struct Id {
  static Description describe() { return describe_cub_warp("cub_warp_scan", "CUB WarpScan"); }
};

const Registration registration{cuda::cuda_scan<Variant<Id, OfThreads<CubWarp>>>(Origin::baseline)};

}  // namespace
}  // namespace scanlab::block_scan
